"""How wrong a column will be, before anything is spent: from public quantities alone.

Counts and sums have one half-width. The error of a mean depends on how many values a group has,
so it is shown for several sizes; quantiles have a rank error, in words.

Source: 004d:F25; contract, "Spending" (accuracy).
"""

from __future__ import annotations

from dataclasses import dataclass

SIZES = (10, 100, 1_000, 10_000, 100_000)
"""Group sizes at which errors that depend on them are shown."""


@dataclass(frozen=True)
class Expected:
    """The error of one column: a half-width, one for each group size, or words."""

    name: str
    half_width: float | None
    by_size: tuple[tuple[int, float], ...]
    note: str
