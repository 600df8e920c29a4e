"""A program that takes up a stream and writes down what it hears until it is killed.

    python listener.py FOLDER ID TRANSCRIPT

A line of the transcript is a tick and its estimates; it is written, and flushed, after the stream
has handed the tick out. With an empty ID it opens a stream and prints the id.
"""

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discreet as dp
from discreet.streams.live.events import EventFields
from discreet.streams.live.ticks import Ticks
from discreet.streams.sources.text_file import JSONLines
from discreet.streams.tree import BinaryTree
from discreet.streams.units import UserLevel


def main(folder: Path, name: str, transcript: Path) -> None:
    """Listen until the end."""
    owner = dp.Curator(
        unit=dp.Person("patient"), budget=dp.PureDP(epsilon=10**6), ledger=folder / "ledger"
    )
    source = JSONLines(folder / "visits.jsonl", EventFields(key="ward", person="patient", id="id"))
    if not name:
        opened = owner.stream(
            source,
            unit=UserLevel("patient", max_events=2),
            keys=["A", "B", "C"],
            ticks=Ticks(start=datetime.now(UTC), length=timedelta(milliseconds=500), count=1 << 16),
            mechanism=BinaryTree,
            spend=dp.PureDP(epsilon=10**6),  # so little noise that nothing hides a lost event
            state=folder / "state",
        )
        sys.stdout.write(opened.id)
        return
    notes = os.open(transcript, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for tick in owner.resume(name, source=source):
        line = json.dumps([tick.number, dict(tick.values)])
        os.write(notes, f"{line}\n".encode())
        os.fsync(notes)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
