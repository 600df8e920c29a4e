"""GROUP BY: key expressions with their finite public lists of values, or to be discovered.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.plan.keys import (
    MAX_VALUES,
    Block,
    DiscoveredKeys,
    KeySet,
    not_finite,
)
from discreet.relational.plan.nodes import (
    Distinct,
    Output,
    PlanNode,
    Scan,
    declared_field,
    scans,
)
from discreet.relational.schema.declarations import Category, Discovered, Number
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.permitted_keys import permitted, public_source
from discreet.relational.sql.relation import SQLRelation, unsupported
from discreet.relational.sql.tree import nodes
from discreet.relational.sql.undeclared import key_remedy, undeclared
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, columns, possible_values


@dataclass(frozen=True)
class Grouping:
    """The keys of a question, in the order of GROUP BY.

    ``listed`` are all keys with their places, where conditions permit only some of them.
    """

    below: SQLRelation
    expressions: tuple[Expression, ...]
    keys: KeySet | DiscoveredKeys
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls,
        select: exp.Select,
        below: SQLRelation,
        aliases: Mapping[str, exp.Expression],
        catalog: Catalog,
    ) -> Grouping:
        """Translate the GROUP BY of ``select``; columns may be meant by number or alias."""
        group = select.args.get("group")
        if group is None:
            return cls(below, (), KeySet(()), ())
        for name, value in group.args.items():
            if name not in ("expressions", "all") and value:
                raise unsupported(construct=f"GROUP BY {name.upper()}", remedy="List the keys.")
        if group.args.get("all") is True and not group.expressions:
            nodes = _all_keys(select)
        elif group.args.get("all") or not group.expressions:
            raise unsupported(
                construct="GROUP BY without a key", remedy="Name the keys, or leave it out."
            )
        else:
            nodes = [_meant(node, select, below, aliases) for node in group.expressions]
        expressions = tuple(expression_from(node, below.resolve) for node in nodes)
        sought = _discovered(expressions, nodes, below.rows)
        if sought is not None:
            return cls(below, expressions, sought, tuple((0, n) for n in range(len(expressions))))
        listed, all_places = _blocks(expressions, nodes, below.rows, catalog)
        keys, places = permitted(listed, all_places, below.rows, catalog)
        return cls(below, expressions, keys, places)

    @cached_property
    def _longest(self) -> int:
        """More nodes of a text than any key is written with, brackets included."""
        return 50 + 10 * max(getattr(key, "nodes", 1) for key in self.expressions)

    def match(self, node: exp.Expression) -> Expression | None:
        """The released key column that ``node`` means, if it is one of the keys."""
        if not self.expressions:
            return None
        parts = nodes(node)
        if len(parts) > self._longest or any(isinstance(part, exp.AggFunc) for part in parts):
            return None
        try:
            meant = expression_from(node, self.below.resolve)
        except DiscreetError:
            return None
        for number, expression in enumerate(self.expressions):
            if meant == expression:
                domain = expression.domain
                return Column(
                    f"key{number}", ColumnDomain(domain.kind, None, None, None, declared=True)
                )
        return None


def _all_keys(select: exp.Select) -> list[exp.Expression]:
    """GROUP BY ALL: every column of the SELECT without an aggregate in it."""
    items = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    return [
        item
        for item in items
        if item.find(exp.AggFunc) is None and item.find(exp.Column) is not None
    ]


def _meant(
    node: exp.Expression,
    select: exp.Select,
    below: SQLRelation,
    aliases: Mapping[str, exp.Expression],
) -> exp.Expression:
    """The expression behind ``GROUP BY 1`` or ``GROUP BY alias``."""
    if isinstance(node, exp.Literal) and node.is_int:
        place = int(node.name) - 1
        if not 0 <= place < len(select.expressions):
            raise InvalidParameter(
                code="no_such_column",
                expectation="the number of a column in GROUP BY",
                received=place + 1,
                remedy="Count the columns of the SELECT from one, or use a name.",
            )
        item: exp.Expression = select.expressions[place]
        return item.this if isinstance(item, exp.Alias) else item
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases:
        if any(column.name.lower() == node.name.lower() for column in below.columns):
            return node
        return aliases[node.name.lower()]
    return node


def _discovered(
    expressions: tuple[Expression, ...], nodes: list[exp.Expression], rows: PlanNode
) -> DiscoveredKeys | None:
    """The keys to be discovered, where one of them has no list and comes from such a column.

    Its combinations with the others are then discovered as well. ``nodes`` are what was written.
    """
    least: list[int] = []
    for expression in expressions:
        found = [declared_field(name, rows) for name in columns(expression)]
        declared = [field.declaration for field in filter(None, found)]
        sought = [each.min_people for each in declared if isinstance(each, Discovered)]
        if expression.domain.kind is DataType.INTEGER and expression.domain.declared:
            # Whole numbers of which there are too many to list may be discovered as well.
            sought += [1 for each in declared if isinstance(each, Number)]
        if sought and possible_values(expression, MAX_VALUES) is None:
            least += sought
    if not least:
        return None
    listed = []
    for expression, node in zip(expressions, nodes, strict=True):
        if not expression.domain.declared:
            _values(expression, node, rows)  # refuses it by name
        known = declared_field(expression.name, rows) if isinstance(expression, Column) else None
        declaration = None if known is None else known.declaration
        listed.append(isinstance(declaration, Category) and None in declaration.values)
    return DiscoveredKeys(expressions, tuple(listed), max(least))


def _blocks(
    expressions: tuple[Expression, ...],
    nodes: list[exp.Expression],
    rows: PlanNode,
    catalog: Catalog,
) -> tuple[KeySet, tuple[tuple[int, int], ...]]:
    """One block per key; the columns of one public table share a block."""
    publics: list[tuple[PlanNode, list[int]]] = []
    order: list[tuple[PlanNode | None, list[int]]] = []
    for number, expression in enumerate(expressions):
        public = _public(expression, rows)
        known = next((numbers for each, numbers in publics if each is public), None)
        if public is None:
            order.append((None, [number]))
        elif known is not None:
            known.append(number)
        else:
            publics.append((public, [number]))
            order.append(publics[-1])
    blocks: list[Block] = []
    places: dict[int, tuple[int, int]] = {}
    for block, (public, numbers) in enumerate(order):
        members = tuple(expressions[number] for number in numbers)
        if public is None:
            (member,) = members
            entries: Sequence[tuple[object, ...]] = [
                (value,) for value in _values(member, nodes[numbers[0]], rows)
            ]
        else:
            entries = _combinations(members, public, catalog)
        if not entries:
            raise InvalidParameter(
                code="no_keys",
                expectation="a public table with at least one row to group by",
                received=nodes[numbers[0]].sql(),
                remedy="Fill the table of keys.",
            )
        blocks.append(Block(members, tuple(entries)))
        places.update({number: (block, place) for place, number in enumerate(numbers)})
    return KeySet(tuple(blocks)), tuple(places[number] for number in range(len(expressions)))


def _values(expression: Expression, node: exp.Expression, rows: PlanNode) -> tuple[object, ...]:
    """The list of values, with NULL where the owner declared it as a key."""
    found = declared_field(expression.name, rows) if isinstance(expression, Column) else None
    if found is not None and isinstance(found.declaration, Category):
        return found.declaration.values
    if not expression.domain.declared:
        name = node.sql()
        if isinstance(expression, Column) and any(
            scan.identifier is not None and expression.name == scan.column(scan.identifier)
            for scan in scans(rows)
        ):
            raise InvalidParameter(
                code="key_is_identifier",
                expectation="keys that many people share",
                received=name,
                remedy="People are never listed; group by something else, or count them.",
            )
        inside = undeclared(expression, name, rows)
        raise InvalidParameter(
            code="key_not_declared",
            expectation=f"declared columns to group by, here {inside}",
            received=name,
            remedy=key_remedy(expression, inside, rows),
        )
    values = possible_values(expression, MAX_VALUES)
    if values is None:
        raise not_finite(node.sql(), expression.domain)
    return values


def _public(expression: Expression, rows: PlanNode) -> PlanNode | None:
    return public_source(expression.name, rows) if isinstance(expression, Column) else None


def _combinations(
    members: tuple[Expression, ...], public: PlanNode, catalog: Catalog
) -> Sequence[tuple[object, ...]]:
    """The combinations of values of columns of one public table, sorted."""
    if isinstance(public, Scan):
        stored = [column.name.removeprefix(f"{public.prefix}.") for column in _plain(members)]
        return catalog.combinations(public.table, stored)
    outputs = tuple(Output(f"listed.{place}", key.domain) for place, key in enumerate(members))
    return catalog.list_public_rows(Distinct("listed", public, members, outputs))


def _plain(members: tuple[Expression, ...]) -> list[Column]:
    return [member for member in members if isinstance(member, Column)]
