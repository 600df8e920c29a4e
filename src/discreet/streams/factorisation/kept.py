"""A stream goes on with the very factorisation that it was opened with, within 64 bits.

Factorisations are found by iteration, and another machine's arithmetic may round a last digit
otherwise. Measurements of two different matrices have no common sensitivity, so the digest of the
matrix is kept, and another one refused.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.streams.contribution import EventContribution


def digest_of(matrix: NDArray[np.int64]) -> str:
    """The digest of a matrix of whole numbers, whatever the machine's byte order."""
    return sha256(np.ascontiguousarray(matrix, dtype="<i8").tobytes()).hexdigest()


def require_digest(digest: str | None, found: Callable[[], NDArray[np.int64]]) -> None:
    """Refuse a factorisation that is not the one that was kept; None where none was."""
    if digest is not None and digest != digest_of(found()):
        raise InvalidParameter(
            code="stream_of_another_strategy",
            expectation="the factorisation that the stream was opened with",
            remedy="Resume where it was opened, with the same versions of NumPy and SciPy.",
        )


def require_room(contribution: EventContribution, largest: int) -> None:
    """Refuse events so large that one of them would be clamped to fit 64 bits."""
    if contribution.largest > largest:
        raise InvalidParameter(
            code="contribution_too_large",
            expectation=f"events of at most {largest} steps, so that measurements fit 64 bits",
            received=int(contribution.largest),
            remedy="Choose a coarser step, or a tree.",
        )
