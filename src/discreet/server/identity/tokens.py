"""Secrets that let people in: random, shown once, kept as digests.

A secret has 256 random bits, so a digest without salt is enough: nobody can try them all. Whether a
token is unknown, expired or revoked, the same lookup finds nothing, in the same time.
"""

from __future__ import annotations

import hashlib
import re

from discreet.noise.randomness import random_id

TOKEN = "dsc_"
"""How tokens begin, so that people and scanners of leaked secrets know them."""

_FORM = re.compile(r"dsc_[0-9a-f]{64}")


def new_token() -> str:
    """A token for programs."""
    return TOKEN + random_id(256)


def new_secret() -> str:
    """A secret for links and cookies."""
    return random_id(256)


def is_token(text: str) -> bool:
    """Whether a text has the form of a token."""
    return _FORM.fullmatch(text) is not None


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(b"discreet/1 " + secret.encode()).hexdigest()
