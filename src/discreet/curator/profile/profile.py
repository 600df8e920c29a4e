"""The profile of every private table of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import prod

from discreet.curator.profile.columns import column
from discreet.curator.profile.contributions import contributions
from discreet.curator.profile.odd_lines import odd_lines
from discreet.curator.profile.reading import Reading
from discreet.curator.profile.report import (
    FEW_PEOPLE,
    ColumnProfile,
    Contributions,
    FixedLine,
    Profile,
    TableProfile,
)
from discreet.relational.database import Database
from discreet.relational.schema.declarations import Category
from discreet.relational.schema.sources import CSVFile
from discreet.relational.schema.table import Table

_MOST_VALUES = 1_000
_MOST_COMPARED = 12
_SMALL = 20
_MOST_LINES = 20


def profile(database: Database, step: Callable[[str], None] = lambda _: None) -> Profile:
    """Look at every private table; ``step`` is told what is looked at."""
    private = [name for name in database.names() if isinstance(database.tables[name], Table)]
    return Profile(tuple(_table(Reading(database, name, step)) for name in private))


def _table(table: Reading) -> TableProfile:
    table.step(f"{table.name}: rows")
    (rows,) = table.row(f"SELECT COUNT(*) FROM {table.place}")
    people = contributions(table, rows)
    columns = tuple(column(table, field) for field in table.fields.values())
    unread, fixed = _lines(table)
    cells, empty, small = _cells(table)
    return TableProfile(
        name=table.name,
        rows=rows,
        unread_lines=unread,
        fixed_lines=fixed,
        contributions=people,
        columns=columns,
        cells=cells,
        empty_cells=empty,
        small_cells=small,
        determines=tuple(_determines(table, columns)),
        notes=tuple(_notes(rows, people, columns)),
    )


def _lines(table: Reading) -> tuple[int | None, tuple[FixedLine, ...]]:
    """Lines of a text file that are no rows, and the first that are not read as they stand."""
    source = table.declared.source
    if not isinstance(source, CSVFile):
        return None, ()
    table.step(f"{table.name}: lines")
    return odd_lines(source.path, _MOST_LINES)


def _cells(table: Reading) -> tuple[int, int, int]:
    """Combinations of all categories: how many, how many empty, how many small."""
    listed = [f for f in table.fields.values() if isinstance(f.declaration, Category)]
    if not listed:
        return 1, 0, 0
    table.step(f"{table.name}: cells")
    texts = [table.clean(field, field.domain) for field in listed]
    known = " AND ".join(f"({text}) IS NOT NULL" for text in texts)
    places = ", ".join(str(place + 1) for place in range(len(texts)))
    found = table.rows(
        f"SELECT {', '.join(texts)}, COUNT(*) FROM {table.place} WHERE {known} GROUP BY {places}"
    )
    total = prod(len(field.domain.values or ()) for field in listed)
    empty = total - len(found)
    return total, empty, empty + sum(int(row[-1]) < _SMALL for row in found)


def _determines(table: Reading, columns: tuple[ColumnProfile, ...]) -> Iterator[tuple[str, str]]:
    """Columns of few values of which one fixes another: then both are one secret."""
    few = [
        each.name
        for each in columns
        if 1 < int(str(each.facts["different_values"])) <= _MOST_VALUES
    ][:_MOST_COMPARED]
    table.step(f"{table.name}: dependencies")
    alone = {name: table.different(name) for name in few}
    for first, second in combinations(few, 2):
        both = table.different(first, second)
        if both == alone[first]:
            yield first, second
        if both == alone[second]:
            yield second, first


def _notes(
    rows: int, people: Contributions | None, columns: tuple[ColumnProfile, ...]
) -> Iterator[str]:
    number = rows if people is None else people.people
    if number < FEW_PEOPLE:
        yield (
            f"with {number} people most answers will be mostly noise; "
            f"a few hundred is the least that makes sense"
        )
    for each in columns:
        unreadable = int(str(each.facts.get("unreadable", 0)))
        if rows and unreadable > rows / 100:
            yield (
                f"{each.name}: {unreadable / rows:.0%} of the rows are not read as declared and "
                "count as missing; numbers are written 1234.5 and days 2024-01-31, without spaces; "
                "where a text file has 12.0, declare a number, not an integer"
            )
        beyond = int(str(each.facts.get("outside_the_list", 0)))
        if rows and beyond > rows / 100:
            yield f"{each.name}: {beyond / rows:.0%} of the rows are outside the list"
