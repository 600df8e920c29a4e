"""The rows of a table of released values.

Nothing here reads data: the leaves are answers, and every step is a function of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from discreet.relational.functions.comparison import EQUAL
from discreet.relational.functions.logic import AND
from discreet.relational.limits.public_work import require_computed
from discreet.relational.post_processing.compute import compute
from discreet.relational.post_processing.outer_aggregates import OuterAggregate, aggregated
from discreet.relational.post_processing.tables import (
    Answer,
    Arranged,
    CombinedAnswers,
    GroupedAnswer,
    Joined,
    OneRow,
    Projected,
    PublicRowsTable,
    TableNode,
    WindowedAnswer,
)
from discreet.relational.post_processing.uncertain import Value, point
from discreet.relational.post_processing.windows import sort_key, windowed
from discreet.relational.types.expression import Call, Column, Expression

Rows: TypeAlias = list[tuple[Value, ...]]


def rows_of(table: TableNode, answers: Sequence[Rows]) -> Rows:
    """The rows of a table, where ``answers`` are those of the queries that were paid for."""
    rows = _rows_of(table, answers)
    require_computed(len(rows))  # which the step above is about to go through
    return rows


def _rows_of(table: TableNode, answers: Sequence[Rows]) -> Rows:  # noqa: PLR0911 -- one per node
    match table:
        case Answer(part=part):
            return answers[part]
        case OneRow():
            return [()]
        case PublicRowsTable(entries=entries):
            return list(entries)  # type: ignore[arg-type]
        case Projected():
            return _projected(table, answers)
        case GroupedAnswer():
            return _grouped(table, answers)
        case WindowedAnswer():
            rows = rows_of(table.source, answers)
            seen = [_name_row_values(row) for row in rows]
            more = [windowed(window, seen) for window in table.windows]
            return [(*row, *added) for row, *added in zip(rows, *more, strict=True)]
        case Joined():
            return _joined(table, answers)
        case CombinedAnswers():
            return _combined(table, answers)
        case Arranged():
            return _arranged(table, answers)


def _name_row_values(row: tuple[Value, ...]) -> dict[str, Value]:
    return {f"c{place}": value for place, value in enumerate(row)}


def _holds(condition: Expression | None, row: tuple[Value, ...]) -> bool:
    return condition is None or compute(condition, _name_row_values(row)) is True


def _projected(table: Projected, answers: Sequence[Rows]) -> Rows:
    found: Rows = []
    for row in map(_name_row_values, rows_of(table.source, answers)):
        if table.condition is None or compute(table.condition, row) is True:
            found.append(tuple(compute(each, row) for each in table.expressions))
    return found


def _grouped(table: GroupedAnswer, answers: Sequence[Rows]) -> Rows:
    rows = [_name_row_values(row) for row in rows_of(table.source, answers)]
    keyed = [tuple(point(compute(key, row)) for key in table.keys) for row in rows]
    found: Rows = []
    for chosen in table.sets:
        groups: dict[tuple[object, ...], list[dict[str, Value]]] = {} if chosen else {(): []}
        for key, row in zip(keyed, rows, strict=True):
            groups.setdefault(tuple(key[place] for place in chosen), []).append(row)
        for named, members in groups.items():
            known = dict(zip(chosen, named, strict=True))
            places = range(len(table.keys))
            found.append(
                (
                    *(known.get(place) for place in places),  # type: ignore[arg-type]
                    *(int(place not in known) for place in places),
                    *(_aggregate(each, members) for each in table.aggregates),
                )
            )
    return found


def _aggregate(aggregate: OuterAggregate, rows: Sequence[dict[str, Value]]) -> Value:
    kept = [
        row
        for row in rows
        if aggregate.condition is None or compute(aggregate.condition, row) is True
    ]
    if aggregate.argument is None:
        return len(kept)
    values = [compute(aggregate.argument, row) for row in kept]
    return aggregated(aggregate.name, values, distinct=aggregate.distinct)


def _joined(table: Joined, answers: Sequence[Rows]) -> Rows:
    left, right = rows_of(table.left, answers), rows_of(table.right, answers)
    nothing = (None,) * len(table.right.columns)
    pairs = equal_places(table.condition, len(table.left.columns))
    known: dict[tuple[object, ...], Rows] = {}
    for other in right:
        known.setdefault(tuple(point(other[b]) for _, b in pairs), []).append(other)
    found: Rows = []
    for row in left:
        near = known.get(tuple(point(row[a]) for a, _ in pairs), [])
        partners = [(*row, *other) for other in near if _holds(table.condition, (*row, *other))]
        found += partners or ([(*row, *nothing)] if table.outer else [])
    return found


def equal_places(condition: Expression | None, size: int) -> list[tuple[int, int]]:
    """Columns of both sides that a condition says are equal; only such rows need be looked at."""
    match condition:
        case Call(function=function, args=args) if function == AND:
            return [pair for part in args for pair in equal_places(part, size)]
        case Call(function=function, args=(Column(name=one), Column(name=two))):
            places = sorted((int(one[1:]), int(two[1:])))
            if function == EQUAL and places[0] < size <= places[1]:
                return [(places[0], places[1] - size)]
    return []


def _plain(row: tuple[Value, ...]) -> tuple[object, ...]:
    return tuple(map(point, row))


def _combined(table: CombinedAnswers, answers: Sequence[Rows]) -> Rows:
    left, right = rows_of(table.left, answers), rows_of(table.right, answers)
    if table.kind == "union":
        both = left + right
        return list(_different(both)) if table.distinct else both
    others = Counter(map(_plain, right))
    wanted = table.kind == "intersect"
    kept = []
    for row in _different(left) if table.distinct else left:
        there = others[_plain(row)] > 0
        if there and not table.distinct:
            others[_plain(row)] -= 1
        if there is wanted:
            kept.append(row)
    return kept


def _different(rows: Rows) -> Iterator[tuple[Value, ...]]:
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        if _plain(row) not in seen:
            seen.add(_plain(row))
            yield row


def _arranged(table: Arranged, answers: Sequence[Rows]) -> Rows:
    rows = rows_of(table.source, answers)
    if table.distinct:
        rows = list(_different(rows))
    if table.order:
        keys = {
            place: sort_key(
                [
                    (
                        point(compute(term.expression, _name_row_values(row))),
                        term.sign,
                        term.nulls_first,
                    )
                    for term in table.order
                ]
            )
            for place, row in enumerate(rows)
        }
        rows = [rows[place] for place in sorted(keys, key=lambda place: keys[place])]
    end = None if table.limit is None else table.offset + table.limit
    return rows[table.offset : end]
