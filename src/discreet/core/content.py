"""The content of a row as canonical bytes, so that nothing need depend on its position.

Two rows have the same content only if no function of a row could tell them apart; so sorting by
content is a function of the multiset of rows, and ties are between rows that are the same. It is
therefore finer than ``==``: 1, 1.0 and True differ, and so do 0.0 and -0.0, while NaN equals
itself.

Source: contract, "Bounding inside the engine". Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

import struct
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

_WRITTEN_BY_REPR = (Decimal, Fraction, complex, date, time, timedelta, UUID)


def content(row: Any) -> bytes | None:
    """Canonical bytes of a row, or None for kinds of value that have no canonical form.

    Contract: a pure function of the row. Guarantee: injective on None, booleans, numbers, text,
    bytes, dates, enumerations, numpy scalars and arrays, and on tuples, lists, dictionaries and
    dataclasses of these; dictionaries in another order of keys are other rows, and classes are
    told apart by their full names.
    """
    written = _atom(row)
    if written is not None:
        return written
    parts = _parts(row)
    if parts is None:
        return None
    inner = [content(part) for part in parts]
    name = _name(row)
    return None if None in inner else _framed(name, *(part for part in inner if part is not None))


def _atom(row: Any) -> bytes | None:  # noqa: PLR0911 - one line for each kind of value
    kind = type(row)
    if row is None or kind is bool:
        return repr(row).encode()
    if kind is int:
        return b"i" + format(row, "x").encode()
    if kind is float:
        return b"f" + struct.pack(">d", row)
    if kind is str:
        return b"s" + str(row).encode("utf-8", "surrogatepass")
    if kind is bytes:
        return b"b" + bytes(row)
    if isinstance(row, Enum):
        return _framed(_name(row), row.name.encode())
    if isinstance(row, _WRITTEN_BY_REPR):
        return _framed(_name(row), repr(row).encode())
    return _array(row)


def _array(row: Any) -> bytes | None:
    kind = getattr(row, "dtype", None)
    if kind is None or kind.hasobject or not hasattr(row, "tobytes"):
        return None
    return _framed(b"a", str(kind).encode(), repr(row.shape).encode(), row.tobytes())


def _parts(row: Any) -> list[Any] | None:
    if isinstance(row, (tuple, list)):
        return list(row)
    if isinstance(row, dict):
        return [part for item in row.items() for part in item]
    if is_dataclass(row) and not isinstance(row, type):
        return [getattr(row, item.name) for item in fields(row)]
    return None


def _name(row: Any) -> bytes:
    return f"{type(row).__module__}.{type(row).__qualname__}".encode()


def _framed(*parts: bytes) -> bytes:
    return b"(" + b"".join(b"%d:%b" % (len(part), part) for part in parts)
