"""FROM: tables, inner queries and unions, as rows with their stability.

Source: contract, "Units and neighbours"; 004b:A21, 004d:F5, F9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Person, add_remove
from discreet.relational.functions.casts import cast
from discreet.relational.functions.signature import shared_kind
from discreet.relational.plan.nodes import Output, Route, Scan, UnionAll
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog, CatalogTable, require_named
from discreet.relational.sql.constant_rows import constant_rows, is_constant
from discreet.relational.sql.elements import Elements, is_elements
from discreet.relational.sql.joins import Joins, compared_by, conjuncts, kept_by
from discreet.relational.sql.public_subqueries import PublicSubqueries
from discreet.relational.sql.relation import SQLRelation, Steps, Visible, unsupported
from discreet.relational.sql.tree import has
from discreet.relational.sql.wording import shortened
from discreet.relational.types.column_domain import hull
from discreet.relational.types.expression import Call, Column

Inner = Callable[[exp.Expression, Mapping[str, Any]], SQLRelation]


@dataclass
class Sources:
    """Translates FROM clauses."""

    catalog: Catalog
    inner: Inner

    def __post_init__(self) -> None:
        """Nothing is made yet."""
        self.steps = Steps(self.catalog)
        self._joins = Joins(self.catalog, self.steps)
        self._elements = Elements(self.catalog, self.steps)

    def of(self, select: exp.Select, scope: Mapping[str, Any]) -> SQLRelation:
        """The rows of FROM and its joins."""
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            raise InvalidParameter(
                code="no_table",
                expectation=f"FROM with one of the tables {self.catalog.names()}",
                remedy="Add FROM.",
            )
        where = select.args.get("where")
        conditions = [] if where is None else conjuncts(where.this)
        first = self._one(clause.this, scope)
        return self._joined(first, select.args.get("joins") or (), scope, conditions)

    def _joined(
        self,
        made: SQLRelation,
        joins: Sequence[exp.Join],
        scope: Mapping[str, Any],
        conditions: Sequence[exp.Expression],
    ) -> SQLRelation:
        """A table with those joined to it; ``conditions`` are those of WHERE.

        Public tables that would meet row by row, and be too many, wait for a table after them
        that WHERE compares with both, as in ``FROM part, supplier, partsupp``.
        """
        order, waiting = _Order(len(made.columns)), list[tuple[int, exp.Join, SQLRelation]]()
        for place, join in enumerate(joins, start=1):
            if is_elements(join.this):
                made, waiting = self._met(made, waiting, order, conditions)
                before = len(made.columns)
                made = self._elements.beside(made, join, conditions)
                order.add(place, len(made.columns) - before)
                continue
            right = self._one(join.this, scope)
            if waiting and not _is_bare(join):
                made, waiting = self._met(made, waiting, order, conditions)
            compared = compared_by(join, made, right, conditions)
            if _is_bare(join) and not compared.on and self._joins.makes_too_many(made, right):
                waiting.append((place, join, right))
                continue
            made = self._joins.joined(made, right, compared, kept_by(join))
            order.add(place, len(right.columns))
            if waiting:
                made, waiting = self._met(made, waiting, order, conditions, compared_only=True)
        made, _ = self._met(made, waiting, order, conditions)
        return order.restored(made)

    def _met(
        self,
        made: SQLRelation,
        waiting: list[tuple[int, exp.Join, SQLRelation]],
        order: _Order,
        conditions: Sequence[exp.Expression],
        *,
        compared_only: bool = False,
    ) -> tuple[SQLRelation, list[tuple[int, exp.Join, SQLRelation]]]:
        """Rows joined with tables that waited: those that WHERE compares with them first."""
        left = list(waiting)
        while left:
            links = [compared_by(join, made, right, conditions) for _, join, right in left]
            found = next((n for n, compared in enumerate(links) if compared.on), None)
            if found is None and compared_only:
                break
            place, join, right = left.pop(found or 0)
            made = self._joins.joined(made, right, links[found or 0], kept_by(join))
            order.add(place, len(right.columns))
        return made, left

    def filtered(
        self, made: SQLRelation, condition: exp.Expression, scope: Mapping[str, Any]
    ) -> tuple[SQLRelation, exp.Expression]:
        """Rows and a condition on them, with inner queries over public tables made into lists."""
        if not has(condition, exp.In, exp.Exists):
            return made, condition
        lists = PublicSubqueries(
            self.catalog,
            self.steps,
            inner=lambda query: self.inner(query, scope),
            tables=lambda select: self.of(select, scope),
        )
        return lists.replace_public_subqueries(made, condition)

    def union(self, node: exp.Union, scope: Mapping[str, Any]) -> SQLRelation:
        """UNION ALL by position; plain UNION is UNION ALL and then DISTINCT."""
        for clause in ("order", "limit", "offset"):
            if node.args.get(clause):
                raise unsupported(
                    construct=f"{clause.upper()} after UNION inside FROM (...)",
                    remedy="It would choose among private rows; put it at the end.",
                )
        if node.args.get("by_name"):
            raise unsupported(
                construct="UNION BY NAME", remedy="List the columns in the same order."
            )
        left, right = self.inner(node.this, scope), self.inner(node.expression, scope)
        if left.padded or right.padded:
            raise unsupported(
                construct="RIGHT or FULL JOIN below UNION",
                remedy="Write JOIN there: every key of the public table appears anyway.",
            )
        if len(left.columns) != len(right.columns):
            raise Mismatch(
                code="union_columns",
                expectation=f"{len(left.columns)} columns on both sides of UNION ALL",
                received=len(right.columns),
                remedy="Select the same columns in the same order.",
            )
        if bool(left.rows.privacy_id) != bool(right.rows.privacy_id):
            left, right = self.steps.disowned(left), self.steps.disowned(right)
        prefix = self.steps.prefix("union")
        pairs = [
            [a.expression, b.expression] for a, b in zip(left.columns, right.columns, strict=True)
        ]
        kinds = [shared_kind("UNION ALL", [side.domain for side in pair]) for pair in pairs]
        outputs = tuple(
            Output(f"{prefix}.{place}", hull(kind, [side.domain for side in pair]))
            for place, (kind, pair) in enumerate(zip(kinds, pairs, strict=True))
        )
        branches = tuple(
            (
                side.rows,
                tuple(
                    pair[place]
                    if pair[place].domain.kind is kind
                    else Call(cast(kind), (pair[place],))
                    for pair, kind in zip(pairs, kinds, strict=True)
                ),
            )
            for place, side in enumerate((left, right))
        )
        made = SQLRelation(
            UnionAll(prefix, branches, outputs),
            tuple(
                Visible("", column.name, Column(output.name, output.domain))
                for column, output in zip(left.columns, outputs, strict=True)
            ),
        )
        return self.steps.distinct(made) if node.args.get("distinct") else made

    def _one(
        self, node: exp.Expression, scope: Mapping[str, Any], *, also: tuple[str, ...] = ()
    ) -> SQLRelation:
        """One item of FROM; what ``also`` may be written after it is read by whoever asks."""
        if is_constant(node):
            return constant_rows(node, self.steps)
        require_plain(node, also=also)
        if isinstance(node, exp.Subquery):
            joined = isinstance(node.this, exp.Subquery) and node.this.args.get("joins")
            if isinstance(node.this, exp.Table) or joined:
                table = isinstance(node.this, exp.Table)
                first = (
                    self._table(node.this, scope)
                    if table
                    else self._one(node.this, scope, also=("joins",))
                )
                made = self._joined(first, node.this.args.get("joins") or (), scope, ())
                return _renamed(made, node) if node.alias else made
            return _renamed(self.inner(node.this, scope), node)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise unsupported(
                construct=f"{shortened(node)} in FROM",
                remedy=f"Name one of the tables {self.catalog.names()}.",
            )
        if node.args.get("joins"):
            raise unsupported(construct="joins in FROM", remedy="Write FROM a JOIN b ON ...")
        return self._table(node, scope)

    def _table(self, node: exp.Table, scope: Mapping[str, Any]) -> SQLRelation:
        """A table by its name, with what is joined to it in parentheses left to others."""
        for part in ("pivots", "sample", "laterals", "version", "when"):
            if node.args.get(part):
                raise unsupported(
                    construct=f"{_WORDS.get(part, part)} in FROM",
                    remedy=_REMEDIES.get(part, "Name the table alone."),
                )
        name = node.name.lower()
        if name in scope and not node.args.get("db"):
            query, outer = scope[name]
            return _renamed(self.inner(query, outer), node)
        return _renamed(self._scan(require_named(node, self.catalog)), node)

    def _scan(self, entry: CatalogTable) -> SQLRelation:
        prefix = self.steps.prefix(entry.name)
        made: SQLRelation | None = entry.scans.get(prefix)
        if made is None:
            made = entry.scans[prefix] = self._scanned(entry, prefix)
        return made

    def _scanned(self, entry: CatalogTable, prefix: str) -> SQLRelation:
        identifier, route, row = None, None, None
        if isinstance(entry.table, Table):
            unit = add_remove(entry.table.unit)
            if isinstance(unit, Person):
                identifier, row = unit.id, unit.row
                if unit.via is not None:
                    named, _, person = unit.via.rpartition(".")
                    through = self.catalog.find(named)
                    assert through is not None  # tables are attached with the ways between them
                    route = Route(through.name, unit.id, person)
        scan = Scan(
            table=entry.name,
            prefix=prefix,
            fields=entry.fields,
            private=isinstance(entry.table, Table),
            identifier=identifier,
            route=route,
            identity=self.catalog.identity(entry),
            row=row,
        )
        return SQLRelation(
            scan,
            tuple(
                Visible(entry.name, column.name, Column(scan.column(column.name), column.domain))
                for column in entry.fields.values()
            ),
        )


class _Order:
    """In which order tables were joined, of how many columns each."""

    def __init__(self, columns: int) -> None:
        self._joined = [(0, columns)]

    def add(self, place: int, columns: int) -> None:
        """The table that FROM names at a place was joined."""
        self._joined.append((place, columns))

    def restored(self, made: SQLRelation) -> SQLRelation:
        """The same rows, with columns in the order in which FROM names their tables."""
        if self._joined == sorted(self._joined):
            return made
        ends = list(accumulate(columns for _, columns in self._joined))
        parts = {
            place: made.columns[end - columns : end]
            for (place, columns), end in zip(self._joined, ends, strict=True)
        }
        ordered = tuple(column for place in sorted(parts) for column in parts[place])
        return replace(made, columns=ordered)


def _is_bare(join: exp.Join) -> bool:
    """Whether a table stands after a comma, or CROSS JOIN: WHERE alone says what it meets."""
    given = {key for key, value in join.args.items() if value}
    return given <= {"this", "kind"} and (join.kind or "").upper() in ("", "CROSS")


_WORDS = {"pivots": "PIVOT", "sample": "a sample", "laterals": "LATERAL"}
_REMEDIES = {
    "pivots": "Group by the column: each of its values is a row of the answer.",
    "sample": "Name the table alone; sampling earns nothing here.",
}


def require_plain(node: exp.Expression, *, also: tuple[str, ...] = ()) -> None:
    """Refuse what may be written after a table or inner query, apart from its alias."""
    if isinstance(node, exp.Subquery):
        for name, value in node.args.items():
            if value and name not in ("this", "alias", *also):
                raise unsupported(
                    construct=f"{name.strip('_').upper()} after (...)",
                    remedy="Put it at the end of the question.",
                )


def _renamed(made: SQLRelation, node: exp.Expression) -> SQLRelation:
    """Columns under the alias of an item of FROM, and under the names listed after it."""
    alias = node.args.get("alias")
    listed = [] if not isinstance(alias, exp.TableAlias) else [c.name for c in alias.columns]
    seen = [column for column in made.columns if not column.merged]
    if len(listed) > len(seen):
        raise Mismatch(
            code="union_columns",
            expectation=f"at most {len(seen)} column names after {node.alias}",
            received=len(listed),
            remedy="Name as many columns as there are.",
        )
    names = [*listed, *(column.name for column in seen[len(listed) :])]
    qualifier = node.alias_or_name
    if not listed and all(c.qualifier == qualifier and not c.merged for c in made.columns):
        return made
    return replace(
        made,
        columns=tuple(
            replace(column, qualifier=qualifier, name=name)
            for column, name in zip(seen, names, strict=True)
        ),
    )
