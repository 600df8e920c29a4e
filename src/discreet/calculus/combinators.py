"""Combinators of measurements beyond composition.

Source: 000a:A6, 004d:F18; contract, "Units and neighbours". Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from discreet.core.domain import Parts, Rows
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.events.one_of import one_of
from discreet.core.measurement import Measurement, jointly
from discreet.core.metric import AddRemove, SumOverParts
from discreet.core.parameters import Number, exact, positive
from discreet.core.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from discreet.core.events.event import Event

X = TypeVar("X")


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

    each = jointly((measurement.accuracy,) * len(parts.keys))
    return Measurement(
        Space(parts, SumOverParts()),
        lambda data: {key: measurement.function(data[key]) for key in parts.keys},
        privacy,
        None if each is None else lambda c: dict(zip(parts.keys, each(c), strict=True)),
    )


def mixture(
    weights: Sequence[Number],
    measurements: Sequence[Measurement[X, Any]],
    *,
    draw: Callable[[tuple[Fraction, ...]], int],
) -> Measurement[X, Any]:
    """One of several measurements of the same data, drawn by public weights.

    Contract: ``weights`` are positive and public, in proportion to the chances; ``draw`` gives the
    number of the measurement to be made from the weights, which then add up to one, and looks at
    nothing else: pass ``discreet.noise.weighted_choice``. Which one was made is not hidden.
    Guarantee: the event is :class:`~discreet.core.events.one_of.OneOf` of the parts' events, whose
    price is the largest of theirs under every accountant, whatever the weights. The error is
    dropped: what is exact depends on which of them was made.
    Source: 000a:A6 (a data-independent convex mixture is as private as its parts).
    """
    parts, shares = tuple(measurements), tuple(exact(positive("weight", w)) for w in weights)
    if not parts or len(parts) != len(shares):
        raise InvalidParameter(
            code="weights_do_not_fit",
            expectation="at least one measurement, and a weight for each of them",
            received=(len(shares), len(parts)),
            remedy="Pass as many public weights as measurements.",
        )
    for other in parts[1:]:
        parts[0].input.require(other.input)
    public = tuple(share / sum(shares) for share in shares)

    def measured(data: X) -> Any:
        drawn = parts[draw(public)]  # anew for every release
        return drawn.function(data)

    return Measurement(
        parts[0].input,
        measured,
        lambda d_in: one_of(tuple(part.event(d_in) for part in parts)),
    )
