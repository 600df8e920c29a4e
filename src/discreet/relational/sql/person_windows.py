"""Windows inside FROM (...): ``ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day)``.

The person's identifier must be among PARTITION BY: a window over rows of several people would mix
them before noise. What a window reads is bounded by person first, as features are.

Source: contract, "Units and neighbours", "Bounding inside the engine". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.functions.logic import NOT
from discreet.relational.functions.signature import common_kind
from discreet.relational.limits.resources import require_aggregates
from discreet.relational.plan.features import (
    Added,
    Averaged,
    CountedRows,
    Feature,
    Greatest,
    Least,
)
from discreet.relational.plan.nodes import Filtered, Output, PlanNode, identifies
from discreet.relational.plan.person_windows import (
    LastRow,
    NeighbourRow,
    NumberedRow,
    Numbering,
    OuterRow,
    PersonWindow,
    RunningFeature,
    Windowed,
    WindowOrder,
)
from discreet.relational.sql.aggregate_calls import title
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.features import row_limit
from discreet.relational.sql.person_subqueries import is_hidden
from discreet.relational.sql.reading import copied
from discreet.relational.sql.relation import SQLRelation, Visible, unsupported
from discreet.relational.types.column_domain import require_bounds
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

_FARTHEST = 1_000
_NUMBERINGS = {
    exp.RowNumber: Numbering.ROW_NUMBER,
    exp.Rank: Numbering.RANK,
    exp.DenseRank: Numbering.DENSE_RANK,
}
_WRITE = (
    "Use ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, LAST_VALUE, COUNT, SUM, AVG, MIN or "
    "MAX, OVER (PARTITION BY the person ORDER BY day)."
)


def has_windows(select: exp.Select) -> bool:
    """Whether a query computes windows over the rows that it selects."""
    parts = [*select.expressions, select.args.get("qualify")]
    return any(part is not None and part.find(exp.Window) is not None for part in parts)


def windows_from(
    select: exp.Select, below: SQLRelation, catalog: Catalog, prefix: Callable[[str], str]
) -> SQLRelation:
    """The rows of an inner query with windows: bounded by person, each with its windows."""
    if select.args.get("distinct"):
        raise unsupported(
            construct="DISTINCT beside a window", remedy="Put DISTINCT into a query around it."
        )
    if below.rows.privacy_id is None:
        raise unsupported(
            construct="a window over rows that have no person",
            remedy="Windows are computed within one person's rows, before DISTINCT or a join on "
            "another key, and under dp.Person(...).",
        )
    made = _Windows(below, row_limit(catalog, below), prefix("bounded"), prefix("window"))
    columns = tuple(made.visible(item) for item in _items(select, below))
    qualify = select.args.get("qualify")
    condition = (
        None if qualify is None else made.expression(_resolve_window_names(qualify.this, select))
    )
    rows: PlanNode = made.rows()
    if condition is not None:
        if condition.domain.kind is not DataType.BOOLEAN:
            raise InvalidParameter(
                code="type_clash",
                expectation="a condition in QUALIFY",
                received=condition.domain.kind.name,
                remedy="Compare something: QUALIFY ROW_NUMBER() OVER (...) = 1.",
            )
        rows = Filtered(rows, condition)
    return SQLRelation(rows, columns)


@dataclass
class _Windows:
    """Collects the windows of one query, and the columns they and the query read."""

    below: SQLRelation
    limit: int
    bounded: str
    prefix: str
    content: list[Expression] = field(default_factory=list)
    found: list[PersonWindow] = field(default_factory=list)

    def rows(self) -> Windowed:
        """A person's rows bounded by what is read of them, then the windows."""
        outputs = tuple(Output(self._column(i).name, e.domain) for i, e in enumerate(self.content))
        named = next((e for e in self.content if self._is_person(e)), None)
        return Windowed(
            self.prefix,
            Bounded(self.bounded, self.below.rows, self.limit, tuple(self.content), outputs),
            None if named is None else self.ensure_value_column(named),
            tuple(self.found),
            tuple(
                Output(f"{self.prefix}.{place}", window.domain(self.limit))
                for place, window in enumerate(self.found)
            ),
        )

    def visible(self, item: exp.Expression) -> Visible:
        """A column of the query, by its name."""
        node = item.this if isinstance(item, exp.Alias) else item
        named = isinstance(item, exp.Alias | exp.Column)
        if not named:
            raise InvalidParameter(
                code="column_without_name",
                expectation="a name for every computed column of an inner query",
                remedy="Add AS name.",
            )
        return Visible("", item.alias_or_name, self.expression(node))

    def expression(self, node: exp.Expression) -> Expression:
        """An expression over the rows and their windows."""
        windows: dict[str, Column] = {}

        def replaced(part: exp.Expression) -> exp.Expression:
            if not isinstance(part, exp.Window):
                return part
            name = f"window {len(windows)}"
            windows[name] = self._window(part)
            return exp.column(exp.to_identifier(name, quoted=True), table="!window")

        def resolve(column: exp.Column) -> Expression:
            if column.table == "!window":
                return windows[column.name]
            return self.ensure_value_column(self.below.resolve(column))

        return expression_from(copied(node).transform(replaced, copy=False), resolve)

    def ensure_value_column(self, value: Expression) -> Column:
        """The column of the bounded rows that holds a value."""
        if value not in self.content:
            self.content.append(value)
        return self._column(self.content.index(value))

    def _column(self, place: int) -> Column:
        return Column(f"{self.bounded}.{place}", self.content[place].domain)

    def _is_person(self, value: Expression) -> bool:
        return isinstance(value, Column) and identifies(value.name, self.below.rows)

    def _window(self, node: exp.Window) -> Column:
        made = self._translate_window(node)
        if made not in self.found:
            self.found.append(made)
            require_aggregates(len(self.found))
        return Column(f"{self.prefix}.{self.found.index(made)}", made.domain(self.limit))

    def _translate_window(self, node: exp.Window) -> PersonWindow:
        node.args.get("over")  # the word itself
        for name, value in node.args.items():
            if value and name not in ("this", "partition_by", "order", "spec", "over"):
                raise unsupported(construct=f"a window with {name.upper()}", remedy=_WRITE)
        within, order = self._within(node), self._order(node)
        call, spec = node.this, node.args.get("spec")
        if type(call) in _NUMBERINGS:
            _require_plain(call, spec, order)
            return NumberedRow(within, order, _NUMBERINGS[type(call)])
        if isinstance(call, exp.Lag | exp.Lead):
            _require_plain(call, spec, order)
            return self._neighbour(call, within, order)
        if isinstance(call, exp.FirstValue | exp.LastValue):
            _require_plain(call, None, order)
            return self._outer(call, spec, within, order)
        return RunningFeature(within, order, self._feature(call), _before(spec, order))

    def _within(self, node: exp.Window) -> tuple[Column, ...]:
        """What rows have in common beside the person, who must be among it."""
        given = node.args.get("partition_by") or []
        values = [expression_from(part, self.below.resolve) for part in given]
        if not any(self._is_person(value) for value in values):
            raise unsupported(
                construct="a window that is not PARTITION BY the person",
                remedy="Inside FROM (...) a window sees the rows of one person: PARTITION BY the "
                "identifier, alone or with other columns. Windows over the answer stand at the "
                "top.",
            )
        return tuple(
            self.ensure_value_column(value) for value in values if not self._is_person(value)
        )

    def _order(self, node: exp.Window) -> tuple[WindowOrder, ...]:
        given = node.args.get("order")
        terms = []
        for term in () if given is None else given.expressions:
            value = expression_from(term.this, self.below.resolve)
            if not value.domain.kind.has_bounds or term.args.get("nulls_first"):
                raise unsupported(
                    construct="a window ordered by text or truth values, or NULLS FIRST",
                    remedy="Order by numbers, days or moments; NULL is last.",
                )
            terms.append(WindowOrder(self.ensure_value_column(value), bool(term.args.get("desc"))))
        return tuple(terms)

    def _neighbour(
        self, call: exp.Lag | exp.Lead, within: tuple[Column, ...], order: tuple[WindowOrder, ...]
    ) -> PersonWindow:
        argument = self._value(call.this)
        distance, default = call.args.get("offset"), call.args.get("default")
        places = 1
        if distance is not None:
            whole = isinstance(distance, exp.Literal) and distance.is_int
            places = int(distance.name) if whole else -1
        otherwise = (
            Literal(None, argument.domain.kind)
            if default is None
            else expression_from(default, self.below.resolve)
        )
        kind = common_kind(title(call), [argument.domain, otherwise.domain])
        if not isinstance(otherwise, Literal) or kind is not argument.domain.kind:
            raise unsupported(
                construct=f"{title(call)} with a default that is no constant of its kind",
                remedy="Write a constant of the kind of the column, or coalesce() around it.",
            )
        if not 0 <= places <= _FARTHEST:
            raise unsupported(
                construct=f"{title(call)} without a whole number of rows",
                remedy=f"Write {title(call)}(x, 1), and at most {_FARTHEST} rows.",
            )
        if otherwise.domain.kind is not kind:
            otherwise = Literal(float(str(otherwise.value)))  # a whole constant beside reals
        sign = 1 if isinstance(call, exp.Lag) else -1
        return NeighbourRow(within, order, argument, sign * places, otherwise)

    def _outer(
        self,
        call: exp.Expression,
        spec: exp.Expression | None,
        within: tuple[Column, ...],
        order: tuple[WindowOrder, ...],
    ) -> PersonWindow:
        argument = self._value(call.this)
        whole = spec is None or _frame(spec)[1:] == ("UNBOUNDED", "UNBOUNDED")
        first = isinstance(call, exp.FirstValue)
        if not whole or (not first and spec is None):
            raise unsupported(
                construct=f"{title(call)} over a part of the rows",
                remedy="Write ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING: without "
                "it the last row is the row itself.",
            )
        made = OuterRow if first else LastRow
        return made(within, order, argument)

    def _feature(self, call: exp.Expression) -> Feature:
        if isinstance(call, exp.Count):
            if isinstance(call.this, exp.Star) or call.this is None:
                return CountedRows(None)
            if not isinstance(call.this, exp.Distinct) and not call.expressions:
                return CountedRows(self._value(call.this))
        inside = call.this if isinstance(call, exp.AggFunc) else None
        if inside is None or isinstance(inside, exp.Distinct) or call.expressions:
            raise unsupported(construct=f"{title(call)} as a window", remedy=_WRITE)
        if isinstance(call, exp.Sum | exp.Avg):
            value = expression_from(inside, self.below.resolve)
            if value.domain.kind is DataType.BOOLEAN:
                value = Case(
                    ((value, Literal(1)), (Call(NOT, (value,)), Literal(0))), Literal(None)
                )
            if not value.domain.kind.is_number:
                raise unsupported(
                    construct=f"{title(call)} of what is no number", remedy="Add up numbers."
                )
            require_bounds(value.domain, inside.sql())
            return (Added if isinstance(call, exp.Sum) else Averaged)(
                self.ensure_value_column(value)
            )
        if isinstance(call, exp.Min | exp.Max):
            argument = self._value(inside)
            if argument.domain.kind.has_bounds:
                return (Least if isinstance(call, exp.Min) else Greatest)(argument)
        raise unsupported(construct=f"{title(call)} as a window", remedy=_WRITE)

    def _value(self, node: exp.Expression) -> Column:
        return self.ensure_value_column(expression_from(node, self.below.resolve))


def _items(select: exp.Select, below: SQLRelation) -> list[exp.Expression]:
    """What is selected, with ``*`` written out and named windows in their places."""
    items: list[exp.Expression] = []
    for item in select.expressions:
        if not item.is_star:
            items.append(_resolve_window_names(item, select))
            continue
        wanted = item.table.lower() if isinstance(item, exp.Column) else ""
        given = item.args.items() if isinstance(item, exp.Star) else ()
        if any(value for _, value in given):
            raise unsupported(construct="* with EXCEPT or REPLACE", remedy="List the columns.")
        items += [
            exp.column(
                exp.to_identifier(column.name, quoted=True),
                table=exp.to_identifier(column.qualifier, quoted=True)
                if column.qualifier
                else None,
            )
            for column in below.columns
            if not is_hidden(column.qualifier)
            and (not wanted or column.qualifier.lower() == wanted)
        ]
    return items


def _resolve_window_names(node: exp.Expression, select: exp.Select) -> exp.Expression:
    """The node with ``OVER w`` as WINDOW w says; aliases of windows as what they stand for."""
    known = {each.name.lower(): each for each in select.args.get("windows") or ()}
    aliases = {
        item.alias.lower(): item.this
        for item in select.expressions
        if isinstance(item, exp.Alias) and item.find(exp.Window) is not None
    }

    def meant(part: exp.Expression) -> exp.Expression:
        if isinstance(part, exp.Column) and not part.table and part.name.lower() in aliases:
            found_alias: exp.Expression = aliases[part.name.lower()].copy()
            return found_alias
        if not isinstance(part, exp.Window) or not part.alias:
            return part
        found = known.get(part.alias.lower())
        if found is None:
            raise unsupported(
                construct=f"WINDOW {part.alias}", remedy="Name a window that is there."
            )
        made = copied(part)
        made.set("alias", None)
        for clause in ("partition_by", "order", "spec"):
            given = found.args.get(clause)
            if isinstance(given, list):
                made.set(clause, [copied(each) for each in given])
            elif given is not None:
                made.set(clause, copied(given))
        return made

    aliased = isinstance(node, exp.Alias)
    made: Any = copied(node.this if aliased else node).transform(meant, copy=False)
    shown: Any = exp.alias_(made, node.alias, quoted=True) if aliased else made
    return shown  # type: ignore[no-any-return]


def _require_plain(
    call: exp.Expression, spec: exp.Expression | None, order: tuple[WindowOrder, ...]
) -> None:
    if spec is not None or not order:
        raise unsupported(
            construct=f"{title(call)} without ORDER BY, or with a frame",
            remedy=f"Write {title(call)}(...) OVER (PARTITION BY the person ORDER BY day).",
        )


def _before(spec: exp.Expression | None, order: tuple[WindowOrder, ...]) -> int | None:
    """How many rows before the current one are in the frame."""
    if spec is None:
        return None
    kind, start, end = _frame(spec)
    if order and kind == "RANGE" and (start, end) == ("UNBOUNDED", "CURRENT ROW"):
        return None
    if order and kind == "ROWS" and end == "CURRENT ROW" and start == "UNBOUNDED":
        return -1
    if order and kind == "ROWS" and end == "CURRENT ROW" and start.isdigit():
        return min(int(start), _FARTHEST)
    raise unsupported(
        construct="a frame of another form",
        remedy="Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, or UNBOUNDED PRECEDING; without "
        "ORDER BY a window is about all of the person's rows.",
    )


def _frame(spec: exp.Expression) -> tuple[str, str, str]:
    """Kind, start and end of a frame: a number of rows, UNBOUNDED or CURRENT ROW."""
    if spec.args.get("exclude"):
        return "", "", ""
    sides = []
    for side, way in (("start", "PRECEDING"), ("end", "FOLLOWING")):
        value, said = spec.args.get(side), spec.args.get(f"{side}_side")
        text = value.name if isinstance(value, exp.Literal) else str(value or "CURRENT ROW")
        sides.append(text if text == "CURRENT ROW" or said == way else "")
    return str(spec.args.get("kind") or ""), sides[0], sides[1]
