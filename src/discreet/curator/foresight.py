"""How wrong each column will be, before anything is spent: from public quantities alone.

Counts and sums have one half-width. The error of a mean depends on how many values a group has,
so it is a function of that; quantiles have a rank error.

Source: 004d:F25; contract, "Spending" (accuracy).
"""

from __future__ import annotations

from discreet.curator.columns import rank_note
from discreet.relational.aggregates.aggregate import Aggregate, Average, Count, Quantile, Sum
from discreet.relational.planning.planned_query import Inquiry
from discreet.release.intervals.linear import half_width

SIZES = (10, 100, 1_000, 10_000, 100_000)
"""Group sizes at which errors that depend on them are shown."""


def fixed_width(inquiry: Inquiry, aggregate: Aggregate, confidence: float) -> float | None:
    """The half-width of a count or sum, the same in every group; None for other aggregates."""
    if not isinstance(aggregate, Count | Sum):
        return None
    measure = aggregate.measures[0]
    _, noised = inquiry.noised(measure)  # type: ignore[arg-type]
    return noised.law.half_width(confidence)


def mean_width(inquiry: Inquiry, aggregate: Average, rows: int, confidence: float) -> float:
    """The half-width of a mean of ``rows`` values, wherever in its bounds the mean lies.

    To first order in the noise: the centred total is off by its own noise and by that of the
    count times how far the mean is from the midpoint, at most the bound.
    """
    _, present = inquiry.noised(aggregate.present)
    _, total = inquiry.noised(aggregate.total)
    farthest = float(aggregate.total.bound())
    width = half_width([(1.0, total.law), (farthest, present.law)], confidence=confidence) / rows
    return min(width, float(aggregate.total.high - aggregate.total.low))


def rank_statement(inquiry: Inquiry, aggregate: Quantile, confidence: float) -> str:
    """What will be stated of a quantile."""
    return rank_note(inquiry.selection(inquiry.place(aggregate)[0]), confidence)
