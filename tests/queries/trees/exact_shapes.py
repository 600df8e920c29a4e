"""The exact law of PrivTree's shapes over the cells of a line."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from discreet.queries.record_count import RecordCount
from discreet.queries.trees.privtree import Splitting, splitting

Scores = Callable[[Splitting, int, int], int]
Shape = tuple["Shape", "Shape"] | None


def clamped(rule: Splitting, count: int, depth: int) -> int:
    return int(rule.scores(np.array([count]), depth)[0])


def unclamped(rule: Splitting, count: int, depth: int) -> int:
    return (count << rule.places) - depth * rule.fall


def log_split(rule: Splitting, score: int) -> tuple[float, float]:
    """Logarithms of the chances that a node is split and that it is not, by the rounded law.

    A whole score and Laplace noise rounded to whole steps reach the threshold t exactly when the
    continuous noise reaches t - score - 1/2.
    """
    far = (rule.threshold - score - 0.5) / (float(rule.scale) * (1 << rule.places))
    if far >= 0:
        return math.log(0.5) - far, math.log1p(-0.5 * math.exp(-far))
    return math.log1p(-0.5 * math.exp(far)), math.log(0.5) + far


def shapes(depth: int) -> Iterator[Shape]:
    """All binary trees of at most so many levels of splits."""
    yield None
    if depth:
        yield from itertools.product(shapes(depth - 1), shapes(depth - 1))


def log_chance(rule: Splitting, scores: Scores, counts: tuple[int, ...], shape: Shape) -> float:
    """The logarithm of the chance of a shape over the cells of a line."""

    def at(cells: tuple[int, ...], part: Shape, depth: int) -> float:
        if len(cells) == 1:
            return 0.0
        yes, no = log_split(rule, scores(rule, sum(cells), depth))
        if part is None:
            return no
        half = len(cells) // 2
        return yes + at(cells[:half], part[0], depth + 1) + at(cells[half:], part[1], depth + 1)

    return at(counts, shape, 0)


def rule_for(epsilon: float, size: RecordCount, threshold: int = 0) -> Splitting:
    return splitting(Fraction(epsilon), fan=2, size=size, records=1, threshold=threshold)


def loss_on_a_way(rule: Splitting, scores: Scores, way: list[int], records: int = 1) -> float:
    """The loss of splitting all nodes on the way of some records, with and without them."""
    return abs(
        sum(
            log_split(rule, scores(rule, count + records, depth))[0]
            - log_split(rule, scores(rule, count, depth))[0]
            for depth, count in enumerate(way)
        )
    )


def worst_way(rule: Splitting, scores: Scores, records: int = 1) -> float:
    """The largest loss over ways of equal counts, whose scores fall by as little as they may."""
    fall, most = rule.fall / (1 << rule.places), 2 * records
    counts = {round(29 * fall + start) for start in np.linspace(-fall - most, fall + most, 40)}
    return max(loss_on_a_way(rule, scores, [max(count, 0)] * 40, records) for count in counts)
