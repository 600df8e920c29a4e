"""What a question does with which columns: it filters, groups or aggregates; and what it joins.

Columns that inner steps compute are traced back to the columns of tables. Conditions count as
filters, also inside an aggregate; whatever enters a step in another way counts as aggregated, the
columns of DISTINCT too: how many there are tells about them.

Source: 004d:D2 (policies).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from discreet.core.parts import field_names, parts_of
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.features import PerPerson, PerPersonAndKey
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.plan.nodes import (
    Distinct,
    Filtered,
    JoinedPeople,
    PlanNode,
    Scan,
    UnionAll,
    scans,
)
from discreet.relational.plan.query import Query
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Case, Column, Expression, Literal


class Use(StrEnum):
    """What a column is used for."""

    FILTER = "filter"
    GROUP = "group"
    AGGREGATE = "aggregate"


@dataclass(frozen=True)
class Used:
    """A column of a private table in one use."""

    use: Use
    table: str
    column: str


def used_columns(query: Query, aggregates: Sequence[Aggregate] | None = None) -> list[Used]:
    """Every use of a column of a private table, in a fixed order, each once.

    By all aggregates of the query, unless some ``aggregates`` are named. A name that cannot be
    traced counts as a use of every column there is.
    """
    sources = _sources(query.rows)
    every = frozenset[tuple[str, str]]().union(*sources.values())
    aggregating = query.aggregates if aggregates is None else aggregates
    named = [
        *((Use.GROUP, name) for key in _keys(query) for name in _names(key)),
        *(pair for item in aggregating for pair in _aggregated(item)),
        *_inside(query.rows),
    ]
    found = dict.fromkeys(
        Used(use, table, column)
        for use, name in named
        for table, column in sorted(sources.get(name, every))
    )
    return list(found)


def joined_tables(rows: PlanNode) -> set[frozenset[str]]:
    """Pairs of tables whose rows meet; a table joined with itself is a pair of one."""
    found: set[frozenset[str]] = set()
    for below in rows.inputs:
        found |= joined_tables(below)
    for left, right in combinations(rows.inputs, 2):
        pairs = {frozenset({a.table, b.table}) for a in scans(left) for b in scans(right)}
        found |= {pair for pair in pairs if len(pair) > 1 or not isinstance(rows, UnionAll)}
    return found


def _keys(query: Query) -> list[Expression]:
    if isinstance(query.keys, DiscoveredKeys):
        return list(query.keys.expressions)
    return [key for block in query.keys.blocks for key in block.expressions]


_PASSED_ON = ("outputs", "expressions", "branches", "named")


def _inside(rows: PlanNode) -> Iterator[tuple[Use, str]]:
    """Uses by the steps of a plan."""
    use = Use.AGGREGATE
    if isinstance(rows, Filtered | JoinedPublic | JoinedPeople | Unnested):
        use = Use.FILTER
    own = isinstance(rows, Scan | PartitionFilter)  # the owner's, who may use every column
    for field in () if own else field_names(rows):
        counted = isinstance(rows, Distinct) and field == "expressions"
        if field in _PASSED_ON and not counted:
            continue  # under another name, and traced from there
        grouped = isinstance(rows, PerPersonAndKey) and field == "keys"
        for name in _names(getattr(rows, field)):
            yield Use.GROUP if grouped else use, name
    for below in rows.inputs:
        yield from _inside(below)


def _aggregated(value: object) -> Iterator[tuple[Use, str]]:
    """Columns of an aggregate; the conditions of CASE are filters."""
    if isinstance(value, Column):
        yield Use.AGGREGATE, value.name
    elif isinstance(value, Case):
        for test, result in value.branches:
            yield from ((Use.FILTER, name) for name in _names(test))
            yield from _aggregated(result)
        yield from _aggregated(value.otherwise)
    else:
        for part in _parts(value):
            if part.__class__ not in _NAMELESS:
                yield from _aggregated(part)


def _sources(rows: PlanNode) -> dict[str, frozenset[tuple[str, str]]]:
    """The columns of private tables behind every name in a plan."""
    if isinstance(rows, Scan):
        return {
            rows.column(name): frozenset({(rows.table, name)} if rows.private else ())
            for name in rows.fields
        }
    found: dict[str, frozenset[tuple[str, str]]] = {}
    for below in rows.inputs:
        found |= _sources(below)
    if isinstance(rows, PerPerson) and rows.person is not None and rows.named is not None:
        found[rows.person] = found[rows.named.name]
    if isinstance(rows, Unnested):
        behind = [found.get(name, frozenset()) for name in _names(rows.text)]
        found |= {made.name: frozenset[tuple[str, str]]().union(*behind) for made in rows.added}
    outputs = [output.name for output in getattr(rows, "outputs", ())]
    for lists in _computed(rows, len(outputs)) if outputs else ():
        for output, names in zip(outputs, lists, strict=True):
            behind = [found.get(name, frozenset()) for name in names]
            found[output] = found.get(output, frozenset()).union(*behind)
    return found


def _computed(rows: PlanNode, size: int) -> list[list[list[str]]]:
    """For each list of outputs, the names that every output is computed from."""
    if isinstance(rows, UnionAll):
        return [[_names(part) for part in expressions] for _, expressions in rows.branches]
    if isinstance(rows, PerPerson):
        keys = rows.keys if isinstance(rows, PerPersonAndKey) else ()
        return [[_names(part) for part in (*rows.features, *keys)]]
    expressions: tuple[Expression, ...] | None = getattr(rows, "expressions", None)
    if expressions is not None:
        return [[_names(part) for part in expressions]]
    return [[[name for part in parts_of(rows) for name in _names(part)]] * size]


def _names(value: object) -> list[str]:
    """Columns read anywhere inside, but for steps below."""
    found, waiting = [], [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Column):
            found.append(part.name)
        elif part.__class__ not in _NAMELESS:
            waiting += reversed(_parts(part))
    return found


_NAMELESS = frozenset({type(None), bool, int, float, str, ColumnDomain, Literal, DataType})
"""Kinds of parts in which no column is named, of which there are many."""


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, tuple | list):
        return value
    return () if isinstance(value, PlanNode) else parts_of(value)
