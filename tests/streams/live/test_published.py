"""A file of released ticks: each once, whatever is repeated or cut off."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from discreet.core.errors import InvalidData
from discreet.streams.live.plot import released_by_tick
from discreet.streams.live.published import PublishedTicks
from discreet.streams.live.tick import Tick
from tests.streams.live.scripted import START


def tick(number: int) -> Tick:
    begins = START + timedelta(minutes=number)
    values = {"A": float(number), "B": 2.5}
    return Tick(number, begins, begins + timedelta(minutes=1), values, 3.0, 0.95)


def test_ticks_stand_in_the_file_once_and_are_read_from_its_end(tmp_path: Path) -> None:
    file = PublishedTicks(tmp_path / "ticks")
    file.add("s", [tick(0), tick(1)])
    file.add("s", [tick(0), tick(1), tick(2)])
    assert file.latest(10) == [tick(0), tick(1), tick(2)]
    assert file.latest(2) == [tick(1), tick(2)]
    file.add("s", map(tick, range(3, 3000)))
    assert file.latest(240) == [tick(number) for number in range(2760, 3000)]


def test_what_a_crash_left_is_written_again(tmp_path: Path) -> None:
    file = PublishedTicks(tmp_path / "ticks")
    file.add("s", [tick(0), tick(1)])
    content = file.path.read_bytes()
    file.path.write_bytes(content[:-20])
    assert file.latest(10) == [tick(0)]
    file.add("s", [tick(1)])
    assert file.path.read_bytes() == content


def test_a_file_is_of_one_stream(tmp_path: Path) -> None:
    file = PublishedTicks(tmp_path / "ticks")
    file.add("s", [tick(0)])
    with pytest.raises(InvalidData, match="published_elsewhere"):
        file.add("other", [tick(0)])
    file.path.write_text("something else\n")
    with pytest.raises(InvalidData, match="published_elsewhere"):
        file.add("s", [tick(0)])
    assert file.latest(5) == []


def test_ticks_are_drawn_within_their_bands() -> None:
    chart = released_by_tick([tick(0), tick(1)]).to_dict()
    assert len(chart["layer"]) == 2
    with pytest.raises(Exception, match="nothing_to_draw"):
        released_by_tick([])
