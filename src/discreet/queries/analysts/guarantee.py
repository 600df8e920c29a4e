"""What analysts are promised about each other, beside what the data's people are promised.

Neighbours are two sets of queries of the same public shape: so many analysts, so many queries each,
padded. One query of one analyst is replaced, or one analyst with all queries; the view is that of
all *other* analysts together, who may collude. Costs are events, as for data, so that the same
accountants compose them over rounds.

Source: analysts-verified:H1. Proof: ``proofs/analysts-projection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from discreet.core import pricing
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.events.event import Event, Nothing
from discreet.core.guarantee import ApproxDP
from discreet.core.parameters import probability
from discreet.core.unit import Person, PrivacyUnit, Replace, Row
from discreet.queries.record_count import MOST, PublicCount, RecordCount


@dataclass(frozen=True)
class OneQuery:
    """One query of one analyst is replaced by another.

    Assumptions: rounds have a public, padded shape.

    Guarantee: says whom a promise to analysts is about; none of its own.

    Source: analysts-verified:H1.
    """


@dataclass(frozen=True)
class OneAnalyst:
    """One analyst is replaced, with all queries.

    Assumptions: rounds have a public, padded shape.

    Guarantee: says whom a promise to analysts is about; none of its own.

    Source: analysts-verified:H1.
    """


AnalystUnit: TypeAlias = OneQuery | OneAnalyst


@dataclass(frozen=True)
class AnalystGuarantee:
    """What the joint view of all others tells about one query or one analyst.

    ``event`` is what was done to the queries; :class:`~discreet.events.Nothing` means that others
    see nothing that depends on them.

    >>> from discreet import events
    >>> round_one = AnalystGuarantee(OneQuery(), events.Approximate(epsilon=0.5, delta=1e-7))
    >>> (round_one + round_one).approximate(delta=2e-7).epsilon
    1.0

    Assumptions: all other analysts may collude; they see their own answers and what is published.

    Guarantee: ``event`` covers their joint view, and composes over rounds as events do.

    Source: analysts-verified:H1. Proof: ``proofs/analysts-projection.md``.
    """

    unit: AnalystUnit
    event: Event = field(default_factory=Nothing)

    @property
    def perfect(self) -> bool:
        """Whether nothing at all is told."""
        return isinstance(self.event, Nothing)

    def __add__(self, other: AnalystGuarantee) -> AnalystGuarantee:
        """What two rounds tell; their events were fixed in advance."""
        if self.unit != other.unit:
            raise Mismatch(
                code="analyst_units_differ",
                expectation=f"guarantees for {self.unit!r}",
                received=other.unit,
                remedy="Convert with `for_query()`, or run both rounds for the same unit.",
            )
        if self.perfect:
            return other
        return self if other.perfect else AnalystGuarantee(self.unit, self.event + other.event)

    def for_query(self) -> AnalystGuarantee:
        """Replacing one query replaces an analyst: the same numbers hold for it."""
        return AnalystGuarantee(OneQuery(), self.event)

    def epsilon(self, *, delta: float) -> float:
        """The least epsilon at ``delta``, a certified upper bound."""
        return 0.0 if self.perfect else pricing.epsilon(self.event, delta)

    def approximate(self, *, delta: float) -> ApproxDP:
        """The promise in (epsilon, delta)."""
        if self.perfect:
            return ApproxDP(epsilon=0, delta=0)
        return ApproxDP(epsilon=self.epsilon(delta=float(probability("delta", delta))), delta=delta)


def public_records(size: RecordCount) -> int:
    """The number of records, refused where neighbours add or remove them.

    The games divide by it, and their proofs are for records that are replaced.
    """
    if not isinstance(size, PublicCount):
        raise InvalidParameter(
            code="game_needs_replacement",
            expectation="a public number of records, one of which is replaced",
            received=type(size).__name__,
            remedy="Use a curator with Replace(unit), or a release that is not a game.",
        )
    if size.records >= MOST:
        raise InvalidParameter(
            code="records_too_many",
            expectation=f"fewer than {MOST} records, so that sums of levels are exact",
            received=size.records,
            remedy="Ask about a part of the records.",
        )
    return size.records


def require_public_count(size: object) -> PublicCount:
    """Refuse neighbours that come and go: these prices are for records that are exchanged."""
    if not isinstance(size, PublicCount):
        raise InvalidParameter(
            code="records_not_public",
            expectation="a public number of records, of which neighbours exchange one",
            received=type(size).__name__,
            remedy="Write size=PublicCount(n); add and remove are not priced here.",
        )
    return size


def require_one_row_replaced(unit: PrivacyUnit) -> None:
    """Refuse units for which the games have no proof: only ``Replace``, one row for a person."""
    inner = unit.unit if isinstance(unit, Replace) else None
    if isinstance(inner, Row) or (isinstance(inner, Person) and inner.max_rows == 1):
        return
    raise InvalidParameter(
        code="game_needs_replacement",
        expectation="Replace(Row()), or Replace(Person(..., max_rows=1))",
        received=unit,
        remedy="Declare one row for each person, and their number public; or use another release.",
    )
