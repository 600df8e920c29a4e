"""Running a question in the engine: exact whole numbers for every cell, nothing else.

Rows of people are bounded first: at most G groups and R rows each (m rows in a group), chosen by
a salted hash of their content. Keys that were not declared are dropped before that, so that they
use up nobody's share.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.unit import Person
from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Linear,
    Measure,
    Ranks,
    Total,
)
from discreet.relational.bounding.hashing import Content, Identifier
from discreet.relational.compile.compiler import Compiler, ordered
from discreet.relational.engines.engine import Engine
from discreet.relational.functions.arithmetic import ADD, DIVIDE, SUBTRACT
from discreet.relational.functions.casts import cast
from discreet.relational.functions.comparison import GREATER, LESS
from discreet.relational.functions.rounding import FLOOR
from discreet.relational.limits.resources import require_statement
from discreet.relational.limits.rows_before_joins import limits_people
from discreet.relational.plan.keys import Block
from discreet.relational.plan.nodes import Field, Scan, field_of
from discreet.relational.plan.query import Question
from discreet.relational.schema.declarations import Category, Number
from discreet.relational.types.column_domain import Facts, limits
from discreet.relational.types.data_type import Kind
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, columns

_HALF = 1 << 62
_NARROW = 1 << 31


@dataclass(frozen=True)
class Tally:
    """Exact numbers by cell: one array per linear measure, one histogram per Ranks measure."""

    linear: tuple[NDArray[Any], ...]
    ranks: tuple[NDArray[np.int64], ...]


def tally(
    question: Question,
    linear: Sequence[Linear],
    ranks: Sequence[Ranks],
    person: Person | None,
    engine: Engine,
    *,
    salt: int,
) -> Tally:
    """Count and add up in the engine. ``person`` is given where rows have owners to bound."""
    run = _Run(
        question, (*linear, *ranks), person, engine, Compiler(engine.dialect, engine.place, salt)
    )
    with engine.snapshot():
        sums = run.linear(len(linear)) if linear else ()
        histograms = tuple(run.histogram(len(linear) + i) for i in range(len(ranks)))
    return Tally(sums, histograms)


def statements(
    question: Question, measures: Sequence[Measure], person: Person | None, engine: Engine
) -> list[str]:
    """The text that would run, with a salt of zero: for ``explain`` and for tests."""
    run = _Run(question, tuple(measures), person, engine, Compiler(engine.dialect, engine.place, 0))
    places = [i for i, measure in enumerate(measures) if isinstance(measure, Ranks)]
    texts = [run.linear_text(len(measures) - len(places))] if len(places) < len(measures) else []
    return [
        require_statement(text)
        for text in (*texts, *(run.histogram_text(place) for place in places))
    ]


@dataclass(frozen=True)
class _Run:
    question: Question
    measures: tuple[Measure, ...]
    person: Person | None
    engine: Engine
    compiler: Compiler

    def linear(self, size: int) -> tuple[NDArray[Any], ...]:
        """Every linear measure, cell by cell."""
        cell, *fetched = self.engine.numbers(self.linear_text(size))
        parts = iter(fetched)
        return tuple(
            self._spread(cell, _joined(next(parts), next(parts)))
            if isinstance(measure, Total)
            else self._spread(cell, next(parts))
            for measure in self.measures[:size]
        )

    def histogram(self, place: int) -> NDArray[np.int64]:
        """Values nearest to each candidate, cell by cell."""
        measure = self.measures[place]
        assert isinstance(measure, Ranks)
        counts = np.zeros((self.question.keys.cells, measure.size), dtype=np.int64)
        cell, nearest, found = self.engine.numbers(self.histogram_text(place))
        np.add.at(counts, (cell, nearest), found)
        return counts

    def linear_text(self, size: int) -> str:
        """A SELECT of the cell's number and the linear measures."""
        sums = [self._sum(number, m) for number, m in enumerate(self.measures[:size])]
        outer = [
            text
            for number, measure in enumerate(self.measures[:size])
            for text in (
                self.engine.dialect.halves(f"m{number}")
                if isinstance(measure, Total)
                else (f"CAST(m{number} AS BIGINT)",)
            )
        ]
        return self._grouped(sums, (), outer)

    def histogram_text(self, place: int) -> str:
        """A SELECT of the cell's number, the candidate's number and how many values are there."""
        return self._grouped(
            [f"COUNT(*) AS m{place}"], (f"c{place}",), (f"CAST(c{place} AS BIGINT)", f"m{place}")
        )

    def _grouped(self, sums: Sequence[str], more: Sequence[str], outer: Sequence[str]) -> str:
        keys = [f"k{n}" for n in range(sum(len(b.expressions) for b in self.question.keys.blocks))]
        wanted = "".join(f" AND {column} IS NOT NULL" for column in more)
        if self.person is not None:
            group = ["cell", *more]
            inside = f"SELECT {', '.join([*group, *sums])} FROM ({self._bounded()}) AS q"
            inside += f" WHERE TRUE{wanted} GROUP BY {', '.join(group)}"
            return f"SELECT cell, {', '.join(outer)} FROM ({inside}) AS q"
        group = [*keys, *more]
        by = f" GROUP BY {', '.join(group)}" if group else ""
        inside = (
            f"SELECT {', '.join([*group, *sums])} FROM ({self._contributions(frozenset())}) "
            f"AS q WHERE TRUE{wanted}{by}"
        )
        cell, joins, conditions = self._cells("a")
        return (
            f"SELECT {cell} AS cell, {', '.join(outer)} FROM ({inside}) AS a{joins} "
            f"WHERE {' AND '.join(conditions) or 'TRUE'}"
        )

    def _bounded(self) -> str:
        """Each person's rows in declared cells, cut down to what the unit allows."""
        assert self.person is not None
        contents = [
            Content(f"c{n}", m.argument.facts.kind if isinstance(m, CountValues) else Kind.WHOLE)
            for n, m in enumerate(self.measures)
            if self._content(m) is not None
        ]
        cell, joins, conditions = self._cells("a")
        rows = self._contributions(frozenset({"owner"}))
        named = [content.text for content in contents]
        items = ", ".join(["o", f"CAST({cell} AS INTEGER) AS cell", *named])
        where = " AND ".join(conditions) or "TRUE"
        inside = f"SELECT {items} FROM ({rows}) AS a{joins} WHERE {where}"
        return bounded(
            inside,
            contents,
            self.person,
            who=self.compiler.who(self.question.rows, "o"),
            cells=self.question.keys.cells,
            compiler=self.compiler,
            rows=self._rows(),
            groups=self._groups(),
        )

    def _groups(self) -> int | None:
        """The bound on a person's cells: also that on rows, where only presence is counted."""
        assert self.person is not None
        bounds = [self.person.max_groups, self.person.max_rows if self._rows() is None else None]
        return min((bound for bound in bounds if bound is not None), default=None)

    def _rows(self) -> int | None:
        """The bound on a person's rows; none where only the presence of people is counted."""
        assert self.person is not None
        if all(isinstance(measure, CountPeople) for measure in self.measures):
            return None
        return self.person.rows()

    def _contributions(self, extra: frozenset[str]) -> str:
        """Keys and what each row contributes to each measure, before any grouping."""
        dialect, rows = self.engine.dialect, self.question.rows
        items, used = [], frozenset[str]()
        number = 0
        for block in self.question.keys.blocks:
            for expression in block.expressions:
                read = self._key(block, expression)
                items.append(f"{dialect.render(read)} AS k{number}")
                used |= columns(read)
                number += 1
        for place, measure in enumerate(self.measures):
            content = self._content(measure)
            if content is not None:
                text, needed = content
                items.append(f"{text} AS c{place}")
                used |= needed
        if extra and rows.owner is not None:
            items.append(f"{dialect.identifier(rows.owner)} AS o")
            used |= {rows.owner}
        inside = self.compiler.text(rows, used)
        return f"SELECT {', '.join(items) or '1 AS one'} FROM ({inside}) AS q"

    def _key(self, block: Block, expression: Expression) -> Expression:
        """A plain category is read as stored: other values have no key to meet."""
        found = self._found(expression)
        if found is None:
            return expression
        scan, field = found
        if (
            scan.private
            and isinstance(field.declaration, Category)
            and not _nulls(block)
            and self.engine.dialect.kind_of(field.stored) is field.facts.kind
            and self.engine.dialect.compares(field.stored)
        ):
            return Column(scan.stored(field.name), expression.facts)
        return expression

    def _found(self, expression: Expression) -> tuple[Scan, Field] | None:
        """The table and field of a plain column."""
        # Rows that were ranked by their content hold cleaned columns alone.
        if not isinstance(expression, Column) or limits_people(self.question.rows):
            return None
        return field_of(expression.name, self.question.rows)

    def _content(self, measure: Measure) -> tuple[str, frozenset[str]] | None:
        """What a row brings to a measure, as text, and the columns it reads."""
        dialect = self.engine.dialect
        match measure:
            case CountPeople() | CountRows(None):
                return None
            case CountRows(argument) if argument is not None:
                text = dialect.render(argument)
                return f"CASE WHEN {text} IS NULL THEN NULL ELSE 1 END", columns(argument)
            case CountValues(argument):
                return dialect.render(argument), columns(argument)
            case Total():
                return self._steps(measure)
            case Ranks(argument, low, step, size):
                facts = Facts(Kind.WHOLE, 0, size - 1, None, declared=True)
                nearest: Expression = Call(SUBTRACT, (self._held(argument), Literal(low)))
                if step != 1 or argument.facts.kind is not Kind.WHOLE:
                    scaled = Call(DIVIDE, (nearest, Literal(step)))
                    nearest = Call(FLOOR, (Call(ADD, (scaled, Literal(0.5))),))
                text = dialect.render(Call(cast(Kind.WHOLE), (nearest,)))
                return dialect.clean_number(text, facts), columns(argument)
        raise TypeError(type(measure).__name__)

    def _held(self, argument: Expression) -> Expression:
        """A whole number inside its interval, so that no difference from it can overflow."""
        facts = argument.facts
        if facts.kind is not Kind.WHOLE or self._found(argument) is not None:
            return argument
        low, high = Literal(facts.low), Literal(facts.high)
        return Case(
            ((Call(LESS, (argument, low)), low), (Call(GREATER, (argument, high)), high)), argument
        )

    def _steps(self, total: Total) -> tuple[str, frozenset[str]]:
        """Whole steps within ``total.steps()``, whatever the argument holds: the last clamp."""
        dialect, argument = self.engine.dialect, total.argument
        found = self._found(argument)
        if total.whole:
            text = dialect.render(argument)
            if found is None or not _within(found[1].facts, total):
                text = dialect.clean_number(text, total.facts)
            used = columns(argument)
        else:
            read = argument
            if (
                found is not None
                and isinstance(found[1].declaration, Number)
                and dialect.adds(found[1].stored)
            ):
                read = Column(found[0].stored(found[1].name), argument.facts)
            text = dialect.steps(dialect.render(read), total.facts, total.exponent)
            used = columns(read)
        centre = total.centre_steps()
        text = f"({text}) - ({centre})" if centre else text
        if self.person is not None and total.steps() < _NARROW:
            # Bounding sorts by contributions; narrow ones sort faster.
            text = f"CAST({text} AS INTEGER)"
        return text, used

    def _sum(self, number: int, measure: Measure) -> str:
        match measure:
            case CountRows(None):
                text = "COUNT(*)"
            case CountRows():
                text = f"COUNT(c{number})"
            case CountPeople():
                text = "COUNT(DISTINCT o)"
            case CountValues():
                text = f"COUNT(DISTINCT c{number})"
                if measure.most is not None:
                    text = f"LEAST({text}, {measure.most})"
            case _:
                text = self.engine.dialect.wide_sum(f"c{number}")
        return f"{text} AS m{number}"

    def _cells(self, rows: str) -> tuple[str, str, list[str]]:
        """The number of a row's cell, with the joins and conditions that find it."""
        number, terms, joins, conditions = 0, ["CAST(0 AS BIGINT)"], "", []
        strides = self.question.keys.strides()
        for place, (block, stride) in enumerate(
            zip(self.question.keys.blocks, strides, strict=True)
        ):
            names = [f"{rows}.k{number + i}" for i in range(len(block.expressions))]
            number += len(names)
            first = _consecutive(block)
            if first is not None:
                last = first + len(block.entries) - 1
                conditions.append(f"{names[0]} BETWEEN {first} AND {last}")
                terms.append(f"(CAST({names[0]} AS BIGINT) - ({first})) * {stride}")
                continue
            kinds = [expression.facts.kind for expression in block.expressions]
            table = self.engine.keys(block.entries, kinds)
            nulls, same = _nulls(block), self.engine.dialect.same
            on = " AND ".join(
                same(name, f"b{place}.v{i}", kind) if nulls else f"{name} = b{place}.v{i}"
                for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
            )
            joins += f" JOIN {table} AS b{place} ON {on}"
            terms.append(f"b{place}.code * {stride}")
        return " + ".join(terms), joins, conditions

    def _spread(self, cell: NDArray[np.int64], found: NDArray[Any]) -> NDArray[Any]:
        """Found values at their cells, zero elsewhere."""
        cells: NDArray[Any] = np.zeros(self.question.keys.cells, dtype=found.dtype)
        np.add.at(cells, cell, found)
        return cells


def bounded(
    inside: str,
    contents: Sequence[Content],
    person: Person,
    *,
    who: Identifier,
    cells: int,
    compiler: Compiler,
    rows: int | None,
    groups: int | None,
) -> str:
    """At most G cells, R rows and m rows in a cell for each person ``o``, by salted content.

    One sort serves all windows: hash of the cell, the cell, hash of the content, the content.
    """
    dialect, salt = compiler.dialect, compiler.salt
    inner = "*"
    order_cells, order_rows = [], [content.text for content in contents]
    if cells > 1:
        inner += f", {dialect.shuffle([who, Content('cell', Kind.WHOLE)], salt)} AS h"
        order_cells = ["h", "cell"]
    if contents:
        inner += f", {dialect.shuffle([who, *contents], salt)} AS hv"
        order_rows = ["hv", *order_rows]
    source = f"SELECT {inner} FROM ({inside}) AS q"
    most = None if rows is None else min(person.max_rows_per_group or rows, rows)
    if rows is not None and most is not None and (cells == 1 or most < rows):
        # First and by itself: equal rows may change places between two rankings, not within one.
        by = "o, cell" if cells > 1 else "o"
        order = ordered(order_rows) or "1"
        source = (
            f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY {order}) AS j "
            f"FROM ({source}) AS q) AS q WHERE j <= {most}"
        )
    windows, kept = [], []
    if cells > 1 and groups is not None and groups < cells:
        windows.append(f"dense_rank() OVER (PARTITION BY o ORDER BY {ordered(order_cells)}) AS g")
        kept.append(f"g <= {groups}")
    if cells > 1 and rows is not None:
        order = ordered([*order_cells, *order_rows])
        windows.append(f"row_number() OVER (PARTITION BY o ORDER BY {order}) AS k")
        kept.append(f"k <= {rows}")
    if not windows:
        return source
    return (
        f"SELECT * FROM (SELECT *, {', '.join(windows)} FROM ({source}) AS q) AS q "
        f"WHERE {' AND '.join(kept)}"
    )


def _joined(high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers from their halves: 64-bit while they fit with room to spare, else exact."""
    if high.size == 0 or bool(((high == 0) | (high == -1)).all()):
        return (high << 62) + low
    exact: NDArray[Any] = high.astype(object) * _HALF + low.astype(object)
    return exact


def _within(facts: Facts, total: Total) -> bool:
    """Whether the scan itself clamped a column to bounds inside those of a total."""
    low, high = limits(facts)
    return bool(facts.kind is Kind.WHOLE and total.low <= low and high <= total.high)


def _consecutive(block: Block) -> int | None:
    """The first of whole keys without gaps, which need no table."""
    values = [entry[0] for entry in block.entries]
    if len(block.expressions) != 1 or any(type(value) is not int for value in values):
        return None
    first = values[0]
    assert isinstance(first, int)
    return first if values == list(range(first, first + len(values))) else None


def _nulls(block: Block) -> bool:
    return any(value is None for entry in block.entries for value in entry)
