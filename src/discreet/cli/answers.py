"""What ``discreet init`` needs to know, from options or from a file of answers."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path

from discreet.cli.declaration import declaration, split
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.core.unit import Person, Row
from discreet.curator.project.data_file import Schema
from discreet.curator.project.draft import Draft
from discreet.curator.project.fields import NUMBER, TABLE, TEXT, WHOLE, Fields
from discreet.relational.schema.declarations import Declaration


@dataclass(frozen=True, kw_only=True)
class Answers:
    """None means not answered. ``columns`` are pairs of a name and what was declared about it."""

    name: str | None = None
    unit: str | None = None
    id: str | None = None
    max_rows: int | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    row: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    epsilon: float | None = None
    delta: float | None = None
    ledger: str | None = None

    def before(self, others: Answers) -> Answers:
        """These answers, and the others where there is none; columns of both, these last."""
        columns = tuple({**dict(others.columns), **dict(self.columns)}.items())
        filled = {
            each.name: getattr(others, each.name)
            for each in fields(self)
            if getattr(self, each.name) is None
        }
        return replace(self, columns=columns, **filled)


def from_file(path: Path) -> Answers:
    """The answers in a TOML file whose fields are named like the options."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        read = Fields(tomllib.loads(text), (), text)
    except (OSError, ValueError) as error:
        raise InvalidParameter(
            code="answers_unreadable",
            expectation="a file of answers in TOML",
            received=path.name,
            remedy=f"Fix it: {getattr(error, 'strerror', None) or error}.",
        ) from None
    declared = Fields(read.maybe("columns", TABLE) or {}, ("columns",), text)
    made = Answers(
        name=read.maybe("name", TEXT),
        unit=read.maybe("unit", TEXT),
        id=read.maybe("id", TEXT),
        max_rows=read.maybe("max_rows", WHOLE),
        max_groups=read.maybe("max_groups", WHOLE),
        max_rows_per_group=read.maybe("max_rows_per_group", WHOLE),
        row=read.maybe("row", TEXT),
        columns=tuple((name, declared.take(name, TEXT)) for name in declared.values),
        epsilon=read.maybe("epsilon", NUMBER),
        delta=read.maybe("delta", NUMBER),
        ledger=read.maybe("ledger", TEXT),
    )
    read.finish()
    return made


def from_columns(texts: list[str], schema: Schema) -> tuple[tuple[str, str], ...]:
    """The pairs behind ``--column NAME=DECLARATION``."""
    return tuple(split(text, list(schema.stored)) for text in texts)


def draft(answers: Answers, schema: Schema, *, path: str) -> Draft:
    """What the file will say; whatever is about privacy and not answered is refused."""
    name = answers.name or schema.name
    return Draft(
        name=name,
        path=path,
        table=schema.table,
        ledger=answers.ledger or f"{name}.ledger",
        unit=unit(answers, schema),
        columns=columns(answers, schema),
        stored=schema.stored,
        budget=budget(answers),
    )


def unit(answers: Answers, schema: Schema) -> Row | Person:
    """Read from the answers whose privacy is protected."""
    if answers.unit == "row":
        return Row()
    if answers.unit != "person":
        raise _unanswered(
            option="unit",
            received=answers.unit,
            meaning="row if every row is another person, person if one may have several rows",
        )
    if answers.id is None:
        raise _unanswered(option="id", meaning="the column that identifies the person")
    if answers.max_rows is None:
        raise _unanswered(
            option="max-rows", meaning="how many rows of one person may count at most"
        )
    _require(answers.id, schema)
    if answers.row is not None:
        _require(answers.row, schema)
    return Person(
        answers.id,
        max_rows=answers.max_rows,
        max_groups=answers.max_groups,
        max_rows_per_group=answers.max_rows_per_group,
        row=answers.row,
    )


def columns(answers: Answers, schema: Schema) -> dict[str, Declaration]:
    """The declared columns, in the order of the table."""
    given = dict(answers.columns)
    for name in given:
        _require(name, schema)
    made = {
        name: declaration(name, given[name], schema.kinds[name])
        for name in schema.stored
        if name in given
    }
    return {name: each for name, each in made.items() if each is not None}


def budget(answers: Answers) -> Guarantee:
    """What may be spent in all; delta 0 means a pure budget."""
    if answers.epsilon is None:
        raise _unanswered(option="epsilon", meaning="what all questions together may cost")
    if answers.delta is None:
        raise _unanswered(option="delta", meaning="the chance that the promise fails; 0 for none")
    if answers.delta == 0:
        return PureDP(epsilon=answers.epsilon)
    return ApproxDP(epsilon=answers.epsilon, delta=answers.delta)


def _require(name: str, schema: Schema) -> None:
    if name not in schema.stored:
        raise InvalidParameter(
            code="unknown_column",
            expectation=f"one of the columns {list(schema.stored)}",
            received=name,
            remedy="Check the spelling; names of columns are case-sensitive here.",
        )


def _unanswered(*, option: str, meaning: str, received: str | None = None) -> InvalidParameter:
    return InvalidParameter(
        code="answer_missing",
        expectation=f"--{option}: {meaning}",
        received=received,
        remedy=f"Pass --{option}; nothing about privacy has a default. Without any of these "
        "options `discreet init` asks.",
    )
