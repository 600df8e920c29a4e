"""Which of the listed keys a condition permits: by public logic alone, before any row is read.

A condition narrows the list of keys if it reads nothing but keys, the columns that keys are made
of, constants and public tables. It is tried on every listed key, and the key stays where it is
true; unknown is not true. A public table that is joined on keys is looked up where its key is
unique: then each key has one row there, or none. Where another private column has a say, as in
``age < 18 OR cost > 9``, or a key has several rows in the public table, nothing is narrowed: such a
condition drops rows, not keys.

What is tried are declared values and public rows, never data, so which keys an answer has tells
nothing. Few keys are tried in Python, by the functions' own reference; many, and functions that
engines may round otherwise, in the engine.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import getitem

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.keys import MAX_VALUES, Block, KeySet
from discreet.relational.plan.nodes import (
    Distinct,
    Filtered,
    JoinKind,
    Output,
    PlanNode,
    columns_of,
)
from discreet.relational.plan.public_rows import PublicRows
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.known_conditions import known_conditions, lookups
from discreet.relational.sql.listed_constants import require_listed_in
from discreet.relational.types.expression import (
    Call,
    Case,
    Column,
    Expression,
    columns,
    evaluate,
    leaves,
    same_everywhere,
    substitute,
)

Entry = tuple[object, ...]
Place = tuple[int, int]

_NOWHERE = -1
_FEW = 2_000
"""Rows that are tried in Python; more are tried in the engine."""


def permitted(
    listed: KeySet, places: tuple[Place, ...], rows: PlanNode, catalog: Catalog
) -> tuple[KeySet, tuple[Place, ...]]:
    """The listed keys that the conditions of a plan permit, and where each key is among them.

    Blocks that a condition compares with each other, or that a lookup relates, become one.
    """
    conditions = tuple(known_conditions(rows))
    tables = tuple(lookups(rows))
    if not listed.blocks or not (conditions or tables):
        return listed, places
    made, moved = _Narrowing(listed, conditions, tables, rows, _Trial(catalog)).blocks()
    if any(not block.entries for block in made):
        require_listed_in(rows, rows)  # a slip of spelling is told as one
        raise InvalidParameter(
            code="no_keys",
            expectation="conditions that permit at least one of the keys to group by",
            received=f"none of {listed.cells}",
            remedy="No row can satisfy them, so the answer would have no rows; ask for other keys.",
        )
    if tuple(made) == listed.blocks:
        return listed, places
    return KeySet(tuple(made)), tuple(moved[place] for place in places)


@dataclass(frozen=True)
class _Trial:
    """Tries conditions on public rows."""

    catalog: Catalog

    def values(
        self,
        named: Sequence[Column],
        rows: Sequence[Entry],
        conditions: Sequence[Expression],
        wanted: Sequence[Expression],
        tables: Sequence[JoinedPublic] = (),
    ) -> list[Entry]:
        """The values of ``wanted`` in those rows of ``named`` columns in which all is true."""
        if not tables and len(rows) <= _FEW and all(map(same_everywhere, (*conditions, *wanted))):
            names = [column.name for column in named]
            seen = (dict(zip(names, row, strict=True)) for row in rows)
            return [
                tuple(evaluate(part, row) for part in wanted)
                for row in seen
                if all(evaluate(condition, row) is True for condition in conditions)
            ]
        outputs = tuple(Output(column.name, column.domain) for column in named)
        below: PlanNode = PublicRows.of("tried", outputs, tuple(rows))
        for table in tables:
            below = replace(table, rows=below)
        return self.computed(below, conditions, wanted)

    def computed(
        self, below: PlanNode, conditions: Iterable[Expression], wanted: Sequence[Expression]
    ) -> list[Entry]:
        """The same, in the engine, of rows that are there."""
        for condition in conditions:
            below = Filtered(below, condition)
        outputs = tuple(
            Output(f"wanted.{place}", expression.domain) for place, expression in enumerate(wanted)
        )
        return self.catalog.list_public_rows(Distinct("wanted", below, tuple(wanted), outputs))


@dataclass(frozen=True)
class _Key:
    """A key, and the column that stands for it while conditions are tried."""

    block: int
    place: int
    expression: Expression

    @property
    def column(self) -> Column:
        return Column(f"key.{self.block}.{self.place}", self.expression.domain)


@dataclass
class _Group:
    """Blocks that something relates, with all that is known of them."""

    blocks: set[int]
    names: set[str]
    conditions: list[Expression] = field(default_factory=list)
    tables: list[JoinedPublic] = field(default_factory=list)


@dataclass(frozen=True)
class _Narrowing:
    listed: KeySet
    conditions: tuple[Expression, ...]
    tables: tuple[JoinedPublic, ...]
    rows: PlanNode
    trial: _Trial

    def blocks(self) -> tuple[list[Block], dict[Place, Place]]:
        """The blocks with the entries that are left, and where each key is now."""
        keys = [
            _Key(number, place, expression)
            for number, block in enumerate(self.listed.blocks)
            for place, expression in enumerate(block.expressions)
        ]
        entries = [self._by_own_columns(block) for block in self.listed.blocks]
        made: list[Block] = []
        moved: dict[Place, Place] = {}
        for group in self._groups(keys, entries):
            own = [key for key in keys if key.block in group.blocks]
            for place, key in enumerate(own):
                moved[key.block, key.place] = (len(made), place)
            found = self._entries(group, own, entries)
            made.append(Block(tuple(key.expression for key in own), found))
        return made, moved

    def _by_own_columns(self, block: Block) -> tuple[Entry, ...]:
        """Entries after conditions on one public table, or on the columns a key is made of."""
        read = frozenset().union(*map(columns, block.expressions))
        table = self._public(block)
        if table is not None:
            read = frozenset(columns_of(table))
        conditions = [each for each in self.conditions if columns(each) and columns(each) <= read]
        found: list[Entry] | None = None
        if conditions and table is not None:
            found = self.trial.computed(table, conditions, block.expressions)
        elif conditions and not all(isinstance(key, Column) for key in block.expressions):
            found = self._made_of(block, conditions)
        return block.entries if found is None else _ordered(found, [block.entries])

    def _made_of(self, block: Block, conditions: Sequence[Expression]) -> list[Entry] | None:
        """Keys computed from columns with few values: those that some permitted values give."""
        found = {
            leaf.name: leaf
            for expression in (*block.expressions, *conditions)
            for leaf in leaves(expression)
        }
        lists = [column.domain.enumerated(MAX_VALUES) for column in found.values()]
        known = [(*values, None) for values in lists if values is not None]
        if len(known) < len(lists) or math.prod(map(len, known)) > MAX_VALUES:
            return None
        rows = list(itertools.product(*known))
        return self.trial.values(list(found.values()), rows, conditions, block.expressions)

    def _groups(self, keys: Sequence[_Key], entries: Sequence[tuple[Entry, ...]]) -> list[_Group]:
        """The blocks, put together where a table or a condition relates them."""
        groups = [
            _Group({number}, {key.column.name for key in keys if key.block == number})
            for number in range(len(entries))
        ]
        for table in self.tables:
            on = tuple((_by_keys(left, keys), right) for left, right in table.on)
            own = {key.block for key in keys if self._of(key, table)}
            met = _related(groups, frozenset().union(*(columns(left) for left, _ in on)), own)
            if met is None or _size(met, entries, own) > MAX_VALUES:
                continue
            group = _joined(groups, met)
            group.tables.append(replace(table, on=on))
            group.names |= columns_of(table.public).keys()
        for condition in (_by_keys(each, keys) for each in self.conditions):
            if not columns(condition):
                groups[0].conditions.append(condition)
                continue
            met = _related(groups, columns(condition), set())
            if met is not None and _size(met, entries, set()) <= MAX_VALUES:
                _joined(groups, met).conditions.append(condition)
        return groups

    def _entries(
        self, group: _Group, own: Sequence[_Key], entries: Sequence[tuple[Entry, ...]]
    ) -> tuple[Entry, ...]:
        """The combinations of a group's keys that are permitted, in the order of the lists."""
        members = sorted(group.blocks)
        tables = self._needed(group, own)
        if not tables and not group.conditions:
            return _ordered(_product(entries, members), [entries[number] for number in members])
        told = {key.block for key in own for table in tables if self._of(key, table)}
        given = [number for number in members if number not in told]
        back = {key.column.name: key.expression for key in own if key.block in told}
        found = self.trial.values(
            [key.column for key in own if key.block in given],
            _product(entries, given),
            [substitute(condition, back) for condition in group.conditions],
            [key.expression if key.block in told else key.column for key in own],
            [
                replace(t, on=tuple((substitute(left, back), right) for left, right in t.on))
                for t in tables
            ],
        )
        return _ordered(found, [entries[number] for number in members])

    def _needed(self, group: _Group, own: Sequence[_Key]) -> list[JoinedPublic]:
        """The tables that say something: a LEFT JOIN of which nothing is read keeps every row."""
        read = frozenset[str]().union(
            *(columns(key.expression) for key in own),
            *map(columns, group.conditions),
            *(columns(left) for table in group.tables for left, _ in table.on),
        )
        return [
            table
            for table in group.tables
            if table.kind is JoinKind.INNER or read & columns_of(table.public).keys()
        ]

    def _public(self, block: Block) -> PlanNode | None:
        """The public table that the keys of a block are columns of."""
        first = block.expressions[0]
        return public_source(first.name, self.rows) if isinstance(first, Column) else None

    def _of(self, key: _Key, table: JoinedPublic) -> bool:
        return isinstance(key.expression, Column) and key.expression.name in columns_of(
            table.public
        )


def public_source(column: str, rows: PlanNode) -> PlanNode | None:
    """The public table, or other public rows, that a column of a plan belongs to."""
    if isinstance(rows, JoinedPublic) and column in columns_of(rows.public):
        return rows.public
    if rows.stability == 0 and column in columns_of(rows):
        return rows
    if rows.computed is not None:
        return None
    places = (public_source(column, below) for below in rows.inputs)
    return next((place for place in places if place is not None), None)


def _related(groups: Sequence[_Group], read: frozenset[str], own: set[int]) -> list[_Group] | None:
    """The groups that have what is read, and those with the blocks ``own``; None if some is not.

    What reads nothing of any group says nothing about keys.
    """
    met = [group for group in groups if group.names & read]
    if not met or not read <= frozenset[str]().union(*(group.names for group in met)):
        return None
    return [group for group in groups if group in met or group.blocks & own]


def _joined(groups: list[_Group], met: Sequence[_Group]) -> _Group:
    """One group instead of several, in the place of the first."""
    first, *others = met
    for other in others:
        first.blocks |= other.blocks
        first.names |= other.names
        first.conditions += other.conditions
        first.tables += other.tables
        groups.remove(other)
    return first


def _size(met: Sequence[_Group], entries: Sequence[tuple[Entry, ...]], own: set[int]) -> int:
    numbers = {number for group in met for number in group.blocks} - own
    return math.prod(len(entries[number]) for number in numbers)


def _product(entries: Sequence[tuple[Entry, ...]], numbers: Sequence[int]) -> tuple[Entry, ...]:
    if len(numbers) == 1:
        return entries[numbers[0]]
    chosen = itertools.product(*(entries[number] for number in numbers))
    return tuple(tuple(value for entry in row for value in entry) for row in chosen)


def _ordered(found: Iterable[Entry], lists: Sequence[tuple[Entry, ...]]) -> tuple[Entry, ...]:
    """What was found, each once, in the order of the lists; what these do not have is left out."""
    rows = tuple(dict.fromkeys(found))
    if len(lists) == 1 and rows == lists[0]:
        return lists[0]
    widths = list(itertools.accumulate((len(each[0]) if each else 0 for each in lists), initial=0))
    found_at: list[list[int]] = []
    for each, (start, end) in zip(lists, itertools.pairwise(widths), strict=True):
        places = {entry: place for place, entry in enumerate(each)}
        found_at.append([places.get(row[start:end], _NOWHERE) for row in rows])
    kept = {place for place in zip(*found_at, strict=True) if _NOWHERE not in place}
    return tuple(
        tuple(itertools.chain.from_iterable(map(getitem, lists, place))) for place in sorted(kept)
    )


def _by_keys(expression: Expression, keys: Sequence[_Key]) -> Expression:
    """An expression with keys in it replaced by the columns that stand for them."""
    for key in keys:
        if expression == key.expression:
            return key.column
    match expression:
        case Call(function=function, args=args):
            return Call(function, tuple(_by_keys(arg, keys) for arg in args))
        case Case(branches=branches, otherwise=otherwise):
            return Case(
                tuple((_by_keys(a, keys), _by_keys(b, keys)) for a, b in branches),
                _by_keys(otherwise, keys),
            )
    return expression
