"""The columns of a question that a learner reads: bounded, on a grid, by the rows of a unit.

Each column is clamped to its bounds and rounded once to whole steps of a power of two, about 2**30
of them to half the width of the bounds, counted from the middle. What is done with these whole
numbers, adding up (``table_moments``) or handing over (``table_rows``), counts the same rows.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.parameters import exact
from discreet.core.unit import Person
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.aggregates.measures import Total
from discreet.relational.aggregates.sum import Sum
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.engines.engine import Engine
from discreet.relational.limits.resources import require_size
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.query import AggregateOutput, Query

STEPS = 30
"""Half the width of the bounds is at most 2**30 steps, and at least 2**20."""
_LEAST = 20
Translate = Callable[[str], Query]
Bounds = tuple[list[float], list[float]]


@dataclass(frozen=True)
class ColumnTotals:
    """The columns of a question without aggregates, as its declarations bound them."""

    text: str
    columns: tuple[str, ...]
    totals: tuple[Total, ...]

    @classmethod
    def of(cls, text: str, columns: Sequence[str], translate: Translate) -> ColumnTotals:
        """Those of a SELECT; refused where one is no number."""
        sums = [f"SUM(t.{_quoted(column)}) AS s{n}" for n, column in enumerate(columns)]
        made = cls(text, tuple(columns), ())
        query = made.translated(translate, f"SELECT {', '.join(sums)} FROM ({text}) AS t")
        return replace(made, totals=tuple(_totals(query)))

    def translated(self, translate: Translate, asked: str) -> Query:
        """A question for sums; refused in words of fits where columns are no numbers."""
        try:
            return translate(asked)
        except DiscreetError as error:
            if error.code != "type_clash":
                raise
        translate(f"SELECT COUNT(*) AS n FROM ({self.text}) AS t")  # if it is the SELECT's own
        raise InvalidParameter(
            code="fit_not_numbers",
            expectation=f"numbers in the columns that are fitted: {', '.join(self.columns)}",
            remedy="Make numbers of truth values and categories in the SELECT: "
            "CASE WHEN returned THEN 1 ELSE 0 END AS returned.",
        )

    @property
    def bounds(self) -> Bounds:
        """What follows from what the owner declared."""
        low, high = ([float(getattr(t, end)) for t in self.totals] for end in ("low", "high"))
        return low, high

    def write_question_for_sums(self, *, needed: str | None, label: str | None) -> str:
        """The question for sums: rows without ``needed`` are left out, sums are by ``label``."""
        # Whole numbers are read as real ones, whose grid is finer than their bounds.
        real = [" * 1.0" if total.whole else "" for total in self.totals]
        columns = zip(self.columns, real, strict=True)
        items = [f"SUM(t.{_quoted(each)}{to}) AS s{n}" for n, (each, to) in enumerate(columns)]
        by = "" if label is None else f" GROUP BY t.{_quoted(label)}"
        key = [] if label is None else [f"t.{_quoted(label)} AS k"]
        where = "" if needed is None else f" WHERE t.{_quoted(needed)} IS NOT NULL"
        return f"SELECT {', '.join([*key, *items])} FROM ({self.text}) AS t{where}{by}"


@dataclass(frozen=True)
class BoundedColumns:
    """Columns within bounds over the rows of a question, of which so many of a unit count.

    Contract: one object serves one release.
    """

    query: Query
    totals: tuple[Total, ...]
    engine: Engine
    salt: int = field(default_factory=lambda: integer(SYSTEM, 62), repr=False)

    @classmethod
    def of(
        cls,
        columns: ColumnTotals,
        bounds: Bounds,
        translate: Translate,
        engine: Engine,
        *,
        needed: str | None = None,
        label: str | None = None,
    ) -> BoundedColumns:
        """Columns within these bounds, over rows that have ``needed``, by values of ``label``."""
        query = columns.translated(
            translate, columns.write_question_for_sums(needed=needed, label=label)
        )
        found = zip(_totals(query), *bounds, strict=True)
        totals = tuple(_on_grid(total, low, high) for total, low, high in found)
        require_size(query, totals)
        made = cls(query, totals, engine)
        made.records  # noqa: B018 - refuses what has no private rows
        return made

    @property
    def records(self) -> int:
        """The most rows of one unit that count."""
        if self.query.person is not None:
            return self.query.person.rows()
        changed = self.query.rows.stability
        if not changed or _exchanges(self.query.rows):
            raise InvalidParameter(
                code="moments_rows",
                expectation="rows of private tables that one unit can only add or remove",
                remedy="Read a private table; join private tables on the person only.",
            )
        return changed

    @property
    def labels(self) -> tuple[object, ...]:
        """The values of the label, in the order of their cells."""
        return self.keys.column(0, 0)

    @property
    def keys(self) -> KeySet:
        """The label's values, listed beforehand; refused where they would have to be found."""
        keys = self.query.keys
        return keys if isinstance(keys, KeySet) else keys.make_public_keys(keys.blocks[0].entries)

    @property
    def person(self) -> Person | None:
        """Whose rows are bounded, and to how many; None where each row is a unit's own."""
        person = self.query.person
        return None if person is None else Person(person.id, max_rows=self.records)


def _on_grid(total: Total, low: float, high: float) -> Total:
    """The total within other bounds, in steps from their middle."""
    half = (exact(high) - exact(low)) / 2
    far = max(abs(exact(low)), abs(exact(high)))
    exponent = max(_ceil_log2(half) - STEPS, _ceil_log2(far) - 61)
    middle = float((exact(low) + exact(high)) / 2)
    if half < Fraction(2) ** (exponent + _LEAST):
        raise InvalidParameter(
            code="bounds_too_far",
            expectation="bounds that are not much farther from zero than from each other",
            received=(low, high),
            remedy="Subtract a constant in the SELECT: x - 1000000 AS x.",
        )
    return replace(total, low=low, high=high, centre=middle, exponent=exponent)


def _ceil_log2(value: Fraction) -> int:
    """The least power of two that is no less."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    while Fraction(2) ** power < value:
        power += 1
    return power


def _totals(query: Query) -> list[Total]:
    """The total of each column of the answer; equal ones are one aggregate of the query."""
    found = []
    for output in query.outputs:
        if not isinstance(output, AggregateOutput):
            continue  # the label
        aggregate = query.aggregates[output.number]
        total = aggregate.total if isinstance(aggregate, Sum) else None
        if not isinstance(total, Total):
            raise InvalidParameter(
                code="moments_columns",
                expectation="columns of numbers that differ from row to row",
                received=output.name,
                remedy="Leave out constants; each column must be a number with bounds.",
            )
        found.append(total)
    return found


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _exchanges(rows: PlanNode) -> bool:
    """Whether rows may come as others go."""
    return isinstance(rows, Truncated) or any(map(_exchanges, rows.inputs))
