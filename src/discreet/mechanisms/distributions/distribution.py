"""The exact law of one noise coordinate: what every interval is computed from.

A law lives on the multiples of ``step``, a power of two; whole-number noise has step 1. Scales
are in the caller's units, not in steps. Laws are values: equal parameters, equal law. They hold
nothing private and travel as JSON beside a release.

Source: modern-data:C1, N1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import positive
from discreet.core.written import Form
from discreet.mechanisms import discrete_gaussian, discrete_laplace, gaussian, laplace
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.distributions.gaussian import DiscreteGaussianDistribution, RoundedGaussian
from discreet.mechanisms.distributions.laplace import DiscreteLaplaceDistribution, RoundedLaplace
from discreet.mechanisms.distributions.symmetric import Distribution

__all__ = [
    "DiscreteGaussianDistribution",
    "DiscreteLaplaceDistribution",
    "Distribution",
    "RoundedGaussian",
    "RoundedLaplace",
    "distribution_from_dict",
    "distribution_of",
]

_Known = (
    RoundedLaplace | DiscreteLaplaceDistribution | RoundedGaussian | DiscreteGaussianDistribution
)
_KINDS: dict[str, type[_Known]] = {
    RoundedLaplace.kind: RoundedLaplace,
    DiscreteLaplaceDistribution.kind: DiscreteLaplaceDistribution,
    RoundedGaussian.kind: RoundedGaussian,
    DiscreteGaussianDistribution.kind: DiscreteGaussianDistribution,
}


def distribution_from_dict(plain: Mapping[str, object]) -> Distribution:
    """The law that ``Law.plain`` described.

    >>> distribution_from_dict({"law": "rounded_laplace", "scale": 2.0, "step": 1.0})
    RoundedLaplace(scale=2.0, step=1.0)
    """
    kind = _KINDS.get(str(plain.get("law")))
    form = None if kind is None else Form(kind.kind, kind.written)
    if kind is None or form is None or set(plain) != {"law", *dict(form.names)}:
        raise InvalidParameter(
            code="law_not_plain",
            expectation="a law with its step and its scale or sigma, as `plain` wrote it",
            received=sorted(map(str, plain)),
            remedy="Pass what `law.plain()` returned, unchanged.",
        )
    return kind(**{now: plain[name] for name, now in form.names})  # type: ignore[arg-type]


def distribution_of(mechanism: Additive, *, step: float, size: int = 1) -> Distribution:
    """The law of each coordinate of a release of ``size`` integers that count ``step``s.

    >>> from discreet.mechanisms import Laplace
    >>> distribution_of(Laplace(epsilon=0.5, sensitivity=3), step=0.25)
    RoundedLaplace(scale=1.5, step=0.25)
    """
    width = float(positive("step", step))
    spread = mechanism.scale(size=size, kind=int) * width
    if isinstance(mechanism, laplace.Laplace):
        return RoundedLaplace(spread, width)
    if isinstance(mechanism, discrete_laplace.DiscreteLaplace):
        return DiscreteLaplaceDistribution(spread, width)
    if isinstance(mechanism, gaussian.Gaussian):
        return RoundedGaussian(spread, width)
    if isinstance(mechanism, discrete_gaussian.DiscreteGaussian):
        return DiscreteGaussianDistribution(spread, width)
    raise InvalidParameter(
        code="law_unknown",
        expectation="a Laplace, DiscreteLaplace, Gaussian or DiscreteGaussian mechanism",
        received=type(mechanism).__name__,
        remedy="Only their noise has a law that intervals are computed from.",
    )
