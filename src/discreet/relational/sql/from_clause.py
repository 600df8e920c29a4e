"""FROM: tables, inner queries and unions, as rows with their stability.

Source: contract, "Units and neighbours"; 004b:A21, 004d:F5, F9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Person, add_remove
from discreet.relational.functions.casts import cast
from discreet.relational.functions.signature import common_kind
from discreet.relational.plan.nodes import Output, Route, Scan, UnionAll
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog, require_table
from discreet.relational.sql.joins import Joins, join_kind
from discreet.relational.sql.relation import SQLRelation, Steps, Visible, unsupported
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

    def of(self, select: exp.Select, scope: Mapping[str, Any]) -> SQLRelation:
        """The rows of FROM and its joins."""
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            raise InvalidParameter(
                code="no_table",
                expectation=f"FROM with one of the tables {self.catalog.names()}",
                remedy="Add FROM.",
            )
        made = self._one(clause.this, scope)
        for join in select.args.get("joins") or ():
            kind = join_kind(join)
            made = self._joins.joined(made, self._one(join.this, scope), join, kind)
        return made

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
        kinds = [common_kind("UNION ALL", [side.domain for side in pair]) for pair in pairs]
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

    def _one(self, node: exp.Expression, scope: Mapping[str, Any]) -> SQLRelation:
        require_plain(node)
        if isinstance(node, exp.Subquery):
            return _renamed(self.inner(node.this, scope), node.alias)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise unsupported(
                construct=f"{shortened(node)} in FROM",
                remedy=f"Name one of the tables {self.catalog.names()}.",
            )
        for part in ("db", "catalog", "joins", "pivots", "sample", "laterals", "version", "when"):
            if node.args.get(part):
                raise unsupported(
                    construct=f"{part} in FROM",
                    remedy="Name the table alone; sampling earns nothing here.",
                )
        name = node.name.lower()
        if name in scope:
            query, outer = scope[name]
            return _renamed(self.inner(query, outer), node.alias or node.name)
        return self._scan(node.name, node.alias or node.name)

    def _scan(self, name: str, alias: str) -> SQLRelation:
        entry = require_table(name, self.catalog)
        prefix = self.steps.prefix(entry.name)
        identifier, route = None, None
        if isinstance(entry.table, Table):
            unit = add_remove(entry.table.unit)
            if isinstance(unit, Person):
                identifier = unit.id
                if unit.via is not None:
                    through, _, person = unit.via.rpartition(".")
                    route = Route(through, unit.id, person)
        scan = Scan(
            table=entry.name,
            prefix=prefix,
            fields=entry.fields,
            private=isinstance(entry.table, Table),
            identifier=identifier,
            route=route,
            identity=self.catalog.identity(entry),
        )
        return SQLRelation(
            scan,
            tuple(
                Visible(alias, column.name, Column(scan.column(column.name), column.domain))
                for column in entry.fields.values()
            ),
        )


def require_plain(node: exp.Expression) -> None:
    """Refuse what may be written after a table or inner query, apart from its alias."""
    alias = node.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.columns:
        raise unsupported(
            construct="column names after an alias", remedy="Name the columns with AS inside."
        )
    if isinstance(node, exp.Subquery):
        for name, value in node.args.items():
            if value and name not in ("this", "alias"):
                raise unsupported(
                    construct=f"{name.strip('_').upper()} after (...)",
                    remedy="Put it at the end of the question.",
                )


def _renamed(made: SQLRelation, alias: str) -> SQLRelation:
    return SQLRelation(
        made.rows, tuple(replace(column, qualifier=alias) for column in made.columns)
    )
