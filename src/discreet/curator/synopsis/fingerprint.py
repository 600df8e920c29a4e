"""A mechanism as text that is equal for equal mechanisms, so that a question is known again.

Only public parameters enter. What cannot be described for sure, such as a function or a class
from elsewhere, has no text: a release of it is never mistaken for another, and is paid for again.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from discreet.noise.randomness import Source

_PLAIN = (str, bytes, bool, int, float, Fraction, date, type(None))


def described(value: object) -> str | None:  # noqa: PLR0911 -- one line for each kind of part
    """Text for a value with all its parts but sources of randomness; None where unsure.

    >>> from discreet.queries.record_count import BoughtCount
    >>> described(BoughtCount())
    'discreet.queries.record_count.BoughtCount(Fraction(1, 20))'
    >>> described(lambda: None) is None
    True
    """
    if type(value) in _PLAIN or isinstance(value, date):
        return repr(value)
    if isinstance(value, Enum):
        return _joined(_kind(type(value)), [value.name])
    if isinstance(value, type | FunctionType):
        return _kind(value)
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value))
    if is_dataclass(value):
        parts = [getattr(value, item.name) for item in fields(value)]
        return _joined(
            _kind(type(value)), [described(part) for part in parts if not isinstance(part, Source)]
        )
    if type(value) in (tuple, list):
        assert isinstance(value, tuple | list)
        return _joined(type(value).__name__, map(described, value))
    if type(value) in (set, frozenset):
        assert isinstance(value, set | frozenset)
        texts = [described(part) for part in value]
        return None if None in texts else _joined("set", sorted(map(str, texts)))
    if type(value) is dict:
        return _joined("dict", map(described, _pairs(value)))
    return None


def requested(make: Callable[..., Any], *, given: Collection[str]) -> str | None:
    """Text for what makes a mechanism and the arguments bound to it, but those ``given`` later.

    >>> from discreet.queries.mwem.mwem import MWEM
    >>> requested(partial(MWEM, rounds=8, records=1), given=["records"])
    "partial(discreet.queries.mwem.mwem.MWEM, tuple(), dict(tuple('rounds', 8)))"
    """
    args: tuple[object, ...] = ()
    keywords: dict[str, object] = {}
    while isinstance(make, partial):
        args, keywords = (*make.args, *args), {**make.keywords, **keywords}
        make = make.func
    bound = {name: keywords[name] for name in sorted(keywords) if name not in given}
    return _joined("partial", map(described, (make, args, bound)))


def _kind(kind: type | FunctionType) -> str | None:
    """A class or function of this package by its name; others may change between two runs."""
    own = kind.__module__.partition(".")[0] == "discreet" and "<" not in kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}" if own else None


def _array(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str | None:
    if array.dtype.hasobject:
        return None
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return f"array({array.shape}, {array.dtype.str}, {digest})"


def _pairs(value: Mapping[object, object]) -> list[tuple[object, object]]:
    return list(value.items())


def _joined(kind: str | None, parts: Iterable[str | None]) -> str | None:
    texts = list(parts)
    if kind is None or None in texts:
        return None
    return f"{kind}({', '.join(text for text in texts if text is not None)})"
