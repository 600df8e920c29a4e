"""What stands below the numbers of a release: what intervals mean, what they leave out, the price.

The same lines wherever numbers are shown: under tables of text and on pages, and as notices where
numbers travel as bare columns.
"""

from __future__ import annotations

from dataclasses import fields

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Unprotected
from discreet.release.active_limits import limit_lines
from discreet.release.column import ReleasedColumn
from discreet.release.format import at_most, one_line
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.release.released_table import ReleasedTable

BELOW_ZERO = (
    "below 0: what is counted cannot be negative, so the interval is that of 0; the estimate "
    "itself is left unbiased"
)


def footer(release: ReleasedTable) -> list[str]:
    """All of it: what each column's uncertainty means, and what :func:`caveats` says."""
    return [*_notes(release.answers), *_beside(release, "±")]


def caveats(release: ReleasedTable) -> list[str]:
    """What readers of the bare columns must know beside them.

    Columns without an interval say what is stated instead; noise that an interval covers is in it.
    """
    bare = [answer for answer in release.answers if answer.interval is None]
    return [*map(one_line, [*_notes(bare), *_beside(release, "the intervals")])]


def is_below_zero(release: ReleasedTable) -> bool:
    """Whether some value is negative where its interval begins at zero."""
    return any(
        value is not None and value < low == 0
        for answer in release.answers
        if answer.lower is not None
        for value, low in zip(answer.values, answer.lower, strict=True)
    )


def _notes(answers: list[ReleasedColumn] | tuple[ReleasedColumn, ...]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for answer in answers:
        if answer.note:
            notes.setdefault(answer.note, []).append(answer.name)
    return [f"{', '.join(names)}: {note}" for note, names in notes.items()]


def _beside(release: ReleasedTable, intervals: str) -> list[str]:
    lines = [BELOW_ZERO] if is_below_zero(release) else []
    keys = release.statement.get("keys")
    if isinstance(keys, dict) and keys.get("ranked"):
        lines.append(
            f"keys: the first {keys['picks']}, chosen one by one at epsilon "
            f"{at_most(keys['epsilon_of_each'])} each; their counts are not released"
        )
    if isinstance(keys, dict) and keys.get("listed"):
        lines.append("keys: as the owner listed them; no data was read and nothing is charged")
    if isinstance(keys, dict) and keys.get("discovered"):
        lines.append(
            f"keys: {release.statement['cells']:,} discovered for {keys['price']}; a key of "
            f"{keys['kept_half_at']:,} people is named with probability 1/2, of "
            f"{keys['kept_95_at']:,} with 95 %"
        )
    lines += limit_lines(release.statement.get("active_limits", ()), beside=intervals)
    price = guarantee_text(release.guarantee)
    whom = release.statement.get("limits") or protection_text(release.guarantee.unit)
    lines.append(f"guarantee: {price} for {whom}")
    if _is_unprotected(release.event):
        lines.append("NOT PRIVATE: made in test mode")
    return lines + [f"warning: {warning}" for warning in release.warnings]


def _is_unprotected(event: Event) -> bool:
    """Whether test mode had a part in it, at any depth."""
    if isinstance(event, Unprotected):
        return True
    inside = [getattr(event, item.name) for item in fields(event)]
    parts = [part for each in inside for part in (each if isinstance(each, tuple) else (each,))]
    return any(_is_unprotected(part) for part in parts if isinstance(part, Event))
