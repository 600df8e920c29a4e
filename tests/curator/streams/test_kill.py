"""Listeners are killed at any moment; no event is lost or counted twice, nothing is drawn again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.streams.live.events import EventFields
from discreet.streams.sources.text_file import JSONLines
from tests.curator.streams.wards import WARDS, write

LISTENER = Path(__file__).with_name("listener.py")
SPEND = dp.PureDP(epsilon=10**6)


def listener(folder: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(LISTENER), str(folder), name, str(folder / "transcript")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def heard(folder: Path) -> list[list[Any]]:
    transcript = folder / "transcript"
    lines = transcript.read_text().splitlines() if transcript.exists() else []
    return [json.loads(line) for line in lines]


def visits(first: int, count: int) -> list[dict[str, Any]]:
    """Each twice, as a broker might deliver it; every tenth by a person who floods."""
    found = []
    for n in range(first, first + count):
        who = "flood" if n % 10 == 0 else f"p{n}"
        found += [{"ward": WARDS[n % 3], "patient": who, "id": str(n)}] * 2
    return found


@pytest.mark.parametrize("kills", [1, pytest.param(15, marks=pytest.mark.slow)])
def test_a_stream_survives_kills_at_random_moments(tmp_path: Path, kills: int) -> None:
    write(tmp_path / "visits.jsonl", visits(0, 100))
    name = listener(tmp_path, "").communicate()[0].strip()
    chance = random.Random(20261117)
    written = 100
    for _ in range(kills):
        seen = len(heard(tmp_path))
        with listener(tmp_path, name) as speaker:
            while len(heard(tmp_path)) < seen + 3 and speaker.poll() is None:
                write(tmp_path / "visits.jsonl", visits(written, 7))
                written += 7
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.1))
            speaker.kill()
    ended = time.time() * 1e6
    told = heard(tmp_path)
    numbers = [number for number, _ in told]
    # At most one tick for each kill was written down by the stream and not by its listener.
    assert len(set(numbers)) == len(numbers) >= 3 * kills
    assert numbers == sorted(numbers)
    assert numbers[-1] + 1 - len(numbers) <= kills
    with dp.Curator(unit=dp.Person("patient"), budget=SPEND, ledger=tmp_path / "ledger") as owner:
        assert owner.spent == SPEND.per(owner.unit)
        source = JSONLines(
            tmp_path / "visits.jsonl", EventFields(key="ward", person="patient", id="id")
        )
        stream = owner.resume(name, source=source)
        released = {tick.number: dict(tick.values) for tick in stream.released()}
        assert all(released[number] == values for number, values in told)
        last = next(tick for tick in stream if stream.ticks.begins(tick.number) > ended).values
        owner.ledger.verify()
    people = {v["id"]: v for v in visits(0, written) if v["patient"] != "flood"}
    assert sum(last.values()) == len(people) + 2  # the flood counts as often as its cap
