"""Whether a stream protects whom the budget guards.

A budget of people pays for a stream that protects people over all of it; a budget of rows pays for
one that protects single events, or windows, which contain single events. Otherwise the two would
promise different things, and their sum nothing.

Source: contract, "Units and neighbours". Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

from discreet.core.errors import Mismatch
from discreet.core.unit import Person, PrivacyUnit, Row
from discreet.streams.units import StreamUnit, UserLevel


def require_guarded(unit: StreamUnit, guarded: PrivacyUnit) -> None:
    """Refuse a stream whose unit is not what the ledger adds up for."""
    match unit, guarded:
        case UserLevel(id=name), Person(id=person, of=people) if people or name == person:
            return
        case UserLevel(), Row():
            pass
        case _, Row():
            return
    if unit.privacy_unit == guarded:
        return
    raise Mismatch(
        code="stream_unit_mismatch",
        expectation=f"a stream that protects the unit of the ledger, {guarded}",
        received=unit,
        remedy='With dp.Person("id") as the unit, protect UserLevel("id", max_events=...): all '
        "events of a person, over the whole stream. Single events and windows are paid from a "
        "ledger of their own, opened with dp.Curator(unit=dp.Row(), ...).",
    )
