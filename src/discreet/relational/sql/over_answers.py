"""From SQL over answers to tables of released values, and the queries that are paid for.

A SELECT with aggregates over private rows is an answer: a query of its own, translated as any
other. Whatever is around it reads released values only: outer aggregates, windows, joins and sets
of answers, subqueries of one number. Everything is rebuilt from an allow-list, as for private rows.

Source: contract, "What may be seen" (a release is a function of noisy values).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sqlglot import exp

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.aggregates.measures import CountRows, Total
from discreet.relational.limits.resources import require_aggregates
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import (
    Query,
    QueryOverAnswers,
)
from discreet.relational.post_processing.outer_aggregates import POOLED, OuterAggregate
from discreet.relational.post_processing.tables import (
    MAX_ROWS,
    Answer,
    AnswerColumn,
    ColumnRole,
    CombinedAnswers,
    GroupedAnswer,
    Joined,
    OneRow,
    Projected,
    PublicRowsTable,
    Sorting,
    TableNode,
    WindowedAnswer,
)
from discreet.relational.sql.answer_sizes import AnswerSizes, PublicWork, require_frames
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.outer_calls import outer_aggregate, window_call
from discreet.relational.sql.reading import rewritten, tried
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.released_columns import (
    arranged_table,
    condition_of,
    either_column,
    filtered_table,
    is_one_row,
    nulls_first,
    only_alias,
    output_column,
    place_of,
    shown_column,
    sign_of,
    using_condition,
)
from discreet.relational.sql.seen_table import Later, SeenTable
from discreet.relational.sql.split_select import SelectParts, has_aggregates, inside
from discreet.relational.sql.tree import take
from discreet.relational.sql.wording import part_words, shortened
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression

Scope = Mapping[str, Any]
Leaf = Callable[[exp.Select, Scope], Query]
PublicTable = tuple[list[AnswerColumn], list[tuple[object, ...]]]
Public = Callable[[exp.Expression, Scope], PublicTable | None]
"""The rows of an item of FROM, if it is about public tables alone."""
_CLAUSES = {
    *("expressions", "from_", "from", "joins", "where", "group", "having", "order", "limit"),
    *("offset", "distinct", "with_", "with", "qualify"),
}
_MOST_PARTS = 16
_MOST_TABLES = 300


def is_over_answers(statement: exp.Expression) -> bool:
    """Whether a statement has the form of a query over answers; none that nests too deep has."""
    scope: dict[str, Any] = {}
    if isinstance(statement, exp.SetOperation):
        return True
    if not isinstance(statement, exp.Select):
        return False
    try:
        return _is_released(statement, scope) and (
            not (statement.args.get("from_") or statement.args.get("from"))
            or any(_released_sources(statement, scope_of(statement, scope)))
            or _is_split(statement)
            or _compares_a_number(statement)
        )
    except RecursionError:
        return False


def query_over_answers(statement: exp.Expression, leaf: Leaf, public: Public) -> Query:
    """The queries that are paid for, as one, with what is computed from their answers."""
    composition = _Composition(leaf, public)
    table = composition.table(statement, {})
    if not composition.parts:
        raise InvalidParameter(
            code="no_aggregate",
            expectation="at least one aggregate over a private table",
            remedy="Ask for COUNT(*), SUM(x), AVG(x), MEDIAN(x) or the like.",
        )
    require_frames(table, composition.parts)
    names = [column.name for column in table.columns]
    if len(set(names)) != len(names):
        raise InvalidParameter(
            code="columns_not_distinct",
            expectation="a different name for each column of the answer",
            received=names,
            remedy="Rename with AS.",
        )
    first, *others = composition.parts
    return QueryOverAnswers(
        rows=first.rows,
        unit=first.unit,
        keys=first.keys,
        key_places=first.key_places,
        aggregates=first.aggregates,
        outputs=first.outputs,
        having=first.having,
        order=first.order,
        limit=first.limit,
        offset=first.offset,
        limits=first.limits,
        table=table,
        others=tuple(others),
    )


def scope_of(node: exp.Expression, scope: Scope) -> dict[str, Any]:
    """The scope with the common table expressions of a query added."""
    made = dict(scope)
    clause = node.args.get("with_") or node.args.get("with")
    if clause is None:
        return made
    if clause.args.get("recursive"):
        raise unsupported(construct="WITH RECURSIVE", remedy="Write the query without recursion.")
    for table in clause.expressions:
        if table.args["alias"].columns:
            raise unsupported(
                construct="column names in WITH", remedy="Name the columns with AS in the SELECT."
            )
        made[table.alias.lower()] = (table.this, dict(made))
    return made


def _sources(select: exp.Select) -> list[exp.Expression]:
    clause = select.args.get("from_") or select.args.get("from")
    joins = select.args.get("joins") or []
    return [] if clause is None else [clause.this, *(join.this for join in joins)]


def _released_sources(select: exp.Select, scope: Scope) -> list[bool]:
    return [_is_released_source(source, scope) for source in _sources(select)]


def _is_released_source(source: exp.Expression, scope: Scope) -> bool:
    if isinstance(source, exp.Subquery):
        return _is_released(source.this, scope)
    if isinstance(source, exp.Table) and not source.args.get("db"):
        found = scope.get(source.name.lower())
        return found is not None and _is_released(found[0], found[1])
    return False


def _is_released(node: exp.Expression, scope: Scope) -> bool:
    """Whether what a node gives are released values rather than rows."""
    take(node)
    if isinstance(node, exp.Subquery):
        return _is_released(node.this, scope)
    within = scope_of(node, scope)
    if isinstance(node, exp.SetOperation):
        return _is_released(node.this, within) or _is_released(node.expression, within)
    if not isinstance(node, exp.Select):
        return False
    sources = _released_sources(node, within)
    if not sources:
        return any(inside(part, exp.Subquery) for part in node.expressions)
    return any(sources) or has_aggregates(node)


def _is_split(select: exp.Select) -> bool:
    """Whether an answer over rows needs a second step."""
    group = select.args.get("group")
    several = group is not None and any(
        isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets) for part in group.expressions
    )
    later = [*select.expressions]
    later += [select.args[name] for name in ("having", "order") if select.args.get(name)]
    found = [node for part in later for node in inside(part, exp.Window, exp.Subquery)]
    return bool(several or found or select.args.get("distinct") or select.args.get("qualify"))


def _compares_a_number(select: exp.Select) -> bool:
    """Whether a condition of WHERE has a subquery in it, used as a number."""
    where = select.args.get("where")
    return where is not None and any(inside(where.this, exp.Subquery))


def public_answer(select: exp.Select, scope: Scope, public: Public, work: PublicWork) -> TableNode:
    """The table that a query with aggregates over public tables alone gives: nobody pays for it."""

    def nobody(_: exp.Select, __: Scope) -> Query:
        raise unsupported(
            construct="private rows among public ones", remedy="Aggregate them at the top."
        )

    return _Composition(nobody, public, public_work=work).over(select, scope_of(select, scope))


def _select(node: exp.Expression) -> exp.Select:
    assert isinstance(node, exp.Select)
    return node


@dataclass
class _Composition:
    """One statement being translated; collects the queries that are paid for."""

    leaf: Leaf
    public: Public
    parts: list[Query] = field(default_factory=list)
    tables: int = 0
    public_work: PublicWork | None = None
    """Where all tables are public, so that they are joined before anybody pays."""
    named: dict[int, tuple[exp.Expression, TableNode, int]] = field(default_factory=dict)
    """Named queries that were read, each with its table and the tables counted in it."""

    @cached_property
    def sizes(self) -> AnswerSizes:
        """How many rows its tables have."""
        return AnswerSizes(self.parts)

    def table(self, node: exp.Expression, scope: Scope) -> TableNode:
        """The table that a query gives."""
        take(node)
        if isinstance(node, exp.Subquery):
            only_alias(node)
            return self.table(node.this, scope)
        within = scope_of(node, scope)
        if isinstance(node, exp.SetOperation):
            return self._combined(node, within)
        if not isinstance(node, exp.Select):
            raise unsupported(construct=shortened(node), remedy="Only SELECT is answered.")
        for name, value in node.args.items():
            if name not in _CLAUSES and value:
                raise unsupported(construct=part_words(node, name), remedy="Leave it out.")
        released = _released_sources(node, within)
        if released and not any(released):
            if all(self._is_public(source, within) for source in _sources(node)):
                return self.over(node, within)
            return self._answer(node, scope, within)
        if released and has_aggregates(node):
            # What is inside may be features of people: then this is an answer over rows.
            paid, known = len(self.parts), dict(self.named)
            answer = tried(node, lambda: self._answer(node, scope, within))
            if answer is not None:
                return answer
            del self.parts[paid:]
            self.named = known
        return self.over(node, within)

    def _is_public(self, source: exp.Expression, scope: Scope) -> bool:
        try:
            return self.public(source, scope) is not None
        except DiscreetError:
            return False

    def _answer(self, select: exp.Select, scope: Scope, within: Scope) -> TableNode:
        """A query over private rows, which is paid for."""
        if not _is_split(select):
            return self._part(self.leaf(select, scope))
        split = SelectParts.of(select)
        later = Later.of(select, split)
        made = select.copy()
        for name in ("having", "order", "limit", "offset", "distinct", "qualify"):
            made.set(name, None)
        keys = [exp.alias_(key.copy(), f"k{place}") for place, key in enumerate(split.keys)]
        found = [exp.alias_(each.copy(), f"a{n}") for n, each in enumerate(split.aggregates)]
        made.set("expressions", [*keys, *found])
        group = exp.Group(expressions=[key.copy() for key in split.keys])
        made.set("group", group if split.keys else None)
        answer = self._part(self.leaf(_select(rewritten(made, select)), scope))
        table = self._subtotals(answer, split) if split.several else answer
        names = [("", column.name) for column in table.columns]
        return self._plain(later, SeenTable(table, names), within)

    def _subtotals(self, answer: Answer, split: SelectParts) -> GroupedAnswer:
        """Coarser cells, added up from the finest ones."""
        query = self.parts[answer.part]
        for aggregate in query.aggregates:
            pooled = all(isinstance(each, CountRows | Total) for each in aggregate.measures)
            if not pooled or len(aggregate.measures) > 2:
                raise unsupported(
                    construct="ROLLUP, CUBE or GROUPING SETS of this aggregate",
                    remedy="Counts of rows, sums and means add up; ask for others by GROUP BY.",
                )
        if not isinstance(query.keys, KeySet):
            raise unsupported(
                construct="ROLLUP, CUBE or GROUPING SETS over discovered keys",
                remedy="Declare the keys; totals of named keys would lack the others.",
            )
        keys = len(split.keys)
        flags = tuple(AnswerColumn(f"g{n}", DataType.INTEGER, ColumnRole.KEY) for n in range(keys))
        return GroupedAnswer(
            source=answer,
            keys=tuple(answer.columns[place].column(place) for place in range(keys)),
            sets=tuple(split.sets),
            aggregates=tuple(
                OuterAggregate(POOLED, answer.columns[place].column(place), None, distinct=False)
                for place in range(keys, len(answer.columns))
            ),
            columns=(*answer.columns[:keys], *flags, *answer.columns[keys:]),
        )

    def _part(self, query: Query) -> Answer:
        if isinstance(query.keys, KeySet) and query.keys.cells > MAX_ROWS:
            raise InvalidParameter(
                code="too_many_keys",
                expectation=f"at most {MAX_ROWS} cells in an answer that others are computed from",
                received=query.keys.cells,
                remedy="Group by fewer columns, or compute it from the answer.",
            )
        if query not in self.parts:
            self.parts.append(query)
        if len(self.parts) > _MOST_PARTS:
            raise unsupported(
                construct=f"more than {_MOST_PARTS} answers in one question",
                remedy="Ask fewer at a time.",
            )
        return Answer(
            self.parts.index(query), tuple(shown_column(query, output) for output in query.outputs)
        )

    def _combined(self, node: exp.SetOperation, scope: Scope) -> TableNode:
        left, right = self.table(node.this, scope), self.table(node.expression, scope)
        if len(left.columns) != len(right.columns):
            raise InvalidParameter(
                code="union_columns",
                expectation="as many columns on both sides",
                received=(len(left.columns), len(right.columns)),
                remedy="Select the same columns in the same order.",
            )
        made: TableNode = CombinedAnswers(
            kind=type(node).__name__.lower(),
            distinct=bool(node.args.get("distinct")),
            left=left,
            right=right,
            columns=tuple(map(either_column, left.columns, right.columns)),
        )
        seen = SeenTable(made, [("", column.name) for column in made.columns])
        order = self._order(node.args.get("order"), seen, lambda each: each)
        return arranged_table(seen.node, order, node, distinct=False)

    def over(self, select: exp.Select, scope: Scope) -> TableNode:
        """A query over released values."""
        seen = self._from(select, scope)
        where = select.args.get("where")
        if where is not None:
            self._scalars([where.this], seen, scope)
            condition = condition_of(expression_from(where.this, seen.resolve), "WHERE")
            seen.node = filtered_table(seen.node, condition)
        if not has_aggregates(select):
            return self._plain(Later.of(select, None, seen), seen, scope)
        split = SelectParts.of(select)
        later = Later.of(select, split)
        flags = tuple(
            AnswerColumn(f"g{n}", DataType.INTEGER, ColumnRole.KEY) for n in range(len(split.keys))
        )
        keys = tuple(expression_from(key, seen.resolve) for key in split.keys)
        found = [outer_aggregate(each, seen.resolve) for each in split.aggregates]
        node = GroupedAnswer(
            source=seen.node,
            keys=keys,
            sets=tuple(split.sets),
            aggregates=tuple(aggregate for aggregate, _ in found),
            columns=(
                *(
                    AnswerColumn(f"k{n}", key.domain.kind, ColumnRole.KEY)
                    for n, key in enumerate(keys)
                ),
                *flags,
                *(
                    AnswerColumn(f"a{n}", kind, ColumnRole.NUMBER)
                    for n, (_, kind) in enumerate(found)
                ),
            ),
        )
        return self._plain(
            later, SeenTable(node, [("", each.name) for each in node.columns]), scope
        )

    def _from(self, select: exp.Select, scope: Scope) -> SeenTable:
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            return SeenTable(OneRow(), [])
        seen = self._source(clause.this, scope)
        for join in select.args.get("joins") or []:
            seen = self._joined(seen, join, scope)
        return seen

    def _source(self, source: exp.Expression, scope: Scope) -> SeenTable:
        if not _is_released_source(source, scope):
            found = self.public(source, scope)
            if found is None:
                raise unsupported(
                    construct="an answer joined with rows",
                    remedy="Join answers with answers or public tables; join rows before "
                    "aggregating.",
                )
            columns, entries = found
            listed = PublicRowsTable(tuple(entries), tuple(columns))
            name = source.alias_or_name
            return SeenTable(listed, [(name, column.name) for column in columns])
        if isinstance(source, exp.Subquery):
            only_alias(source)
            table = self.table(source.this, scope)
        else:
            table = self._translate_named_query(*scope[source.name.lower()])
        return SeenTable(table, [(source.alias_or_name, column.name) for column in table.columns])

    def _translate_named_query(self, node: exp.Expression, scope: Scope) -> TableNode:
        """The table of a named query, which is translated once, however often it is named.

        Where a name stands decides nothing: a query means what it means where it is written. Tables
        in it count wherever it is named.
        """
        known = self.named.get(id(node))
        if known is not None:
            _, table, tables = known
            self._count_tables(tables)
            return table
        before = self.tables
        table = self.table(node, scope)
        self.named[id(node)] = (node, table, self.tables - before)  # which keeps the number its own
        return table

    def _count_tables(self, number: int = 1) -> None:
        """Refuse more tables beside each other than one question may have."""
        self.tables += number
        if self.tables > _MOST_TABLES:
            raise unsupported(
                construct=f"more than {_MOST_TABLES} answers and numbers beside each other",
                remedy="Common tables count wherever they are named; ask something shorter.",
            )

    def _joined(self, left: SeenTable, join: exp.Join, scope: Scope) -> SeenTable:
        self._count_tables()
        right = self._source(join.this, scope)
        side = " ".join(str(join.args.get(part) or "") for part in ("side", "kind")).strip()
        known = {"", "INNER", "LEFT", "LEFT OUTER", "CROSS"}
        allowed = {"this", "side", "kind", "on", "using"}
        if side.upper() not in known or any(v and k not in allowed for k, v in join.args.items()):
            raise unsupported(
                construct=f"{side or 'this'} JOIN of answers",
                remedy="Write JOIN ... ON, LEFT JOIN or CROSS JOIN.",
            )
        columns = (*left.node.columns, *right.node.columns)
        bare = Joined(left.node, right.node, None, side.upper().startswith("LEFT"), columns)
        seen = SeenTable(bare, [*left.names, *right.names])
        on = join.args.get("on")
        condition = None if on is None else condition_of(expression_from(on, seen.resolve), "ON")
        for column in join.args.get("using") or []:
            condition = using_condition(column.name.lower(), left, right, condition)
            place = [name.lower() for _, name in right.names].index(column.name.lower())
            hidden = len(left.names) + place
            seen.names[hidden] = (seen.names[hidden][0] + "\x00", f"\x00{column.name}")
        made = replace(bare, condition=condition)
        if self.public_work is None:
            self.sizes.require_pairs(made)
        else:
            self.public_work.take(made)
        return replace(seen, node=made)

    def _scalars(self, nodes: list[exp.Expression], seen: SeenTable, scope: Scope) -> None:
        """Subqueries of one number, each as a column beside every row."""
        for subquery in [found for node in nodes for found in inside(node, exp.Subquery)]:
            self._count_tables()
            table = self.table(subquery, scope)
            if len(table.columns) != 1 or not is_one_row(table, self.parts):
                raise unsupported(
                    construct="a subquery of several rows or columns as a number",
                    remedy="Select one aggregate without GROUP BY.",
                )
            place = len(seen.node.columns)
            columns = (*seen.node.columns, *table.columns)
            seen.with_node(Joined(seen.node, table, None, outer=True, columns=columns))
            column = exp.column("subquery")
            subquery.replace(column)
            seen.placed[id(column)] = table.columns[0].column(place)

    def _plain(self, later: Later, seen: SeenTable, scope: Scope) -> TableNode:
        """Columns, conditions and order over a table, without aggregates."""
        self._scalars(later.nodes(), seen, scope)
        if later.having is not None:
            condition = condition_of(expression_from(later.having, seen.resolve), "HAVING")
            seen.node = filtered_table(seen.node, condition)
        self._windows(later.nodes(), seen)
        if later.qualify is not None:
            condition = condition_of(expression_from(later.qualify, seen.resolve), "QUALIFY")
            seen.node = filtered_table(seen.node, condition)
        outputs = [(name, expression_from(node, seen.resolve)) for name, node in later.outputs]
        columns = tuple(output_column(name, each, seen.node) for name, each in outputs)
        expressions = tuple(each for _, each in outputs)
        select = later.select
        if select.args.get("distinct"):
            if select.args["distinct"].args.get("on"):
                raise unsupported(construct="DISTINCT ON", remedy="Use ORDER BY and LIMIT.")
            made = Projected(seen.node, None, expressions, columns)
            shown = SeenTable(made, [("", column.name) for column in columns])
            order = self._order(select.args.get("order"), shown, lambda node: node)
            return arranged_table(made, order, select, distinct=True)
        sorting = tuple(
            Sorting(self._sorted(term, expressions, seen), sign_of(term), nulls_first(term))
            for term in later.order
        )
        arranged = arranged_table(seen.node, sorting, select, distinct=False)
        return Projected(arranged, None, expressions, columns)

    def _sorted(
        self, term: exp.Expression, outputs: tuple[Expression, ...], seen: SeenTable
    ) -> Expression:
        if isinstance(term.this, exp.Literal) and term.this.is_int:
            return outputs[place_of(term.this, len(outputs))]
        return expression_from(term.this, seen.resolve)

    def _order(self, order: Any, seen: SeenTable, over: Any) -> tuple[Sorting, ...]:
        """An order by the names or numbers of the columns themselves."""
        found = []
        for term in order.expressions if order is not None else []:
            if isinstance(term.this, exp.Literal) and term.this.is_int:
                place = place_of(term.this, len(seen.node.columns))
                expression: Expression = seen.node.columns[place].column(place)
            else:
                expression = expression_from(over(term.this), seen.resolve)
            found.append(Sorting(expression, sign_of(term), nulls_first(term)))
        return tuple(found)

    def _windows(self, nodes: list[exp.Expression], seen: SeenTable) -> None:
        made, columns = [], []
        for node in [found for part in nodes for found in inside(part, exp.Window)]:
            window, kind, role = window_call(node, seen.resolve, seen.node)
            if window not in made:
                made.append(window)
                require_aggregates(len(made))
                columns.append(AnswerColumn("window", kind, role))
            place = len(seen.node.columns) + made.index(window)
            column = exp.column("window")
            node.replace(column)
            seen.placed[id(column)] = columns[made.index(window)].column(place)
        if made:
            source = seen.node
            seen.with_node(WindowedAnswer(source, tuple(made), (*source.columns, *columns)))
