"""How large the values of a column are, to a factor of two: counts over bins that double.

Bins are public: [0, s], (s, 2s], (2s, 4s], ... and their mirror images below zero; a value beyond
the last bin counts there. A value finds its bin by comparisons alone, so no rounding of a logarithm
can move it to the next one.

Source: modern-data:B1. Proof: ``proofs/key_selection.md`` (bounds).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.mechanisms.distributions.distribution import Distribution
from discreet.relational.aggregates.count import Count
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.functions.comparison import GREATER, GREATER_EQUAL, LESS
from discreet.relational.plan.keys import Block, KeySet
from discreet.relational.plan.nodes import Field, PlanNode, Scan, scans
from discreet.relational.plan.query import AggregateOutput, KeyOutput, Query
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

_FAILURES = (1e-9, 1e-8, 1e-7, 1e-6)
"""Chances that some empty bin passes; the next is tried, on the same noise, if none passes."""

_WHOLE = tuple(2**power for power in range(63))
_REAL = tuple(2.0**power for power in range(-20, 61))


@dataclass(frozen=True)
class Magnitudes:
    """The bins of one kind of number, ascending; ``edges`` are those above zero."""

    edges: tuple[int | float, ...]

    @property
    def size(self) -> int:
        """How many bins there are on both sides."""
        return 2 * len(self.edges)

    def ends(self, place: int) -> tuple[int | float, int | float]:
        """The bounds of a bin by its number, from the most negative one."""
        half = len(self.edges)
        far = place - half if place >= half else half - 1 - place
        near = self.edges[far - 1] if far else 0
        return (near, self.edges[far]) if place >= half else (-self.edges[far], -near)

    def bin(self, value: Expression) -> Expression:
        """The number of a value's bin; NULL for NULL."""
        half = len(self.edges)
        above = self._tree(value, 0, half - 1, 1)
        below = self._tree(value, 0, half - 1, -1)
        return Case(
            (
                (Call(GREATER_EQUAL, (value, Literal(0))), above),
                (Call(LESS, (value, Literal(0))), below),
            ),
            Literal(None),
        )

    def _tree(self, value: Expression, first: int, last: int, sign: int) -> Expression:
        """Halve the bins first..last of one side until one is left."""
        if first == last:
            half = len(self.edges)
            return Literal(half + first if sign > 0 else half - 1 - first)
        middle = (first + last) // 2
        farther = Call(GREATER if sign > 0 else LESS, (value, Literal(sign * self.edges[middle])))
        return Case(
            ((farther, self._tree(value, middle + 1, last, sign)),),
            self._tree(value, first, middle, sign),
        )

    def bounds(
        self, noisy: Sequence[float], distribution: Distribution
    ) -> tuple[int | float, int | float] | None:
        """From the lowest bin that noise alone would hardly fill to the highest; None if none.

        Post-processing of the noisy counts, the looser thresholds included.
        """
        for failure in _FAILURES:
            threshold = self.threshold(distribution, failure)
            full = [place for place, count in enumerate(noisy) if count > threshold]
            if full:
                return self.ends(full[0])[0], self.ends(full[-1])[1]
        return None

    def threshold(self, distribution: Distribution, failure: float = _FAILURES[0]) -> float:
        """What noise exceeds in some empty bin with probability at most ``failure``.

        Noises of bins are independent: each stays below with the root of ``1 - failure`` of as many
        bins as there are. On a grid it is the least such multiple of its step.

        >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
        >>> bins = Magnitudes((1, 2, 4, 8))
        >>> round(bins.threshold(RoundedLaplace(scale=1, step=2**-30), 0.1), 6)
        3.643239
        """
        each = -math.expm1(math.log1p(-failure) / self.size)
        return distribution.exceeded(2 * each)


def magnitudes(kind: DataType) -> Magnitudes:
    """The bins for whole or real numbers."""
    return Magnitudes(_WHOLE if kind is DataType.INTEGER else _REAL)


def quoted(name: str) -> str:
    """A table's name as SQL text."""
    return '"' + name.replace('"', '""') + '"'


def bounds_question(table: Query, name: str) -> tuple[Query, Magnitudes]:
    """Counts of a column's values by bin, over the rows of a question about its table."""
    rows = table.rows
    scan, field = _column(rows, name)
    bins = magnitudes(field.domain.kind)
    key = bins.bin(Column(scan.column(name), field.domain))
    return (
        Query(
            rows=rows,
            unit=table.unit,
            keys=KeySet((Block((key,), tuple((place,) for place in range(bins.size))),)),
            key_places=((0, 0),),
            aggregates=(Count(CountRows()),),
            outputs=(KeyOutput("bin", 0), AggregateOutput("n", 0)),
            limits=table.limits,
        ),
        bins,
    )


def _column(rows: PlanNode, name: str) -> tuple[Scan, Field]:
    (scan,) = scans(rows)
    field = scan.fields.get(name)
    if field is None or not field.domain.kind.is_number:
        numbers = [each.name for each in scan.fields.values() if each.domain.kind.is_number]
        raise InvalidParameter(
            code="not_a_numeric_column",
            expectation=f"one of the numeric columns {sorted(numbers)}",
            received=name,
            remedy="Bounds are estimated for whole and real numbers.",
        )
    return scan, field
