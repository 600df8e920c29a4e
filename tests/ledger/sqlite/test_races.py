"""Threads and processes that race to spend one budget spend it exactly."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from discreet.accounting.adaptive.steps import STEPS
from discreet.errors import Exhausted
from discreet.ledger import Ledger, SQLite
from tests.ledger.examples import reserve, terms
from tests.ledger.writer import LIMIT
from tests.ledger.writers import committed, writers


def test_eight_threads_spend_the_limit_exactly(ledger: Ledger) -> None:
    together = threading.Barrier(8)

    def spend(worker: int) -> int:
        together.wait()
        done = 0
        while True:
            try:
                name = reserve(ledger, (1, 0), analyst=str(worker))
            except Exhausted:
                return done
            ledger.commit(name, {"worker": worker})
            done += 1

    ledger.amend(limit=(100, 0), budget={}, reason="room for a race")
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(8))) == 100
    assert ledger.remaining() == (0, 0)
    ledger.verify()


def test_eight_ledgers_of_one_process_begin_one_file(place: Path) -> None:
    together = threading.Barrier(8)

    def begin(_: int) -> str:
        with SQLite(place) as ledger:
            together.wait()
            ledger.open(terms())
            return reserve(ledger, (1, 0))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(begin, range(8)))) == 8
    with SQLite(place) as ledger:
        ledger.verify()
        assert ledger.spent() == (8, 0)
    key = place.with_name(place.name + ".key")
    assert sorted(place.parent.iterdir()) == [place, key]


def test_eight_processes_begin_one_ledger_and_spend_the_limit_exactly(tmp_path: Path) -> None:
    with writers(tmp_path, 8, "once") as crowd:
        crowd.start()
        crowd.finish()
    with SQLite(crowd.place) as ledger:
        ledger.verify()
        assert ledger.spent() == ledger.limit() == LIMIT
        assert committed(ledger) == crowd.released()
        assert len(committed(ledger)) == LIMIT[0] // STEPS


@pytest.mark.parametrize("attempt", range(5))
def test_one_release_wins_where_two_commit(ledger: Ledger, attempt: int) -> None:
    name = reserve(ledger)
    together = threading.Barrier(4)

    def commit(worker: int) -> bool:
        together.wait()
        try:
            ledger.commit(name, {"worker": worker})
        except ValueError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(commit, range(4))) == 1, attempt
    ledger.verify()
