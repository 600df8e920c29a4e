"""Limits on rows per key, or per person, learnt privately and paid for.

How many rows may share a key decides the noise of a join on it, and what it leaves out. Whoever
knows the subject declares it. Where nobody does, the rows beyond each limit of a public ladder can
be bought, and a limit read off them.

Source: 004b:A21(d); contract, "Units and neighbours", "Spending". Proof:
``proofs/learnt_limits.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import probability
from discreet.curator.context import Context
from discreet.curator.paid_before import PaidBefore
from discreet.curator.preview import preview
from discreet.curator.purchase import Purchase, Storage, buy
from discreet.curator.sql import known_query, offer_of, planned_at
from discreet.relational.plan.query import Query
from discreet.relational.plan.rows_per import RowsPer
from discreet.relational.planning.magnitudes import quoted
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery, in_units
from discreet.relational.planning.rows_per import ladder_question
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.release.intervals.linear import half_width
from discreet.release.preview import Preview
from discreet.release.promise import promised_by

_LEVEL = 0.95


@dataclass(frozen=True)
class LearntLimits:
    """Noisy numbers of rows, or people, beyond each limit of a ladder, and of all.

    Guarantee: functions of noisy counts that were paid for by ``guarantee``. Each of ``beyond`` and
    ``total`` is off by more than its number of ``half_widths`` once in twenty times.
    """

    asked: RowsPer
    beyond: tuple[float, ...]
    total: float
    half_widths: tuple[float, ...]
    guarantee: Guarantee

    def limit(self, *, keeping: float) -> int:
        """The least limit of the ladder that keeps ``keeping`` of all, as far as can be told.

        Noise alone leaves no limit without rows beyond it; so one counts as kept that is within
        its half-width. Where few rows are learnt about, limits are therefore small rather than
        large: the noise of later questions grows with them.

        For ``max_rows_per={"city": ...}`` of a table, or of :meth:`Session.with_max_rows_per`;
        without a key, for ``max_rows`` of a person.
        """
        out = float(1 - Fraction(repr(float(probability("keeping", keeping)))))
        for most, beyond, width in zip(
            self.asked.ladder, self.beyond, self.half_widths, strict=False
        ):
            if self.total > 0 and beyond - width <= out * self.total:
                return most
        raise InvalidParameter(
            code="no_limit_found",
            expectation=f"a limit of the ladder up to {self.asked.ladder[-1]:,} that keeps "
            f"{keeping:.4g} of {max(self.total, 0):,.0f} {self._counted_kind}",
            remedy="It was paid for all the same. Keep less, spend more, or ask with a longer "
            "ladder.",
        )

    @property
    def _counted_kind(self) -> str:
        return "rows" if self.asked.columns else "people"

    def __repr__(self) -> str:
        """A line for each limit, and what it cost."""
        shown = max(len(f"{most:,}") for most in self.asked.ladder)
        lines = [f"{self.asked.words}: {self.total:,.0f} ± {self.half_widths[-1]:,.0f} in all"]
        for most, beyond, width in zip(
            self.asked.ladder, self.beyond, self.half_widths, strict=False
        ):
            part = f" ({beyond / self.total:.1%})" if self.total > 0 else ""
            lines.append(f"  beyond {most:>{shown},}: {beyond:,.0f} ± {width:,.0f}{part}")
        lines.append(
            f"guarantee: {guarantee_text(self.guarantee)} for "
            f"{protection_text(self.guarantee.unit)}"
        )
        return "\n".join(lines)


def planned_limits(
    context: Context, asked: RowsPer, spend: Guarantee
) -> tuple[Query, PlannedQuery]:
    """What would be counted, and with what noise; from public facts alone."""
    require_rows_per(asked)
    about = context.query(f"SELECT COUNT(*) AS n FROM {quoted(asked.table)}")
    query = ladder_question(about, asked, context.catalog)
    return query, planned_at(context, query, spend)


def preview_limits(
    context: Context,
    asked: RowsPer,
    spend: Guarantee | None,
    *,
    confidence: float,
    accuracy: object,
) -> Preview:
    """The error of each count, and the price; the rows beyond a limit add up several counts."""
    if accuracy is not None or spend is None:
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="spend= for limits; there is no default price, and no accuracy=",
            remedy="Write preview(dp.RowsPer(...), spend=dp.PureDP(epsilon=0.1)).",
        )
    query, planned = planned_limits(context, asked, spend)
    context.policies.require_askable(query, planned.price)
    left, charge = context.account.remaining(), context.price(planned.paid_charges)
    return preview(planned, context.budget, charge, left, confidence=confidence)


def learn_limits(
    context: Context,
    asked: RowsPer,
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None,
) -> LearntLimits:
    """Buy the counts, or find those that the analyst already has."""
    query, planned = planned_limits(context, asked, spend)
    measurement = planned.measurement(context.database)

    def release_counts() -> MeasuredValues:
        return measurement.release(context.database)

    measured = buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=planned.spend,
            reads=(query,),
            offer=lambda: offer_of(context, planned, release_counts, asked.words),
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: known_query(context, "limits", query, planned),
            to_dict=lambda found: {"measured": found.to_dict()},
            from_dict=lambda stored: MeasuredValues.from_dict(stored["measured"]),
        ),
    )
    return learnt(
        asked, planned, measured, promised_by(planned.spend, planned.charges).per(context.unit)
    )


def learnt(
    asked: RowsPer, planned: PlannedQuery, measured: MeasuredValues, guarantee: Guarantee
) -> LearntLimits:
    """Sums of noisy counts from the top of the ladder: post-processing only."""
    (noised,) = planned.allocation.noised
    counts = [float(count) for count in in_units(measured.linear[0], noised).tolist()]
    *beyond, total = accumulate(reversed(counts))
    widths = [
        half_width([(1, noised.distribution)] * many, confidence=_LEVEL)
        for many in range(1, len(counts) + 1)
    ]
    return LearntLimits(
        asked, tuple(reversed(beyond)), total, (*reversed(widths[:-1]), widths[-1]), guarantee
    )


def require_rows_per(asked: object) -> None:
    """Refuse what is no question about rows per key."""
    if not isinstance(asked, RowsPer):
        raise InvalidParameter(
            code="not_rows_per",
            expectation="dp.RowsPer(...)",
            received=type(asked).__name__,
            remedy='Write learn_limits(dp.RowsPer("visits", "city"), spend=...).',
        )
