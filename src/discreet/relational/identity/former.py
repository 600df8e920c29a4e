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
from enum import Enum
from typing import Any

from discreet.relational.plan.keys import Block
from discreet.relational.plan.query import Question
from discreet.relational.schema.declarations import Category
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, canonical

_FIELDS = {
    "Field": "name stored facts declaration",
    "Route": "table key person",
    "Output": "name facts",
    "Scan": "table prefix fields private identifier route identity",
    "Filtered": "rows condition",
    "JoinedPublic": "rows public on partners kind",
    "JoinedPeople": "left right kind on",
    "Union": "prefix branches outputs",
    "Bounded": "prefix rows limit expressions outputs",
    "Distinct": "prefix rows expressions outputs",
    "PerPerson": "prefix rows limit named features outputs",
    "Truncated": "prefix rows keys limit kind expressions outputs",
    "JoinedByKey": "left right kind",
    "Kept": "rows part value keeping",
    "Number": "low high step",
    "Dates": "first last",
    "Discovered": "least",
    "KeySet": "blocks",
    "DiscoveredKeys": "expressions listed least",
    "CountRows": "argument",
    "CountValues": "argument",
    "Total": "argument low high centre exponent",
    "Ranks": "argument low step size",
    "Question": "rows unit keys key_places aggregates outputs having order limit offset",
}
"""The fields of parts that had to be told then, where more may have come since."""

_NAMES = {"PartitionFilter": "Kept", "UnionAll": "Union", "CountedRows": "Counted"}
"""What parts were called then, where they have another name now."""


def former_identity(question: Question | tuple[Question, ...], *more: object) -> str | None:
    """The digest under which an identical question was kept; None where there was none like it."""
    try:
        text = "\n".join([_text(question), *(repr(item) for item in more)])
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
            parts.append(f"{node.name}:{_text(node.facts)}")
    return "\n".join(dict.fromkeys(parts))


def _text(value: object) -> str:  # noqa: PLR0911 -- one line for each kind of part
    if isinstance(value, Column | Literal | Call | Case):
        return f"{canonical(value)}[{value.facts.low!r},{value.facts.high!r}]"
    if isinstance(value, Facts):
        return f"{value.kind.name}[{value.low!r},{value.high!r}]{value.values!r}"
    if isinstance(value, Block):
        return f"{_text(value.expressions)}{value.entries!r}"
    if isinstance(value, Category):
        return f"Category{value.values!r}"
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        inside = ",".join(_text(getattr(value, item.name)) for item in _then(value))
        return f"{_name(value)}({inside})"
    if isinstance(value, tuple | list):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key!r}:{_text(item)}' for key, item in value.items())}}}"
    return repr(value)


def _then(value: Any) -> list[Field[Any]]:
    """The fields there were; refused where a later one says something."""
    known = _FIELDS.get(_name(value))
    if known is None:
        return list(fields(value))
    for item in fields(value):
        if item.name not in known.split() and getattr(value, item.name) != _default(item):
            raise LookupError(item.name)
    return [item for item in fields(value) if item.name in known.split()]


def _default(item: Field[Any]) -> object:
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _name(value: object) -> str:
    return _NAMES.get(type(value).__name__, type(value).__name__)
