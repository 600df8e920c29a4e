"""Counts for synopses: the right records, the same ones in every marginal, bounded per person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet as dp
from discreet.core.source import CountSource
from discreet.core.unit import PrivacyUnit, Replace
from discreet.errors import DiscreetError
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import LARGEST, Universe
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.database import private_tables
from discreet.relational.execute import table_counts as counting
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.plan.keyed_universe import (
    KeyedUniverse,
    column_questions,
    query_of_universe,
    universe_from,
)
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.tables import both, keyed, stay, visit, visits
from tests.relational.neighbours.worlds import SALT, Setting, Stand, one, people, without

COLUMNS = (
    column_questions("t", ["w", "c"], [("half", "y > 0")]),
    column_questions(
        "t", ["x"], [("day", "day(d)"), ("kind", "CASE WHEN f THEN 'yes' WHEN x > 2 THEN c END")]
    ),
)
JOINED = (
    (
        "SELECT region, f, COUNT(*) AS n FROM t JOIN p USING (w) WHERE x > -2 GROUP BY region, f",
        "SELECT weight, COUNT(*) AS n FROM t JOIN p USING (w) WHERE x > -2 GROUP BY weight",
    ),
    ("SELECT t.f, u.v, t.c, COUNT(*) AS n FROM t JOIN u ON t.pid = u.pid GROUP BY 1, 2, 3",),
)
KEYED = ("SELECT t.f, u.v, COUNT(*) AS n FROM t JOIN u ON t.w = u.k GROUP BY 1, 2",)
PER_PERSON = (
    "SELECT big, odd, COUNT(*) AS n FROM (SELECT pid, COUNT(*) > 1 AS big, MAX(x) > 0 AS odd "
    "FROM t GROUP BY pid) AS q GROUP BY big, odd",
)

any_visits = st.lists(visit, min_size=2, max_size=6)
any_stays = st.lists(stay, max_size=4)
persons = st.builds(
    lambda rows, groups: dp.Person("pid", max_rows=rows, max_groups=groups),
    st.integers(1, 4),
    st.none() | st.just(1),
)
_QUIET = settings(suppress_health_check=list(HealthCheck), deadline=None)


@pytest.fixture(params=["at once", "by marginal"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to count: all cells in one go, and each marginal by itself."""
    if request.param == "by marginal":
        monkeypatch.setattr(counting, "LARGEST", 0)
    return str(request.param)


def counts_of(stand: Stand, questions: Sequence[str], salt: int = SALT) -> TableCounts:
    """What the curator would count; none is counted yet."""

    def translate(text: str) -> Any:
        return query_from(text, stand.database)

    universe = universe_from(questions, translate)
    return TableCounts(universe, query_of_universe(universe, translate), stand.engine, salt)


def marginals(source: TableCounts) -> dict[tuple[str, ...], NDArray[np.int64]]:
    """Every marginal."""
    names = source.universe.names
    every = [chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)]
    return {chosen: source.counts(chosen) for chosen in every}


def disagreements(source: TableCounts) -> Iterator[str]:
    """Marginals that are not sums of the counts of all cells."""
    names = source.universe.names
    found = marginals(source)
    for chosen, table in found.items():
        gone = tuple(place for place, name in enumerate(names) if name not in chosen)
        if not np.array_equal(found[names].sum(axis=gone), table):
            yield f"{chosen} differs"


def breaches(setting: Setting, questions: Sequence[str], salt: int = SALT) -> list[str]:
    """Marginals that one unit moves too far, or both ways at once, or that disagree."""
    stand = Stand(setting)
    try:
        source = counts_of(stand, questions, salt)
        here = marginals(source)
        found = list(disagreements(source))
        one_way = questions is not KEYED
        for who in people(setting, setting.frames):
            stand.add(without(setting, setting.frames, who))
            there = marginals(TableCounts(source.universe, source.query, stand.engine, salt))
            for chosen, table in here.items():
                moved = int(np.abs(table - there[chosen]).sum())
                if moved > source.records:
                    found.append(f"{chosen} moved by {moved} > {source.records}")
                if one_way and (table < there[chosen]).any():
                    found.append(f"{chosen} grew when somebody left")
        return found
    finally:
        stand.close()


few = settings(_QUIET, max_examples=3)
many = settings(_QUIET, max_examples=60)
columns = given(
    questions=st.sampled_from(COLUMNS),
    rows=any_visits,
    unit=persons | st.just(dp.Row()),
    salt=st.integers(0, 2**62 - 1),
)
joins = given(
    questions=st.sampled_from((*JOINED, PER_PERSON)),
    rows=any_visits,
    others=any_stays,
    unit=persons,
)
keys = given(rows=any_visits, others=any_stays, unit=persons | st.just(dp.Row()))


def by_columns(way: str, questions: Any, rows: Any, unit: PrivacyUnit, salt: int) -> None:
    assert breaches(visits(rows, unit), questions, salt) == []


def by_joins(way: str, questions: Any, rows: Any, others: Any, unit: PrivacyUnit) -> None:
    assert breaches(both(rows, others, unit), questions) == []


def by_keys(way: str, rows: Any, others: Any, unit: PrivacyUnit) -> None:
    assert breaches(keyed(rows, others, unit, 2, 2), KEYED) == []


test_one_unit_moves_no_marginal_by_more_than_its_records = few(columns(by_columns))
test_joins_and_features_of_people = few(joins(by_joins))
test_joins_on_another_key = few(keys(by_keys))
test_columns_long = pytest.mark.slow(many(columns(by_columns)))
test_joins_long = pytest.mark.slow(many(joins(by_joins)))
test_keys_long = pytest.mark.slow(many(keys(by_keys)))


PEOPLE = pl.DataFrame(
    {
        "pid": [1, 1, 1, 1, 2, 2, 3, None],
        "w": ["A", "A", "B", "B", "B", None, "Z", "A"],
        "x": [0, 1, 0, 1, 1, 0, 1, 1],
    },
    schema={"pid": pl.Int64, "w": pl.String, "x": pl.Int64},
)
DECLARED = {"w": dp.Category(["A", "B"]), "x": dp.Number(0, 1)}
BOTH = column_questions("t", ["w", "x"], [])


def test_a_bound_that_is_not_kept_is_noticed(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = one(PEOPLE, dp.Person("pid", max_rows=1), DECLARED)
    assert breaches(setting, BOTH) == []
    monkeypatch.setattr(TableCounts, "_person", property(lambda _: None))
    assert any("moved by 4 > 1" in text for text in breaches(setting, BOTH))


def test_choosing_rows_by_the_counted_columns_alone_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "LARGEST", 0)
    setting = one(PEOPLE, dp.Person("pid", max_rows=1), DECLARED)
    marginal = TableCounts._marginal

    def twin(self: TableCounts, places: tuple[int, ...]) -> Any:
        """Without naming the attributes that are not counted."""
        query = marginal(self, places)
        rows = query.rows
        while not isinstance(rows, Bounded):
            rows = rows.inputs[0]
        return type(query)(**{**vars(query), "rows": rows})

    assert all(breaches(setting, BOTH, salt) == [] for salt in range(4))
    monkeypatch.setattr(TableCounts, "_marginal", twin)
    assert any("differs" in text for salt in range(8) for text in breaches(setting, BOTH, salt))


def test_only_rows_with_a_key_in_every_attribute_are_records(way: str) -> None:
    source = counts_of(Stand(one(PEOPLE, dp.Row(), DECLARED)), BOTH)
    assert isinstance(source, CountSource)
    assert source.counts(["w", "x"]).tolist() == [[1, 2], [1, 2]]
    assert source.counts(["x", "w"]).tolist() == [[1, 1], [2, 2]]
    assert source.counts(["x"]).tolist() == [2, 4]  # the row of ward Z counts nowhere
    assert source.records == 1


def test_rows_outside_the_universe_use_up_nobodys_share(way: str) -> None:
    setting = one(PEOPLE, dp.Person("pid", max_rows=1), DECLARED)
    stand = Stand(setting)
    for salt in range(8):  # person 2 has one row in ward B and one without a ward
        table = counts_of(stand, BOTH, salt).counts(["w"])
        assert table.sum() == 2
        assert table[1] >= 1


def test_null_is_a_cell_where_it_was_listed(way: str) -> None:
    columns = DECLARED | {"w": dp.Category(["A", "B", None])}
    source = counts_of(Stand(one(PEOPLE, dp.Row(), columns)), BOTH)
    assert source.counts(["w"]).tolist() == [3, 3, 2]
    assert source.counts(["x"]).tolist() == [3, 5]


def test_a_universe_of_any_size_is_counted_by_marginals() -> None:
    frame = pl.DataFrame({"w": ["A", "B", "B"], "x": [0, 4999, 7], "y": [3, 3, 4999]})
    columns = {"w": dp.Category(["A", "B"]), "x": dp.Number(0, 4999), "y": dp.Number(0, 4999)}
    source = counts_of(
        Stand(one(frame, dp.Row(), columns)), column_questions("t", ["w", "x", "y"], [])
    )
    assert source.universe.size > LARGEST
    assert source.counts(["w"]).tolist() == [1, 2]
    table = source.counts(["y", "w"])
    assert (table.shape, table.sum(), table[3, 0], table[3, 1]) == ((5000, 2), 3, 1, 1)
    with pytest.raises(DiscreetError, match="universe_too_large"):
        source.counts(["x", "y"])


def test_counts_are_those_of_a_plain_group_by(way: str) -> None:
    generator = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"w": generator.choice(["A", "B", "Q"], 500), "x": generator.integers(-2, 3, 500)}
    )
    questions = column_questions("t", ["w"], [("even", "x % 2 = 0"), ("x", "x")])
    source = counts_of(Stand(one(frame, dp.Row(), DECLARED)), questions)
    clean = frame.filter(pl.col("w") != "Q").with_columns(x=pl.col("x").clip(0, 1))
    wanted = [
        clean.filter((pl.col("w") == w) & ((pl.col("x") % 2 == 0) == even) & (pl.col("x") == x))
        for w, even, x in product("AB", (False, True), (0, 1))
    ]
    assert source.counts(["w", "even", "x"]).ravel().tolist() == [each.height for each in wanted]


def test_a_public_partner_multiplies_the_records_of_a_row() -> None:
    public = pl.DataFrame({"w": ["A", "A", "B"], "region": ["n", "s", "s"]})
    setting = one(PEOPLE, dp.Row(), DECLARED, p=public)
    text = "SELECT region, COUNT(*) AS n FROM t JOIN p USING (w) GROUP BY region"
    source = counts_of(Stand(setting), [text])
    assert source.records == 2
    assert source.counts(["region"]).tolist() == [3, 6]


@pytest.mark.parametrize(
    ("questions", "code"),
    [
        (["SELECT w, SUM(x) AS n FROM t GROUP BY w"], "universe_question"),
        (["SELECT w, COUNT(*) AS n FROM t GROUP BY w HAVING n > 1"], "universe_question"),
        (["SELECT w, COUNT(*) AS n FROM t GROUP BY w LIMIT 1"], "universe_question"),
        (["SELECT w, COUNT(*) AS n FROM t GROUP BY w, x"], "universe_question"),
        (["SELECT w, COUNT(*) + 1 AS n FROM t GROUP BY w"], "universe_question"),
        ([BOTH[0], BOTH[1].replace("GROUP", "WHERE x > 0 GROUP")], "universe_question"),
        (column_questions("t", ["ww"], []), "unknown_column"),
        (column_questions("t", ["w", "w"], []), "attribute_names"),
        (column_questions("t", [], [("v", "w, x")]), "unsupported_sql"),
        (column_questions("t", [], [("v", "x FROM t --")]), "sql_syntax"),
        (column_questions("t", [], [("real", "SQRT(x + 1.5)")]), None),
        (column_questions("t", [], [("pid", "pid")]), "key_is_identifier"),
        ([], "attribute_names"),
    ],
)
def test_what_is_no_universe_is_refused(questions: Sequence[str], code: str | None) -> None:
    stand = Stand(one(PEOPLE, dp.Person("pid", max_rows=1), DECLARED))
    if code is None:
        assert counts_of(stand, questions).universe.size == 2
        return
    with pytest.raises(DiscreetError) as refused:
        counts_of(stand, questions)
    assert refused.value.code == code


def test_a_universe_is_read_again_by_whoever_counts() -> None:
    stand = Stand(one(PEOPLE, dp.Row(), DECLARED))
    universe = counts_of(stand, BOTH).universe
    other = Stand(one(PEOPLE, dp.Row(), DECLARED | {"w": dp.Category(["B", "C"])}))
    with pytest.raises(DiscreetError, match="universe_differs"):
        query_of_universe(universe, lambda text: query_from(text, other.database))
    with pytest.raises(DiscreetError, match="universe_not_counted"):
        query_of_universe(Universe.of(w=["A", "B"]), lambda text: query_from(text, other.database))
    people_here = Stand(one(PEOPLE, dp.Person("pid", max_rows=1), DECLARED))
    assert isinstance(universe, KeyedUniverse)
    source = TableCounts.of(
        universe, lambda text: query_from(text, people_here.database), people_here.engine
    )
    assert source.counts(["w"]).sum() == 2  # bounded, though the universe was made for rows


def exchanging(stand: Stand, questions: Sequence[str] = BOTH) -> TableCounts:
    """What a curator of exchanged rows would count."""
    source = counts_of(stand, questions)
    return replace(source, private=private_tables(stand.database))


@few
@given(rows=any_visits, other=visit, place=st.integers(0, 5), questions=st.sampled_from(COLUMNS))
def test_exchanging_a_row_moves_one_record_from_cell_to_cell(
    way: str, rows: Any, other: Any, place: int, questions: Any
) -> None:
    place %= len(rows)
    worlds = [rows, [*rows[:place], other, *rows[place + 1 :]]]
    stands = [Stand(visits(world, Replace(dp.Row()))) for world in worlds]
    try:
        here, there = (exchanging(stand, questions) for stand in stands)
        assert here.size == there.size == PublicCount(len(rows))
        assert here.records == there.records == 1
        assert not list(disagreements(here))
        for chosen, table in marginals(here).items():
            assert table.sum() == len(rows)
            assert table.min() >= 0
            assert np.abs(table - there.counts(chosen)).sum() <= 2
    finally:
        for stand in stands:
            stand.close()


def test_rows_without_a_key_are_in_the_first_cell(way: str) -> None:
    frame = pl.DataFrame({"pid": [1, 2, 3, 4], "w": ["B", "B", None, "Z"], "x": [1, 0, 1, 1]})
    declared = {"w": dp.Category(["A", "B"]), "x": dp.Number(0, 1)}
    source = exchanging(Stand(one(frame, Replace(dp.Row()), declared)))
    assert source.counts(["w", "x"]).tolist() == [[2, 0], [1, 1]]
    assert source.counts(["w"]).tolist() == [2, 2]
    assert source.counts(["x"]).tolist() == [3, 1]  # though one of them has x = 1


def test_the_twin_that_drops_rows_shows_the_sum_moving(way: str) -> None:
    worlds = [["A", "B"], ["A", None]]
    sums = []
    for world in worlds:
        frame = pl.DataFrame({"pid": [1, 2], "w": world, "x": [0, 0]})
        twin = counts_of(Stand(one(frame, dp.Row(), DECLARED)), BOTH)
        sums.append(int(twin.counts(["w"]).sum()))
    assert sums[0] != sums[1]  # what Replace must not do: a public number that one row changes


@pytest.mark.parametrize(
    ("unit", "questions"),
    [
        (Replace(dp.Person("pid", max_rows=1)), BOTH),
        (Replace(dp.Row()), ["SELECT w, COUNT(*) AS n FROM t WHERE x > 0 GROUP BY w"]),
    ],
    ids=["people", "a condition"],
)
def test_other_numbers_of_records_are_not_public_under_replace(
    unit: PrivacyUnit, questions: Sequence[str]
) -> None:
    source = exchanging(Stand(one(PEOPLE, unit, DECLARED)), questions)
    for looked in (lambda: source.size, lambda: source.counts(["w"])):
        with pytest.raises(DiscreetError, match="records_unknown"):
            looked()


def test_under_replace_the_number_of_rows_is_public_beside_other_private_tables() -> None:
    """A row is exchanged within its table, whoever else holds tables of the same people."""
    alone = exchanging(Stand(one(PEOPLE, Replace(dp.Row()), DECLARED)))
    beside = replace(alone, private=alone.private | {"u"})
    assert beside.size == alone.size == PublicCount(len(PEOPLE))
    with pytest.raises(DiscreetError, match="records_unknown"):
        _ = replace(alone, private=frozenset("u")).size  # not a private table at all


def test_an_engine_that_cannot_count_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Any:
        message = "row 3 holds 'secret'"
        raise ValueError(message)

    source = exchanging(Stand(one(PEOPLE, Replace(dp.Row()), DECLARED)))
    monkeypatch.setattr(counting, "aggregate_exactly", broken)
    with pytest.raises(DiscreetError, match="engine_failed") as failed:
        _ = source.size
    assert failed.value.__context__ is None


def test_rows_that_take_each_others_place_are_refused() -> None:
    source = counts_of(Stand(keyed([], [], dp.Row(), 2, 2)), KEYED)
    with pytest.raises(DiscreetError, match="records_exchanged"):
        _ = source.size


def test_people_without_a_bound_are_refused() -> None:
    source = counts_of(Stand(one(PEOPLE, dp.Person("pid"), DECLARED)), BOTH)
    with pytest.raises(DiscreetError, match="unbounded_person"):
        _ = source.records


def test_another_salt_keeps_other_rows() -> None:
    stand = Stand(one(PEOPLE, dp.Person("pid", max_rows=1), DECLARED))
    found = {tuple(counts_of(stand, BOTH, salt).counts(["w", "x"]).ravel()) for salt in range(20)}
    assert len(found) > 1
