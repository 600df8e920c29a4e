"""Bounds of a column, estimated privately and paid for.

Bounds belong to public knowledge: an age lies in [0, 120]. Where nobody knows, they can be bought,
to a factor of two, and then declared.

Source: modern-data:B1, K1; contract, "Columns". Proof: ``proofs/key_selection.md`` (bounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.written import written
from discreet.relational.planning.magnitudes import Magnitudes, bounds_question, quoted
from discreet.relational.planning.planned_query import Inquiry, MeasuredValues
from discreet.relational.schema.declarations import Number
from discreet.release.guarantee import guarantee_text, protection_text

if TYPE_CHECKING:
    from discreet.curator.session import Session


@dataclass(frozen=True)
class Bounds:
    """Estimated bounds of ``column``; ``low`` and ``high`` are None where nothing was found.

    Guarantee: the numbers are functions of noisy counts that were paid for by ``guarantee``. With
    probability 1 - 1e-6 both ends belong to bins in which there were values. Values in bins of
    fewer than about ``needed`` values may lie outside, and would be clamped.
    """

    column: str
    low: int | float | None
    high: int | float | None
    needed: float
    guarantee: Guarantee

    def number(self) -> Number:
        """The declaration: ``columns={"cost": bounds.number()}``."""
        if self.low is None or self.high is None:
            raise InvalidParameter(
                code="no_bounds_found",
                expectation=f"more than about {self.needed:.0f} values of {self.column} within a "
                "factor of two of each other",
                remedy="It was paid for all the same. Spend more, or declare public bounds.",
            )
        return Number(self.low, self.high)

    def __repr__(self) -> str:
        """The interval, and what it cost."""
        found = (
            "no bounds found"
            if self.low is None
            else f"{self.low:g} to {self.high:g}, within a factor of two"
        )
        return (
            f"{self.column}: {found}; values in bins of fewer than {self.needed:.0f} may lie "
            f"outside\nguarantee: {guarantee_text(self.guarantee)} for "
            f"{protection_text(self.guarantee.unit)}"
        )


def estimate_bounds(
    session: Session,
    table: str,
    column: str,
    spend: Guarantee,
    *,
    asker: str,
    purpose: str | None,
) -> Bounds:
    """Buy bounds, or find those that the asker already has."""
    about = session._question(f"SELECT COUNT(*) AS n FROM {quoted(table)}")
    question, bins = bounds_question(about, column)
    inquiry = session._asked(question, spend)
    allowed = session._policies.admit(question, inquiry.spend, asker=asker, purpose=purpose)
    known = session._known("bounds", question, inquiry)
    stored = known.stored(session._account, session.ledger, asker=asker)
    if stored is not None:
        measured = MeasuredValues.from_plain(stored["measured"])
    else:
        inquiry.rehearse(session._database)
        measured = session._payment.paid(
            lambda: inquiry.measurement(session._database).release(session._database),
            lambda found: known.kept({"measured": found.plain()}),
            asker=asker,
            question=known.identity,
            charge=session._charge(inquiry),
            event=inquiry.event,
            detail={"sql": f"bounds of {table}.{column}", "spend": written(inquiry.spend)}
            | allowed,
        )
    return bounds_of(column, inquiry, bins, measured, inquiry.spend.per(session.unit))


def bounds_of(
    column: str, inquiry: Inquiry, bins: Magnitudes, measured: MeasuredValues, guarantee: Guarantee
) -> Bounds:
    """Read the bounds off noisy counts: post-processing only."""
    law = inquiry.allocation.noised[0].law
    ends = bins.bounds([int(count) for count in measured.linear[0]], law)
    low, high = (None, None) if ends is None else ends
    needed = law.half_width(1 - 2e-9 / bins.size) + law.half_width(0.98)
    return Bounds(column, low, high, needed, guarantee)
