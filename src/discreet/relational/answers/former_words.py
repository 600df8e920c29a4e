"""Notes in the words of answers that were bought before limits had lines of their own.

Such an answer is made again from its noisy values, where these were kept and not its text: it comes
back byte for byte.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

from dataclasses import replace

from discreet.relational.bounding.rule import BoundingRule
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release import ReleasedColumn

_NOW = "intervals cover noise"
_TOTALS = "from noisy totals"


def former_words(
    planned: PlannedQuery, answers: tuple[ReleasedColumn, ...]
) -> tuple[ReleasedColumn, ...]:
    """The same columns with what every note said then."""
    whose, beyond = planned.cut_by, ""
    if whose is not None:
        sampled = planned.bounding is BoundingRule.CONTENT_HASH
        lost = "are not counted" if sampled else "count in part or not at all"
        beyond = f"; rows beyond {whose} bounds {lost}"
    return tuple(replace(each, note=_former(each.note) + beyond) for each in answers)


def _former(note: str) -> str:
    more = "" if note.startswith(_TOTALS) else ", not sampling or clamping"
    return note.replace(_NOW, f"{_NOW} only{more}")
