"""When two queries are the same: equal query and unit, spend, split, snapshot and declared rows.

A query is its plan, bounds, keys, aggregates and names of columns; ``known_query`` of
``curator/sql.py`` lists what enters beside it. Its *private part* is what it measures: queries
that differ elsewhere are answered from the same noisy values.

Every kind of part is written under a tag of its own and with the names of its fields, so that no
two questions have one text and no renaming in the program changes a text. A part without a tag is
refused: what is not in the text would be left out of the identity.

Only public things enter: the plan and the declarations, never data.

Source: 000a:C12; contract, "Spending" (identical questions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from numbers import Integral
from types import MappingProxyType

from discreet.core.by_object import ByObject
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.core.unit import Edge, Node, Person, Replace, Row
from discreet.core.written import Form
from discreet.relational.aggregates.ranked import ChosenByRank
from discreet.relational.identity.tags import FORMS
from discreet.relational.plan.keys import Block
from discreet.relational.plan.nodes import JoinKind, Scan
from discreet.relational.plan.person_windows import Numbering
from discreet.relational.plan.query import PrivatePart, Query
from discreet.relational.schema.declarations import Category
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Literal, canonical

FORM = "question/1"
"""Of the whole text, and a part of it."""

_LISTS: dict[type, str] = {ColumnDomain: "values", Category: "values", Block: "entries"}
"""Fields with plain values alone, perhaps very many; by the names under which they are written."""
_SNAPSHOT = frozenset({"snapshot", "snapshots"})
_GUARANTEES = frozenset(kind for kind in FORMS if issubclass(kind, Guarantee))
_PLAIN = (str, bytes, bool, int, date, datetime, time, timedelta, type(None))
_NOTHING: Mapping[int, CanonicalText] = MappingProxyType({})
_AS_THEY_ARE = frozenset({*_PLAIN, float})
"""Exactly these, and nothing derived from them, are written by ``repr``: most parts are."""

_LONG = ByObject[str](16)
"""The texts of long lists."""
_WRITTEN = ByObject[str](256)
"""The texts of what many questions share."""
_SHARED = frozenset({Scan, Row, Person, Edge, Node, Replace})
"""Parts that are made once for a table and then stand in every question about it."""


@dataclass(frozen=True)
class CanonicalText:
    """A part whose text was written already, for a question that has more than one identity."""

    text: str

    @classmethod
    def of(cls, value: object) -> CanonicalText:
        """The text of a part."""
        return cls(canonical_text(value))


def identity(verb: str, parts: Mapping[str, object]) -> str:
    """A digest that is equal for identical queries by one verb, and for no others.

    ``parts`` are all that must be equal, under names that are fixed for ever: the query, which
    names its unit, spend, allocation, snapshot, declared rows.
    """
    return _digest(verb, _lines(parts))


def any_snapshot(verb: str, parts: Mapping[str, object]) -> str:
    """The same apart from the snapshot of the data: equal wherever nothing else differs."""
    return _digest(verb, _lines({name: parts[name] for name in parts if name not in _SNAPSHOT}))


def both_identities(verb: str, parts: Mapping[str, object]) -> tuple[str, str]:
    """:func:`identity` and :func:`any_snapshot`; what they begin with, keys above all, once."""
    place = next((at for at, name in enumerate(parts) if name in _SNAPSHOT), len(parts))
    lines = _lines(parts)
    begun = hashlib.sha256("\n".join([FORM, verb, *lines[:place]]).encode())
    apart = begun.copy()
    rest = [(name in _SNAPSHOT, line) for name, line in zip(parts, lines, strict=True)][place:]
    for snapshot, line in rest:
        begun.update(f"\n{line}".encode())
        if not snapshot:
            apart.update(f"\n{line}".encode())
    return begun.hexdigest(), apart.hexdigest()


def _lines(parts: Mapping[str, object]) -> list[str]:
    return [f"{name}={canonical_text(parts[name])}" for name in parts]


def _digest(verb: str, lines: list[str]) -> str:
    return hashlib.sha256("\n".join([FORM, verb, *lines]).encode()).hexdigest()


def private_part(query: Query) -> PrivatePart:
    """What a query measures, whatever is computed from it and in whatever order."""
    measured = dict.fromkeys(
        part
        for aggregate in query.aggregates
        for part in ((aggregate,) if isinstance(aggregate, ChosenByRank) else aggregate.measures)
    )
    return PrivatePart(
        rows=query.rows,
        unit=query.unit,
        keys=query.keys,
        key_places=query.key_places,
        measured=tuple(sorted(measured, key=canonical_text)),
        limits=query.limits,
    )


def question_texts(query: Query) -> tuple[CanonicalText, CanonicalText]:
    """The texts of a query and of its private part; what both have in common is written once."""
    private = private_part(query)
    common = (private.rows, private.unit, private.keys, private.key_places)
    ready = {id(part): CanonicalText.of(part) for part in common}
    whole, measured = (
        _write_all_fields(each, FORMS[type(each)], ready) for each in (query, private)
    )
    return CanonicalText(whole), CanonicalText(measured)


def canonical_text(value: object) -> str:  # noqa: PLR0911 -- one line for each kind of part
    """Text that is equal for equal public parts of a question.

    >>> from discreet.core.unit import Person
    >>> canonical_text(Person("id", max_rows=3))[:30]
    "person/1(id='id',max_rows=3,ma"
    """
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return repr(value)
    if isinstance(value, CanonicalText):
        return value.text
    form = FORMS.get(kind)
    if form is not None:
        if isinstance(value, DataType | JoinKind | Numbering):
            return f"{form.tag}.{value.identity_name}"
        return _shared(value, form) if kind in _SHARED else _write_all_fields(value, form)
    if isinstance(value, Column | Literal | Call | Case):
        domain = value.domain  # the rest of them follows from the columns, which the scans tell
        known = f"{domain.kind.identity_name},{domain.low!r},{domain.high!r}"
        return f"expression/1({canonical(value)},{known})"
    if isinstance(value, tuple | list):
        return f"({','.join([canonical_text(each) for each in value])})"
    if isinstance(value, dict | Mapping):
        items = [f"{key!r}:{canonical_text(item)}" for key, item in value.items()]
        return f"{{{','.join(items)}}}"
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, Integral):
        return repr(int(value))
    raise LookupError(type(value).__name__)  # it needs a form in `tags.py`, or would be left out


def _write_all_fields(
    value: object, form: Form, ready: Mapping[int, CanonicalText] = _NOTHING
) -> str:
    """All fields by their written names; ``ready`` are texts by the identity of their parts.

    The numbers of a spend stand as they are, however they were written; its unit is named apart.
    """
    one = exact if type(value) in _GUARANTEES else canonical_text
    listed, inside = _LISTS.get(type(value)), []
    for name, part in form.parts(value):
        if name == listed:
            text: object = _write_plain_values(part)
        else:
            text = one(ready.get(id(part), part) if ready else part)
        inside.append(f"{name}={text}")
    return f"{form.tag}({','.join(inside)})"


def _write_plain_values(values: object) -> str:
    """The text of a list of plain values; that of a long one, such as a public column's, is kept.

    By the very object: lists that are equal may be written differently, as 1 and True are.
    """
    return _LONG.of_long(values, repr) if isinstance(values, tuple) else repr(values)


def _shared(value: object, form: Form) -> str:
    """The text of what many questions have in common."""
    return _WRITTEN.of(value, lambda each: _write_all_fields(each, form))
