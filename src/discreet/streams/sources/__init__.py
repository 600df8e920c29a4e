"""Where the events of live streams come from.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.streams.sources.counted_batches import CountedBatches
    from discreet.streams.sources.kafka_topic import KafkaTopic
    from discreet.streams.sources.line_socket import LineSocket
    from discreet.streams.sources.parquet_files import ParquetFiles
    from discreet.streams.sources.redis_stream import RedisStream
    from discreet.streams.sources.source import EventSource, SourceAway
    from discreet.streams.sources.text_file import CSVLines, JSONLines

__all__ = [
    "CSVLines",
    "CountedBatches",
    "EventSource",
    "JSONLines",
    "KafkaTopic",
    "LineSocket",
    "ParquetFiles",
    "RedisStream",
    "SourceAway",
]

_NAMES = {
    "counted_batches": ("CountedBatches",),
    "kafka_topic": ("KafkaTopic",),
    "line_socket": ("LineSocket",),
    "parquet_files": ("ParquetFiles",),
    "redis_stream": ("RedisStream",),
    "source": (
        "EventSource",
        "SourceAway",
    ),
    "text_file": (
        "CSVLines",
        "JSONLines",
    ),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)
