"""The identity of questions as it was first written: for what ledgers kept under it.

It leaves out how a spend was split, so an answer found by it is reused only where the split it was
made with can be told from the rest of its record. The text of a division is written so to this
day. A field that came later stands for nothing while it holds its default, as every question did
then; any other value was never asked about, and has no former text.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from discreet.core.written import Form, written
from discreet.relational.identity.former_tags import FORMER
from discreet.relational.plan.keys import Block
from discreet.relational.plan.nodes import JoinKind
from discreet.relational.plan.query import (
    Query,
)
from discreet.relational.schema.declarations import Category
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, canonical


def former_identity(query: Query | tuple[Query, ...], *more: object) -> str | None:
    """The digest under which an identical question was kept; None where there was none like it."""
    try:
        text = "\n".join([_text(query), *map(written, more)])
    except LookupError:
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def described(expression: Expression) -> str:
    """An expression with what is known of each column in it: equal texts, equal values."""
    parts, waiting = [_text(expression)], [expression]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.args)
        if isinstance(node, Column):
            parts.append(f"{node.name}:{_text(node.domain)}")
    return "\n".join(dict.fromkeys(parts))


def _text(value: object) -> str:  # noqa: PLR0911 -- one line for each kind of part
    if isinstance(value, Column | Literal | Call | Case):
        return f"{canonical(value)}[{value.domain.low!r},{value.domain.high!r}]"
    if isinstance(value, ColumnDomain):
        return f"{value.kind.written}[{value.low!r},{value.high!r}]{value.values!r}"
    if isinstance(value, Block):
        return f"{_text(value.expressions)}{value.entries!r}"
    if isinstance(value, Category):
        return f"Category{value.values!r}"
    if isinstance(value, JoinKind):
        return value.written
    if is_dataclass(value) and not isinstance(value, type):
        form = _then(value)
        return f"{form.tag}({','.join(_text(part) for _, part in form.parts(value))})"
    if isinstance(value, tuple | list):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key!r}:{_text(item)}' for key, item in value.items())}}}"
    return repr(value)


def _then(value: Any) -> Form:
    """The form there was; refused where there was none, or where a later field says something."""
    form = FORMER[type(value)]
    known = {now for _, now in form.names}
    for item in fields(value):
        if item.name not in known and getattr(value, item.name) != _default(item):
            raise LookupError(item.name)
    return form


def _default(item: Field[Any]) -> object:
    return item.default_factory() if item.default_factory is not MISSING else item.default
