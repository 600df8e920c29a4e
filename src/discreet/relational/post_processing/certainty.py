"""Whether a condition over released values is beyond doubt, whatever the noise did.

A comparison is, where the interval of the difference at a confidence of 999 999 in a million lies
on one side of zero. A CASE whose conditions are beyond doubt is the branch that they choose, with
that branch's own interval; elsewhere the truth may lie in any branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.relational.post_processing.uncertain import Value, is_uncertain
from discreet.release.draws import Range

SURE = 1 - 1e-6
"""The confidence from which on a condition is taken as decided."""

_DECIDED: Mapping[str, Callable[[Range], bool]] = {
    "<": lambda ends: ends[1] < 0 or ends[0] >= 0,
    ">=": lambda ends: ends[1] < 0 or ends[0] >= 0,
    ">": lambda ends: ends[1] <= 0 or ends[0] > 0,
    "<=": lambda ends: ends[1] <= 0 or ends[0] > 0,
    "=": lambda ends: ends[1] < 0 or ends[0] > 0,
    "<>": lambda ends: ends[1] < 0 or ends[0] > 0,
}
"""Where the difference of both sides must lie for each comparison to be decided."""

COMPARISONS = frozenset(_DECIDED)


def is_decided(comparison: str, difference: Value) -> bool:
    """Whether noise leaves no doubt about a comparison, by the difference of its two sides."""
    if not is_uncertain(difference):
        return difference is not None
    noisy: Any = difference
    return _DECIDED[comparison](noisy.interval(confidence=SURE))
