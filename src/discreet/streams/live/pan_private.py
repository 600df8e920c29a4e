"""A live stream whose memory may be seized: no state is written, nothing is kept but its counter.

Events are read when their tick closes and added to the noisy counter in one step. People, times and
identifiers would have to be remembered, exactly and for long, and are refused; so the unit is one
event. A place in a file of lines or a topic is the number of its events, and refused too: the
source is a folder of files whose names are public. What a source handed out of a tick before
reading ended early, as when it goes away, is forgotten, and lost. A crash ends the stream: a state
on disk would be a look at the memory for whoever finds it.

Source: 000b:B42; contract, "Spending" (pan-private noise). Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

from collections import Counter

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee, PureDP
from discreet.noise.randomness import SYSTEM, Source
from discreet.streams.contribution import ONE_COUNT, EventContribution
from discreet.streams.pan_private.checkpoints import NO_CHECKPOINT
from discreet.streams.pan_private.counter import PanPrivateCounter
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.sources.source import EventSource
from discreet.streams.units import EventLevel, StreamUnit


def pan_private(
    *,
    horizon: int,
    spend: Guarantee,
    unit: StreamUnit,
    keys: int,
    contribution: EventContribution = ONE_COUNT,
    randomness: Source = SYSTEM,
) -> PanPrivateCounter:
    """The counter of a stream that keeps no state, for a pure spend."""
    if not isinstance(spend, PureDP):
        raise InvalidParameter(
            code="spend_notion",
            expectation="a spend in PureDP for a pan-private stream",
            received=type(spend).__name__,
            remedy="Write spend=dp.PureDP(epsilon=1).",
        )
    return PanPrivateCounter(
        horizon=horizon,
        epsilon=spend.epsilon,
        unit=unit,
        checkpoints=NO_CHECKPOINT,
        keys=keys,
        contribution=contribution,
        randomness=randomness,
    )


class NoTally(Counter[str]):
    """Counts nothing: how many events were left out would be an exact number in memory."""

    def __setitem__(self, reason: str, count: int) -> None:
        """Forget it."""


def require_keeps_nothing(unit: StreamUnit, source: EventSource, state: object) -> None:
    """Refuse what a pan-private stream would have to remember."""
    kept = [name for name in ("person", "time", "id") if getattr(source.fields, name) is not None]
    if isinstance(source, CountedBatches):
        kept.append("batches")  # their counts wait in memory for the end of the tick
    elif not getattr(source, "place_is_public", False):
        kept.append("source")  # where one stands in it is how many events it had
    if not isinstance(unit, EventLevel):
        kept.append("unit")
    if state is not None:
        kept.append("state")
    if kept:
        raise InvalidParameter(
            code="stream_pan_private",
            expectation="a stream that keeps nothing beside its counter, of single events by their "
            "arrival, without a state",
            received=kept,
            remedy="Leave them out: EventFields(key=...), unit=EventLevel(), no state=, and "
            "ParquetFiles whose names follow the clock as the source; a crash ends it. Or choose "
            "a counter with a state, such as dp.streams.BinaryTree.",
        )
