"""What a session has left and has used, as plain numbers."""

from __future__ import annotations

from typing import Any


def left(session: Any, part: str = "epsilon") -> float:
    """What remains, which was rounded down, to twelve digits."""
    return round(float(getattr(session.remaining, part)), 12)


def used(session: Any, part: str = "epsilon") -> float:
    """What was spent, which was rounded up, to twelve digits."""
    return round(float(getattr(session.spent, part)), 12)
