"""When two questions are the same: equal plan, bounds, keys and names of columns.

Only public things enter: the plan and the declarations, never data.

Source: 000a:C12; contract, "Spending" (identical questions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from discreet.relational.expression import Call, Case, Column, Expression, Literal, canonical
from discreet.relational.facts import Facts
from discreet.relational.keys import Block
from discreet.relational.question import Question
from discreet.relational.schema import Category


def identity(question: Question | tuple[Question, ...], *more: object) -> str:
    """A digest that is equal for identical questions; ``more`` is what else must be equal."""
    text = "\n".join([canonical_text(question), *(repr(item) for item in more)])
    return hashlib.sha256(text.encode()).hexdigest()


def described(expression: Expression) -> str:
    """An expression with what is known of each column in it: equal texts, equal values."""
    parts, waiting = [canonical_text(expression)], [expression]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.args)
        if isinstance(node, Column):
            parts.append(f"{node.name}:{canonical_text(node.facts)}")
    return "\n".join(dict.fromkeys(parts))


def canonical_text(value: object) -> str:  # noqa: PLR0911 -- one line for each kind of part
    """Text that is equal for equal public parts of a question."""
    if isinstance(value, Column | Literal | Call | Case):
        return f"{canonical(value)}{_bounds(value)}"
    if isinstance(value, Facts):
        return f"{value.kind.name}[{value.low!r},{value.high!r}]{value.values!r}"
    if isinstance(value, Block):
        return f"{canonical_text(value.expressions)}{value.entries!r}"
    if isinstance(value, Category):
        return f"Category{value.values!r}"
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        inside = ",".join(canonical_text(getattr(value, item.name)) for item in fields(value))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, tuple | list):
        return f"({','.join(map(canonical_text, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key!r}:{canonical_text(item)}' for key, item in value.items())}}}"
    return repr(value)


def _bounds(expression: Expression) -> str:
    facts = expression.facts
    return f"[{facts.low!r},{facts.high!r}]"
