"""Combinators of measurements beyond composition.

Source: 004d:F18; contract, "Units and neighbours". Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.core.domain import Parts, Rows
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.measurement import Measurement
from discreet.core.metric import AddRemove, SumOverParts
from discreet.core.space import Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.core.events.event import Event


def for_each_part(
    measurement: Measurement[Any, Any], keys: Sequence[Any]
) -> Measurement[Mapping[Any, Any], dict[Any, Any]]:
    """One measurement of every part of a partition, for the price of one.

    Contract: ``measurement`` is of tables under AddRemove; ``keys`` are those of the partition.
    Every part is measured, empty ones too, each with fresh randomness.
    Guarantee: for data one step apart, one part differs by one row and the others are the same
    data, so the event is the measurement's at distance one. Two steps may fall into one part or
    into two, and no single event covers both at the same price, so larger distances are refused:
    under ChangeOne, and for people with several rows, parallel composition does not hold.
    Source: contract, "Units and neighbours" (each unit lies in at most one part).
    """
    rows = measurement.input.domain
    if not isinstance(rows, Rows) or measurement.input.metric != AddRemove():
        raise Mismatch(
            code="not_a_table_measurement",
            expectation="a measurement of tables under AddRemove",
            received=measurement.input.metric,
            remedy="Chain the measurement so that it starts from the rows of one part.",
        )
    parts = Parts(tuple(keys), rows)

    def privacy(d_in: Any) -> Event:
        if d_in > 1:
            raise InvalidParameter(
                code="parts_too_far_apart",
                expectation="data sets that differ by one row in one part",
                received=d_in,
                remedy="Use `both` on the whole table, or a unit that lies in one part: AddRemove "
                "rows, or people bounded to one row.",
            )
        return measurement.event(1)

    return Measurement(
        Space(parts, SumOverParts()),
        lambda data: {key: measurement.function(data[key]) for key in parts.keys},
        privacy,
    )
