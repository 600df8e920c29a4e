"""The owner's key: what seals entries, and never leaves this object.

Three keys are derived from it, for seals, for tags and for encryption, so that no tag can ever
pass for a seal. The key is no part of a representation, an error or a pickle.

Proof: ``proofs/ledger.md``. Source: contract, "Spending".
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.ledger.errors import not_copied
from discreet.ledger.plain_json import compact
from discreet.noise.randomness import SYSTEM

LEAST_BYTES = 32
_BLOCK = 256


class OwnerKey:
    """An HMAC-SHA256 key of 32 bytes or more.

    >>> OwnerKey(bytes(32))
    OwnerKey(...)
    """

    __slots__ = ("_cipher", "_seals", "_tags", "identity")

    identity: str
    """A public name of the key, by which a ledger knows that another key is a wrong one."""

    def __init__(self, secret: bytes) -> None:
        """Derive what is needed, and forget the rest."""
        if not isinstance(secret, bytes) or len(secret) < LEAST_BYTES:
            raise InvalidParameter(
                code="key_too_short",
                expectation=f"an owner's key of {LEAST_BYTES} bytes or more",
                received=len(secret) if isinstance(secret, bytes) else type(secret).__name__,
                remedy="Leave `key=` out to have one made, or pass 32 random bytes or a path.",
            )
        root = hmac.new(secret, digestmod=hashlib.sha256)
        self._seals = hmac.new(_derived(root, b"seals"), digestmod=hashlib.sha256)
        self._tags = hmac.new(_derived(root, b"tags"), digestmod=hashlib.sha256)
        self._cipher = hmac.new(_derived(root, b"veils"), digestmod=hashlib.sha256)
        self.identity = _derived(root, b"identity").hex()[:32]

    def seal(self, covered: bytes) -> str:
        """The seal of an entry."""
        return _mac(self._seals, covered)

    def is_seal(self, covered: bytes, seal: str) -> bool:
        """Whether ``seal`` was made with this key; takes the same time wherever they differ."""
        return hmac.compare_digest(self.seal(covered).encode(), seal.encode("utf-8", "replace"))

    def tag(self, *parts: str) -> str:
        """A keyed fingerprint of texts: equal for equal texts, telling nothing without the key."""
        return _mac(self._tags, compact(parts).encode("ascii"))

    def encrypt(self, secret: bytes) -> str:
        """A text that tells nothing of ``secret`` without the key, but for its length in 256s.

        HMAC-SHA256 as a pseudo-random function in counter mode, from a random start. Whether the
        text was changed is for the seal to say. Spaces are added at the end.
        """
        padded = secret.ljust(-(-len(secret) // _BLOCK) * _BLOCK)
        start = SYSTEM.bytes(16)
        return (start + self._streamed(start, padded)).hex()

    def decrypt(self, text: str) -> bytes:
        """What was encrypted, without spaces at the end."""
        whole = bytes.fromhex(text)
        return self._streamed(whole[:16], whole[16:]).rstrip(b" ")

    def _streamed(self, start: bytes, text: bytes) -> bytes:
        stream = b"".join(
            bytes.fromhex(_mac(self._cipher, start + place.to_bytes(8, "big")))
            for place in range(-(-len(text) // 32))
        )
        return bytes(a ^ b for a, b in zip(text, stream, strict=False))

    def __repr__(self) -> str:
        return "OwnerKey(...)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse copies and pickles."""
        raise not_copied()


def fresh_secret() -> bytes:
    """A new key, from the operating system."""
    return SYSTEM.bytes(LEAST_BYTES)


def _derived(root: hmac.HMAC, purpose: bytes) -> bytes:
    mac = root.copy()
    mac.update(b"discreet ledger " + purpose)
    return mac.digest()


def _mac(keyed: hmac.HMAC, covered: bytes) -> str:
    mac = keyed.copy()
    mac.update(covered)
    return mac.hexdigest()
