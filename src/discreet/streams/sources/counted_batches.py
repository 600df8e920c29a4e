"""Counts that an engine made of its own batches: only these reach the stream.

For streams that outgrow one machine. The engine numbers its batches and repeats one after a
failure; the number is kept with the counts, so a batch counts once. Where the unit is a person,
somebody would have to count each person's events over all batches, which an engine's batch cannot:
such a stream reads events.

Source: contract, "Spending" (streams). The batch is a :class:`~discreet.core.source.CountSource`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.source import CountSource
from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources.source import Offset


class CountedBatches:
    """A source into which batches of counts are put: ``stream.take(batch, number)``."""

    fields: EventFields

    def __init__(self, column: str) -> None:
        """Count by the values of one column, which the batches declare."""
        self.column = column
        self.fields = EventFields(key=column)
        self._last = -1

    def begin(self, offset: Offset | None) -> None:
        self._last = -1 if offset is None else int(offset["batch"])

    def find_end_offset(self) -> Offset:
        return self.offset

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        """Nothing is fetched: batches come by themselves."""
        return iter(())

    @property
    def offset(self) -> Offset:
        return {"batch": self._last}

    def committed(self, offset: Offset) -> None:
        """Nothing to tell: whoever puts a batch in waits until it is durable."""

    def close(self) -> None:
        """Nothing is held."""

    def read_batch_counts(
        self, batch: CountSource, number: int, keys: Sequence[str]
    ) -> dict[str, int] | None:
        """The counts of a batch by key; None where this batch was counted before."""
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InvalidParameter(
                code="batch_number",
                expectation="the engine's number of the batch",
                received=number,
                remedy="Pass the second argument of foreachBatch.",
            )
        if number <= self._last:
            return None
        domain = batch.domain(self.column)
        values = tuple(str(value) for value in getattr(domain, "values", ()))
        if values != tuple(keys):
            raise Mismatch(
                code="stream_keys",
                expectation="a batch whose declared values are the keys of the stream",
                received=len(values),
                remedy="Declare the same list for both.",
            )
        return dict(zip(keys, (int(n) for n in batch.counts([self.column])), strict=True))

    def passed(self, number: int) -> None:
        """Stand behind a batch."""
        self._last = number
