"""A column of released values as a column of a release: numbers with intervals, or labels.

Rows whose numbers have the same noise share the work: one interval is computed for all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from discreet.relational.post_processing.uncertain import Derived, Stated, Value, point
from discreet.release import ReleasedColumn
from discreet.release.column import Ends
from discreet.release.draws import Range, Released, around, shared_noise, whole_part
from discreet.release.estimate import Contrast, Estimate, Ratio
from discreet.release.format import percent
from discreet.release.intervals.linear import half_width
from discreet.release.intervals.ratio import ratio_ends

MAX_TERMS = 2_000_000
"""Noises met in the intervals of one column, counted once for each row."""
_NOWHERE = (-math.inf, math.inf)
EXACT = "computed from public values alone: exact"
PLACES = "a place or number of released rows: a function of the released values, without interval"


def numbers_column(name: str, values: Sequence[Value], confidence: float) -> ReleasedColumn:
    """Released numbers; those without noise are exact."""
    shown = [_number(point(value)) for value in values]
    noisy = [isinstance(value, Estimate | Ratio | Contrast | Stated | Derived) for value in values]
    if not any(noisy):
        exact = [0 if number is None else number for number in shown]
        return ReleasedColumn.from_given_values(
            name, shown, interval=Ends(tuple(exact), tuple(exact)), note=EXACT
        )
    if sum(_terms(value) for value in values) > MAX_TERMS:
        note = f"computed from released values; more than {MAX_TERMS:,} noises: no interval"
        return ReleasedColumn.from_given_values(name, shown, interval=None, note=note)
    ends = _Intervals(confidence).of(values)
    lower, upper = tuple(low for low, _ in ends), tuple(high for _, high in ends)
    if not any(math.isfinite(end) for pair in ends for end in pair):
        note = "computed from released values whose notes say how wrong they may be"
        return ReleasedColumn.from_given_values(name, shown, interval=None, note=note)
    return ReleasedColumn.from_given_values(
        name,
        shown,
        interval=Ends(lower, upper),
        note=f"computed from released values; {percent(confidence)} intervals cover noise",
    )


def places_column(name: str, values: Sequence[Value]) -> ReleasedColumn:
    """Ranks and numbers of rows, which depend on the order that noise left."""
    shown = [_number(point(value)) for value in values]
    return ReleasedColumn.from_given_values(name, shown, interval=None, note=PLACES)


class _Intervals:
    """Intervals at one confidence; half-widths and Fieller's sets are computed once each."""

    def __init__(self, confidence: float) -> None:
        self.confidence = confidence
        self.widths: dict[object, float] = {}

    def of(self, values: Sequence[Value]) -> list[Range]:
        found: list[Range] = [_NOWHERE] * len(values)
        alike: dict[object, list[int]] = {}
        for row, value in enumerate(values):
            match value:
                case Estimate():
                    found[row] = self._estimate(value)
                case Ratio():
                    noise = tuple(shared_noise(value.numerator.terms, value.denominator.terms))
                    alike.setdefault((noise, value.offset, value.within), []).append(row)
                case Contrast() | Stated() | Derived():
                    found[row] = value.interval(confidence=self.confidence)
                case bool() | int() | float():
                    found[row] = (value, value)
        for rows in alike.values():
            self._ratios(rows, values, found)
        return found

    def _estimate(self, value: Estimate) -> Range:
        sizes = Counter((abs(c), law) for _, c, law in value.terms)
        key = frozenset(sizes.items())
        if key not in self.widths:
            terms = [term for term in sorted(sizes, key=repr) for _ in range(sizes[term])]
            self.widths[key] = half_width(terms, confidence=self.confidence) if terms else 0.0
        width: Released = self.widths[key]
        if value.is_whole():
            width = whole_part(width)
        return around(value.value, width, value.within)

    def _ratios(self, rows: list[int], values: Sequence[Value], found: list[Range]) -> None:
        ratios = [value for row in rows if isinstance(value := values[row], Ratio)]
        one = ratios[0]
        lower, upper = ratio_ends(
            [ratio.numerator.value for ratio in ratios],
            [ratio.denominator.value for ratio in ratios],
            shared_noise(one.numerator.terms, one.denominator.terms),
            offset=one.offset,
            confidence=self.confidence,
            within=one.within,
        )
        for row, low, high in zip(rows, lower, upper, strict=True):
            found[row] = (low, high)


def _terms(value: Value) -> int:
    match value:
        case Estimate():
            return len(value.terms)
        case Ratio():
            return len(value.numerator.terms) + len(value.denominator.terms)
        case Contrast():
            return len(value.rest.terms) + sum(map(_terms, value.ratios))
        case Derived():
            return sum(map(_terms, value.sources))
    return 1


def _number(value: object) -> Released | None:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | float) else None
