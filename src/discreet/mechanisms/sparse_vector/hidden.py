"""The noise of a hidden threshold, as an object: what may be kept, and must never be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.errors import Exhausted


@dataclass(frozen=True, repr=False)
class HiddenThreshold:
    """A threshold's noise, in steps of its mechanism's grid. Secret: for the data owner alone.

    With it, every answer of its round tells far more than was paid for. It goes into a journal
    that only the owner can read, and comes back from there; it has no text and is not pickled.

    >>> HiddenThreshold(17)
    HiddenThreshold(...)
    """

    steps: int

    def __repr__(self) -> str:
        """Nothing of it."""
        return "HiddenThreshold(...)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse copies and pickles: they end up in files and logs."""
        raise Exhausted(
            code="session_not_copied",
            expectation="a hidden threshold that stays with its session",
            remedy="Keep it in a journal that only the data owner can read.",
        )


@dataclass(frozen=True)
class Rounds:
    """How far a session came: positive answers, and the threshold of the round under way."""

    yeses: int = 0
    hidden: HiddenThreshold | None = None


BEGINNING = Rounds()
"""Nothing was asked yet."""
