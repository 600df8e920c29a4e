"""A stream over Spark Structured Streaming: the engine counts its batches, Python sees the counts.

Source: contract, "Spending" (streams).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.relational.engines.spark.counted_batch import SparkBatch
from discreet.streams.live.live_stream import LiveStream
from discreet.streams.sources.counted_batches import CountedBatches


def foreach_batch(stream: LiveStream) -> Callable[[Any, int], None]:
    """The function for ``writeStream.foreachBatch`` of a stream over ``CountedBatches``.

    A batch is durable when it returns, and counts once, however often Spark repeats it. One stream
    belongs to one ``checkpointLocation``: a new one numbers its batches from zero again.
    """
    source = stream.source
    if not isinstance(source, CountedBatches):
        raise InvalidParameter(
            code="not_counted_batches",
            expectation="a stream over CountedBatches",
            received=type(source).__name__,
            remedy="Open the stream with CountedBatches(column) as its source.",
        )
    column = source.column

    def take(frame: Any, number: int) -> None:
        stream.take(SparkBatch(frame, column, stream.keys), number)

    return take
