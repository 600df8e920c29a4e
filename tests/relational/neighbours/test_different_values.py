"""SUM, AVG and VARIANCE of different values: a value counts once, whoever and how many have it."""

from __future__ import annotations

import statistics
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.aggregates.measures import ValuesTotal
from discreet.relational.aggregates.sum import Sum
from discreet.relational.execute.exact_aggregation import _Run
from tests.relational.neighbours.worlds import Setting, Stand, breaches, one

QUESTIONS = (
    "SELECT SUM(DISTINCT x) AS s, AVG(DISTINCT x) AS a, COUNT(*) AS n FROM t",
    "SELECT w, SUM(DISTINCT x) AS s, STDDEV(DISTINCT x) AS d, SUM(x) AS b FROM t GROUP BY w",
    "SELECT w, VAR_POP(DISTINCT x) AS v FROM t WHERE x <> 2 GROUP BY w",
    "SELECT SUM(DISTINCT x) FILTER (WHERE w = 'A') AS s, SUM(DISTINCT x * 2 - 1) AS b FROM t",
    "SELECT COUNT(DISTINCT (w, x)) AS n, COUNT(DISTINCT w, x) AS m FROM t",
    "SELECT w, COUNT(DISTINCT (x, x > 2)) FILTER (WHERE x <> 3) AS n FROM t GROUP BY w",
)
Row = tuple[int | None, str | None, int | None]
MIXED: list[Row] = [
    *((1, "A", 3), (1, "A", 3), (1, "A", -4), (1, "B", 0), (2, "A", 3), (2, "B", 6)),
    *((2, "B", None), (3, None, 5), (None, "A", 1)),
]


def table(rows: list[Row], unit: PrivacyUnit) -> Setting:
    frame = pl.DataFrame(
        {name: [row[place] for row in rows] for place, name in enumerate(("pid", "w", "x"))},
        schema={"pid": pl.Int64, "w": pl.String, "x": pl.Int64},
    )
    return one(frame, unit, {"w": dp.Category(["A", "B"]), "x": dp.Number(-4, 6)})


@pytest.mark.parametrize(
    "unit",
    [
        dp.Row(),
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=4, max_groups=1),
        dp.Person("pid", max_rows=5, max_rows_per_group=2),
        Replace(dp.Person("pid", max_rows=2)),
    ],
    ids=str,
)
def test_one_unit_moves_no_more_than_declared(unit: PrivacyUnit) -> None:
    assert breaches(table(MIXED, unit), *QUESTIONS) == []


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3) | st.none(),
            st.sampled_from(["A", "B", None]),
            st.integers(-9, 9) | st.none(),
        ),
        min_size=2,
        max_size=9,
    ),
    st.integers(1, 4),
    st.integers(0, 2**62 - 1),
)
def test_neighbours_of_any_rows(rows: list[Row], most: int, salt: int) -> None:
    assert breaches(table(rows, dp.Person("pid", max_rows=most)), *QUESTIONS, salt=salt) == []


def exact(text: str) -> list[list[int]]:
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=20)))
    try:
        return [part.tolist() for part in stand.exact(stand.planned(text)).linear]
    finally:
        stand.close()


def test_each_value_counts_once() -> None:
    assert exact("SELECT w, SUM(DISTINCT x) AS s FROM t GROUP BY w") == [[3 - 4, 0 + 6]]
    count, total = exact("SELECT AVG(DISTINCT x) AS a FROM t")
    assert (count, total) == ([5], [3 - 4 + 0 + 6 + 5 - 5])  # less five times the middle, one


def test_a_value_beyond_its_bounds_is_clamped() -> None:
    """Whatever is said about the argument: the clamp reads the two numbers of the measure."""
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=20)))
    planned = stand.planned("SELECT SUM(DISTINCT x) AS s FROM t")
    (aggregate,) = planned.query.aggregates
    (total,) = aggregate.measures
    assert isinstance(total, ValuesTotal)
    narrow = Sum(replace(total, low=0, high=3))
    planned = replace(planned, query=replace(planned.query, aggregates=(narrow,)))
    assert [part.tolist() for part in stand.exact(planned).linear] == [[0 + 3]]
    stand.close()


def test_squares_tell_values_apart() -> None:
    """From the lower bound: from the middle, 3 and -1 would have one square."""
    n, first, second = (part[0] for part in exact("SELECT VARIANCE(DISTINCT x) AS v FROM t"))
    values = [3, -4, 0, 6, 5]
    assert (n, first) == (5, sum(value + 4 for value in values))
    assert (second - first**2 / n) / (n - 1) == pytest.approx(statistics.variance(values))


def test_a_person_changes_as_many_values_as_there_are() -> None:
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=50)))
    planned = stand.planned("SELECT SUM(DISTINCT x > 1) AS s, SUM(DISTINCT x) AS a FROM t")
    assert [part.contributions.l1(1) for part in planned.parts] == [2, 11]
    stand.close()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SUM(DISTINCT x / 3)", "unsupported_sql"),
        ("SUM(DISTINCT w)", "type_clash"),
        ("SUM(DISTINCT x, w)", "unsupported_sql"),
        ("MEDIAN(DISTINCT x)", "unsupported_sql"),
        ("SUM(DISTINCT x * 1000000000)", "bounds_too_far"),
    ],
)
def test_other_values_are_refused(text: str, code: str) -> None:
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=2)))
    with pytest.raises(DiscreetError) as caught:
        stand.planned(f"SELECT {text} AS s FROM t")
    assert caught.value.code == code, caught.value
    stand.close()


def test_values_that_count_for_every_row_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: with a list of two values, many rows would add up to more."""
    rows: list[Row] = [*[(1, "A", 6)] * 9, (2, "B", 0)]
    setting = table(rows, dp.Person("pid", max_rows=9))
    text = "SELECT SUM(DISTINCT CASE WHEN x > 5 THEN 1 ELSE 0 END) AS s FROM t"
    assert breaches(setting, text) == []
    real = _Run._sum

    def plain(self: _Run, number: int, measure: object, content: str) -> str:
        made = real(self, number, measure, content)  # type: ignore[arg-type]
        return made.replace("DISTINCT ", "") if isinstance(measure, ValuesTotal) else made

    monkeypatch.setattr(_Run, "_sum", plain)
    assert breaches(setting, text) != []
