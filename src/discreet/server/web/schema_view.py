"""Tables at hand while somebody writes a question, and questions to begin with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MOST_VALUES = 12
_NUMBERS = ("real number", "whole number")


@dataclass(frozen=True)
class ColumnAtHand:
    """A column: what is public about it, and how it and its values are written in SQL."""

    name: str
    words: str
    values: tuple[tuple[str, str], ...]
    more_values: int


@dataclass(frozen=True)
class TableAtHand:
    """A table with its columns."""

    name: str
    private: bool
    columns: tuple[ColumnAtHand, ...]


def tables_at_hand(schema: dict[str, Any]) -> list[TableAtHand]:
    """The tables of a schema, for a page."""
    return [
        TableAtHand(
            table["name"],
            table["private"],
            tuple(_column(each, private=table["private"]) for each in table["columns"]),
        )
        for table in schema["tables"]
    ]


def first_questions(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Questions that anybody could begin with, each with a name."""
    found = []
    for table in schema["tables"]:
        if not table["private"]:
            continue
        name = table["name"]
        keys = [each["name"] for each in table["columns"] if "values" in each]
        numbers = [
            each["name"]
            for each in table["columns"]
            if each.get("low") is not None and each["type"] in _NUMBERS
        ]
        found.append((f"How many rows {name} has", f"SELECT COUNT(*) AS n\nFROM {name}"))
        if keys:
            by = f"FROM {name}\nGROUP BY {keys[0]}"
            found.append((f"Rows by {keys[0]}", f"SELECT {keys[0]}, COUNT(*) AS n\n{by}"))
        if keys and numbers:
            mean = f"AVG({numbers[0]}) AS {numbers[0]}"
            found.append((f"Mean {numbers[0]} by {keys[0]}", f"SELECT {keys[0]}, {mean}\n{by}"))
    return found


def _column(told: dict[str, Any], *, private: bool) -> ColumnAtHand:
    words = [str(told["type"])]
    if told.get("low") is not None:
        words.append(f"{told['low']} to {told['high']}")
    if "discovered" in told:
        words.append("keys are discovered")
    if private and not told["declared"]:
        words.append("in conditions only")
    values = told.get("values", ())
    return ColumnAtHand(
        told["name"],
        ", ".join(words),
        tuple((str(value), _literal(value)) for value in values[:MOST_VALUES]),
        max(0, len(values) - MOST_VALUES),
    )


def _literal(value: object) -> str:
    """A value as SQL writes it.

    >>> _literal("St. John's"), _literal(3)
    ("'St. John''s'", '3')
    """
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    return str(value)
