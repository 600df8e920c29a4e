"""How the state of a stream is written: plain values under frozen tags, arrays as base64.

A state holds exact counts and noise that was drawn: whoever reads it learns what the stream hides.
It is for the data owner alone, who keeps it encrypted, and writes it before the output that uses
its noise is seen. Resuming reads it; nothing is drawn again.

Source: contract, "Spending" (noise that outlives a call; explicit, versioned tags).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter

State = dict[str, Any]
"""Plain values only: what JSON holds."""

_TYPES: dict[str, np.dtype[Any]] = {
    "i8": np.dtype("<i8"),
    "f8": np.dtype("<f8"),
    "u1": np.dtype("u1"),
}


def array_to_dict(array: NDArray[Any]) -> State:
    """An array of whole numbers, reals or bytes, whatever the machine's byte order.

    >>> array_to_dict(np.array([1, 2]))["shape"]
    [2]
    """
    code = {"i": "i8", "f": "f8", "u": "u1"}[array.dtype.kind]
    data = base64.b64encode(np.ascontiguousarray(array, dtype=_TYPES[code]).tobytes())
    return {"type": code, "shape": list(array.shape), "data": data.decode("ascii")}


def array_from_dict(plain: object, shape: tuple[int, ...]) -> NDArray[Any]:
    """The array that :func:`array_to_dict` wrote; refused if its shape is not the one expected."""
    if isinstance(plain, Mapping) and plain.get("type") in _TYPES:
        kind = _TYPES[plain["type"]]
        try:
            data = base64.b64decode(str(plain.get("data")), validate=True)
        except binascii.Error:
            raise unreadable(expected="an array in base64") from None
        if plain.get("shape") == list(shape) and len(data) == int(np.prod(shape)) * kind.itemsize:
            found = np.frombuffer(data, dtype=kind).reshape(shape)
            return np.asarray(found.astype(kind.newbyteorder("=")))
    raise unreadable(expected=f"an array of shape {shape}")


def part(plain: object, name: str, kind: type[Any]) -> Any:
    """One value of a state, refused if it is missing or of another kind."""
    if isinstance(plain, Mapping) and type(plain.get(name)) is kind:
        return plain[name]
    raise unreadable(expected=f"{name} of a stream's state")


def unreadable(*, expected: str) -> InvalidParameter:
    """The refusal of what is not a state; nothing of it is shown."""
    return InvalidParameter(
        code="stream_state_unreadable",
        expectation=expected,
        remedy="Pass what `state()` returned, unchanged; a state that was cut short is of no use.",
    )
