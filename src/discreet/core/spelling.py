"""What somebody may have meant by a name that there is not: for refusals, from public names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: object, known: Iterable[object], otherwise: str) -> str:
    """A question that names the nearest of the names there are; ``otherwise`` if none is near.

    Case does not count, so that a name in other letters is always found.

    >>> did_you_mean("regoin", ["Region", "age"], "Check the spelling.")
    'Did you mean Region?'
    >>> did_you_mean("height", ["Region", "age"], "Check the spelling.")
    'Check the spelling.'
    """
    names = {str(each).casefold(): str(each) for each in known}
    close = get_close_matches(str(name).casefold(), names, n=1)
    return f"Did you mean {names[close[0]]}?" if close else otherwise
