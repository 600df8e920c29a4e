"""Estimated frequencies: unbiased, with a standard error for each, and their corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability

Floats = NDArray[np.float64]
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Shares of people, one for each value, before or after correction.

    ``variances`` are those of the unbiased estimates, with the noise of the randomiser and the
    estimated share put in; the corrections below keep them, as upper bounds they no longer are.
    Everything here is post-processing of reports, and free. ``known_variances`` is None where an
    estimator has no stated ones; whoever asks for them is told so.
    """

    shares: Floats
    known_variances: Floats | None
    people: int
    labels: tuple[str, ...] | None = None
    null_variance: float | None = None
    """That of a value which nobody has, where it is known."""

    @property
    def counts(self) -> Floats:
        """Shares times the number of people."""
        return self.shares * self.people

    @property
    def variances(self) -> Floats:
        """One for each share; refused where the estimator states none."""
        if self.known_variances is None:
            raise InvalidParameter(
                code="error_not_known",
                expectation="shares whose estimator states its variances",
                remedy="Call unbiased(tally) of the question for shares that have variances.",
            )
        return self.known_variances

    @cached_property
    def standard_errors(self) -> Floats:
        """Square roots of the variances."""
        return np.sqrt(self.variances)

    def intervals(self, *, confidence: float) -> tuple[Floats, Floats]:
        """Normal intervals, each value by itself; sound for some hundred people and more."""
        reach = float(ndtri(0.5 + float(probability("confidence", confidence)) / 2))
        return (
            self.shares - reach * self.standard_errors,
            self.shares + reach * self.standard_errors,
        )

    def __str__(self) -> str:
        """The largest shares with their 95 % intervals, if known, cut to what a share may be."""
        if self.known_variances is None:
            largest = self.top(_SHOWN)
            lines = [f"{name}  {share:.4f}" for name, share in largest]
            more = len(self.shares) - len(lines)
            rest = [f"… and {more} more"] if more else []
            said = f"shares of {self.people} people, smoothed: no intervals"
            return "\n".join([*lines, *rest, said])
        low, high = (np.clip(each, 0, 1) for each in self.intervals(confidence=0.95))
        order = np.argsort(-self.shares, kind="stable")[:_SHOWN]
        names = [str(self._names[int(place)]) for place in order]
        wide = max((len(name) for name in names), default=0)
        lines = [
            f"{name:{wide}}  {self.shares[place]:.4f}  ({low[place]:.4f} to {high[place]:.4f})"
            for name, place in zip(names, order, strict=True)
        ]
        more = len(self.shares) - len(lines)
        rest = [f"… and {more} more"] if more else []
        return "\n".join([*lines, *rest, f"shares of {self.people} people, with 95% intervals"])

    @property
    def _names(self) -> Sequence[Any]:
        return self.labels if self.labels is not None else range(len(self.shares))

    def projected(self) -> Frequencies:
        """The nearest shares that are not negative and add up to one."""
        return replace(self, shares=simplex(self.shares))

    def base_cut(self, *, confidence: float) -> Frequencies:
        """Shares that noise alone would pass with less than the remaining chance; others are zero.

        The bound holds for all values together: each is tested at its part of ``1 - confidence``.
        """
        tail = (1 - float(probability("confidence", confidence))) / len(self.shares)
        bar = -float(ndtri(tail)) * np.sqrt(self._variance_of_noise)
        return replace(self, shares=np.where(self.shares > bar, self.shares, 0.0))

    def shifted(self) -> Frequencies:
        """Negative shares become zero, and the others fall by equal parts until they add up to one.

        The same projection, but a total below one is left as it is.
        """
        clipped = np.maximum(self.shares, 0.0)
        return replace(self, shares=clipped if clipped.sum() <= 1 else simplex(self.shares))

    def top(self, size: int) -> list[tuple[Any, float]]:
        """The ``size`` largest shares with their labels or numbers, the largest first."""
        order = np.argsort(-self.shares, kind="stable")[:size]
        return [(self._names[int(place)], float(self.shares[place])) for place in order]

    @property
    def _variance_of_noise(self) -> float:
        """The variance of a value that nobody has; the largest of all where that is not known."""
        return float(self.variances.max()) if self.null_variance is None else self.null_variance

    def plot(self, *, confidence: float, most: int = 30) -> Any:
        """The largest shares with their intervals, as an Altair chart (extra ``plots``)."""
        from discreet.core.plotting import plotting

        low, high = self.intervals(confidence=confidence)
        order = np.argsort(-self.shares, kind="stable")[:most]
        rows = [
            {
                "value": str(self._names[int(i)]),
                "share": float(self.shares[i]),
                "low": float(low[i]),
                "high": float(high[i]),
            }
            for i in order
        ]
        alt = plotting()
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("value:N", sort=[row["value"] for row in rows], title=None)
        )
        return base.mark_bar(opacity=0.6).encode(x=alt.X("share:Q", title="share of people")) + (
            base.mark_rule().encode(x="low:Q", x2="high:Q")
        )


def simplex(values: Floats) -> Floats:
    """The nearest point, in Euclidean distance, with parts that are not negative and add up to one.

    >>> simplex(np.array([0.6, 0.6, -0.2]))
    array([0.5, 0.5, 0. ])
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    nearest: Floats = np.maximum(values - excess[last], 0.0)
    return nearest


def consistent(parent: Floats, children: Floats, parent_variance: float, variance: float) -> Floats:
    """Children of one parent, moved so that they add up to its best estimate.

    The parent's own estimate and the sum of its children are weighed by their variances, and the
    difference is shared equally: least squares for one level of a hierarchy.
    """
    size = children.shape[-1]
    total = children.sum(axis=-1)
    weight = 1 / parent_variance if parent_variance else np.inf
    of_sum = 1 / (size * variance)
    best = parent if np.isinf(weight) else (weight * parent + of_sum * total) / (weight + of_sum)
    moved: Floats = children + ((best - total) / size)[..., None]
    return moved
