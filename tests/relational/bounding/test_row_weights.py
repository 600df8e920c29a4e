"""Rows that count by weight: exact limits in whole numbers, and the mean of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.unit import Person
from discreet.relational.bounding.contributions import bounds_of_person
from discreet.relational.bounding.row_weights import PLACES, RowWeights
from discreet.relational.engines.duckdb import crowds, engine
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.execute.exact_aggregation import statements
from discreet.relational.planning.planned_query import PlannedQuery
from tests.relational.neighbours.worlds import Stand, one

WARDS = ("A", "B", "C", "D")
COLUMNS = {"w": dp.Category(WARDS), "x": dp.Number(-7, 9), "y": dp.Number(0.0, 1.0)}
LIMITS = st.builds(
    Person,
    st.just("pid"),
    max_rows=st.integers(1, 12),
    max_groups=st.none() | st.integers(1, 4),
    max_rows_per_group=st.none() | st.integers(1, 6),
)

SEVERAL = st.builds(
    Person,
    st.just("pid"),
    max_rows=st.integers(2, 6),
    max_groups=st.none() | st.integers(2, 3),
    max_rows_per_group=st.integers(1, 2),
)
"""Limits of which each leaves something of a dozen rows to the other."""


def weights(limits: RowWeights, sizes: dict[str, int]) -> dict[str, int]:
    """The weight of a row in each group, as the statement computes it."""
    full = 1 << limits.places
    if limits.rows_per_group >= limits.rows:
        every = sum(sizes.values())
        share = full if every <= limits.rows else limits.rows * full // every
        return dict.fromkeys(sizes, share)
    held = {group: min(n, limits.rows_per_group) for group, n in sizes.items()}
    every = sum(held.values())
    share = full if every <= limits.rows else limits.rows * full // every
    return {group: share * held[group] // n for group, n in sizes.items()}


@settings(max_examples=300, deadline=None)
@given(LIMITS, st.dictionaries(st.sampled_from(WARDS), st.integers(1, 10**7), min_size=1))
@example(Person("pid", max_rows=5, max_groups=1, max_rows_per_group=2), {"A": 3, "B": 3, "C": 1})
def test_a_person_counts_as_no_more_rows_than_the_unit_allows(
    person: Person, sizes: dict[str, int]
) -> None:
    """In whole numbers: in all, in a group, and squared over groups."""
    limits, reach = RowWeights.of_rows(person, 4), bounds_of_person(person, 4, person)
    full = 1 << limits.places
    counted = [n * w for n, w in zip(sizes.values(), weights(limits, sizes).values(), strict=True)]
    assert sum(counted) <= reach.rows * full
    assert max(counted) <= reach.most * full
    assert sum(each * each for each in counted) <= reach.squares * full * full
    if sum(sizes.values()) <= min(limits.rows, limits.rows_per_group):
        assert counted == [n * full for n in sizes.values()]
    lost = reach.rows - Fraction(sum(counted), full)
    if limits.rows_per_group >= limits.rows and sum(sizes.values()) >= limits.rows:
        assert lost <= Fraction(sum(sizes.values()), full)  # below one for a billion rows


ROW = st.tuples(st.integers(0, 3), st.sampled_from(WARDS), st.integers(-9, 11))
MANY = [(who, ward, 11) for who in range(3) for ward in WARDS[: who + 1] for _ in range(who + 2)]


def held(_: pytest.MonkeyPatch) -> None:
    """As DuckDB holds the rows of a small table."""


def crowded(patched: pytest.MonkeyPatch) -> None:
    """As DuckDB finds people in large tables, with buckets whatever their number of rows."""
    patched.setattr(engine, "LARGE", 0)
    patched.setattr(engine, "LEAST", 1)
    patched.setattr(crowds, "_FEWER", 0)


def bucketless(patched: pytest.MonkeyPatch) -> None:
    """The same where people have too many rows for buckets."""
    patched.setattr(engine, "LARGE", 0)
    patched.setattr(engine, "LEAST", 1)
    patched.setattr(crowds, "_FEWER", 1 << 20)


def sorts(patched: pytest.MonkeyPatch) -> None:
    """As an engine that holds no rows: weights are found by sorting."""
    patched.setattr(DuckDBDialect, "with_rows", lambda *_: None)


@pytest.mark.parametrize("way", [held, crowded, bucketless, sorts])
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40) | st.lists(ROW, min_size=16, max_size=40),
    person=LIMITS | SEVERAL,
)
@example(rows=MANY, person=Person("pid", max_rows=5, max_groups=3, max_rows_per_group=2))
@example(rows=MANY, person=Person("pid", max_rows=3, max_rows_per_group=2))
@example(rows=MANY, person=Person("pid", max_rows=3, max_rows_per_group=1))
@example(rows=MANY, person=Person("pid", max_rows=7, max_groups=2, max_rows_per_group=3))
@example(rows=MANY, person=Person("pid", max_rows=5))
def test_the_engine_computes_these_very_weights(
    way: Callable[[pytest.MonkeyPatch], None], rows: list[tuple[int, str, int]], person: Person
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        way(patched)
        _require_these_weights(rows, person)


def _require_these_weights(rows: list[tuple[int, str, int]], person: Person) -> None:
    # Rows in no group use up nobody's share.
    others = [(who, "outside", 3) for who in {who for who, _, _ in rows} for _ in range(who)]
    planned, found = _computed(
        "SELECT w, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY w", [*rows, *others], person
    )
    limits = RowWeights.of_rows(person, 4)
    sizes = Counter((who, ward) for who, ward, _ in rows)
    expected = {(kind, ward): 0 for kind in "ns" for ward in WARDS}
    places = {
        kind: item.places or 0 for kind, item in zip("ns", planned.allocation.noised, strict=True)
    }
    for who, ward, x in rows:
        own = {group: n for (other, group), n in sizes.items() if other == who}
        weight = weights(limits, own)[ward]
        for kind, value in (("n", 1), ("s", max(-7, min(9, x)))):
            shift = limits.places - places[kind]
            size = abs(value) * weight >> shift  # cut towards zero
            expected[kind, ward] += size if value >= 0 else -size
    assert [int(n) for n in found[0]] == [expected["n", ward] for ward in WARDS]
    assert [int(n) for n in found[1]] == [expected["s", ward] for ward in WARDS]


@pytest.mark.parametrize("way", [held, crowded, sorts])
@settings(max_examples=15, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=40), person=LIMITS | SEVERAL)
@example(rows=MANY, person=Person("pid", max_rows=3))
@example(rows=MANY, person=Person("pid", max_rows=7, max_groups=2, max_rows_per_group=3))
def test_without_keys_a_persons_rows_weigh_as_much(
    way: Callable[[pytest.MonkeyPatch], None], rows: list[tuple[int, str, int]], person: Person
) -> None:
    """Whether they are weighed one by one, or added up first."""
    with pytest.MonkeyPatch.context() as patched:
        way(patched)
        planned, found = _computed("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", rows, person)
    limits, sizes = RowWeights.of_rows(person, 1), Counter(who for who, _, _ in rows)
    expected = [0, 0]
    for who, _, x in rows:
        weight = weights(limits, {"": sizes[who]})[""]
        for place, value in enumerate((1, max(-7, min(9, x)))):
            size = abs(value) * weight >> limits.places - (
                planned.allocation.noised[place].places or 0
            )
            expected[place] += size if value >= 0 else -size
    assert [int(total) for (total,) in found] == expected


def _computed(
    text: str, rows: list[tuple[int, str, int]], person: Person
) -> tuple[PlannedQuery, Sequence[Any]]:
    frame = pl.DataFrame(rows, schema=["pid", "w", "x"], orient="row").with_columns(y=pl.lit(0.5))
    stand = Stand(one(frame, person, COLUMNS))
    try:
        planned = stand.planned(text)
        return planned, stand.exact(planned).linear
    finally:
        stand.close()


def test_weights_leave_room_for_any_limit() -> None:
    for rows in (1, 5, 2**20, 2**33, 2**43, 2**80):
        limits = RowWeights.of_rows(Person("pid", max_rows=rows), 1)
        assert limits.rows << limits.places < 1 << 62
    assert RowWeights.of_rows(Person("pid", max_rows=20), 9).places == PLACES


def test_a_wide_product_is_widened_and_a_narrow_one_is_not() -> None:
    limits = RowWeights(5, 5)
    assert "HUGEINT" in limits.weigh_contribution("x", 1 << 40, 12, DuckDBDialect())
    assert "HUGEINT" not in limits.weigh_contribution("x", 1 << 20, 30, DuckDBDialect())


def test_the_share_of_a_large_value_does_not_overflow() -> None:
    """A value of 45 bits and a weight of 30: the product is taken in more than 64."""
    frame = pl.DataFrame({"pid": [1] * 10, "x": [2**45, -(2**45)] * 4 + [2**45] * 2})
    columns = {"x": dp.Number(-(2**45), 2**45)}
    stand = Stand(one(frame, dp.Person("pid", max_rows=5), columns))
    try:
        planned = stand.planned("SELECT SUM(x) AS s FROM t")
        found = stand.exact(planned).linear[0].tolist()
    finally:
        stand.close()
    assert found == [2**45 << (planned.allocation.noised[0].places or 0)]


@pytest.mark.parametrize("epsilon", [1, 10**4, 10**9])
def test_a_contribution_fits_however_little_noise_there_is(epsilon: int) -> None:
    columns = {"x": dp.Number(-(2**45), 2**45)}
    frame = pl.DataFrame({"pid": [1] * 10, "x": [2**45] * 10})
    stand = Stand(one(frame, dp.Person("pid", max_rows=5), columns))
    try:
        planned = stand.planned("SELECT SUM(x) AS s FROM t", dp.PureDP(epsilon=epsilon))
        (item,) = planned.allocation.noised
        assert item.steps < 2**62
        assert stand.exact(planned).linear[0].tolist() == [5 * item.steps]
    finally:
        stand.close()


def test_people_within_their_limits_count_in_full_and_others_by_their_share() -> None:
    """The mean of a sample of five rows out of ten, without its spread."""
    frame = pl.DataFrame(
        {"pid": [1] * 10 + [2] * 3, "w": ["A"] * 8 + ["B"] * 2 + ["A"] * 3, "x": [5] * 13}
    ).with_columns(y=pl.lit(0.5))
    stand = Stand(one(frame, dp.Person("pid", max_rows=5), COLUMNS))
    try:
        planned = stand.planned("SELECT w, COUNT(*) AS n FROM t GROUP BY w")
        found = {salt: stand.exact(planned, salt=salt).linear[0].tolist() for salt in (1, 2)}
    finally:
        stand.close()
    assert found[1] == found[2] == [(4 + 3) << PLACES, 1 << PLACES, 0, 0]


def test_noise_is_as_much_larger_in_steps_as_steps_are_finer() -> None:
    """The scale in the caller's units is that of whole rows: R over epsilon."""
    frame = pl.DataFrame({"pid": [1], "w": ["A"], "x": [5], "y": [0.5]})
    stand = Stand(one(frame, dp.Person("pid", max_rows=5), COLUMNS))
    try:
        (noised,) = stand.planned("SELECT COUNT(*) AS n FROM t").allocation.noised
    finally:
        stand.close()
    assert noised.places == PLACES
    assert noised.mechanism.sensitivity == 5 << PLACES
    assert abs(noised.distribution.spread - 5) < 1e-6


def test_people_with_many_rows_are_found_in_a_large_table() -> None:
    """Sixty thousand people with one row, of whom three have more: by buckets, as without them."""
    many = {7: 30, 1_000: 6, 59_999: 5}
    who = [*range(60_000), *(each for each, n in many.items() for _ in range(n - 1))]
    frame = pl.DataFrame({"pid": who}).with_columns(w=pl.lit("A"), x=pl.lit(5), y=pl.lit(0.5))
    found = {}
    for large in (1 << 18, 1 << 10):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(engine, "LARGE", large)
            stand = Stand(one(frame, dp.Person("pid", max_rows=5), COLUMNS))
            try:
                planned = stand.planned("SELECT COUNT(*) AS n, SUM(x) AS s FROM t")
                found[large] = [each.tolist() for each in stand.exact(planned).linear]
            finally:
                stand.close()
    rows = (60_000 - 3 + 5) << PLACES
    share = (5 << PLACES) // 30 * 30 + (5 << PLACES) // 6 * 6
    assert found[1 << 10] == found[1 << 18]
    assert found[1 << 10][0] == [rows + share]


def test_how_large_a_table_is_does_not_show_in_what_is_explained() -> None:
    """The size of a private table decides what runs, after the charge, and no text before it."""
    frame = pl.DataFrame({"pid": [1], "w": ["A"], "x": [5], "y": [0.5]})
    texts = set()
    for large in (0, 1 << 18):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(engine, "LARGE", large)
            stand = Stand(one(frame, dp.Person("pid", max_rows=5), COLUMNS))
            try:
                planned = stand.planned("SELECT COUNT(*) AS n FROM t")
                measures = [item.exact for item in planned.allocation.noised]
                written = statements(planned.query, measures, planned.person, stand.engine)
                texts |= set(written)
            finally:
                stand.close()
    assert len(texts) == 1
