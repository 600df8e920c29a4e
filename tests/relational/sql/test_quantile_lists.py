"""Lists of levels are columns of one choice, at one price."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.relational.frontends.hospital import curator

SPEND = dp.PureDP(epsilon=1)


@pytest.fixture(scope="module")
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


@pytest.mark.parametrize(
    ("select", "names"),
    [
        ("QUANTILE(age, [0.25, 0.5, 0.75]) AS q", ["q_0.25", "q_0.5", "q_0.75"]),
        ("quantile_cont(age, [.5, 0.1])", ["quantile_0.5", "quantile_0.1"]),
        (
            "PERCENTILE_CONT([0.1, 0.9]) WITHIN GROUP (ORDER BY age) AS p",
            ["p_0.1", "p_0.9"],
        ),
        (
            "PERCENTILE_DISC(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY age DESC) AS p",
            ["p_0.1", "p_0.9"],
        ),
        ("APPROX_QUANTILES(age, 2) AS b", ["b_0", "b_0.5", "b_1"]),
        ("APPROX_QUANTILES(age, 4)[OFFSET(1)] AS b", ["b"]),
        ("QUANTILES(age, 4)[ORDINAL(4)] / 2 AS b", ["b"]),
        ("QUANTILE(age, [0.5, 0.9]) FILTER (WHERE cost > 3) AS q", ["q_0.5", "q_0.9"]),
        (
            "APPROX_QUANTILES(age, 4, contribution_bounds_per_row => (0, 50))[OFFSET(2)] AS b",
            ["b"],
        ),
    ],
)
def test_a_list_becomes_columns(select: str, names: list[str], hospital: dp.Curator) -> None:
    rows = hospital.preview(f"SELECT {select} FROM visits", spend=SPEND)
    assert [column.name for column in rows.columns] == names


def test_a_list_is_the_levels_one_by_one(hospital: dp.Curator) -> None:
    listed = "SELECT ward, QUANTILE(age, [0.25, 0.75]) AS q FROM visits GROUP BY ward"
    single = (
        'SELECT ward, QUANTILE(age, 0.25) AS "q_0.25", QUANTILE(age, 0.75) AS "q_0.75" '
        "FROM visits GROUP BY ward"
    )
    assert hospital.context.query(listed) == hospital.context.query(single)


def test_levels_of_one_column_are_chosen_together(hospital: dp.Curator) -> None:
    text = "SELECT QUANTILE(age, [0.25, 0.5, 0.75]) AS q FROM visits"
    plan = hospital.explain(text)
    assert [measure.measure for measure in plan.measures] == ["rank"]
    assert len(plan.sql) == 1


def test_a_place_is_one_of_the_levels(hospital: dp.Curator) -> None:
    text = "SELECT APPROX_QUANTILES(age, 4)[OFFSET(1)] AS q FROM visits"
    assert hospital.context.query(text) == hospital.context.query(
        "SELECT QUANTILE(age, 0.25) AS q FROM visits"
    )


@pytest.mark.parametrize(
    ("select", "code"),
    [
        ("QUANTILE(age, [0.5, age]) AS q", "unsupported_sql"),
        ("QUANTILE(age, []) AS q", "unsupported_sql"),
        ("QUANTILE(age, [0.5, 1.5]) AS q", "quantile_level"),
        ("APPROX_QUANTILES(age, 0) AS q", "unsupported_sql"),
        ("APPROX_QUANTILES(age, 1000) AS q", "unsupported_sql"),
        ("APPROX_QUANTILES(age, 4)[OFFSET(5)] AS q", "unsupported_sql"),
        ("APPROX_QUANTILES(age, 4)[OFFSET(age)] AS q", "unsupported_sql"),
        ("QUANTILE(age, [0.5, 0.6]) + 1 AS q", "quantile_level"),
    ],
)
def test_other_lists_are_refused(select: str, code: str, hospital: dp.Curator) -> None:
    with pytest.raises(DiscreetError) as caught:
        hospital.preview(f"SELECT {select} FROM visits", spend=SPEND)
    assert caught.value.code == code, caught.value
