"""Prices as people write them in JSON: epsilon, epsilon and delta, or rho."""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.written import numbers


def spend_of(
    *, epsilon: float | None = None, delta: float | None = None, rho: float | None = None
) -> Guarantee | None:
    """The guarantee that the numbers state; None without any.

    >>> spend_of(epsilon=0.5), spend_of()
    (PureDP(unit=None, epsilon=0.5), None)
    """
    if epsilon is not None and rho is None:
        return ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)
    if rho is not None and epsilon is None and delta is None:
        return ZCDP(rho=rho)
    if epsilon is None and delta is None and rho is None:
        return None
    given = {"epsilon": epsilon, "delta": delta, "rho": rho}
    raise InvalidParameter(
        code="spend_unclear",
        expectation="epsilon, epsilon and delta, or rho",
        received=", ".join(name for name, value in given.items() if value is not None),
        remedy='Write for instance {"epsilon": 0.5}.',
    )


def spend_to_dict(spend: Guarantee) -> dict[str, float]:
    """The numbers of a guarantee, for JSON; to twelve digits, so that 0.1 + 0.2 is 0.3.

    >>> spend_to_dict(ApproxDP(epsilon=0.1 + 0.2, delta=1e-6))
    {'epsilon': 0.3, 'delta': 1e-06}
    """
    return {name: float(f"{float(value):.12g}") for name, value in numbers(spend).items()}
