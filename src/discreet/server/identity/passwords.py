"""Passwords: Argon2id with the parameters of RFC 9106's second choice; never logged, never kept.

Source: RFC 9106, section 4 (64 MiB of memory, three passes, four lanes).
"""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.profiles import RFC_9106_LOW_MEMORY

from discreet.core.errors import InvalidParameter

SHORTEST, LONGEST = 12, 512
_HASHER = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
_NOBODY = _HASHER.hash("nobody has this password, whatever it is")


def hashed(password: str) -> str:
    """What is kept of a password; refused where it is too short to be one."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidParameter(
            code="password_length",
            expectation=f"a password of {SHORTEST} to {LONGEST} letters",
            received=f"{len(password)} letters",
            remedy="Choose a longer one; four or five words are easy to remember.",
        )
    return _HASHER.hash(password)


def matches(kept: str | None, password: str) -> bool:
    """Whether a password is the one that was kept; takes as long where nobody has one."""
    if len(password) > LONGEST:
        return False
    try:
        _HASHER.verify(kept or _NOBODY, password)
    except (Argon2Error, InvalidHashError):
        return False
    return kept is not None
