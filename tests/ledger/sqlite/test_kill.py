"""Writers are killed at any moment; no release and no spending is ever lost."""

import random
import sys
import time
from pathlib import Path

import pytest

from discreet.accounting.adaptive.steps import STEPS
from discreet.ledger import EntryKind, SQLite
from tests.ledger.writer import LIMIT, terms
from tests.ledger.writers import committed, writers

EACH = 6
"""Releases for each kill, on average, so that kills fall into work."""


def survive(folder: Path, *, crowd_size: int, kills: int) -> dict[str, int]:
    """Kill writers one after another, watch the spending, and check what is left."""
    chance = random.Random(20260314)
    rolled_back = 0
    with writers(folder, crowd_size, "for ever") as crowd, SQLite(crowd.place) as watched:
        watched.open(terms())
        crowd.start()
        spent: tuple[int, ...] = (0,)
        for kill in range(kills):
            # By progress, not by the clock: a slow machine is killed as often in its work.
            while len(crowd.released()) < EACH * kill or not (busy := crowd.busy()):
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.02))
            crowd.kill(chance.choice(busy))
            rolled_back += crowd.place.with_name(crowd.place.name + "-journal").exists()
            seen = watched.spent()
            assert spent <= seen <= LIMIT
            spent = seen
            crowd.launch()
            if kill % 10 == 0:
                watched.verify()
        checkpoint = watched.checkpoint()
    released = crowd.released()
    with SQLite(crowd.place) as ledger:
        assert spent <= ledger.spent() <= LIMIT
        ledger.verify(checkpoint)
        kept = committed(ledger)
        assert released <= kept
        kinds = [entry.kind for entry in ledger.entries()]
        unfinished = kinds.count(EntryKind.RESERVED) - kinds.count(EntryKind.COMMITTED)
        assert 0 <= unfinished <= kills + crowd_size
        assert kinds.count(EntryKind.OPENED) == 1
        return {
            "kills": kills,
            "entries": ledger.checkpoint().number,
            "spent": ledger.spent()[0] // STEPS,
            "seen releases": len(released),
            "kept releases": len(kept),
            "unfinished reservations": unfinished,
            "journals seen after a kill": rolled_back,
        }


def test_nothing_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    figures = survive(tmp_path, crowd_size=4, kills=20)
    assert figures["seen releases"] > 100


@pytest.mark.slow
def test_nothing_is_lost_in_two_hundred_kills_of_eight_writers(tmp_path: Path) -> None:
    figures = survive(tmp_path, crowd_size=8, kills=200)
    sys.stdout.write(f"{figures}\n")
    assert figures["seen releases"] > 1000
    assert figures["spent"] == LIMIT[0] // STEPS
