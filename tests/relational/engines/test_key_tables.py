"""Public keys are kept for later questions, as many as fit, and never taken from a running one."""

from __future__ import annotations

import threading

import pytest

import discreet as dp
from discreet.relational.engines import key_tables
from discreet.relational.engines.key_tables import Entries, KeyTables, Kinds
from discreet.relational.types.data_type import DataType

WHOLE = (DataType.INTEGER,)


class Made:
    """What an engine would hold."""

    def __init__(self) -> None:
        self.there = list[str]()
        self.count = 0

    def make(self, entries: Entries, kinds: Kinds) -> str:
        self.count += 1
        self.there.append(f"k{self.count}")
        return self.there[-1]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setattr(key_tables, "MAX_TABLES", 3)
    monkeypatch.setattr(key_tables, "MAX_ROWS", 10)
    return Made()


def test_the_same_keys_are_built_once(made: Made) -> None:
    tables = KeyTables(made.make, made.there.remove)
    assert tables.table([(1,), (2,)], WHOLE) == tables.table([(1,), (2,)], WHOLE)
    assert tables.table([(1,), (2,)], (DataType.DOUBLE,)) != tables.table([(1,), (2,)], WHOLE)
    assert made.count == 2


def test_the_least_recently_used_are_dropped(made: Made) -> None:
    tables = KeyTables(made.make, made.there.remove)
    names = [tables.table([(n,)], WHOLE) for n in range(3)]
    tables.table([(0,)], WHOLE)
    names.append(tables.table([(3,)], WHOLE))
    assert made.there == [names[0], names[2], names[3]]
    assert tables.table([(1,)], WHOLE) not in names


def test_many_rows_leave_room_for_few_tables(made: Made) -> None:
    tables = KeyTables(made.make, made.there.remove)
    tables.table([(n,) for n in range(8)], WHOLE)
    last = tables.table([(n,) for n in range(9)], WHOLE)
    assert made.there == [last]
    larger = tables.table([(n,) for n in range(50)], WHOLE)
    assert made.there == [larger]


def test_keys_of_a_running_question_stay_until_it_ends(made: Made) -> None:
    tables = KeyTables(made.make, made.there.remove)
    with tables.hold_keys():
        names = [tables.table([(n,)], WHOLE) for n in range(6)]
        with tables.hold_keys():
            names.append(tables.table([(6,)], WHOLE))
        assert made.there == names
    assert made.there == names[-3:]


def test_questions_of_other_threads_do_not_take_keys_away(made: Made) -> None:
    tables = KeyTables(made.make, made.there.remove)

    def other() -> None:
        with tables.hold_keys():
            for n in range(100, 110):
                tables.table([(n,)], WHOLE)

    with tables.hold_keys():
        mine = tables.table([(1,)], WHOLE)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert mine in made.there
        assert tables.table([(1,)], WHOLE) == mine
    assert len(made.there) <= 3


def test_duckdb_keeps_a_bounded_number_of_key_tables() -> None:
    engine = dp.DuckDB()
    for n in range(3 * key_tables.MAX_TABLES):
        engine.keys([(n,), (n + 5,)], WHOLE)
    count = "SELECT COUNT(*) FROM duckdb_tables() WHERE temporary"
    assert engine.rows(count) == [(key_tables.MAX_TABLES,)]
    with engine.snapshot():
        names = [engine.keys([(n,), (n + 7,)], WHOLE) for n in range(2 * key_tables.MAX_TABLES)]
        for n, name in enumerate(names):
            found = engine.rows(f"SELECT code, v0 FROM {name} ORDER BY code")
            assert found == [(0, n), (1, n + 7)]
    assert engine.rows(count) == [(key_tables.MAX_TABLES,)]
    engine.close()
