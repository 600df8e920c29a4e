"""Spread, middle and most frequent value of each person's rows, and features by person and key."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.aggregates.measures import Total
from discreet.relational.bounding.row_weights import RowWeights
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.features import PerPersonAndKey
from discreet.relational.plan.person_statistics import DeviationOf, MostFrequent, SpreadOf
from discreet.relational.planning import planned_query
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column
from tests.relational.neighbours.worlds import Setting, Stand, breaches, one, shuffled

_STATISTICS = (
    "(SELECT pid, STDDEV(x) AS sx, VAR_POP(y) AS vy, STDDEV_POP(x) AS px, VARIANCE(y) AS sy, "
    "MEDIAN(x) AS mx, MEDIAN(y) AS my, MODE(w) AS mw, MODE(x) AS ox, ARG_MAX(w, x) AS aw, "
    "ARG_MIN(y, day) AS ay, BOOL_OR(f) AS any_f, BOOL_AND(x > 1) AS all_x, "
    "MODE(w) FILTER (WHERE x > 1) AS fw, MEDIAN(y) FILTER (WHERE f) AS fy "
    "FROM t GROUP BY pid) AS s"
)
QUESTIONS = (
    f"SELECT SUM(sx) AS a, SUM(vy) AS b, SUM(px) AS c, SUM(sy) AS e FROM {_STATISTICS}",
    f"SELECT SUM(mx) AS a, SUM(my) AS b, SUM(ox) AS c, SUM(ay) AS e, SUM(fy) AS g "
    f"FROM {_STATISTICS}",
    f"SELECT mw, aw, COUNT(*) AS n FROM {_STATISTICS} GROUP BY mw, aw",
    f"SELECT any_f, all_x, COUNT(*) AS n, SUM(mx) AS a FROM {_STATISTICS} GROUP BY any_f, all_x",
    f"SELECT fw, COUNT(*) AS n, MEDIAN(mx) AS m FROM {_STATISTICS} GROUP BY fw",
)
KEYED = (
    "SELECT w, COUNT(*) AS n, SUM(s) AS a FROM "
    "(SELECT pid, w, SUM(y) AS s FROM t GROUP BY pid, w) AS q GROUP BY w",
    "SELECT m, n, COUNT(*) AS c FROM (SELECT pid, month(day) AS m, COUNT(*) AS n FROM t "
    "GROUP BY pid, m HAVING COUNT(*) > 0) AS q GROUP BY m, n",
    "SELECT f, COUNT(*) AS c, SUM(s) AS a, COUNT(DISTINCT pid) AS p FROM (SELECT w, f, pid, "
    "STDDEV_POP(x) AS s, MODE(x) AS o FROM t GROUP BY 1, 2, 3) AS q WHERE o > 0 GROUP BY f",
    "SELECT COUNT(*) AS c, SUM(k) AS a FROM (SELECT pid, COUNT(DISTINCT w) AS k FROM t "
    "GROUP BY pid, note, y > 0) AS q",
    "SELECT q.w, COUNT(*) AS c, SUM(q.s - r.n) AS a FROM (SELECT pid, w, SUM(x) AS s FROM t "
    "GROUP BY pid, w) AS q JOIN (SELECT pid, COUNT(*) AS n FROM t GROUP BY pid) AS r USING (pid) "
    "GROUP BY q.w",
)

Row = tuple[int | None, str | None, int | None, float | None, bool | None, int | None, str]


def crowd(rows: list[Row], unit: PrivacyUnit) -> Setting:
    names = ["pid", "w", "x", "y", "f", "day", "note"]
    frame = pl.DataFrame(
        {name: [row[place] for row in rows] for place, name in enumerate(names)},
        schema={
            "pid": pl.Int64,
            "w": pl.String,
            "x": pl.Int64,
            "y": pl.Float64,
            "f": pl.Boolean,
            "day": pl.Int64,
            "note": pl.String,
        },
    ).with_columns(
        (pl.date(2024, 1, 30) + pl.duration(days=pl.col("day"))).cast(pl.Date).alias("day")
    )
    import datetime

    columns = {
        "w": dp.Category(["A", "B", "é"]),
        "x": dp.Number(0, 9),
        "y": dp.Number(-1.5, 2.25),
        "day": dp.Dates(datetime.date(2024, 1, 30), datetime.date(2024, 2, 3)),
        "f": dp.Category([False, True]),
    }
    return one(frame, unit, columns)


a_row = st.tuples(
    st.integers(0, 3) | st.none(),
    st.sampled_from(["A", "B", "é", None]),
    st.integers(0, 9) | st.none(),
    st.sampled_from([-1.5, 0.1, 0.1, 1 / 3, 2.25, None]),
    st.booleans() | st.none(),
    st.integers(0, 4) | st.none(),
    st.sampled_from(["u", "v"]),
)
MIXED: list[Row] = [
    (1, "A", 3, 0.1, True, 0, "u"),
    (1, "B", 3, 1 / 3, False, 0, "u"),
    (1, "A", 9, 2.25, None, 1, "v"),
    (1, "B", 0, None, True, 2, "v"),
    (1, "é", None, 0.1, True, 3, "u"),
    (2, "B", 5, -1.5, False, 1, "u"),
    (2, "B", 5, -1.5, False, 1, "u"),
    (3, None, 2, 0.1, None, None, "v"),
    (None, "A", 9, 2.25, True, 4, "v"),
]


@pytest.mark.parametrize(
    "unit",
    [
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=3),
        dp.Person("pid", max_rows=9, max_groups=2),
        pytest.param(Replace(dp.Person("pid", max_rows=2)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_one_person_moves_no_more_than_declared(unit: PrivacyUnit) -> None:
    assert breaches(crowd(MIXED, unit), *QUESTIONS, *KEYED) == []


@settings(max_examples=15, deadline=None)
@given(st.lists(a_row, min_size=3, max_size=10), st.integers(1, 4), st.integers(0, 2**62 - 1))
def test_neighbours_of_any_rows(rows: list[Row], most: int, salt: int) -> None:
    unit = dp.Person("pid", max_rows=most)
    assert breaches(crowd(rows, unit), *QUESTIONS[:4], *KEYED[:3], salt=salt) == []


# What they mean, by plain Python ----------------------------------------------------------------


def _present(rows: list[Row], place: int) -> list[Any]:
    return [row[place] for row in rows if row[place] is not None]


def _people(rows: list[Row]) -> Iterator[list[Row]]:
    owned = sorted((row for row in rows if row[0] is not None), key=lambda row: row[0] or 0)
    for _, own in groupby(owned, key=lambda row: row[0]):
        yield list(own)


def _mode(values: list[Any]) -> Any:
    counts = Counter(values)
    most = max(counts.values(), default=0)
    return min((value for value, n in counts.items() if n == most), default=None)


def _expected(rows: list[Row], text: str) -> list[Any]:
    """One value for each person, None where there is none."""
    made = []
    for own in _people(rows):
        x, y = _present(own, 2), _present(own, 3)
        made.append(
            {
                "STDDEV(x)": statistics.stdev(x) if len(x) > 1 else None,
                "VAR_POP(y)": statistics.pvariance(y) if y else None,
                "STDDEV_POP(x)": statistics.pstdev(x) if x else None,
                "VARIANCE(y)": statistics.variance(y) if len(y) > 1 else None,
                "MEDIAN(x)": statistics.median(x) if x else None,
                "MEDIAN(y)": statistics.median(y) if y else None,
                "MODE(x)": _mode(x),
                "ARG_MAX(x, y)": max(
                    ((row[3], row[2]) for row in own if None not in (row[2], row[3])),
                    default=(None, None),
                )[1],
                "ARG_MIN(y, x)": min(
                    ((row[2], row[3]) for row in own if None not in (row[2], row[3])),
                    default=(None, None),
                )[1],
            }[text]
        )
    return made


@pytest.mark.parametrize(
    "text",
    [
        *("STDDEV(x)", "VAR_POP(y)", "STDDEV_POP(x)", "VARIANCE(y)", "MEDIAN(x)", "MEDIAN(y)"),
        *("MODE(x)", "ARG_MAX(x, y)", "ARG_MIN(y, x)"),
    ],
)
@settings(max_examples=12, deadline=None)
@given(rows=st.lists(a_row, min_size=1, max_size=12))
def test_statistics_are_those_of_a_persons_rows(text: str, rows: list[Row]) -> None:
    stand = Stand(crowd(rows, dp.Person("pid", max_rows=20)))
    try:
        planned = stand.planned(
            f"SELECT SUM(v) AS a, COUNT(v) AS n FROM (SELECT pid, {text} AS v FROM t "
            "GROUP BY pid) AS s"
        )
        found = stand.exact(planned)
    finally:
        stand.close()
    wanted = [value for value in _expected(rows, text) if value is not None]
    total = planned.allocation.noised[0].measure
    assert isinstance(total, Total)
    step = Fraction(2) ** total.exponent
    assert int(found.linear[1][0]) == len(wanted)
    assert float(int(found.linear[0][0]) * step) == pytest.approx(sum(wanted), abs=1e-6)


def test_truth_values_of_a_person() -> None:
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=20)))
    planned = stand.planned(
        "SELECT COUNT_IF(o) AS a, COUNT_IF(n) AS b, COUNT(o) AS c FROM "
        "(SELECT pid, BOOL_OR(f) AS o, BOOL_AND(f) AS n FROM t GROUP BY pid) AS s"
    )
    assert [int(part[0]) for part in stand.exact(planned).linear] == [1, 0, 2]
    stand.close()


def test_a_person_has_one_row_for_each_key() -> None:
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=20)))
    planned = stand.planned(KEYED[0])
    assert isinstance(planned.query.rows, PerPersonAndKey)
    assert planned.query.rows.stability == 20
    one = 1 << (planned.allocation.noised[0].places or 0)
    assert stand.exact(planned).linear[0].tolist() == [one, 2 * one, one]
    assert "one row per person and 1 keys" in planned.query.rows.label()
    stand.close()


def test_several_rows_in_a_group_are_not_claimed_as_one() -> None:
    """Two keys inside and one outside: a person may have several rows in a group."""
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=5)))
    both = stand.planned(
        "SELECT w, f, COUNT(*) AS n FROM (SELECT pid, w, f FROM t "
        "GROUP BY pid, w, f) AS q GROUP BY w, f"
    )
    some = stand.planned(
        "SELECT w, COUNT(*) AS n FROM (SELECT pid, w, f FROM t GROUP BY pid, w, f) AS q GROUP BY w"
    )
    assert [each.person and each.person.max_rows_per_group for each in (both, some)] == [1, None]
    stand.close()


@pytest.mark.parametrize("rows", [1, 2, 1000, 2**20])
@pytest.mark.parametrize("high", [1e-9, 3.0, 50_000.0, 2.0**200])
def test_squares_fit_their_bits(rows: int, high: float) -> None:
    column = Column("x", ColumnDomain(DataType.DOUBLE, -high / 3, high, None, declared=True))
    for ddof in (0, 1):
        _, farthest = SpreadOf(column, ddof).steps(rows)
        assert (rows * farthest) ** 2 < 2**63
        width = high * 4 / 3
        assert SpreadOf(column, ddof).domain(rows).high >= (width / 2) ** 2
        assert DeviationOf(column, ddof).domain(rows).high >= width / 2


def test_squares_that_would_not_fit_are_refused() -> None:
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=2**40)))
    with pytest.raises(DiscreetError, match="feature_overflows"):
        stand.planned(f"SELECT SUM(vy) AS a FROM {_STATISTICS}")
    stand.close()


# Broken twins -----------------------------------------------------------------------------------


def found(*questions: str) -> list[str]:
    rows: list[Row] = [
        (person, "AB"[place % 2], (person + place) % 5, 0.1 * place, True, 0, "u")
        for person in range(6)
        for place in range(6)
    ]
    return breaches(
        crowd(rows, dp.Person("pid", max_rows=6)),
        *questions,
        also=lambda frames: [shuffled(frames, seed) for seed in (2, 3, 4)],
    )


def test_the_real_code_passes() -> None:
    assert found(*QUESTIONS, *KEYED) == []


def test_ties_that_are_not_broken_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def text(self: MostFrequent, dialect: Dialect, rows: int, rank: str) -> str:
        return f"arg_max({dialect.identifier(self.argument.name)}, {rank}n + random() / 2)"

    monkeypatch.setattr(MostFrequent, "text", text)
    assert found(QUESTIONS[2]) != []


def test_one_row_claimed_for_several_keys_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the last bounds the claim costs accuracy; without them it would show."""
    monkeypatch.setattr(PerPersonAndKey, "stability", property(lambda _: 1))
    assert found(KEYED[0]) == []

    def unweighted(_: RowWeights, text: str, most: int, places: int, dialect: Dialect) -> str:
        return f"CAST({text or 1} AS BIGINT) * {dialect.literal(1 << places)}"

    monkeypatch.setattr(RowWeights, "weigh_contribution", unweighted)
    assert found(KEYED[0]) != []


def test_one_row_in_each_group_that_is_claimed_is_enforced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong claim costs accuracy: the statement cuts to what noise was made for."""
    monkeypatch.setattr(planned_query, "one_row_in_each", lambda *_: True)
    questions = (
        "SELECT w, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY w",
        "SELECT w, MEDIAN(x) AS m FROM t GROUP BY w",
    )
    rows: list[Row] = [(1, "A", 2, 0.5, True, 0, "u")] * 2
    stand = Stand(crowd(rows, dp.Person("pid", max_rows=5)))
    counted, chosen = map(stand.planned, questions)
    person, exact = counted.person, counted.exact(stand.database).linear[0]
    ranked = chosen.exact(stand.database).ranks[0]
    stand.close()
    assert person is not None
    assert person.max_rows_per_group == 1
    assert sum(exact.tolist()) == 1 << (counted.allocation.noised[0].places or 0)
    assert ranked.sum() == 1
    assert found(*questions) == []


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        ("SELECT w, MODE(x) AS n FROM t GROUP BY w", "unsupported_sql"),
        ("SELECT pid, MODE(note) AS n FROM t GROUP BY pid", "column_not_declared"),
        ("SELECT pid, MEDIAN(w) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, STDDEV(note) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, BOOL_OR(x) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, ARG_MAX(x, w) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, ARG_MAX(x, y, 3) AS n FROM t GROUP BY pid", "unsupported_sql"),
        ("SELECT pid, STDDEV(DISTINCT x) AS n FROM t GROUP BY pid", "unsupported_sql"),
        ("SELECT pid, x, COUNT(*) AS n FROM t GROUP BY pid, w", "not_grouped"),
    ],
)
def test_what_is_no_statistic_is_refused(inner: str, code: str) -> None:
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=2)))
    with pytest.raises(DiscreetError) as caught:
        stand.planned(f"SELECT COUNT(*) AS c FROM ({inner}) AS s")
    assert caught.value.code == code, caught.value
    stand.close()
