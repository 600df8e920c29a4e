"""The state of a stream as bytes that tell nothing, and cannot be changed, without the owner's key.

Two keys are derived from the ledger's for one stream: one for a stream of bytes that is added to
the text (SHAKE-256 of key and a fresh random start), one for a seal over what it belongs to, the
start and the result (HMAC-SHA256). Lengths are padded so that they show a size to an eighth or so.

Source: contract, "Spending" (counts, source offsets and noise commit together, under the owner's
key). Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from discreet.core.errors import LedgerError
from discreet.ledger.plain_json import compact
from discreet.noise.randomness import SYSTEM

_START = 32
_SEAL = 32
_LEAST = 1024
_FORM = "discreet stream state/1"


class Tagging(Protocol):
    """A ledger's key: texts to keyed fingerprints."""

    def tag(self, *parts: str) -> str:
        """A keyed fingerprint of texts."""


class StateCipher:
    """Encrypts and opens what belongs to one stream.

    >>> from discreet.ledger.key import OwnerKey
    >>> cipher = StateCipher(OwnerKey(bytes(32)), "some stream")
    >>> cipher.opened("tick 3", cipher.sealed("tick 3", {"a": 1}))
    {'a': 1}
    """

    __slots__ = ("_cipher", "_seals")

    def __init__(self, owner: Tagging, stream: str) -> None:
        """Derive both keys; the owner's own is not kept."""
        self._cipher = bytes.fromhex(owner.tag(_FORM, "cipher", stream))
        self._seals = bytes.fromhex(owner.tag(_FORM, "seals", stream))

    def sealed(self, place: str, state: Mapping[str, Any]) -> bytes:
        """Encrypted and sealed for a place, where alone it can be opened."""
        plain = compact(state).encode("ascii")
        start = SYSTEM.bytes(_START)
        hidden = self._streamed(start, plain.ljust(_padded(len(plain))))
        return self._seal(place, start + hidden) + start + hidden

    def opened(self, place: str, sealed: bytes) -> dict[str, Any]:
        """What was sealed for a place; refused where a byte of it differs."""
        seal, rest = sealed[:_SEAL], sealed[_SEAL:]
        if len(rest) < _START or not hmac.compare_digest(seal, self._seal(place, rest)):
            raise damaged_state(what="a record whose seal is not right")
        found: dict[str, Any] = json.loads(self._streamed(rest[:_START], rest[_START:]))
        return found

    def _streamed(self, start: bytes, text: bytes) -> bytes:
        stream = hashlib.shake_256(self._cipher + start).digest(len(text))
        mixed = np.frombuffer(text, np.uint8) ^ np.frombuffer(stream, np.uint8)
        return mixed.tobytes()

    def _seal(self, place: str, text: bytes) -> bytes:
        named = place.encode("utf-8")
        covered = len(named).to_bytes(8, "big") + named + text
        return hmac.new(self._seals, covered, hashlib.sha256).digest()

    def __repr__(self) -> str:
        return "StateCipher(...)"


def _padded(length: int) -> int:
    """The next size of the form 2^k times 8 to 16 eighths."""
    step = max(_LEAST, 1 << max(0, length.bit_length() - 4))
    return -(-length // step) * step


def damaged_state(*, what: str) -> LedgerError:
    """A state that cannot be gone on with."""
    return LedgerError(
        code="stream_state_damaged",
        expectation="the state of the stream as it was written",
        received=what,
        remedy="Put back the file as it was after its last tick. An older copy is refused: it "
        "would draw noise again. Without it the stream has ended; what was spent stays spent, and "
        "a new stream is charged afresh.",
    )
