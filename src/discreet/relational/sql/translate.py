"""From SQL text to a question, rebuilt piece by piece from an allow-list.

sqlglot parses; every clause is then translated into the plan's own types. A clause that is not
translated here is refused by name, so nothing is ignored and nothing is passed through.

Source: 004d:F22; contract, "What may be seen".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlglot import exp

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.limits.public_work import TooMuchPublicWork
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.nodes import Filtered, PlanNode
from discreet.relational.plan.query import (
    AggregateOutput,
    DerivedOutput,
    KeyOutput,
    Order,
    Output,
    Query,
)
from discreet.relational.schema.table import Table
from discreet.relational.sql.aggregates import Aggregation
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.conditions import condition_of
from discreet.relational.sql.constant_rows import as_values, constant_rows, is_row
from discreet.relational.sql.contribution_bounds import has_group_bounds, per_group
from discreet.relational.sql.distinct import as_groups, require_distinct
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.features import features_from
from discreet.relational.sql.from_clause import Sources, require_plain
from discreet.relational.sql.grouping import Grouping
from discreet.relational.sql.limits import limits_asked
from discreet.relational.sql.over_answers import (
    Public,
    is_over_answers,
    public_answer,
    query_over_answers,
)
from discreet.relational.sql.padded_rows import require_blind
from discreet.relational.sql.person_subqueries import is_hidden, subqueries_joined
from discreet.relational.sql.person_windows import has_windows, windows_from
from discreet.relational.sql.public_answers import public_listing, public_relation
from discreet.relational.sql.quantile_lists import lists_written_out
from discreet.relational.sql.reading import (
    copied,
    require_all_read,
    watched,
    without_effect,
)
from discreet.relational.sql.reading_work import SEEN, counted_reading, take_nodes
from discreet.relational.sql.relation import SQLRelation, Visible, unsupported
from discreet.relational.sql.row_limits import whole_number
from discreet.relational.sql.set_operations import as_condition
from discreet.relational.sql.statement import flattened, parse, written_out
from discreet.relational.sql.tree import children, nodes, take
from discreet.relational.sql.understood import understood
from discreet.relational.sql.wording import part_words, shortened
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, Literal

_SELECT_CLAUSES = {
    *("expressions", "from_", "from", "joins", "where", "group", "having", "order", "limit"),
    *("offset", "distinct", "with_", "with"),
}


def query_from(text: str, catalog: Catalog) -> Query:
    """Translate one SELECT over rows into a question about the tables of ``catalog``."""
    with understood():
        tree = parse(text)
        with counted_reading(len(nodes(tree))):
            return translated(tree, catalog)


def question_from(text: str, catalog: Catalog) -> Query:
    """The same, or a query over answers.

    What is neither is refused as what it looks like.
    """
    with understood():
        read = _Read.of(text)
        try:
            with counted_reading(read.size):
                return translated(read.tree(), catalog)
        except DiscreetError as refusal:
            if not read.over_answers or type(refusal) is TooMuchPublicWork:
                raise  # public rows would be made again
            first = refusal
        with counted_reading(read.size):
            return _over_answers(read.tree(), catalog, first)


@dataclass(frozen=True)
class _Read:
    """What a text says; the same text is asked about more than once."""

    text: str
    size: int
    over_answers: bool
    trees: list[exp.Expression]

    @classmethod
    def of(cls, text: str) -> _Read:
        """The text parsed, if it was not lately."""
        return (
            _read_lately(text) if isinstance(text, str) else _parse_question_text(text)
        )  # refused there

    def tree(self) -> exp.Expression:
        """A tree of one's own to change: the first comes for nothing, others are parsed again."""
        try:
            return self.trees.pop()
        except IndexError:
            return parse(self.text)


def _parse_question_text(text: str) -> _Read:
    tree = parse(text)
    size = len(nodes(tree))
    with counted_reading(size):
        return _Read(text, size, over_answers=is_over_answers(tree), trees=[tree])


_read_lately = lru_cache(maxsize=8)(_parse_question_text)


def as_written(text: str, catalog: Catalog) -> Query | None:
    """The inner query of a query around it with all of its columns, if it is one over answers.

    What is around an answer is usually moved inside, where columns that nobody needs are not
    measured. Whoever has paid for all of them reads these instead.
    """
    read = _Read.of(text)
    if not read.over_answers:
        return None
    tree = watched(read.tree())
    try:
        with counted_reading(read.size):
            query = query_over_answers(
                tree,
                lambda select, scope: _Translation(catalog).query(select, scope),
                _public(catalog),
            )
            require_all_read(tree)
    except (DiscreetError, RecursionError):
        return None
    return query


def translated(parsed: exp.Expression, catalog: Catalog) -> Query:
    """Translate what was parsed; a part of it that nothing reads is refused by name."""
    tree = watched(parsed)
    statement = flattened(tree)
    if statement is not tree:
        watched(statement)
    if isinstance(statement, exp.Union):
        raise unsupported(
            construct="UNION of released answers",
            remedy="Ask one by one, or put UNION ALL inside FROM (...) before aggregating.",
        )
    if not isinstance(statement, exp.Select):
        raise unsupported(
            construct=shortened(statement).split()[0].upper(),
            remedy="Only SELECT is answered; nothing can be changed.",
        )
    try:
        query = _Translation(catalog).query(statement, {})
        for read in (statement,) if statement is tree else (statement, tree):
            require_all_read(read)
        return query
    except RecursionError:
        pass
    raise unsupported(construct="a question nested so deep", remedy="Ask something shorter.")


def _over_answers(parsed: exp.Expression, catalog: Catalog, refusal: DiscreetError) -> Query:
    """A query over answers; what is about people row by row is refused as it was before."""
    tree = watched(parsed)
    try:
        query = query_over_answers(
            tree, lambda select, scope: _Translation(catalog).query(select, scope), _public(catalog)
        )
        require_all_read(tree)
        return query
    except InvalidParameter as other:
        if other.code in _ABOUT_ROWS:
            raise refusal from None
        raise
    except RecursionError:
        pass
    raise unsupported(construct="a question nested so deep", remedy="Ask something shorter.")


def _public(catalog: Catalog) -> Public:
    """What reads public rows beside answers."""

    def translation() -> tuple[Any, Any]:
        made = _Translation(catalog)
        return made.relation, made.sources.steps

    return public_listing(catalog, translation)


_ABOUT_ROWS = {"key_is_identifier", "not_grouped", "no_aggregate"}
"""Refusals that show that a part was no answer, but rows."""


@dataclass
class _Translation:
    """One question being translated; it numbers the scans."""

    catalog: Catalog

    def __post_init__(self) -> None:
        self.sources = Sources(self.catalog, self.relation)

    def relation(self, select: exp.Expression, scope: Mapping[str, Any]) -> SQLRelation:
        """A query whose rows are asked about: without aggregates, or grouped by the person."""
        take(select)
        if isinstance(select, exp.Subquery):
            require_plain(select)
            return self.relation(select.this, scope)
        if isinstance(select, exp.Union):
            return self.sources.union(select, self._with(select, scope))
        if isinstance(select, exp.Intersect | exp.Except):
            select = as_condition(select)
        if not isinstance(select, exp.Select):
            raise unsupported(construct=shortened(select), remedy="Use SELECT in FROM (...).")
        _only(select, windows=has_windows(select))
        select, inner = self._joined(select, scope)
        if select.args.get("from_") is None and is_row(select):
            return constant_rows(as_values(select), self.sources.steps)
        for clause in _choosing(select):
            if select.args.get(clause):
                raise unsupported(
                    construct=f"{clause.upper()} inside FROM (...)",
                    remedy="It would choose among private rows; put it at the end of the question.",
                )
        if select.args.get("group") or select.args.get("having") or _aggregates(select):
            return self._features(select, inner)
        below = self._from(select, inner)
        if has_windows(select):
            return windows_from(select, below, self.catalog, self.sources.steps.prefix)
        columns: list[Visible] = []
        for item in select.expressions:
            columns.extend(self._items(item, below))
        made = SQLRelation(below.rows, tuple(columns), below.padded)
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise unsupported(construct="DISTINCT ON", remedy="It would choose among private rows.")
        return self.sources.steps.distinct(made) if select.args.get("distinct") else made

    def _features(self, select: exp.Select, scope: Mapping[str, Any]) -> SQLRelation:
        """An inner query grouped by the person."""
        if select.args.get("distinct"):
            raise unsupported(
                construct="DISTINCT beside GROUP BY", remedy="There is one row per person anyway."
            )
        below = self._from(select, scope)
        if below.rows.stability == 0:
            if _only_keys(select):
                made = copied(select)
                made.set("group", None)
                made.set("distinct", exp.Distinct())
                return self.relation(made, scope)
            work = self.sources.steps.public_work
            table = public_answer(select, scope, _public(self.catalog), work)
            return public_relation(table, self.sources.steps)
        return features_from(select, below, self.catalog, self.sources.steps.prefix)

    def query(self, select: exp.Select, scope: Mapping[str, Any]) -> Query:
        """The outermost query."""
        take(select)
        _only(select)
        select = as_groups(lists_written_out(written_out(select)))
        select, inner = self._joined(select, scope)
        below = self._from(select, inner)
        aliases = _aliases(select)
        if has_group_bounds(select):
            select, below = per_group(
                select, below, aliases, self.catalog, self.sources.steps.prefix
            )
            aliases = _aliases(select)
        grouping = Grouping.of(select, below, aliases, self.catalog)
        aggregation = Aggregation(below, self.catalog)

        def released(node: exp.Expression) -> Expression:
            return self._released(node, below, grouping, aggregation, aliases)

        outputs = tuple(
            self._output(item, place, grouping, released)
            for place, item in enumerate(select.expressions)
        )
        having = select.args.get("having")
        condition = None if having is None else condition_of(released(having.this), "HAVING")
        order = tuple(
            Order(self._ordered(term, outputs, released), -1 if term.args.get("desc") else 1)
            for term in (select.args["order"].expressions if select.args.get("order") else ())
        )
        if not aggregation.found and isinstance(grouping.keys, KeySet) and not grouping.places:
            raise InvalidParameter(
                code="no_aggregate",
                expectation="keys or aggregates: rows themselves are never released",
                remedy="Ask for COUNT(*), SUM(x), AVG(x), MEDIAN(x) or the like.",
            )
        require_blind(aggregation.found, below.padded)
        _distinct_names(outputs)
        require_distinct(select, outputs, len(grouping.expressions))
        return Query(
            rows=below.rows,
            unit=self.catalog.unit,
            keys=grouping.keys,
            key_places=grouping.places,
            aggregates=tuple(aggregation.found),
            outputs=outputs,
            having=condition,
            order=order,
            limit=whole_number(select.args.get("limit"), "LIMIT"),
            offset=whole_number(select.args.get("offset"), "OFFSET") or 0,
            limits=limits_asked(below.rows, grouping.keys, self.catalog),
        )

    def _with(self, select: exp.Expression, scope: Mapping[str, Any]) -> dict[str, Any]:
        """The scope with the common table expressions of a query added."""
        inner = dict(scope)
        clause = select.args.get("with_") or select.args.get("with")
        if clause is None:
            return inner
        if clause.args.get("recursive"):
            raise unsupported(
                construct="WITH RECURSIVE", remedy="Write the query without recursion."
            )
        for table in clause.expressions:
            if table.args["alias"].columns:
                raise unsupported(
                    construct="column names in WITH",
                    remedy="Name the columns with AS in the SELECT.",
                )
            inner[table.alias.lower()] = (table.this, dict(inner))
        return inner

    def _joined(
        self, select: exp.Select, scope: Mapping[str, Any]
    ) -> tuple[exp.Select, dict[str, Any]]:
        """A query with its subqueries about the person as joins, and the tables it may name."""
        inner = self._with(select, scope)
        made = subqueries_joined(select, lambda query: self._is_private(query, inner))
        return made, inner if made is select else self._with(made, scope)

    def _is_private(self, query: exp.Expression, scope: Mapping[str, Any]) -> bool:
        """Whether a query reads a private table, perhaps through a common table expression."""
        take(query)
        for table in query.find_all(exp.Table):
            common = scope.get(table.name.lower())
            if common is not None:
                if self._is_private(*common):
                    return True
                continue
            entry = self.catalog.find(table.name)
            if entry is not None and isinstance(entry.table, Table):
                return True
        return False

    def _from(self, select: exp.Select, scope: Mapping[str, Any]) -> SQLRelation:
        made = self.sources.of(select, scope)
        where = select.args.get("where")
        if where is None:
            return made
        made, asked = self.sources.filtered(made, where.this, scope)
        condition = condition_of(expression_from(asked, made.resolve), "WHERE")
        return replace(made, rows=_filter_by_condition(made.rows, condition))

    def _items(self, item: exp.Expression, below: SQLRelation) -> list[Visible]:
        if isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        ):
            if any(item.args.get(part) for part in ("except_", "except", "replace", "rename")):
                raise unsupported(construct="* with EXCEPT or REPLACE", remedy="List the columns.")
            take_nodes(SEEN * len(below.columns))
            wanted = item.table.lower() if isinstance(item, exp.Column) else ""
            return [
                replace(column, qualifier="", merged=False)
                for column in below.columns
                if not is_hidden(column.qualifier)
                and (column.qualifier.lower() == wanted if wanted else not column.merged)
            ]
        node = item.this if isinstance(item, exp.Alias) else item
        name = item.alias_or_name
        if not name:
            raise InvalidParameter(
                code="column_without_name",
                expectation="a name for every computed column of an inner query",
                remedy="Add AS name.",
            )
        return [Visible("", name, expression_from(node, below.resolve))]

    def _released(
        self,
        node: exp.Expression,
        below: SQLRelation,
        grouping: Grouping,
        aggregation: Aggregation,
        aliases: Mapping[str, exp.Expression],
    ) -> Expression:
        """An expression over keys and aggregates, for after the release."""
        key = grouping.match(node)
        if key is not None:
            return key

        named: dict[int, Expression] = {}

        def resolve(column: exp.Column) -> Expression:
            matched = named.get(id(column)) or grouping.match(column)
            if matched is not None:
                return matched
            if not column.table and column.name.lower() in aliases:
                target = aliases[column.name.lower()]
                if target is not column and not isinstance(target, exp.Column):
                    return self._released(target, below, grouping, aggregation, {})
                meant = grouping.match(target)
                if meant is not None:
                    return meant
            below.resolve(column)
            raise InvalidParameter(
                code="not_grouped",
                expectation="only keys and aggregates outside of aggregates",
                received=column.sql(),
                remedy="Add the column to GROUP BY, or aggregate it.",
            )

        if _has_keys(node, grouping):
            node = _with_keys(copied(node), grouping, named)
        return expression_from(node, resolve, aggregation.column)

    def _output(
        self, item: exp.Expression, place: int, grouping: Grouping, released: Any
    ) -> Output:
        if isinstance(item, exp.Star):
            raise unsupported(
                construct="* at the top",
                remedy="Rows are never released; name keys and aggregates.",
            )
        node = item.this if isinstance(item, exp.Alias) else item
        name = item.alias_or_name or f"column_{place + 1}"
        if not isinstance(item, exp.Alias) and not isinstance(node, exp.Column):
            name = item.sql(dialect="duckdb").lower() if len(item.sql()) < 60 else name
        expression = released(node)
        match expression:
            case Column(column) if column.startswith("key"):
                return KeyOutput(name, int(column[3:]))
            case Column(column):
                return AggregateOutput(name, int(column[3:]))
        return DerivedOutput(name, expression)

    def _ordered(
        self, term: exp.Expression, outputs: tuple[Output, ...], released: Any
    ) -> Expression:
        node = term.this
        if isinstance(node, exp.Literal) and node.is_int:
            place = int(node.name) - 1
            if not 0 <= place < len(outputs):
                raise InvalidParameter(
                    code="no_such_column",
                    expectation="the number of a column in ORDER BY",
                    received=place + 1,
                    remedy="Count the columns of the SELECT from one, or use a name.",
                )
            return _as_column(outputs[place])
        return released(node)  # type: ignore[no-any-return]


_ENDS = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.Column, exp.Literal)
"""Parts of what is released in which no whole key expression is looked for."""


def _has_keys(node: exp.Expression, grouping: Grouping) -> bool:
    """Whether a whole key expression, which is no plain column, stands inside a node."""
    return any(
        grouping.match(part) is not None or _has_keys(part, grouping)
        for part in children(node)
        if not isinstance(part, _ENDS)
    )


def _with_keys(
    node: exp.Expression, grouping: Grouping, named: dict[int, Expression]
) -> exp.Expression:
    """The node with whole key expressions in it as columns of their own, noted in ``named``."""
    for part in list(node.iter_expressions()):
        if isinstance(part, _ENDS):
            continue
        key = grouping.match(part)
        if key is None:
            _with_keys(part, grouping, named)
        else:
            column = exp.column("key")
            part.replace(column)
            named[id(column)] = key
    return node


def _as_column(output: Output) -> Expression:
    """A released column by the name of the output itself."""
    if isinstance(output, DerivedOutput):
        return output.expression
    name = f"{'key' if isinstance(output, KeyOutput) else 'agg'}{output.number}"
    return Column(name, ColumnDomain(DataType.DOUBLE, None, None, None, declared=True))


def _aliases(select: exp.Select) -> dict[str, exp.Expression]:
    """What the names of SELECT stand for."""
    return {
        item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)
    }


def _only_keys(select: exp.Select) -> bool:
    """Whether an inner query groups by its columns and computes nothing: each row of them once."""
    group = select.args.get("group")
    given = {key for key, value in ({} if group is None else group.args).items() if value}
    keys = [] if group is None else [key.sql() for key in group.expressions]
    items = [item.unalias().sql() for item in select.expressions]
    plain = given == {"expressions"} and not select.args.get("having")
    return plain and not _aggregates(select) and set(keys) == set(items)


def _choosing(select: exp.Select) -> tuple[str, ...]:
    """Clauses that would choose among rows; an order by columns alone says nothing."""
    distinct = select.args.get("distinct")
    chosen = distinct is not None and distinct.args.get("on") is not None
    order = select.args.get("order")
    named = order is None or all(
        isinstance(term.this, exp.Column | exp.Literal) for term in order.expressions
    )
    if chosen or not named or select.args.get("limit") or select.args.get("offset"):
        return ("order", "limit", "offset")
    if order is not None:
        without_effect(order)
    return ()


def _filter_by_condition(rows: PlanNode, condition: Expression) -> PlanNode:
    return rows if condition == Literal(value=True) else Filtered(rows, condition)


def _aggregates(select: exp.Select) -> bool:
    """Whether something is aggregated, and not only over windows."""
    return any(
        node.find_ancestor(exp.Window) is None
        for item in select.expressions
        for node in item.find_all(exp.AggFunc)
    )


def _only(select: exp.Select, *, windows: bool = False) -> None:
    """Refuse clauses that are not translated: SAMPLE, QUALIFY without windows, and others."""
    known = _SELECT_CLAUSES | ({"qualify", "windows"} if windows else set())
    for name, value in select.args.items():
        if name not in known and value:
            raise unsupported(construct=part_words(select, name), remedy="Leave the clause out.")


def _distinct_names(outputs: tuple[Output, ...]) -> None:
    names = [output.name for output in outputs]
    if len(set(names)) != len(names):
        raise InvalidParameter(
            code="columns_not_distinct",
            expectation="a different name for each column of the answer",
            received=names,
            remedy="Rename with AS.",
        )
