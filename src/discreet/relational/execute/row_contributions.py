"""What each row brings to each measure, and to which cell: the text before any grouping.

Each contribution is clamped here, whatever the column holds and whatever is said about it, to what
was paid for. Keys that were not declared are dropped, so that they use up nobody's share.

Source: contract, "Numbers", "Columns". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Measure,
    Ranks,
    Total,
    ValuesTotal,
)
from discreet.relational.bounding.hashing import Content
from discreet.relational.compile.compiler import Compiler
from discreet.relational.functions.arithmetic import ADD, DIVIDE, SUBTRACT
from discreet.relational.functions.casts import cast
from discreet.relational.functions.comparison import GREATER, LESS
from discreet.relational.functions.rounding import FLOOR
from discreet.relational.plan.keys import Block, DiscoveredKeys, KeySet
from discreet.relational.plan.nodes import (
    DerivedField,
    Field,
    PlanNode,
    Scan,
    field_of,
    row_columns,
)
from discreet.relational.schema.declarations import Category, Number
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, columns

_NARROW = 1 << 31

KeyTable = Callable[[Sequence[tuple[object, ...]], Sequence[DataType]], str]
"""The name of a table of public keys in the engine."""


@dataclass(frozen=True)
class RowContributions:
    """Rows, the keys they fall under, and measures. ``owned`` says that people are bounded.

    ``told_apart`` says that some of a person's rows are chosen, by what tells them apart.
    """

    rows: PlanNode
    keys: KeySet | DiscoveredKeys
    measures: tuple[Measure, ...]
    compiler: Compiler
    key_table: KeyTable
    owned: bool
    told_apart: bool = False

    def text(self) -> str:
        """A SELECT of keys and of what each row contributes to each measure, before any grouping.

        Keys are ``k0``, ``k1``, ...; contributions ``c0``, ``c1``, ...; the owner, if any, ``o``;
        columns that tell rows apart ``r0``, ``r1``, ...
        """
        dialect, rows = self.compiler.dialect, self.rows
        items, used = [], frozenset[str]()
        number = 0
        for block in self.keys.blocks:
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
        if self.owned and rows.privacy_id is not None:
            items.append(f"{dialect.identifier(rows.privacy_id)} AS o")
            used |= {rows.privacy_id}
        for place, column in enumerate(self._row_columns()):
            items.append(f"{dialect.identifier(column)} AS r{place}")
            used |= {column}
        inside = self.compiler.text(rows, used)
        return f"SELECT {', '.join(items) or '1 AS one'} FROM ({inside}) AS q"

    def rows_by(self) -> list[Content]:
        """What the owner says tells a person's rows apart."""
        return [Content(f"r{n}", kind) for n, kind in enumerate(self._row_columns().values())]

    def _row_columns(self) -> dict[str, DataType]:
        return row_columns(self.rows) if self.told_apart else {}

    def contents(self) -> list[Content]:
        """What rows contribute, as bounding orders by it."""
        return [
            Content(
                f"c{n}", m.argument.domain.kind if isinstance(m, CountValues) else DataType.INTEGER
            )
            for n, m in enumerate(self.measures)
            if self._content(m) is not None
        ]

    def cells(self, rows: str) -> tuple[str, str, list[str]]:
        """The number of a row's cell, with the joins and conditions that find it."""
        number, terms, joins, conditions = 0, ["CAST(0 AS BIGINT)"], "", []
        strides = self.keys.strides()
        for place, (block, stride) in enumerate(zip(self.keys.blocks, strides, strict=True)):
            names = [f"{rows}.k{number + i}" for i in range(len(block.expressions))]
            number += len(names)
            first = _consecutive(block)
            if first is not None:
                last = first + len(block.entries) - 1
                conditions.append(f"{names[0]} BETWEEN {first} AND {last}")
                terms.append(f"(CAST({names[0]} AS BIGINT) - ({first})) * {stride}")
                continue
            kinds = [expression.domain.kind for expression in block.expressions]
            table = self.key_table(block.entries, kinds)
            nulls, same = _nulls(block), self.compiler.dialect.same
            on = " AND ".join(
                same(name, f"b{place}.v{i}", kind) if nulls else f"{name} = b{place}.v{i}"
                for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
            )
            joins += f" JOIN {table} AS b{place} ON {on}"
            terms.append(f"b{place}.code * {stride}")
        return " + ".join(terms), joins, conditions

    def _key(self, block: Block, expression: Expression) -> Expression:
        """A plain category is read as stored: other values have no key to meet."""
        found = self._found(expression)
        if found is None:
            return expression
        scan, field = found
        if (
            scan.private
            and not isinstance(field, DerivedField)
            and isinstance(field.declaration, Category)
            and not _nulls(block)
            and self.compiler.dialect.kind_of(field.stored) is field.domain.kind
            and self.compiler.dialect.compares(field.stored)
        ):
            return Column(scan.stored(field.name), expression.domain)
        return expression

    def _found(self, expression: Expression) -> tuple[Scan, Field] | None:
        """The table and field of a plain column."""
        if not isinstance(expression, Column) or not self.rows.as_stored:
            return None
        return field_of(expression.name, self.rows)

    def _content(self, measure: Measure) -> tuple[str, frozenset[str]] | None:
        """What a row brings to a measure, as text, and the columns it reads."""
        dialect = self.compiler.dialect
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
            case ValuesTotal(argument, centre=centre):
                text = dialect.clean_number(dialect.render(argument), measure.domain)
                return f"({text}) - ({centre})", columns(argument)
            case Ranks(argument, low, step, size):
                domain = ColumnDomain(DataType.INTEGER, 0, size - 1, None, declared=True)
                nearest: Expression = Call(SUBTRACT, (self._held(argument), Literal(low)))
                if step != 1 or argument.domain.kind is not DataType.INTEGER:
                    scaled = Call(DIVIDE, (nearest, Literal(step)))
                    nearest = Call(FLOOR, (Call(ADD, (scaled, Literal(0.5))),))
                text = dialect.render(Call(cast(DataType.INTEGER), (nearest,)))
                return dialect.clean_number(text, domain), columns(argument)
        raise TypeError(type(measure).__name__)

    def _held(self, argument: Expression) -> Expression:
        """A whole number inside its interval, so that no difference from it can overflow."""
        domain = argument.domain
        if domain.kind is not DataType.INTEGER or self._found(argument) is not None:
            return argument
        low, high = Literal(domain.low), Literal(domain.high)
        return Case(
            ((Call(LESS, (argument, low)), low), (Call(GREATER, (argument, high)), high)), argument
        )

    def _steps(self, total: Total) -> tuple[str, frozenset[str]]:
        """Whole steps within ``total.steps()``, whatever the argument holds: the last clamp."""
        dialect, argument = self.compiler.dialect, total.argument
        found = self._found(argument)
        if total.whole:
            text = dialect.render(argument)
            if found is None or not _within(found[1].domain, total):
                text = dialect.clean_number(text, total.domain)
            used = columns(argument)
        else:
            read = argument
            if (
                found is not None
                and not isinstance(found[1], DerivedField)
                and isinstance(found[1].declaration, Number)
                and dialect.adds(found[1].stored)
            ):
                read = Column(found[0].stored(found[1].name), argument.domain)
            text = dialect.steps(dialect.render(read), total.domain, total.exponent)
            used = columns(read)
        centre = total.centre_steps()
        text = f"({text}) - ({centre})" if centre else text
        if self.owned and total.steps() < _NARROW:
            # Bounding sorts by contributions; narrow ones sort faster.
            text = f"CAST({text} AS INTEGER)"
        return text, used


def _within(domain: ColumnDomain, total: Total) -> bool:
    """Whether the scan itself clamped a column to bounds inside those of a total."""
    low, high = limits(domain)
    return bool(domain.kind is DataType.INTEGER and total.low <= low and high <= total.high)


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
