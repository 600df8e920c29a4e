"""When two questions are the same: equal plan, bounds, keys, price, split and names of columns.

Every kind of part is written under a tag of its own and with the names of its fields, so that no
two questions have one text and no renaming in the program changes a text. A part without a tag is
refused: what is not in the text would be left out of the identity.

Only public things enter: the plan and the declarations, never data.

Source: 000a:C12; contract, "Spending" (identical questions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from fractions import Fraction
from numbers import Integral
from typing import Any

from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.relational.identity.tags import TAGS
from discreet.relational.plan.keys import Block
from discreet.relational.schema.declarations import Category
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.expression import Call, Case, Column, Literal, canonical

FORM = "question/2"
"""Of the whole text, and a part of it; :mod:`discreet.relational.identity.former` has the form before."""

_LISTS: dict[type, str] = {Facts: "values", Category: "values", Block: "entries"}
"""Fields with plain values alone, perhaps very many."""
_PLAIN = (str, bytes, bool, int, date, datetime, time, timedelta, type(None))


def identity(door: str, **parts: object) -> str:
    """A digest that is equal for identical questions through one door, and for no others.

    ``parts`` are all that must be equal: the question, which names its unit, spend, allocation,
    snapshot.
    """
    text = "\n".join([FORM, door, *(f"{name}={canonical_text(parts[name])}" for name in parts)])
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_text(value: object) -> str:  # noqa: PLR0911 -- one line for each kind of part
    """Text that is equal for equal public parts of a question.

    >>> from discreet.core.unit import Person
    >>> canonical_text(Person("id", max_rows=3))[:30]
    "person/1(id='id',max_rows=3,ma"
    """
    if isinstance(value, Column | Literal | Call | Case):
        facts = value.facts  # the rest of them follows from the columns, which the scans tell
        return f"expression/1({canonical(value)},{facts.kind.name},{facts.low!r},{facts.high!r})"
    if isinstance(value, Guarantee):
        return _guarantee(value)
    if isinstance(value, Enum):
        return f"{_tag(value)}.{value.name}"
    if is_dataclass(value) and not isinstance(value, type):
        listed = _LISTS.get(type(value))
        inside = (
            f"{f.name}={(repr if f.name == listed else canonical_text)(getattr(value, f.name))}"
            for f in _told(value)
        )
        return f"{_tag(value)}({','.join(inside)})"
    if isinstance(value, tuple | list):
        return f"({','.join(map(canonical_text, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key!r}:{canonical_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, Integral):
        return repr(int(value))
    raise LookupError(type(value).__name__)  # it would be left out of the identity


def _guarantee(value: Guarantee) -> str:
    """The numbers of a spend as they are, however they were written; its unit is named apart."""
    numbers = [f for f in _told(value) if f.name != "unit"]
    inside = (f"{f.name}={exact(getattr(value, f.name))}" for f in numbers)
    return f"{_tag(value)}({','.join(inside)})"


def _told(value: Any) -> list[Field[Any]]:
    """The fields that make two values differ."""
    return [item for item in fields(value) if item.compare]


def _tag(value: object) -> str:
    if type(value) not in TAGS:
        raise LookupError(type(value).__name__)  # it needs a tag in `tags.py`
    return TAGS[type(value)]
