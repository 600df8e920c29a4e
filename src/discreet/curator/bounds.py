"""Bounds of a column, estimated privately and paid for.

Bounds belong to public knowledge: an age lies in [0, 120]. Where nobody knows, they can be bought,
to a factor of two, and then declared.

Source: modern-data:B1, K1; contract, "Columns". Proof: ``proofs/key_selection.md`` (bounds).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.context import Context
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Purchase, Storage, buy
from discreet.curator.sql import known_query, offer_of, planned_at
from discreet.ledger.plain_json import require_text
from discreet.relational.planning.magnitudes import Magnitudes, bounds_question, quoted
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery, in_units
from discreet.relational.schema.declarations import Number
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.release.promise import promised_by


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
    context: Context,
    table: str,
    column: str,
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
) -> Bounds:
    """Buy bounds, or find those that the analyst already has."""
    require_text("table", table)
    require_text("column", column)
    about = context.query(f"SELECT COUNT(*) AS n FROM {quoted(table)}")
    query, bins = bounds_question(about, column)
    planned = planned_at(context, query, spend)
    measurement = planned.measurement(context.database)
    measured = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=planned.spend,
            reads=(query,),
            offer=lambda: offer_of(
                context,
                planned,
                lambda: measurement.release(context.database),
                f"bounds of {table}.{column}",
            ),
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: known_query(context, "bounds", query, planned),
            to_dict=lambda found: {"measured": found.to_dict()},
            from_dict=lambda stored: MeasuredValues.from_dict(stored["measured"]),
        ),
    )
    return bounds_of(
        column,
        planned,
        bins,
        measured,
        promised_by(planned.spend, planned.charges).per(context.unit),
    )


def bounds_of(
    column: str,
    planned: PlannedQuery,
    bins: Magnitudes,
    measured: MeasuredValues,
    guarantee: Guarantee,
) -> Bounds:
    """Read the bounds off noisy counts: post-processing only."""
    (noised,) = planned.allocation.noised
    distribution = noised.distribution
    ends = bins.bounds(in_units(measured.linear[0], noised).tolist(), distribution)
    low, high = (None, None) if ends is None else ends
    needed = bins.threshold(distribution) + distribution.half_width(0.98)
    return Bounds(column, low, high, needed, guarantee)
