"""One measurement of somebody's own making, run on the data and paid for by its event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.measurement import Measurement
from discreet.core.space import Space
from discreet.curator.context import Context
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.noise.randomness import random_id
from discreet.relational.database import Database, Databases, Units

Result = TypeVar("Result")


def space_of(context: Context) -> Space:
    """The space on which measurements are declared."""
    return Space(Databases(tuple(context.database.names())), Units(context.unit))


def release_measurement(
    context: Context,
    measurement: Measurement[Database, Result],
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
) -> Result:
    """Release it once. It is bought anew each time: nobody can say whether two are the same."""

    def offer() -> Offer[Callable[[], Result]]:
        if not isinstance(measurement, Measurement):
            raise InvalidParameter(
                code="not_a_measurement",
                expectation="a measurement on `curator.space`",
                received=type(measurement).__name__,
                remedy="Write Measurement(curator.space, function, event).",
            )
        measurement.input.require(space_of(context))
        return Offer(
            product=lambda: measurement.release(context.database),
            event=measurement.event(1),
            detail={},
            brings_noise=True,
        )

    found: Result = buy(
        context,
        Purchase(analyst=analyst, purpose=purpose, spend=spend, reads=(), offer=offer, own=True),
        Storage(
            known=lambda: Known(f"measurement {random_id(96)}", anew=True),
            to_dict=lambda value: {"value": value},
            from_dict=lambda stored: stored["value"],
        ),
    )
    return found
