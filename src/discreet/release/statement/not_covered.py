"""What a guarantee does not cover, and what it rests on.

Source: NIST SP 800-226, sections 2.5, 3 and 4; 004d:P2, D8; contract, "What may be seen".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.core.unit import Person, Row, add_remove
from discreet.release.guarantee import guarantee_text

_FAMILY = 3


def blind_spots(guarantee: Guarantee) -> tuple[str, ...]:
    """What the guarantee leaves open, for every release of its kind."""
    return (
        *_groups(guarantee),
        "What the data says about people in general is not hidden: a habit of many can be learnt,"
        " and applied to somebody who was never in the data.",
        "How long an answer took is not hidden by the library within a process.",
        "Releases of the same data that are in no ledger of this owner come on top.",
    )


def assumptions(facts: Mapping[str, Any], guarantee: Guarantee) -> tuple[str, ...]:
    """What the data owner vouches for; nothing in the software can check it."""
    unit = None if guarantee.unit is None else add_remove(guarantee.unit)
    found = ["Bounds, lists of keys and the spend were chosen without looking at the data."]
    if isinstance(unit, Row):
        found.append("Each row is a different person; nothing enforces it.")
    if isinstance(unit, Person):
        found.append(f"One {unit.id} is one person: who has two is protected as two halves.")
        if unit.max_rows == 1:
            found.append(f"One {unit.id} has one row of a table; further ones would not count.")
    if through := facts.get("reached_through"):
        found.append(
            f"In the tables on the way to {_list(through)} each key occurs once, so that every"
            " row has one owner."
        )
    if public := facts.get("public_tables"):
        found.append(f"{_list(public)} may be known to everybody: what they say is not protected.")
    return tuple(found)


def trust(statement: Mapping[str, Any]) -> tuple[str, ...]:
    """The foundations that no mechanism provides: who sees the data itself, and who keeps count."""
    charged = (
        "Every release is charged in the owner's ledger before it is computed and kept there"
        " before it is seen."
    )
    if statement.get("ledger") is False:
        charged = "No ledger was charged: whoever made it adds up what it cost."
    return (
        "Central model: the owner of the data and the engine that holds it see every row; only"
        " answers are private. They are trusted, and so is whoever can reach them.",
        "How the data was collected, who has access to it, and how it is secured are outside"
        " this statement.",
        charged,
    )


def _groups(guarantee: Guarantee) -> tuple[str, ...]:
    line = "People whose data depends on each other, such as a family, are protected less"
    try:
        return (f"{line}: {_FAMILY} together by {guarantee_text(guarantee.group(_FAMILY))}.",)
    except DiscreetError:
        return (f"{line}.",)


def _list(names: list[str]) -> str:
    return ", ".join(names)
