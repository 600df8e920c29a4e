"""Candidate keys from the engine: what one person can change, whatever the rows and their order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.relational.compile.compiler import Compiler
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.execute.candidate_keys import (
    candidates,
    candidates_text,
    keys_from_dict,
    keys_to_dict,
)
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.sql.translate import query_from

COLUMNS = {"a": dp.Discovered(), "b": dp.Discovered()}
ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["x", "y", "", None]), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)


def counts(
    rows: list[tuple[int, str | None, int]], groups: int | None, salt: int = 5
) -> dict[tuple[object, ...], int]:
    """Exact numbers of people by key."""
    frame = pl.DataFrame(rows, schema={"id": pl.Int64, "a": pl.String, "b": pl.Int64}, orient="row")
    unit = dp.Row() if groups is None else dp.Person("id", max_groups=groups)
    database = Database(DuckDB(threads=1), {"t": dp.table(frame, unit=unit, columns=COLUMNS)})
    query = query_from("SELECT a, b FROM t GROUP BY a, b", database)
    assert isinstance(query.keys, DiscoveredKeys)
    found = candidates(query.keys, query.rows, groups, database.engine, salt=salt)
    entries, order = found.entries(np.ones(len(found.people), dtype=np.bool_))
    database.close()
    return dict(zip(entries, found.people[order].tolist(), strict=True))


@given(ROWS, st.integers(1, 3))
@settings(max_examples=6, deadline=None)
def test_one_person_changes_few_counts_by_one(
    rows: list[tuple[int, str | None, int]], groups: int
) -> None:
    """Every person is taken out in turn; the declared reach is never exceeded."""
    whole = counts(rows, groups)
    for person in {row[0] for row in rows}:
        fewer = counts([row for row in rows if row[0] != person], groups)
        changed = {key: whole.get(key, 0) - fewer.get(key, 0) for key in {*whole, *fewer}}
        assert set(changed.values()) <= {0, 1}
        assert sum(changed.values()) <= groups
        held = {row[1:] for row in rows if row[0] == person and row[1] is not None}
        assert sum(changed.values()) == min(groups, len(held)), "and nobody is cut without need"


@given(ROWS, st.randoms(use_true_random=False))
@settings(max_examples=8, deadline=None)
def test_neither_order_nor_repetition_of_rows_matters(
    rows: list[tuple[int, str | None, int]], random: object
) -> None:
    shuffled = [*rows, *rows]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert counts(shuffled, 2) == counts(rows, 2)


def test_which_keys_of_a_person_count_changes_with_the_salt() -> None:
    rows: list[tuple[int, str | None, int]] = [
        (person, word, 0) for person in range(40) for word in ("x", "y", "")
    ]
    assert len({tuple(sorted(counts(rows, 1, salt).items())) for salt in range(5)}) > 1


def test_rows_are_people_where_the_unit_says_so() -> None:
    rows = [(1, "x", 0), (1, "x", 0), (2, "x", 1), (3, None, 1)]
    assert counts(rows, None) == {("x", 0): 2, ("x", 1): 1}


def test_nothing_in_the_text_depends_on_how_many_people_a_key_has() -> None:
    frame = pl.DataFrame({"id": [1], "a": ["x"], "b": [1]})
    unit = dp.Person("id", max_groups=2)
    database = Database(DuckDB(), {"t": dp.table(frame, unit=unit, columns=COLUMNS)})
    query = query_from("SELECT a, b FROM t GROUP BY a, b", database)
    assert isinstance(query.keys, DiscoveredKeys)
    compiler = Compiler.of(database.engine, salt=0)
    text = candidates_text(query.keys, query.rows, 2, compiler)
    for word in ("HAVING", "LIMIT", "any_value", "first", "rowid"):
        assert word.lower() not in text.lower()


@pytest.mark.parametrize("unknown", ["cells", "blocks"])
def test_whoever_needs_to_know_the_keys_beforehand_is_refused(unknown: str) -> None:
    keys = DiscoveredKeys((), (), 1)
    with pytest.raises(dp.errors.InvalidParameter) as refusal:
        getattr(keys, unknown)
    assert refusal.value.code == "keys_not_known"
    with pytest.raises(dp.errors.InvalidParameter):
        keys.strides()


def test_keys_of_every_kind_come_back_from_json() -> None:
    import json
    from datetime import date, datetime

    keys = ((1, "a", None, date(2024, 2, 29), datetime(2024, 2, 29, 1)), (2, "", True, None, None))
    assert keys_from_dict(json.loads(json.dumps(keys_to_dict(keys)))) == keys
