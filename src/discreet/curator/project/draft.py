"""A project file as text, with a comment at everything that its owner may want to change."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.core.unit import Person, Row
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Declaration,
    Discovered,
    Integer,
    Number,
    Text,
)

_TOP = """\
# What discreet may answer about {source}, whose privacy it protects, and for how much.
# Everything in this file is public: anybody who asks questions may read it.
# Bounds and lists come from what you know about such data, never from the data itself.
# Try it, at no cost:  discreet preview "SELECT COUNT(*) AS n FROM {name}" --epsilon 0.1

ledger = {ledger}  # remembers all spending; its key is made beside it
# key = "vault/owner.key"  # where the key is, once you have moved it to a safe place
# owner_log = "owner.log"  # why a question failed; may quote private values, so keep it safe

"""
_PURE = """\
[budget]  # for all questions together, by anybody, for ever
kind = "pure"
epsilon = {epsilon}

"""
_APPROX = """\
[budget]  # for all questions together, by anybody, for ever
kind = "approx"
epsilon = {epsilon}
delta = {delta}
# by = "zcdp"  # adds up squares: for many small questions; decide before the first one

"""
_PERSON = """\
[{part}.unit]  # whose privacy: all rows of one person together
kind = "person"
id = {id}
max_rows = {max_rows}  # a person with more rows counts as so many; each of them weighs less
"""
_ROW = """\
[{part}.unit]  # whose privacy: each row is another person; nothing checks that
kind = "row"
"""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a project file is to say about one private table.

    ``stored`` holds every column with the type it is stored in; ``columns`` those declared.
    """

    name: str
    path: str
    table: str | None
    ledger: str
    unit: Row | Person
    columns: Mapping[str, Declaration]
    stored: Mapping[str, str]
    budget: Guarantee


def format_project_file(draft: Draft) -> str:
    """The text of the file."""
    part = f"tables.{key(draft.name)}"
    return "".join(
        (
            _TOP.format(
                source=draft.path, name=_quote_table_name(draft.name), ledger=_text(draft.ledger)
            ),
            _budget(draft.budget),
            f"[{part}]\npath = {_text(draft.path)}\n",
            "" if draft.table is None else f"table = {_text(draft.table)}\n",
            "\n",
            _unit(draft.unit, part),
            "\n",
            _columns(draft, part),
        )
    )


def key(name: str) -> str:
    """A name as a key of TOML: in quotes if it needs them.

    >>> key("age"), key("date of birth")
    ('age', '"date of birth"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _budget(budget: Guarantee) -> str:
    if isinstance(budget, PureDP):
        return _PURE.format(epsilon=_number(budget.epsilon))
    assert isinstance(budget, ApproxDP)
    return _APPROX.format(epsilon=_number(budget.epsilon), delta=_number(budget.delta))


def _unit(unit: Row | Person, part: str) -> str:
    if isinstance(unit, Row):
        return _ROW.format(part=part)
    lines = [_PERSON.format(part=part, id=_text(unit.id), max_rows=unit.max_rows)]
    for name, what in (
        ("max_groups", "groups of a GROUP BY that one person may be in"),
        ("max_rows_per_group", "rows of one person in one group"),
    ):
        value = getattr(unit, name)
        lines.append(f"{'# ' if value is None else ''}{name} = {value or 5}  # {what}\n")
    told = "" if unit.row is not None else "# "
    named = _text(unit.row or "visit_id")
    lines.append(f"{told}row = {named}  # a column that tells the rows of one person apart\n")
    return "".join(lines)


def _columns(draft: Draft, part: str) -> str:
    lines = [f"[{part}.columns]  # what may be grouped by, summed and averaged"]
    lines += [f"{key(name)} = {_declared(each)}" for name, each in draft.columns.items()]
    owner = draft.unit.id if isinstance(draft.unit, Person) else None
    others = [name for name in draft.stored if name not in draft.columns and name != owner]
    if others:
        lines.append("# Not declared, so only for WHERE; declare one by a line such as")
        lines.append('#   age = { kind = "number", low = 0, high = 120 }')
        lines.append('#   ward = { kind = "category", values = ["A", "B"] }')
        lines.append('#   day = { kind = "dates", first = 2024-01-01, last = 2024-12-31 }')
        lines += [f"# {key(name)}  ({draft.stored[name]})" for name in others]
    return "\n".join(lines) + "\n"


def _declared(declaration: Declaration) -> str:  # noqa: PLR0911 -- one for each
    match declaration:
        case Number(low=low, high=high, step=step):
            spacing = "" if step is None else f", step = {step}"
            return f'{{ kind = "number", low = {low}, high = {high}{spacing} }}'
        case Integer(low=low, high=high):
            return f'{{ kind = "integer", low = {low}, high = {high} }}'
        case Boolean():
            return '{ kind = "boolean" }'
        case Dates(first=first, last=last):
            return f'{{ kind = "dates", first = {_plain(first)}, last = {_plain(last)} }}'
        case Discovered(min_people=people):
            minimum = "" if people == 1 else f", min_people = {people}"
            return f'{{ kind = "discovered"{minimum} }}'
        case Text(max_elements=most, elements=each):
            limit = "" if most is None else f", max_elements = {most}"
            inside = "" if each is None else f", elements = {_declared(each).partition('  #')[0]}"
            return f'{{ kind = "text"{limit}{inside} }}'
        case Category(values=values):
            listed = ", ".join(_plain(value) for value in values if value is not None)
            null, hint = (
                (", null = true", "null = true: missing values are a group of their own")
                if None in values
                else ("", "null = true makes missing values a group of their own")
            )
            return f'{{ kind = "category", values = [{listed}]{null} }}  # {hint}'


def _plain(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime() | date():
            return value.isoformat()
        case str():
            return _text(value)
    return repr(value)


def _number(value: object) -> str:
    """As a person would write it: 3, not 3.0."""
    return repr(value).removesuffix(".0")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quote_table_name(name: str) -> str:
    """A table's name in SQL that stands inside double quotes of a shell."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else f'\\"{name}\\"'
