"""The questions of ``discreet init``, for people. It shows names and types, never a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import typer

from discreet.cli import answers as answering
from discreet.cli.answers import Answers
from discreet.cli.declaration import declaration
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.parameters import count, delta_parameter, positive
from discreet.curator.project.data_file import Schema

Value = TypeVar("Value")

_UNIT = """
Whose privacy?
  row     every row is another person
  person  one person may have several rows, and a column says whose each row is"""
_ROWS = """
As how many rows may one person count at most? Somebody with more rows counts as so many, each
of them a little less; noise grows with this number. Answer from what you know about such data,
not from the data."""
_COLUMNS = """
What may be in the columns? Only declared columns can be grouped by, summed or averaged.
Everybody may see what you write, so write what you know, never what you read in the data:
  number:0:120                   between these bounds; values beyond count as the bound
  integer:0:120                  the same for whole numbers, which can be grouped by
  boolean                        true or false
  category:A,B,C                 one of these values; any other counts as missing
  category+null:A,B,C            the same, and missing is a group of its own
  dates:2024-01-01:2024-12-31    days from the first to the last
  discovered                     values found privately, at a price; needs a delta above 0
  Enter                          skip it: then it serves in WHERE only
  done                           skip it and all that follow"""
_DONE = "done"
_BUDGET = """
How much may all answers together reveal about one person, for ever? There is no default.
epsilon 1 is careful, 3 is common, above 10 it is hardly a promise."""
_DELTA = "delta, the chance that the promise fails: well below 1 / number of people; 0 for none"


def interview(schema: Schema, path: Path, given: Answers) -> Answers:
    """Ask for everything; what is refused is asked again."""
    typer.echo(f"{path.name} has these columns (their values were not looked at):")
    width = max(map(len, schema.stored))
    for name, stored in schema.stored.items():
        typer.echo(f"  {name:<{width}}  {'text' if stored == 'VARCHAR' else stored.lower()}")
    name = given.name or typer.prompt("\nName of the table in SQL", default=schema.name)
    typer.echo(_UNIT)
    said = _ask_until_readable("unit", lambda text: _unit(text.strip().lower(), schema))
    declared = _columns(schema, skipped=said.id)
    typer.echo(_BUDGET)
    epsilon = _ask_until_readable("epsilon", lambda text: float(positive("epsilon", float(text))))
    delta = _ask_until_readable(_DELTA, lambda text: float(delta_parameter("delta", float(text))))
    ledger = given.ledger or typer.prompt(
        "\nFile that remembers all spending", default=f"{name}.ledger"
    )
    return replace(
        said, name=name, columns=declared, epsilon=epsilon, delta=delta, ledger=str(ledger)
    )


def _unit(word: str, schema: Schema) -> Answers:
    if word == "row":
        return Answers(unit=word)
    if word != "person":
        raise InvalidParameter(
            code="answer_missing",
            expectation="row or person",
            received=word,
            remedy="Nothing about privacy has a default.",
        )

    def identified(text: str) -> str:
        answering.unit(Answers(unit="person", id=text.strip(), max_rows=1), schema)
        return text.strip()

    column = _ask_until_readable("Column that identifies the person", identified)
    typer.echo(_ROWS)
    rows = _ask_until_readable("max_rows", lambda text: count("max_rows", int(text)))
    return Answers(unit="person", id=column, max_rows=rows)


def _columns(schema: Schema, *, skipped: str | None) -> tuple[tuple[str, str], ...]:
    typer.echo(_COLUMNS)
    declared = []
    for name, kind in schema.kinds.items():
        if name == skipped or kind is None:
            continue

        def checked(text: str, name: str = name) -> str:
            if text.strip().lower() != _DONE:
                declaration(name, text, schema.kinds[name])
            return text.strip()

        text = _ask_until_readable(name, checked, default="")
        if text.lower() == _DONE:
            break
        if text:
            declared.append((name, text))
    return tuple(declared)


def _ask_until_readable(
    label: str, read: Callable[[str], Value], *, default: str | None = None
) -> Value:
    """Ask until the answer can be read."""
    while True:
        text = str(typer.prompt(label, default=default, show_default=False))
        try:
            return read(text)
        except DiscreetError as refusal:
            typer.echo(f"  Expected {refusal.expectation}. {refusal.remedy}")
        except ValueError:
            typer.echo("  Expected a number.")
