"""Events of wards, and curators and streams over them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import discreet as dp
from discreet.streams.live.clock import ReplayClock
from discreet.streams.live.events import EventFields
from discreet.streams.live.live_stream import LiveStream
from discreet.streams.live.ticks import Ticks
from discreet.streams.sources.text_file import JSONLines
from discreet.streams.tree import BinaryTree
from discreet.streams.units import UserLevel

START = datetime(2027, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WARDS = ("A", "B", "C")
FIELDS = EventFields(key="ward", person="patient", time="at")
UNIT = UserLevel("patient", max_events=3)
EXACT = dp.PureDP(epsilon=10**6)


def visits(count: int, *, every: float = 10.0) -> list[dict[str, Any]]:
    return [
        {"ward": WARDS[n % 3], "patient": f"p{n}", "at": START.timestamp() + every * n}
        for n in range(count)
    ]


def write(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path


def curator(folder: Path, **more: Any) -> dp.Curator:
    given: dict[str, Any] = {
        "unit": dp.Person("patient"),
        "budget": dp.PureDP(epsilon=3 * 10**6),
        "ledger": str(folder / "wards.ledger"),
        **more,
    }
    return dp.Curator(**given)


def source(folder: Path, fields: EventFields = FIELDS) -> JSONLines:
    return JSONLines(folder / "visits.jsonl", fields)


def stream(owner: dp.Curator, folder: Path, **more: Any) -> LiveStream:
    given: dict[str, Any] = {
        "unit": UNIT,
        "keys": WARDS,
        "ticks": Ticks(start=START, length=MINUTE, count=8),
        "mechanism": BinaryTree,
        "spend": EXACT,
        "state": folder / "wards.stream",
        "clock": ReplayClock(),
        **more,
    }
    given.setdefault("source", source(folder))
    return owner.stream(given.pop("source"), **given)
