"""Under which names a table that is computed from an answer shows the columns of that answer."""

from __future__ import annotations

from discreet.relational.post_processing.tables import (
    Answer,
    Arranged,
    GroupedAnswer,
    Projected,
    TableNode,
    WindowedAnswer,
)
from discreet.relational.types.expression import Column, Expression


def shown_names(table: TableNode) -> dict[int, str]:
    """The names of those columns of the answer, by their places there, that are shown unchanged.

    Tables computed from several answers are not looked into: nothing is said of them.
    """
    names = {place: column.name for place, column in enumerate(table.columns)}
    while True:
        match table:
            case Projected(source, _, expressions):
                names = _below(names, expressions)
            case GroupedAnswer(source, keys):
                names = _below(names, keys)
            case WindowedAnswer(source) | Arranged(source):
                names = {at: name for at, name in names.items() if at < len(source.columns)}
            case Answer():
                return names
            case _:
                return {}
        table = source


def _below(names: dict[int, str], expressions: tuple[Expression, ...]) -> dict[int, str]:
    """The names one step further down, of columns that the step only passes on; the first wins."""
    found: dict[int, str] = {}
    for place, name in names.items():
        passed = expressions[place] if place < len(expressions) else None
        if isinstance(passed, Column):
            found.setdefault(int(passed.name.removeprefix("c")), name)
    return found
