"""What each row brings to each measure, and to which cell: the text before any grouping.

Each contribution is clamped here, whatever the column holds and whatever is said about it, to what
was paid for. Keys that were not declared are dropped, so that they use up nobody's share.

Source: contract, "Numbers", "Columns". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

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
from discreet.relational.compile.stored_categories import stored_category
from discreet.relational.execute.cell_numbers import (
    CellNumbers,
    Code,
    KeyTable,
    always_met,
)
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
from discreet.relational.schema.declarations import Number
from discreet.relational.types.column_domain import ColumnDomain, limits
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, columns

_NARROW = 1 << 31
_CLAMPED = (Total, ValuesTotal, Ranks)


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
        keys = [f"{text} AS k{number}" for number, text in enumerate(self._keys)]
        rows_by = [
            f"{self.compiler.dialect.identifier(column)} AS r{place}"
            for place, column in enumerate(self._row_columns())
        ]
        items = [*keys, *self._contributed, *self._owner, *rows_by]
        return f"SELECT {', '.join(items) or '1 AS one'} FROM ({self._inside}) AS q"

    @property
    def keys_plain(self) -> bool:
        """Whether all keys are columns of the rows; what is computed is written once, and named."""
        return all(isinstance(key, Column) for key in self._read_keys)

    def content(self, number: int) -> str:
        """What a row contributes to a measure, in a SELECT from the rows themselves."""
        return self._contents[number][0] if number in self._contents else ""

    def grouped(self, sums: Sequence[str]) -> str:
        """A SELECT of plain keys and of sums, by the keys."""
        by = f" GROUP BY {', '.join(self._keys)}" if self._keys else ""
        keys = [f"{text} AS k{number}" for number, text in enumerate(self._keys)]
        return f"SELECT {', '.join([*keys, *sums])} FROM ({self._inside}) AS q{by}"

    def placed(self, code: Code) -> str:
        """A SELECT of the owner, the number of the cell or NULL, and contributions."""
        names, owner, contributed = self._keys, self._owner, self._contributed
        source = f"({self._inside}) AS q"
        if not self.keys_plain:
            names = [f"a.k{number}" for number in range(len(names))]
            owner = ["o"] if owner else []
            contributed = [content.text for content in self.contents()]
            source = f"({self.text()}) AS a"
        dialect = self.compiler.dialect
        cells = CellNumbers.of(self.keys, names, self.key_table, dialect, code)
        number = dialect.cell(cells.or_null, self.keys.cells)
        items = [*owner, f"{number} AS cell", *contributed]
        return f"SELECT {', '.join(items)} FROM {source}{cells.joins}"

    @cached_property
    def _keys(self) -> list[str]:
        """The texts of the keys, in the order of the blocks."""
        return [self.compiler.dialect.render(key) for key in self._read_keys]

    @cached_property
    def _read_keys(self) -> list[Expression]:
        return [
            self._key(block, expression)
            for block in self.keys.blocks
            for expression in block.expressions
        ]

    @cached_property
    def _contents(self) -> dict[int, tuple[str, frozenset[str]]]:
        """What a row brings to each measure, as text, and the columns it reads."""
        found = {
            number: self._content(self._use_named_argument(measure))
            for number, measure in enumerate(self.measures)
        }
        return {number: content for number, content in found.items() if content is not None}

    @cached_property
    def _computed(self) -> dict[Expression, Column]:
        """Arguments that are computed and then clamped: written once, under a name."""
        computed = dict.fromkeys(
            measure.argument
            for measure in self.measures
            if isinstance(measure, _CLAMPED) and isinstance(measure.argument, Call | Case)
        )
        return {each: Column(f"e{n}", each.domain) for n, each in enumerate(computed)}

    def _use_named_argument(self, measure: Measure) -> Measure:
        """The measure of a named argument; what is said about it is not believed any more."""
        if isinstance(measure, CountPeople) or measure.argument not in self._computed:
            return measure
        return replace(measure, argument=self._computed[measure.argument])

    @property
    def _contributed(self) -> list[str]:
        return [f"{text} AS c{number}" for number, (text, _) in self._contents.items()]

    @property
    def _owner(self) -> list[str]:
        owner = self.rows.privacy_id if self.owned else None
        return [] if owner is None else [f"{self.compiler.dialect.identifier(owner)} AS o"]

    @cached_property
    def _inside(self) -> str:
        """The rows, with all columns that are read of them."""
        used = frozenset().union(
            *(columns(key) for key in self._read_keys),
            *(read for _, read in self._contents.values()),
            *map(columns, self._computed),
            self._row_columns(),
        )
        used -= {column.name for column in self._computed.values()}
        if self.owned and self.rows.privacy_id is not None:
            used |= {self.rows.privacy_id}
        inside = self.compiler.text(self.rows, used)
        if not self._computed:
            return inside
        render = self.compiler.dialect.render
        named = ", ".join(f"{render(each)} AS {as_.name}" for each, as_ in self._computed.items())
        return f"SELECT q.*, {named} FROM ({inside}) AS q"

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
            if n in self._contents
        ]

    def cells(self, rows: str, code: Code = always_met) -> CellNumbers:
        """How the number of a row's cell is found."""
        names = [f"{rows}.k{number}" for number in range(len(self._keys))]
        return CellNumbers.of(self.keys, names, self.key_table, self.compiler.dialect, code)

    def _key(self, block: Block, expression: Expression) -> Expression:
        """A plain category is read as stored: other values have no key to meet."""
        if block.has_null:
            return expression
        return stored_category(expression, self.rows, self.compiler.dialect) or expression

    def _find_field_of_column(self, expression: Expression) -> tuple[Scan, Field] | None:
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
                nearest: Expression = Call(
                    SUBTRACT, (self._clamp_whole_number(argument), Literal(low))
                )
                if step != 1 or argument.domain.kind is not DataType.INTEGER:
                    scaled = Call(DIVIDE, (nearest, Literal(step)))
                    nearest = Call(FLOOR, (Call(ADD, (scaled, Literal(0.5))),))
                text = dialect.render(Call(cast(DataType.INTEGER), (nearest,)))
                return dialect.clean_number(text, domain), columns(argument)
        raise TypeError(type(measure).__name__)

    def _clamp_whole_number(self, argument: Expression) -> Expression:
        """A whole number inside its interval, so that no difference from it can overflow."""
        domain = argument.domain
        if domain.kind is not DataType.INTEGER or self._find_field_of_column(argument) is not None:
            return argument
        low, high = Literal(domain.low), Literal(domain.high)
        return Case(
            ((Call(LESS, (argument, low)), low), (Call(GREATER, (argument, high)), high)), argument
        )

    def _steps(self, total: Total) -> tuple[str, frozenset[str]]:
        """Whole steps within ``total.steps()``, whatever the argument holds: the last clamp."""
        dialect, argument = self.compiler.dialect, total.argument
        found = self._find_field_of_column(argument)
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
