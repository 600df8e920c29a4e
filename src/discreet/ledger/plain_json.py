"""Plain JSON, and nothing that would come back as something else.

What a ledger keeps must return byte for byte: text, finite numbers, truth values, null, lists and
objects with text for keys. A tuple, a NaN or a key that is a number would change on the way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.core.errors import InvalidParameter

_COMPACT = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def compact(value: Any) -> str:
    """One form for one value: ASCII, no spaces, keys in the order given."""
    return _COMPACT.encode(value)


def object_text(name: str, value: Mapping[str, object]) -> str:
    """The text of a JSON object that reads back equal to ``value``; other values are refused."""
    if isinstance(value, Mapping):
        try:
            plain = dict(value)
            text = compact(plain)
            if _is_plain(plain) or json.loads(text) == plain:
                return text
        except (TypeError, ValueError, RecursionError):
            pass
    raise InvalidParameter(
        code="not_plain_json",
        expectation=f"{name} to be a JSON object that reads back as it was",
        received=type(value).__name__,
        remedy="Use text keys, lists, text, finite numbers, True, False and None.",
    )


_SIMPLE = frozenset({str, int, bool, type(None)})


def _is_plain(value: object) -> bool:
    """Whether a value is made of nothing but what JSON gives back: no class derived from these."""
    kind = type(value)
    if kind in _SIMPLE or (isinstance(value, float) and kind is float):
        return True
    if isinstance(value, list) and kind is list:
        return _SIMPLE.issuperset(map(type, value)) or all(map(_is_plain, value))
    if isinstance(value, dict) and kind is dict:
        return {str}.issuperset(map(type, value)) and all(map(_is_plain, value.values()))
    return False


def require_name(name: str, value: object) -> str:
    """Return ``value`` if it is text that names something."""
    text = require_text(name, value)
    if not text.strip():
        raise InvalidParameter(
            code="name_empty",
            expectation=f"{name} to be a name",
            received=text,
            remedy=f"Write {name} with at least one letter, or leave it out.",
        )
    return text


def require_text(name: str, value: object) -> str:
    """Return ``value`` if it is text."""
    if not isinstance(value, str):
        raise InvalidParameter(
            code="not_text",
            expectation=f"{name} to be text",
            received=type(value).__name__,
            remedy=f"Pass {name} as a str.",
        )
    return value
