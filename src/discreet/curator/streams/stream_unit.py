"""Whether a stream protects whom the budget guards.

A budget of people pays for a stream that protects the same people over all of it: by the same
identifier, or under the same name in words. A budget of rows pays for one that protects single
events, or any events of a window, which may be one. Otherwise the two would promise different
things, and their sum nothing.

Source: contract, "Units and neighbours". Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

from discreet.core.errors import Mismatch
from discreet.core.unit import Person, PrivacyUnit, Row
from discreet.streams.live.events import EventFields
from discreet.streams.units import EventLevel, StreamUnit, UserLevel, WEvent


def require_guarded(unit: StreamUnit, guarded: PrivacyUnit, fields: EventFields) -> None:
    """Refuse a stream whose unit is not what the ledger adds up for.

    Where identifiers tell copies, a record that goes may let its copy count elsewhere: that moves
    two counts, and is the affair of a person, who is then the identifier.
    """
    if isinstance(unit, EventLevel) and fields.id is not None:
        raise Mismatch(
            code="stream_event_ids",
            expectation="events without identifiers where single records are protected: one that "
            "goes may let its copy count elsewhere",
            received=fields.id,
            remedy=f"Protect UserLevel({fields.id!r}, max_events=1) with person={fields.id!r}: all "
            "records of one identifier, of which one counts. Or leave id= out.",
        )
    match unit, guarded:
        case UserLevel(of=None, id=name), Person(id=person) if name == person:
            return
        case UserLevel(of=str(named)), Person(of=people) if named == people:
            return
        case EventLevel() | WEvent(), Row():
            return  # with limits one record that goes lets another in: two counts move
    if unit.privacy_unit == guarded:
        return
    raise Mismatch(
        code="stream_unit_mismatch",
        expectation=f"a stream that protects the unit of the ledger, {guarded}",
        received=unit,
        remedy='With dp.Person("id") as the unit, protect UserLevel("id", max_events=...): all '
        "events of a person, over the whole stream; where events call them otherwise, name the "
        'people in both: of="patients". Single events are paid from a ledger of their own, opened '
        "with dp.Curator(unit=dp.Row(), ...), a person's windows from one with "
        "unit=UserWindow(...).privacy_unit.",
    )
