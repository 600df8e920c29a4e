"""Exact numbers by cell: compared with what Python counts and adds up, row by row."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.relational.aggregates.measures import CountPeople, Linear, Ranks, Total
from discreet.relational.database import Database
from discreet.relational.execute.exact_aggregation import (
    ExactAggregates,
    aggregate_exactly,
    joined_halves,
    roomy,
)
from discreet.relational.plan.query import Query
from discreet.relational.schema.declarations import Declaration
from discreet.relational.sql.translate import query_from

Row = tuple[int | None, str | None, int | None, float | None]

WARDS = ("A", "B", "C")
LOW, HIGH = -3, 5
FAR = 2**61
ROWS = st.lists(
    st.tuples(
        st.sampled_from((1, 2, 3, -7, 2**62, None)),
        st.sampled_from((*WARDS, "Z", "", None)),
        st.sampled_from((LOW, 0, 1, HIGH, HIGH + 1, 2**63 - 1, -(2**63), None)),
        st.sampled_from((0.0, -0.0, 0.25, 1.5, -1.5, 9e99, float("inf"), float("nan"), None)),
    ),
    max_size=25,
)
UNCUT = dp.Person("pid", max_rows=1000, max_groups=10)


@contextmanager
def opened(rows: Sequence[Row], unit: PrivacyUnit) -> Iterator[Database]:
    names = {"pid": pl.Int64, "w": pl.String, "x": pl.Int64, "y": pl.Float64}
    frame = pl.DataFrame(
        {name: [row[place] for row in rows] for place, name in enumerate(names)},
        schema=names,
        nan_to_null=False,
    )
    columns: dict[str, Declaration] = {
        "w": dp.Category(WARDS),
        "x": dp.Number(LOW, HIGH),
        "y": dp.Number(-1.5, 2.25, step=0.25),
    }
    database = Database(dp.DuckDB(threads=1), {"t": dp.table(frame, unit=unit, columns=columns)})
    try:
        yield database
    finally:
        database.close()


def asked(text: str, database: Database) -> tuple[Query, list[Linear], list[Ranks]]:
    query = query_from(text, database)
    found = dict.fromkeys(m for aggregate in query.aggregates for m in aggregate.measures)
    ranks = [measure for measure in found if isinstance(measure, Ranks)]
    return query, [m for m in found if not isinstance(m, Ranks)], ranks


def exact(text: str, rows: Sequence[Row], unit: PrivacyUnit, salt: int = 7) -> ExactAggregates:
    with opened(rows, unit) as database:
        query, linear, ranks = asked(text, database)
        person = add_remove(unit)
        bound = person if isinstance(person, Person) else None
        return aggregate_exactly(query, linear, ranks, bound, database.engine, salt=salt)


def owned(rows: Sequence[Row], unit: PrivacyUnit) -> list[Row]:
    """Rows that belong to somebody."""
    return [row for row in rows if unit == dp.Row() or row[0] is not None]


def clamped(x: int | None) -> int | None:
    return None if x is None else min(max(x, LOW), HIGH)


def by_ward(rows: Sequence[Row], place: int) -> dict[str, list[object]]:
    found = defaultdict[str, list[object]](list)
    for row in rows:
        found[str(row[1])].append(row[place])
    return found


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from((dp.Row(), UNCUT)))
def test_counts_are_those_of_the_rows(rows: list[Row], unit: PrivacyUnit) -> None:
    found = exact("SELECT w, COUNT(*) AS n, COUNT(x) AS m FROM t GROUP BY w", rows, unit)
    values = by_ward(owned(rows, unit), 2)
    assert found.linear[0].tolist() == [len(values[ward]) for ward in WARDS]
    known = [[x for x in values[ward] if x is not None] for ward in WARDS]
    assert found.linear[1].tolist() == list(map(len, known))


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from((dp.Row(), UNCUT)), st.sampled_from((0, -1, -20)))
def test_sums_are_those_of_clamped_values_in_steps(
    rows: list[Row], unit: PrivacyUnit, exponent: int
) -> None:
    """Whole numbers as they are, reals by the nearest step of a grid; both from the centre."""
    text = "SELECT w, SUM(x) AS s, SUM(y) AS r FROM t GROUP BY w"
    with opened(rows, unit) as database:
        query, (whole, real), _ = asked(text, database)
        assert isinstance(whole, Total)
        assert isinstance(real, Total)
        real = replace(real, exponent=exponent)
        person = add_remove(unit)
        bound = person if isinstance(person, Person) else None
        found = aggregate_exactly(query, [whole, real], [], bound, database.engine, salt=3)
    expected = dict.fromkeys(WARDS, 0), dict.fromkeys(WARDS, 0)
    for _, ward, x, y in owned(rows, unit):
        if ward in WARDS and x is not None:
            expected[0][ward] += min(max(x, LOW), HIGH) - whole.centre_steps()
        if ward in WARDS and y is not None and not math.isnan(y):
            steps = Fraction(min(max(y, -1.5), 2.25)) / Fraction(2) ** exponent
            expected[1][ward] += round(steps) - real.centre_steps()
    assert [sums.tolist() for sums in found.linear] == [list(each.values()) for each in expected]


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from((dp.Row(), UNCUT)))
def test_distinct_values_are_counted_once(rows: list[Row], unit: PrivacyUnit) -> None:
    found = exact("SELECT w, COUNT(DISTINCT x) AS n FROM t GROUP BY w", rows, unit)
    values = by_ward([(p, w, clamped(x), y) for p, w, x, y in owned(rows, unit)], 2)
    expected = [len({x for x in values[ward] if x is not None}) for ward in WARDS]
    assert found.linear[0].tolist() == expected


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from((dp.Row(), UNCUT)))
def test_ranks_are_a_histogram_of_candidates(rows: list[Row], unit: PrivacyUnit) -> None:
    text = "SELECT w, MEDIAN(x) AS m FROM t GROUP BY w"
    (found,) = exact(text, rows, unit).ranks
    values = by_ward([(p, w, clamped(x), y) for p, w, x, y in owned(rows, unit)], 2)
    expected = [
        [Counter(values[ward])[candidate] for candidate in range(LOW, HIGH + 1)] for ward in WARDS
    ]
    assert found.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 4), st.integers(0, 2**61))
def test_rows_of_a_person_are_cut_to_the_limit_and_no_further(
    rows: list[Row], limit: int, salt: int
) -> None:
    found = exact("SELECT COUNT(*) AS n FROM t", rows, dp.Person("pid", max_rows=limit), salt)
    people = Counter(row[0] for row in rows if row[0] is not None)
    assert found.linear[0].tolist() == [sum(min(n, limit) for n in people.values())]


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(0, 2**61))
def test_groups_and_rows_in_a_group_are_cut_to_their_limits(
    rows: list[Row], limit: int, groups: int, each: int, salt: int
) -> None:
    unit = dp.Person("pid", max_rows=limit, max_groups=groups, max_rows_per_group=each)
    found = exact("SELECT w, COUNT(*) AS n FROM t GROUP BY w", rows, unit, salt).linear[0]
    cells = Counter((row[0], row[1]) for row in rows if row[0] is not None and row[1] in WARDS)
    possible = []
    for person in {person for person, _ in cells}:
        full = sorted(min(cells[person, w], each) for w in WARDS if (person, w) in cells)
        possible.append(
            (min(limit, sum(full[:groups])), min(limit, sum(full[-groups:])))
        )  # whichever groups the hash puts first
    low, high = (sum(ends[place] for ends in possible) for place in (0, 1))
    assert low <= found.sum() <= high
    assert all(
        0 <= n <= sum(min(m, each) for (_, w), m in cells.items() if w == ward)
        for n, ward in zip(found, WARDS, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 3))
def test_people_are_counted_once_in_few_groups(rows: list[Row], groups: int) -> None:
    unit = dp.Person("pid", max_groups=groups)
    with opened(rows, unit) as database:
        query, linear, _ = asked("SELECT w, COUNT(DISTINCT pid) AS n FROM t GROUP BY w", database)
        assert linear == [CountPeople()]
        found = aggregate_exactly(query, linear, [], unit, database.engine, salt=1).linear[0]
    wards = defaultdict[object, set[str]](set)
    for person, ward, _, _ in rows:
        if person is not None and ward in WARDS:
            wards[person].add(ward)
    assert found.sum() == sum(min(len(each), groups) for each in wards.values())


def test_cells_without_rows_are_zero_and_all_are_there() -> None:
    found = exact("SELECT w, x, COUNT(*) AS n FROM t GROUP BY w, x", [(1, "B", 2, None)], dp.Row())
    expected = [int((ward, x) == ("B", 2)) for ward, x in product(WARDS, range(LOW, HIGH + 1))]
    assert found.linear[0].tolist() == expected


def test_no_statement_at_all_without_measures() -> None:
    with opened([], dp.Row()) as database:
        query, _, _ = asked("SELECT COUNT(*) AS n FROM t", database)
        assert aggregate_exactly(query, [], [], None, database.engine, salt=0) == ExactAggregates(
            (), ()
        )


@given(st.lists(st.integers(-(2**124), 2**124), max_size=5))
def test_wide_sums_are_put_together_from_their_halves(sums: list[int]) -> None:
    high = np.array([total >> 62 for total in sums], dtype=np.int64)
    low = np.array([total & (2**62 - 1) for total in sums], dtype=np.int64)
    assert [int(total) for total in joined_halves(high, low)] == sums


@settings(max_examples=20)
@given(st.lists(st.integers(-(2**124), 2**124), max_size=5))
def test_wide_sums_that_come_whole_have_room_for_noise(sums: list[int]) -> None:
    with opened([], dp.Row()) as database:
        listed = ", ".join(f"({place}, {total})" for place, total in enumerate(sums))
        rows = f"(VALUES {listed})" if sums else "(SELECT 1, 2 WHERE FALSE)"
        _, came = database.engine.numbers(f"SELECT i, t FROM {rows} AS v(i, t) ORDER BY i")
    found = roomy(came)
    assert found.tolist() == sums
    assert found.dtype == object or all(-(2**62) <= total < 2**62 for total in sums)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 5_000])
def test_numbers_are_all_there_however_many(size: int) -> None:
    with opened([], dp.Row()) as database:
        text = f"SELECT CAST(i % 200 AS UTINYINT) AS a, i * 3 AS b FROM range({size}) AS r(i)"
        first, second = database.engine.numbers(f"{text} ORDER BY i")
    assert first.tolist() == [i % 200 for i in range(size)]
    assert second.tolist() == [3 * i for i in range(size)]
    assert first.dtype == second.dtype == np.int64


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_beyond_64_bits_are_exact(sign: int) -> None:
    rows = 9
    frame = pl.DataFrame({"x": [sign * FAR] * rows})
    table = dp.table(frame, unit=dp.Row(), columns={"x": dp.Number(-FAR, FAR)})
    database = Database(dp.DuckDB(threads=1), {"t": table})
    query, linear, _ = asked("SELECT SUM(x) AS s FROM t", database)
    found = aggregate_exactly(query, linear, [], None, database.engine, salt=0).linear[0]
    database.close()
    assert [int(total) for total in found] == [sign * FAR * rows]
