"""Aggregates of released numbers: sums with their noise, and others that keep intervals true.

A sum of released numbers has the noise of all of them, each draw counted once. How many rows
there are is known exactly. MIN, MAX and MEDIAN rise with every number, so their interval reaches
from that of the lower ends to that of the upper ones, where all of these hold at once.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.relational.post_processing.uncertain import (
    Slope,
    Value,
    derived,
    is_uncertain,
    point,
)
from discreet.relational.types.expression import Expression
from discreet.release.draws import Range
from discreet.release.estimate import Contrast, Estimate, Ratio

NAMES = ("SUM", "AVG", "MIN", "MAX", "MEDIAN", "COUNT")
POOLED = "POOLED"
"""The same aggregate over the rows of several cells: counts and sums add up, and so do both parts
of a mean."""


_RISING: dict[str, Callable[[list[Any]], Any]] = {
    "MIN": min,
    "MAX": max,
    "MEDIAN": statistics.median,
}


@dataclass(frozen=True)
class OuterAggregate:
    """An aggregate by name; of ``argument`` where ``condition`` holds; of rows without one."""

    name: str
    argument: Expression | None
    condition: Expression | None
    distinct: bool


def aggregated(  # noqa: PLR0911 -- one for each function
    name: str, values: Sequence[Value], *, distinct: bool = False
) -> Value:
    """The aggregate of values, NULL left out."""
    if name == POOLED:
        return _pooled(values)
    present = [value for value in values if point(value) is not None]
    if distinct:
        present = list({point(value): value for value in present}.values())
    if name == "COUNT":
        return len(present)
    if not present:
        return None
    if name == "SUM":
        return total(present)
    if name == "AVG":
        return _mean(present)
    act = _RISING[name]
    points = [point(value) for value in present]
    if not any(map(is_uncertain, present)):
        return act(points)  # type: ignore[no-any-return]
    return derived(act(points), tuple(present), partial(_between, act), None)


def total(values: Sequence[Value]) -> Value:
    """The sum, with the noise of all; estimates are added up in one step."""
    estimates = [value for value in values if isinstance(value, Estimate)]
    others: list[Any] = [value for value in values if not isinstance(value, Estimate)]
    made: Any = 0
    if estimates:
        made = Estimate.total(estimates)
    linear = [value for value in others if isinstance(value, Ratio | Contrast | int | float)]
    ratios = [value for value in linear if isinstance(value, Ratio)]
    if ratios and len(ratios) == len(values):
        made, linear = _ratios(ratios), []
    for value in linear:
        made = made + value
    rest = [value for value in others if not isinstance(value, Ratio | Contrast | int | float)]
    if not rest:
        return made  # type: ignore[no-any-return]
    parts: tuple[Any, ...] = (made, *rest)
    noisy = [part for part in parts if is_uncertain(part)]
    value = sum(point(part) for part in parts)  # type: ignore[misc]
    return derived(value, parts, _added, tuple(Slope(1.0, bent=False) for _ in noisy))


def _ratios(ratios: Sequence[Ratio]) -> Ratio | Contrast:
    """What their sum is, added up in one step."""
    found: dict[Estimate, Ratio] = {}
    for ratio in ratios:
        before = found.get(ratio.denominator)
        found[ratio.denominator] = ratio if before is None else before.plus(ratio)
    if len(found) == 1:
        return next(iter(found.values()))
    return Contrast(tuple(found.values()), Estimate(0, within=(0, 0)))


def _pooled(values: Sequence[Value]) -> Value:
    """What the aggregate is over all the cells together, from the measures behind each."""
    ratios = [value for value in values if isinstance(value, Ratio)]
    if not ratios:
        return total([value for value in values if value is not None])
    above: Any = total([ratio.numerator for ratio in ratios])
    below: Any = total([ratio.denominator for ratio in ratios])
    return Ratio(above, below, ratios[0].offset, ratios[0].within)


def _mean(values: list[Value]) -> Value:
    summed: Any = total(values)
    if not is_uncertain(summed) or isinstance(summed, Estimate | Ratio | Contrast):
        return summed / len(values)  # type: ignore[no-any-return]
    share = 1 / len(values)

    def scaled(parts: tuple[Value | Range, ...]) -> Range:
        low, high = _added(parts)
        return low * share, high * share

    return derived(summed.value * share, (summed,), scaled, (Slope(share, bent=False),))


def _ends(part: Any) -> Range:
    return part if isinstance(part, tuple) else (part, part)


def _added(parts: tuple[Value | Range, ...]) -> Range:
    ends = [_ends(part) for part in parts]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _between(act: Callable[[list[Any]], Any], parts: tuple[Value | Range, ...]) -> Range:
    ends = [_ends(part) for part in parts]
    return act([low for low, _ in ends]), act([high for _, high in ends])
