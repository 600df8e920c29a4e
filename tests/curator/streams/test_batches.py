"""Counts that an engine made: a batch counts once, and only its counts leave the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.core.domain import Categories
from discreet.core.source import CountSource
from discreet.core.unit import PrivacyUnit, Row
from discreet.curator.streams.spark import foreach_batch
from discreet.errors import DiscreetError, EngineFailed, InvalidParameter, Mismatch
from discreet.relational.engines.spark.counted_batch import SparkBatch
from discreet.streams.live.clock import ManualClock, ReplayClock
from discreet.streams.live.ticks import microseconds
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.units import EventLevel, UserLevel
from tests.curator.streams.wards import MINUTE, START, WARDS, curator, source, stream, visits, write
from tests.relational.conformance.spark_with_rows import missing, session


@dataclass
class Batch:
    """Counts as an engine hands them out."""

    numbers: Sequence[int]
    values: tuple[str, ...] = WARDS

    @property
    def unit(self) -> PrivacyUnit:
        return Row()

    def domain(self, column: str) -> Categories:
        return Categories(self.values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return np.array(self.numbers)


def opened(owner: dp.Curator, folder: Path, **more: Any) -> Any:
    given = {"source": CountedBatches("ward"), "unit": EventLevel(), **more}
    return stream(owner, folder, **given)


def test_a_batch_counts_once_however_often_it_comes(tmp_path: Path) -> None:
    clock = ManualClock(microseconds(START))
    with curator(tmp_path, unit=dp.Row()) as owner:
        live = opened(owner, tmp_path, clock=clock)
        live.take(Batch([1, 2, 3]), 0)
        live.take(Batch([1, 2, 3]), 0)
        live.take(Batch([10, 0, 0]), 1)
        clock.advance(MINUTE)
        assert next(live).values == {"A": 11, "B": 2, "C": 3}
        live.take(Batch([0, 0, 5]), 2)
        name = live.id  # the process ends here; batch 2 was acknowledged, so it must count
    with curator(tmp_path, unit=dp.Row()) as owner:
        again = owner.resume(name, source=CountedBatches("ward"), clock=ReplayClock())
        again.take(Batch([0, 0, 5]), 2)
        assert next(again).values == {"A": 11, "B": 2, "C": 8}


class BrokenBatch(Batch):
    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        message = "annabel is too long for this column"
        raise RuntimeError(message)


def test_what_does_not_fit_is_refused_and_the_stream_goes_on(tmp_path: Path) -> None:
    with curator(tmp_path, unit=dp.Row()) as owner:
        live = opened(owner, tmp_path)
        with pytest.raises(Mismatch, match="stream_keys"):
            live.take(Batch([1, 2], ("A", "B")), 0)
        with pytest.raises(InvalidParameter, match="batch_number"):
            live.take(Batch([1, 2, 3]), -1)
        with pytest.raises(EngineFailed, match="engine_failed") as caught:
            live.take(BrokenBatch([1, 2, 3]), 0)
        assert "annabel" not in str(caught.value)
        live.take(Batch([1, 2, 3]), 0)
        assert next(live)["C"] == 3
        assert isinstance(Batch([1]), CountSource)


def test_people_are_not_protected_by_counts_of_batches(tmp_path: Path) -> None:
    with curator(tmp_path) as owner:
        with pytest.raises(Mismatch, match="stream_batches_people"):
            opened(owner, tmp_path, unit=UserLevel("patient", max_events=3))
        write(tmp_path / "visits.jsonl", visits(3))
        events = stream(owner, tmp_path, source=source(tmp_path))
        with pytest.raises(DiscreetError, match="not_counted_batches"):
            events.take(Batch([1, 2, 3]), 0)
        with pytest.raises(DiscreetError, match="not_counted_batches"):
            foreach_batch(events)


SPARK = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The SQL config"),
]


def marked(test: Any) -> Any:
    for mark in SPARK:
        test = mark(test)
    return test


@marked
def test_spark_counts_a_batch(tmp_path: Path) -> None:
    frame = session().sql("SELECT * FROM VALUES ('A'), ('A'), ('C'), ('Z'), (NULL) AS t(ward)")
    with curator(tmp_path, unit=dp.Row()) as owner:
        live = opened(owner, tmp_path)
        take = foreach_batch(live)
        take(frame, 0)
        take(frame, 0)
        assert next(live).values == {"A": 2, "B": 0, "C": 1}
    batch = SparkBatch(session().range(5), "id", ("3", "9"))
    assert batch.counts(["id"]).tolist() == [1, 0]
    assert batch.domain("id") == Categories(("3", "9"))
    assert batch.unit == Row()
    with pytest.raises(InvalidParameter, match="column_unknown"):
        batch.counts(["ward"])


@pytest.mark.slow
@marked
def test_spark_streams_into_a_stream(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / "one.json", [*visits(40), {"ward": "Z", "patient": "x", "at": 0}])
    clock = ManualClock(microseconds(START))
    with curator(tmp_path, unit=dp.Row()) as owner:
        live = opened(owner, tmp_path, clock=clock)
        events = session().readStream.schema("ward STRING, patient STRING").json(str(folder))
        writing = events.writeStream.foreachBatch(foreach_batch(live)).option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        )
        for more in (9, 0):
            query = writing.trigger(availableNow=True).start()
            assert query.awaitTermination(60)
            write(folder / f"{more}.json", visits(more))
        clock.advance(MINUTE)
        assert next(live).values == {"A": 17, "B": 16, "C": 16}
