"""A mechanism as text that is equal for equal mechanisms, so that a question is known again.

Only public parameters enter. What cannot be described for sure, such as a function or a class
from elsewhere, has no text: a release of it is never mistaken for another, and is paid for again.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from discreet.curator.tags import form_of
from discreet.mechanisms.scores import Scores
from discreet.noise.randomness import Source

_PLAIN = (str, bytes, bool, int, float, Fraction, date, type(None))


def fingerprint_of(value: object) -> str | None:  # noqa: PLR0911 -- one line for each kind of part
    """Text for a value with all its parts but sources of randomness; None where unsure.

    >>> from discreet.queries.record_count import NoisyRecordCount
    >>> fingerprint_of(NoisyRecordCount())
    'discreet.queries.record_count.BoughtCount(Fraction(1, 20))'
    >>> fingerprint_of(lambda: None) is None
    True
    """
    if type(value) in _PLAIN or isinstance(value, date):
        return repr(value)
    if isinstance(value, Scores):
        return _joined(_kind(Scores), [value.identity_name])
    if isinstance(value, type | FunctionType):
        return _kind(value)
    if isinstance(value, partial):
        return request_fingerprint(value, given=())
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value))
    form = form_of(type(value))
    if form is not None:
        parts = [part for _, part in form.parts(value)]
        told = [fingerprint_of(part) for part in parts if not isinstance(part, Source)]
        return _joined(_kind(type(value)), told)
    if type(value) in (tuple, list):
        assert isinstance(value, tuple | list)
        return _joined("tuple" if type(value) is tuple else "list", map(fingerprint_of, value))
    if type(value) in (set, frozenset):
        assert isinstance(value, set | frozenset)
        texts = [fingerprint_of(part) for part in value]
        return None if None in texts else _joined("set", sorted(map(str, texts)))
    if type(value) is dict:
        return _joined("dict", map(fingerprint_of, _pairs(value)))
    return None


def request_fingerprint(make: Callable[..., Any], *, given: Collection[str]) -> str | None:
    """Text for what makes a mechanism and the arguments bound to it, but those ``given`` later.

    >>> from discreet.queries.mwem.mwem import MWEM
    >>> request_fingerprint(partial(MWEM, rounds=8, records=1), given=["records"])
    "partial(discreet.queries.mwem.MWEM, tuple(), dict(tuple('rounds', 8)))"
    """
    args: tuple[object, ...] = ()
    keywords: dict[str, object] = {}
    while isinstance(make, partial):
        args, keywords = (*make.args, *args), {**make.keywords, **keywords}
        make = make.func
    form = form_of(make)
    written = {} if form is None else {now: name for name, now in form.names}
    told = {written.get(name, name): part for name, part in keywords.items() if name not in given}
    bound = {name: told[name] for name in sorted(told)}
    return _joined("partial", map(fingerprint_of, (make, args, bound)))


def _kind(kind: type | FunctionType) -> str | None:
    """A class or function of this package by its tag; others may change between two runs."""
    form = form_of(kind)
    return None if form is None else f"discreet.{form.tag}"


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
