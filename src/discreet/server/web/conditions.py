"""Conditions as people write them, a line for each query: ``ward = surgery; age = 30, 40``."""

from __future__ import annotations

import json
from typing import Any

from discreet.core.errors import InvalidParameter


def conditions_from(lines: list[str]) -> list[dict[str, Any]]:
    """The conditions of each line; several values of an attribute stand for any of them.

    >>> conditions_from(["ward = surgery; old = true", "age = 30, 40"])
    [{'ward': 'surgery', 'old': True}, {'age': [30, 40]}]
    """
    return [dict(_condition(part) for part in line.split(";") if part.strip()) for line in lines]


def _condition(part: str) -> tuple[str, Any]:
    name, equals, values = part.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise InvalidParameter(
            code="condition_misread",
            expectation="an attribute, =, and values that records must have",
            received=part.strip()[:100],
            remedy="Write for instance ward = surgery; several conditions with ; between them.",
        )
    meant = [_value(each.strip()) for each in values.split(",")]
    return name.strip(), meant[0] if len(meant) == 1 else meant


def _value(text: str) -> Any:
    """A number, a truth value, text in quotes, or the text itself."""
    try:
        found = json.loads(text)
    except ValueError:
        return text.strip("'")
    return found if isinstance(found, str | int | float | bool) or found is None else text
