"""SCRAM-SHA-256: somebody proves to have a token, and the service to know it, and neither says it.

What is kept of a token for this is its verifier: two keys from which the token cannot be found.
A salt keeps people from trying many secrets at once against stolen verifiers, which nobody can do
with 256 random bits; so it is made from the name, the same for all tokens of a person and for
names that nobody has. The proof is tried against each of the person's tokens.

Source: RFC 5802, section 3 (keys, proofs, signatures); RFC 7677 (SHA-256, 4096 iterations).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

ITERATIONS = 4096
"""The fewest that drivers accept."""


@dataclass(frozen=True)
class Verifier:
    """What is kept of a token."""

    stored_key: bytes
    server_key: bytes

    def to_text(self) -> str:
        """As it is written to the state."""
        return f"{self.stored_key.hex()}:{self.server_key.hex()}"

    @classmethod
    def from_text(cls, text: str) -> Verifier:
        """As it was written."""
        stored, _, server = text.partition(":")
        return cls(bytes.fromhex(stored), bytes.fromhex(server))

    def accepts(self, proof: bytes, conversation: bytes) -> bool:
        """Whether a proof can only have been made by who has the token."""
        signature = _keyed(self.stored_key, conversation)
        if len(proof) != len(signature):
            return False
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        return hmac.compare_digest(hashlib.sha256(client_key).digest(), self.stored_key)

    def signature(self, conversation: bytes) -> bytes:
        """What shows the client that the service has the verifier."""
        return _keyed(self.server_key, conversation)


def salt_of(name: str) -> bytes:
    """The salt of all tokens of a name, whether or not anybody has it."""
    return hashlib.sha256(b"discreet/1 salt " + name.encode()).digest()[:16]


def verifier_of(secret: str, *, salt: bytes, iterations: int = ITERATIONS) -> Verifier:
    """What to keep of a token."""
    salted = hashlib.pbkdf2_hmac("sha256", secret.encode(), salt, iterations)
    client_key = _keyed(salted, b"Client Key")
    return Verifier(hashlib.sha256(client_key).digest(), _keyed(salted, b"Server Key"))


def base64_text(data: bytes) -> str:
    """As it stands in messages."""
    return base64.b64encode(data).decode()


def _keyed(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")
