"""Joins: what they compare, and what that makes of the rows of a person.

A private table joins a public one on any columns, another private one on the person, and on
another key where its owner said how many rows a key may have. That bound is declared on the table
that the key's column comes from. It is enforced and not believed: rows beyond it are cut, so a
wrong one costs accuracy and never privacy.

Source: contract, "Units and neighbours"; 004b:A21, 004d:F5, F9, F11. Proof:
``proofs/relational.md``, ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.before_joins import before_people, before_public
from discreet.relational.bounding.key_truncation import JoinedByKey, Truncated
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.casts import cast
from discreet.relational.functions.comparison import EQUAL
from discreet.relational.limits.public_work import MOST_ROWS
from discreet.relational.plan.nodes import (
    Distinct,
    Filtered,
    JoinedPeople,
    JoinKind,
    PlanNode,
    Scan,
    columns_of,
    field_of,
    identifies,
)
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.conditions import condition_of
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.limits import declared_rows, table_rows
from discreet.relational.sql.padded_rows import vanishes
from discreet.relational.sql.relation import SQLRelation, Steps, Visible, unsupported
from discreet.relational.types.expression import Call, Column, Expression, columns


class Kept(Enum):
    """Of which side rows without a partner stay."""

    NEITHER = "JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    BOTH = "FULL JOIN"

    @property
    def mirrored(self) -> Kept:
        """The same where left and right are exchanged."""
        return {Kept.LEFT: Kept.RIGHT, Kept.RIGHT: Kept.LEFT}.get(self, self)


@dataclass(frozen=True)
class Compared:
    """What a join compares: columns of one name on both sides, and conditions."""

    using: tuple[str, ...]
    on: tuple[exp.Expression, ...]


_SIDES = {"": Kept.NEITHER, "LEFT": Kept.LEFT, "RIGHT": Kept.RIGHT, "FULL": Kept.BOTH}


@dataclass(frozen=True)
class Joins:
    """Translates the joins of one question."""

    catalog: Catalog
    steps: Steps

    def joined(
        self, left: SQLRelation, right: SQLRelation, compared: Compared, kept: Kept
    ) -> SQLRelation:
        """Rows of both sides, with the stability of the way in which they are joined."""
        left_private, right_private = left.rows.stability != 0, right.rows.stability != 0
        both = left_private and right_private
        mirrored = kept is Kept.RIGHT and (both or not left_private)
        sides = self._privately if both else self._publicly
        if not (left_private or right_private) and kept is Kept.NEITHER:
            mirrored = self._fewer_mirrored(left, right, compared)
        if mirrored or (right_private and not both):
            made = sides(right, left, compared, kept.mirrored)
            size = len(right.columns)
            made = replace(made, columns=(*made.columns[size:], *made.columns[:size]))
        else:
            made = sides(left, right, compared, kept)
        return replace(
            made, columns=_mark_merged_columns(made.columns, len(left.columns), compared, kept)
        )

    def makes_too_many(self, left: SQLRelation, right: SQLRelation) -> bool:
        """Whether two public tables, beside each other row by row, would be too many rows."""
        if left.rows.stability != 0 or right.rows.stability != 0:
            return False
        one, two = map(self.catalog.most_public_rows, (left.rows, right.rows))
        return one * two > MOST_ROWS

    def _fewer_mirrored(self, left: SQLRelation, right: SQLRelation, compared: Compared) -> bool:
        """Whether public tables that could meet too often are known to meet less often mirrored.

        Each row of one side meets no more rows than the other has of any key.
        """
        if not self.makes_too_many(left, right):
            return False
        pairs, _, _ = self._conditions(left, right, compared)
        counts = []
        for rows, other, keys in (
            (left.rows, right.rows, tuple(b for _, b in pairs)),
            (right.rows, left.rows, tuple(a for a, _ in pairs)),
        ):
            most = self.catalog.most_public_rows(rows)
            counts.append(most * self.catalog.partners(other, keys))
        return counts[1] < counts[0] and counts[0] > MOST_ROWS

    def _privately(
        self, left: SQLRelation, right: SQLRelation, compared: Compared, kept: Kept
    ) -> SQLRelation:
        """Rows of two private tables."""
        if kept is Kept.BOTH:
            raise unsupported(
                construct="FULL JOIN of private tables",
                remedy="Write LEFT JOIN; or compute features per person from a UNION ALL.",
            )
        kind = JoinKind.LEFT if kept is Kept.LEFT else JoinKind.INNER
        pairs, rest, visible = self._conditions(left, right, compared)
        if not _same_people(left, right, pairs):
            return self._by_key(left, right, compared, kind)
        if kind is JoinKind.LEFT:
            _require_missing(right)
            if not all(_people(left, right, pair) for pair in pairs):
                raise unsupported(
                    construct="LEFT JOIN on the person and more",
                    remedy="Write JOIN, or compute features of the right side per person first.",
                )
        more = tuple(pair for pair in pairs if not owners(*pair, left.rows, right.rows))
        one, two = (declared_rows(side.rows, self.steps.declared) for side in (left, right))
        rows = JoinedPeople(*before_people(left.rows, right.rows, (one, two)), kind, more)
        return SQLRelation(_filtered(rows, rest, kind), visible, (*left.padded, *right.padded))

    def _publicly(
        self, left: SQLRelation, right: SQLRelation, compared: Compared, kept: Kept
    ) -> SQLRelation:
        """Rows with their partners in a public table, of which those without any may stay.

        Public rows without a partner are left out where they would stay: they bring keys, which
        appear anyway, and no numbers.
        """
        kind = JoinKind.LEFT if kept in (Kept.LEFT, Kept.BOTH) else JoinKind.INNER
        padded = (*left.padded, *right.padded)
        if kept in (Kept.RIGHT, Kept.BOTH):
            if left.rows.stability == 0:
                raise unsupported(
                    construct="FULL JOIN of public tables", remedy="Prepare the table beforehand."
                )
            if left.rows.privacy_id is None:  # else such a row is nobody's, and dropped as all are
                padded = (*padded, frozenset(columns_of(left.rows)))
        if kind is JoinKind.LEFT and not all(
            isinstance(column.expression, Column) for column in right.columns
        ):
            right = self.steps.projected(right)
        pairs, rest, visible = self._conditions(left, right, compared)
        if kept in (Kept.RIGHT, Kept.BOTH) and not all(within(each, left) for each in rest):
            raise unsupported(
                construct="a join that keeps public rows, on more than equalities and conditions "
                "on the private side",
                remedy="Put the condition into WHERE, or join a filtered public table.",
            )
        if kind is JoinKind.LEFT:
            own = [condition for condition in rest if within(condition, right)]
            rest = [condition for condition in rest if condition not in own]
            right = replace(right, rows=_filtered(right.rows, own, JoinKind.INNER))
        partners = self.catalog.partners(right.rows, tuple(b for _, b in pairs))
        declared = declared_rows(left.rows, self.steps.declared) if left.rows.privacy_id else None
        # Where only people are counted, no number of rows is declared.
        least = table_rows(left.rows, self.steps.declared) or 1
        below = before_public(left.rows, partners, declared or 1, least)
        made = JoinedPublic(below, right.rows, tuple(pairs), partners, kind)
        return SQLRelation(_filtered(made, rest, kind), visible, padded)

    def _by_key(
        self, left: SQLRelation, right: SQLRelation, compared: Compared, kind: JoinKind
    ) -> SQLRelation:
        """Private rows joined on another key: both sides bounded by person, then cut by key."""
        left, right = self.steps.disowned(left), self.steps.disowned(right)
        pairs, _, _ = self._conditions(left, right, compared)
        if not pairs:
            raise no_equality()
        left = self._truncated(left, tuple(a for a, _ in pairs), kind)
        right = self._truncated(right, tuple(b for _, b in pairs), JoinKind.INNER)
        assert isinstance(left.rows, Truncated)
        assert isinstance(right.rows, Truncated)
        _, rest, visible = self._conditions(left, right, compared)
        rows: PlanNode = JoinedByKey(left.rows, right.rows, kind)
        return SQLRelation(_filtered(rows, rest, kind), visible)

    def _truncated(
        self, made: SQLRelation, keys: tuple[Expression, ...], kind: JoinKind
    ) -> SQLRelation:
        limit = limit_of(keys, made, self.catalog)

        def truncated(prefix: str, rows: PlanNode, expressions: Any, outputs: Any) -> Truncated:
            return Truncated(prefix, rows, keys, limit, kind, expressions, outputs)

        return self.steps.computed(made, "truncated", truncated)

    def _conditions(
        self, left: SQLRelation, right: SQLRelation, compared: Compared
    ) -> tuple[list[tuple[Expression, Expression]], list[Expression], tuple[Visible, ...]]:
        """Equalities between the sides, other conditions, and the columns of both."""
        both = SQLRelation(left.rows, (*left.columns, *right.columns))
        pairs: list[tuple[Expression, Expression]] = []
        rest: list[Expression] = []
        for name in compared.using:
            column = exp.column(name)
            pairs.append(comparable(left.resolve(column), right.resolve(column)))
        for condition in compared.on:
            pair = self._pair(condition, left, right, both)
            if pair is not None:
                pairs.append(pair)
            elif not (isinstance(condition, exp.Boolean) and condition.this):
                rest.append(condition_of(expression_from(condition, both.resolve), "ON"))
        return pairs, rest, both.columns

    def _pair(
        self, condition: exp.Expression, left: SQLRelation, right: SQLRelation, both: SQLRelation
    ) -> tuple[Expression, Expression] | None:
        if not isinstance(condition, exp.EQ):
            return None
        first = expression_from(condition.this, both.resolve)
        second = expression_from(condition.expression, both.resolve)
        for a, b in ((first, second), (second, first)):
            if within(a, left) and within(b, right):
                return comparable(a, b)
        return None


def _same_people(
    left: SQLRelation, right: SQLRelation, pairs: list[tuple[Expression, Expression]]
) -> bool:
    """Whether a join compares the people of both sides, or the key that leads to them."""
    owned = bool(left.rows.privacy_id and right.rows.privacy_id)
    return owned and any(_people(left, right, pair) for pair in pairs)


def _people(left: SQLRelation, right: SQLRelation, pair: tuple[Expression, Expression]) -> bool:
    return owners(*pair, left.rows, right.rows) or routed(*pair, left.rows, right.rows)


def _filtered(rows: PlanNode, conditions: list[Expression], kind: JoinKind) -> PlanNode:
    """Rows of a join that satisfy what else ON says."""
    if conditions and kind is JoinKind.LEFT:
        raise unsupported(
            construct="LEFT JOIN on more than equalities",
            remedy="Filter the joined table in FROM (...) first.",
        )
    for condition in conditions:
        rows = Filtered(rows, condition)
    return rows


def comparable(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both sides of an equality in the one kind in which they are compared."""
    first, second = Call(EQUAL, (left, right)).args
    return first, second


def kept_by(join: exp.Join) -> Kept:
    """Whose rows stay without a partner; joins that we do not know are refused by name."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    natural = str(join.args.get("method") or "").upper() == "NATURAL"
    for part in ("method", "match_condition", "global_", "global", "hint", "pivots"):
        if join.args.get(part) and not (natural and part == "method"):
            raise unsupported(
                construct=f"{join.args[part]} JOIN", remedy="Use JOIN ... ON or USING."
            )
    compared = join.args.get("on") is not None or join.args.get("using") or natural
    plain = kind in ("", "OUTER") if side else kind in ("", "INNER", "CROSS")
    if side not in _SIDES or not plain or (kind == "CROSS" and compared):
        raise unsupported(
            construct=f"{side} {kind} JOIN".strip(),
            remedy="Use JOIN, LEFT JOIN, RIGHT JOIN, or IN (SELECT ...).",
        )
    if side and not compared:
        raise unsupported(
            construct=f"{side} JOIN without ON",
            remedy="Say ON which columns the tables are joined.",
        )
    return _SIDES[side]


def compared_by(
    join: exp.Join, left: SQLRelation, right: SQLRelation, conditions: Sequence[exp.Expression]
) -> Compared:
    """What a join says; one that says nothing is joined on what WHERE compares of its two sides."""
    using = tuple(name.name for name in join.args.get("using") or ())
    if str(join.args.get("method") or "").upper() == "NATURAL":
        using = _alike(left, right)
    on = join.args.get("on")
    if on is not None or using:
        return Compared(using, () if on is None else tuple(conjuncts(on)))
    links = (each for each in conditions if isinstance(each, exp.EQ) and _links(each, left, right))
    return Compared((), tuple(links))


def _alike(left: SQLRelation, right: SQLRelation) -> tuple[str, ...]:
    """The names of columns that both sides have, which a natural join compares."""
    known = {column.name.lower() for column in right.columns if not column.merged}
    shared = [c.name for c in left.columns if not c.merged and c.name.lower() in known]
    if shared:
        return tuple(dict.fromkeys(shared))
    raise unsupported(
        construct="NATURAL JOIN of tables without a column of the same name",
        remedy="Write JOIN ... ON, or CROSS JOIN where no columns are compared.",
    )


def _links(condition: exp.EQ, left: SQLRelation, right: SQLRelation) -> bool:
    """Whether one side of an equality reads the left table alone, and the other one the right."""
    sides = (condition.this, condition.expression)
    return any(_reads(a, left, right) and _reads(b, right, left) for a, b in (sides, sides[::-1]))


def _reads(node: exp.Expression, side: SQLRelation, other: SQLRelation) -> bool:
    named = list(node.find_all(exp.Column))
    return bool(named) and all(has_column(side, c) and not has_column(other, c) for c in named)


def has_column(side: SQLRelation, column: exp.Column) -> bool:
    """Whether rows have a column that a name may mean."""
    name, table = column.name.lower(), column.table.lower()
    return any(
        each.name.lower() == name and (not table or each.qualifier.lower() == table)
        for each in side.columns
    )


def _mark_merged_columns(
    columns: tuple[Visible, ...], size: int, compared: Compared, kept: Kept
) -> tuple[Visible, ...]:
    """The columns of a join, of whose left table there are ``size``.

    Of two columns that USING compares, the name alone means that of the side whose rows stay, and
    the other one has to be named with its table.
    """
    if not compared.using:
        return columns
    names = {name.lower() for name in compared.using}
    hidden = range(size) if kept is Kept.RIGHT else range(size, len(columns))
    return tuple(
        replace(column, merged=column.merged or (place in hidden and column.name.lower() in names))
        for place, column in enumerate(columns)
    )


def _require_missing(right: SQLRelation) -> None:
    """Refuse computed columns of the right side that would not be NULL without a partner."""
    for column in right.columns:
        if not vanishes(column.expression, columns(column.expression)):
            raise unsupported(
                construct=f"LEFT JOIN with {column.name}, computed so that it has a value in rows "
                "without a partner",
                remedy="Compute it outside, from columns of the right side.",
            )


def conjuncts(node: exp.Expression) -> list[exp.Expression]:
    """The conditions that AND joins."""
    if isinstance(node, exp.Paren):
        return conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*conjuncts(node.this), *conjuncts(node.expression)]
    return [node]


def within(expression: Expression, relation: SQLRelation) -> bool:
    """Whether an expression reads columns of one side, and no others."""
    used = columns(expression)
    seen = frozenset().union(*(columns(column.expression) for column in relation.columns))
    return bool(used) and used <= seen


def owners(left: Expression, right: Expression, a: PlanNode, b: PlanNode) -> bool:
    """Whether two expressions are the identifiers of the two sides."""
    return (
        isinstance(left, Column)
        and isinstance(right, Column)
        and identifies(left.name, a)
        and identifies(right.name, b)
    )


def routed(left: Expression, right: Expression, a: PlanNode, b: PlanNode) -> bool:
    """Whether two columns are the key by which one side reaches the person through the other."""
    for scan, other, own, met in ((a, b, left, right), (b, a, right, left)):
        if (
            isinstance(scan, Scan)
            and isinstance(other, Scan)
            and scan.route is not None
            and scan.route.table.lower() == other.table.lower()
            and own == Column(scan.column(scan.route.key), own.domain)
            and met == Column(other.column(scan.route.key), met.domain)
        ):
            return True
    return False


def limit_of(keys: Sequence[Expression], side: SQLRelation, catalog: Catalog) -> int:
    """The most rows of one side that may share their values of ``keys``.

    A combination of columns has at most as many rows as any of them, so the least bound that
    was declared for some of them is taken.
    """
    found = [origin(key, side.rows) for key in keys]
    by_table: dict[str, set[str]] = {}
    for place in found:
        if place is not None:
            by_table.setdefault(place[0].table, set()).add(place[1])
    limits = []
    for name, named in by_table.items():
        entry = catalog.find(name)
        if entry is not None and isinstance(entry.table, Table):
            declared = entry.table.max_rows_per.items()
            limits += [most for key, most in declared if named.issuperset(key)]
    if limits:
        return min(limits)
    raise _missing({table: sorted(named) for table, named in by_table.items()})


def origin(expression: Expression, rows: PlanNode) -> tuple[Scan, str] | None:
    """The private table and column that an expression only repeats or converts."""
    if isinstance(expression, Call) and expression.function == cast(expression.domain.kind):
        return origin(expression.args[0], rows)
    if not isinstance(expression, Column):
        return None
    found = field_of(expression.name, rows)
    if found is not None:
        return found[0], found[1].name
    if isinstance(rows, Bounded | Distinct | Truncated):
        for output, inside in zip(rows.outputs, rows.expressions, strict=True):
            if output.name == expression.name:
                return origin(inside, rows.rows)
    places = (origin(expression, below) for below in rows.inputs)
    return next((place for place in places if place is not None), None)


def _missing(keys: dict[str, list[str]]) -> InvalidParameter:
    table, named = next(iter(keys.items()), ("the table", ["the key"]))
    key = repr(named[0]) if len(named) == 1 else repr(tuple(named))
    return InvalidParameter(
        code="private_join",
        expectation=f"max_rows_per on {table} for {', '.join(named)}: how many of its rows a "
        "join of private tables on another key than the person lets through for one value",
        received="a join of private tables on something else than the person",
        remedy=f"Join on the identifier of both tables; or declare {table} as "
        f"dp.table(..., max_rows_per={{{key}: 3}}) and join on the columns themselves. "
        f"Where nobody knows it: curator.learn_limits(dp.RowsPer({table!r}, {key}), spend=...).",
    )


def no_equality() -> InvalidParameter:
    """The refusal of private tables joined on nothing that is equal."""
    return InvalidParameter(
        code="private_join",
        expectation="private tables joined on equal columns",
        received="a join of private tables on something else",
        remedy="Join on the person, or on columns with max_rows_per, and put the rest into WHERE.",
    )
