"""The messages of SCRAM-SHA-256 as the service reads and answers them; pure but for its nonce.

Read strictly: what does not fit to the letter is a :class:`ProtocolViolation`. Channel binding is
not offered. A client that could bind, and was told that the service cannot, says so with ``y``,
which is right here; one that insists is refused.

Source: RFC 5802, sections 5 and 7; the PostgreSQL documentation, "SASL Authentication" (the name
in the first message is ignored: it stands in the startup message).
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from discreet.noise.randomness import random_id
from discreet.server.identity.scram import ITERATIONS, base64_text, salt_of
from discreet.server.wire.messages import ProtocolViolation

MECHANISM = "SCRAM-SHA-256"
_FIRST = re.compile(
    r"(?P<binding>[ny],(?:a=[^,]*)?,)(?P<bare>n=[^,]*,r=(?P<nonce>[!-+\--~]{8,256}))"
)
_FINAL = re.compile(
    r"(?P<open>c=(?P<binding>[A-Za-z0-9+/=]+),r=(?P<nonce>[!-+\--~]+)),p=(?P<proof>[A-Za-z0-9+/=]+)"
)


@dataclass(frozen=True)
class Proof:
    """What a client said: its proof, and the conversation that it is about."""

    proof: bytes
    conversation: bytes


@dataclass(frozen=True)
class ScramExchange:
    """From the client's first message on."""

    binding: str
    bare: str
    challenge: str
    nonce: str

    @classmethod
    def begun(cls, name: str, first: bytes, *, nonce: str | None = None) -> ScramExchange:
        """Read the first message of somebody who says to be ``name``."""
        read = _FIRST.fullmatch(_ascii(first))
        if read is None:
            raise ProtocolViolation
        both = read["nonce"] + (random_id(144) if nonce is None else nonce)
        salt = base64_text(salt_of(name))
        return cls(read["binding"], read["bare"], f"r={both},s={salt},i={ITERATIONS}", both)

    def proof(self, final: bytes) -> Proof:
        """Read the second message, and what it is to prove."""
        read = _FINAL.fullmatch(_ascii(final))
        if read is None or read["nonce"] != self.nonce:
            raise ProtocolViolation
        if _decoded(read["binding"]) != self.binding.encode():
            raise ProtocolViolation
        conversation = f"{self.bare},{self.challenge},{read['open']}".encode()
        return Proof(_decoded(read["proof"]), conversation)


def _ascii(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise ProtocolViolation from None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ProtocolViolation from None
