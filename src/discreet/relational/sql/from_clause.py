"""FROM: tables, inner queries, joins, unions and DISTINCT, as rows with their stability.

A private table joins a public one on any columns, another private one on the person, and on
another key where its owner said how many rows a key may have.

Source: contract, "Units and neighbours"; 004b:A21, 004d:F5, F9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Person, add_remove
from discreet.relational.bounding.before_joins import before_people, before_public
from discreet.relational.bounding.key_truncation import JoinedByKey, Truncated
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.casts import cast
from discreet.relational.functions.signature import common_kind
from discreet.relational.plan.nodes import (
    Distinct,
    Filtered,
    JoinedPeople,
    JoinKind,
    Output,
    Route,
    Rows,
    Scan,
    Union,
)
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog, require_table
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.joins import (
    comparable,
    conjuncts,
    join_kind,
    owners,
    routed,
    within,
)
from discreet.relational.sql.key_truncation import limit_of, no_equality
from discreet.relational.sql.relation import Relation, Visible, unsupported
from discreet.relational.types.column_domain import hull
from discreet.relational.types.expression import Call, Column, Expression

_MOST_STEPS = 200

Inner = Callable[[exp.Expression, Mapping[str, Any]], Relation]


@dataclass
class Sources:
    """Translates FROM clauses; it numbers what it makes so that column names are unique."""

    catalog: Catalog
    inner: Inner
    _made: int = field(default=0)

    def of(self, select: exp.Select, scope: Mapping[str, Any]) -> Relation:
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
            made = self._joined(made, join, scope)
        return made

    def union(self, node: exp.Union, scope: Mapping[str, Any]) -> Relation:
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
        if bool(left.rows.owner) != bool(right.rows.owner):
            left, right = self._disowned(left), self._disowned(right)
        prefix = self.prefix("union")
        pairs = [
            [a.expression, b.expression] for a, b in zip(left.columns, right.columns, strict=True)
        ]
        kinds = [common_kind("UNION ALL", [side.facts for side in pair]) for pair in pairs]
        outputs = tuple(
            Output(f"{prefix}.{place}", hull(kind, [side.facts for side in pair]))
            for place, (kind, pair) in enumerate(zip(kinds, pairs, strict=True))
        )
        branches = tuple(
            (
                side.rows,
                tuple(
                    pair[place]
                    if pair[place].facts.kind is kind
                    else Call(cast(kind), (pair[place],))
                    for pair, kind in zip(pairs, kinds, strict=True)
                ),
            )
            for place, side in enumerate((left, right))
        )
        made = Relation(
            Union(prefix, branches, outputs),
            tuple(
                Visible("", column.name, Column(output.name, output.facts))
                for column, output in zip(left.columns, outputs, strict=True)
            ),
        )
        return self.distinct(made) if node.args.get("distinct") else made

    def distinct(self, made: Relation) -> Relation:
        """Each combination once; a person's rows are bounded first, since rows lose their owner."""
        below = self._disowned(made) if made.rows.owner else made
        return self._computed(below, "distinct", Distinct)

    def _disowned(self, made: Relation) -> Relation:
        """At most R rows of each person, so that what follows need not know whose they are."""
        if not made.rows.owner:
            return made
        person = add_remove(self.catalog.unit)
        assert isinstance(person, Person)
        limit = person.rows()

        def bounded(prefix: str, rows: Rows, expressions: Any, outputs: Any) -> Bounded:
            return Bounded(prefix, rows, limit, expressions, outputs)

        return self._computed(made, "bounded", bounded)

    def _computed(self, made: Relation, word: str, step: Any) -> Relation:
        prefix = self.prefix(word)
        outputs = tuple(
            Output(f"{prefix}.{place}", column.expression.facts)
            for place, column in enumerate(made.columns)
        )
        rows = step(prefix, made.rows, tuple(column.expression for column in made.columns), outputs)
        return Relation(
            rows,
            tuple(
                replace(column, expression=Column(output.name, output.facts))
                for column, output in zip(made.columns, outputs, strict=True)
            ),
        )

    def _one(self, node: exp.Expression, scope: Mapping[str, Any]) -> Relation:
        require_plain(node)
        if isinstance(node, exp.Subquery):
            return _renamed(self.inner(node.this, scope), node.alias)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise unsupported(
                construct=f"{type(node.this).__name__} in FROM"
                if isinstance(node, exp.Table)
                else "FROM",
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

    def _scan(self, name: str, alias: str) -> Relation:
        entry = require_table(name, self.catalog)
        prefix = self.prefix(entry.name)
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
        return Relation(
            scan,
            tuple(
                Visible(alias, column.name, Column(scan.column(column.name), column.facts))
                for column in entry.fields.values()
            ),
        )

    def _joined(self, left: Relation, join: exp.Join, scope: Mapping[str, Any]) -> Relation:
        kind = join_kind(join)
        right = self._one(join.this, scope)
        both = Relation(left.rows, (*left.columns, *right.columns))
        pairs, rest, visible = self._conditions(left, right, both, join)
        left_private, right_private = left.rows.changed != 0, right.rows.changed != 0
        if left_private and right_private:
            if not _same_people(left, right, pairs):
                return self._by_key(left, right, join, kind)
            if kind is JoinKind.LEFT and not all(_people(left, right, pair) for pair in pairs):
                raise unsupported(
                    construct="LEFT JOIN on the person and more",
                    remedy="Write JOIN, or compute features of the right side per person first.",
                )
            more = tuple(pair for pair in pairs if not owners(*pair, left.rows, right.rows))
            rows: Rows = JoinedPeople(*before_people(left.rows, right.rows), kind, more)
        elif right_private:
            if kind is JoinKind.LEFT:
                raise unsupported(
                    construct="LEFT JOIN from a public table to a private one",
                    remedy="Write JOIN: every key of the public table appears anyway.",
                )
            rows = self._public(right.rows, left, [(b, a) for a, b in pairs], kind)
        else:
            rows = self._public(left.rows, right, pairs, kind)
        return Relation(_filtered(rows, rest, kind), visible)

    def _by_key(self, left: Relation, right: Relation, join: exp.Join, kind: JoinKind) -> Relation:
        """Private rows joined on another key: both sides bounded by person, then cut by key."""
        left, right = self._disowned(left), self._disowned(right)
        both = Relation(left.rows, (*left.columns, *right.columns))
        pairs, _, _ = self._conditions(left, right, both, join)
        if not pairs:
            raise no_equality()
        left = self._truncated(left, tuple(a for a, _ in pairs), kind)
        right = self._truncated(right, tuple(b for _, b in pairs), JoinKind.INNER)
        assert isinstance(left.rows, Truncated)
        assert isinstance(right.rows, Truncated)
        both = Relation(left.rows, (*left.columns, *right.columns))
        _, rest, visible = self._conditions(left, right, both, join)
        rows: Rows = JoinedByKey(left.rows, right.rows, kind)
        return Relation(_filtered(rows, rest, kind), visible)

    def _truncated(self, made: Relation, keys: tuple[Expression, ...], kind: JoinKind) -> Relation:
        limit = limit_of(keys, made, self.catalog)

        def truncated(prefix: str, rows: Rows, expressions: Any, outputs: Any) -> Truncated:
            return Truncated(prefix, rows, keys, limit, kind, expressions, outputs)

        return self._computed(made, "truncated", truncated)

    def _public(
        self,
        rows: Rows,
        public: Relation,
        pairs: list[tuple[Expression, Expression]],
        kind: JoinKind,
    ) -> Rows:
        scan = public.rows
        if not isinstance(scan, Scan):
            raise unsupported(
                construct="a public side that is not a plain table",
                remedy="Join the public table itself; prepare it beforehand.",
            )
        partners = self.catalog.partners(scan, tuple(b for _, b in pairs))
        rows = before_public(rows, partners, self.catalog.unit)
        return JoinedPublic(rows, scan, tuple(pairs), partners, kind)

    def _conditions(
        self, left: Relation, right: Relation, both: Relation, join: exp.Join
    ) -> tuple[list[tuple[Expression, Expression]], list[Expression], tuple[Visible, ...]]:
        """Equalities between the sides, other conditions, and the columns seen afterwards."""
        pairs: list[tuple[Expression, Expression]] = []
        rest: list[Expression] = []
        visible = both.columns
        for name in join.args.get("using") or ():
            column = exp.column(name.name)
            pairs.append(comparable(left.resolve(column), right.resolve(column)))
            hidden = right.resolve(column)
            visible = tuple(item for item in visible if item.expression != hidden)
        on = join.args.get("on")
        for condition in conjuncts(on) if on is not None else ():
            pair = self._pair(condition, left, right, both)
            if pair is not None:
                pairs.append(pair)
            else:
                rest.append(expression_from(condition, both.resolve))
        return pairs, rest, visible

    def _pair(
        self, condition: exp.Expression, left: Relation, right: Relation, both: Relation
    ) -> tuple[Expression, Expression] | None:
        if not isinstance(condition, exp.EQ):
            return None
        first = expression_from(condition.this, both.resolve)
        second = expression_from(condition.expression, both.resolve)
        for a, b in ((first, second), (second, first)):
            if within(a, left) and within(b, right):
                return comparable(a, b)
        return None

    def prefix(self, word: str) -> str:
        """A prefix that no other step of the question has."""
        self._made += 1
        if self._made > _MOST_STEPS:
            raise unsupported(
                construct=f"more than {_MOST_STEPS} tables and inner queries",
                remedy="Common tables count wherever they are named; ask something shorter.",
            )
        return f"{self._made}#{word}"


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


def _same_people(
    left: Relation, right: Relation, pairs: list[tuple[Expression, Expression]]
) -> bool:
    """Whether a join compares the people of both sides, or the key that leads to them."""
    owned = bool(left.rows.owner and right.rows.owner)
    return owned and any(_people(left, right, pair) for pair in pairs)


def _people(left: Relation, right: Relation, pair: tuple[Expression, Expression]) -> bool:
    return owners(*pair, left.rows, right.rows) or routed(*pair, left.rows, right.rows)


def _filtered(rows: Rows, conditions: list[Expression], kind: JoinKind) -> Rows:
    """Rows of a join that satisfy what else ON says."""
    if conditions and kind is JoinKind.LEFT:
        raise unsupported(
            construct="LEFT JOIN on more than equalities",
            remedy="Filter the joined table in FROM (...) first.",
        )
    for condition in conditions:
        rows = Filtered(rows, condition)
    return rows


def _renamed(made: Relation, alias: str) -> Relation:
    return Relation(made.rows, tuple(replace(column, qualifier=alias) for column in made.columns))
