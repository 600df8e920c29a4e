"""Columns computed from released ones: the intervals of Python's arithmetic, and true ones."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.release import Release

SPEND = dp.PureDP(epsilon=1)
ROWS = 3000
COLUMNS: dict[str, Any] = {
    "ward": dp.Category(["a", "b", "c"]),
    "month": dp.Number(1, 12),
    "age": dp.Number(0, 110),
    "day": dp.Dates(date(2024, 1, 1), date(2024, 1, 5)),
}


def table() -> dict[str, np.ndarray]:
    number = np.arange(ROWS)
    return {
        "ward": np.array(["a", "b", "c"])[(number % 10 > 4).astype(int) + (number % 10 > 7)],
        "month": number % 12 + 1,
        "age": number * 7 % 100,
        "day": np.datetime64("2024-01-01") + number % 5,
    }


@pytest.fixture(scope="module")
def curator() -> dp.Curator:
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS)
    return dp.Curator(visits=visits, budget=dp.PureDP(epsilon=100_000), ledger=dp.ledger.Memory())


def ask(curator: dp.Curator, columns: str, more: str = "GROUP BY ward") -> Release:
    return curator.sql(f"SELECT {columns} FROM visits {more}", spend=SPEND)


BASE = "COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m, COUNT(*) FILTER (WHERE age < 50) AS y"
SAME = {
    "n - y": lambda n, s, m, y: n - y,
    "n + s": lambda n, s, m, y: n + s,
    "2 * n - 3": lambda n, s, m, y: 2 * n - 3,
    "s / n": lambda n, s, m, y: s / n,
    "y / n": lambda n, s, m, y: y / n,
    "100.0 * y / n": lambda n, s, m, y: 100.0 * y / n,
    "1 / n": lambda n, s, m, y: 1 / n,
    "m - s / n": lambda n, s, m, y: m - s / n,
    "m + y": lambda n, s, m, y: m + y,
    "(m - 50) / 2": lambda n, s, m, y: (m - 50) / 2,
    "1 - y / n": lambda n, s, m, y: 1 - y / n,
}


@pytest.mark.parametrize("formula", SAME)
def test_a_formula_in_sql_says_what_the_same_arithmetic_says_in_python(
    curator: dp.Curator, formula: str
) -> None:
    base = ask(curator, f"ward, {BASE}")
    inner = f"SELECT ward, {BASE} FROM visits GROUP BY ward"
    around = f"SELECT ward, n, s, m, y, {formula} AS x FROM ({inner})"
    made = curator.sql(around, spend=SPEND)
    assert made.id == base.id
    for row, ward in enumerate(made.keys["ward"]):
        cells = [base.cell(name, ward=ward) for name in ("n", "s", "m", "y")]
        expected = SAME[formula](*cells)
        low, high = expected.interval()
        column = made["x"]
        assert column.lower is not None
        assert column.upper is not None
        assert column.values[row] == pytest.approx(expected.value)
        close = 5e-3 * (high - low)  # of many rows at once, Fieller's sets are interpolated
        assert column.lower[row] == pytest.approx(low, abs=close)
        assert column.upper[row] == pytest.approx(high, abs=close)


def test_the_value_of_a_key_is_an_exact_constant(curator: dp.Curator) -> None:
    made = ask(curator, "month, COUNT(*) AS n, COUNT(*) / month AS each", "GROUP BY month")
    column, n = made["each"], made["n"]
    assert column.lower is not None
    assert n.lower is not None
    for row, month in enumerate(made.keys["month"]):
        assert isinstance(month, int)
        assert column.values[row] == pytest.approx(n.values[row] / month)  # type: ignore[operator]
        assert column.lower[row] == pytest.approx(n.lower[row] / month)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("upper(ward)", ["A", "B", "C"]),
        ("ward || '!'", ["a!", "b!", "c!"]),
        ("CASE WHEN ward = 'a' THEN 'first' ELSE 'other' END", ["first", "other", "other"]),
        ("DATE '2024-02-29'", [date(2024, 2, 29)] * 3),
        ("'text'", ["text"] * 3),
    ],
)
def test_text_and_dates_of_keys_are_labels(
    curator: dp.Curator, text: str, labels: list[object]
) -> None:
    made = ask(curator, f"ward, {text} AS label, COUNT(*) AS n")
    assert list(made.keys["label"]) == labels
    assert made.cell("n", ward="a").value == made["n"].values[0]


def test_days_are_moved_as_public_dates(curator: dp.Curator) -> None:
    text = "CAST(day AS DATE) AS d, CAST(day AS DATE) + INTERVAL 1 DAY AS next, COUNT(*) AS n"
    made = ask(curator, text, "GROUP BY CAST(day AS DATE)")
    assert made.keys["next"][0] == date(2024, 1, 2)


def test_a_date_beside_a_total_and_a_row_that_is_filtered_away(curator: dp.Curator) -> None:
    assert ask(curator, "DATE '2024-01-01' AS d, COUNT(*) AS n", "").keys["d"] == (
        date(2024, 1, 1),
    )
    gone = ask(curator, "COUNT(*) AS n", "HAVING COUNT(*) > 1000000")
    assert len(gone) == 0
    assert Release.from_json(gone.to_json()).to_json() == gone.to_json()


@pytest.mark.parametrize("having", ["COUNT(*)", "ward", "AVG(age)", "'yes'"])
def test_having_on_what_is_no_condition_is_refused_for_free(
    curator: dp.Curator, having: str
) -> None:
    before = curator.spent
    with pytest.raises(InvalidParameter, match="type_clash"):
        ask(curator, "ward, COUNT(*) AS n", f"GROUP BY ward HAVING {having}")
    assert curator.spent == before


def test_a_function_of_one_number_has_the_image_of_its_interval(curator: dp.Curator) -> None:
    made = ask(curator, "ward, COUNT(*) AS n, SQRT(COUNT(*)) AS r, ROUND(COUNT(*) / 7) AS k")
    n, r, k = made["n"], made["r"], made["k"]
    for row in range(3):
        assert n.lower is not None
        assert r.lower is not None
        assert k.lower is not None
        assert r.lower[row] == pytest.approx(np.sqrt(n.lower[row]))
        assert k.lower[row] == round(n.lower[row] / 7)


def test_a_choice_that_depends_on_noise_may_be_any_branch(curator: dp.Curator) -> None:
    made = ask(curator, "ward, CASE WHEN COUNT(*) > 1500 THEN COUNT(*) ELSE 0 END AS x")
    assert made["x"].lower is not None
    assert made["x"].lower[0] == 0  # 1500 rows of ward a: noise decides


@pytest.mark.parametrize(
    "condition",
    ["n > 1000", "NOT n <= 1000", "n > 1000 AND n < 9000", "n = 1499 OR n > 900", "n >= 0"],
)
def test_a_choice_beyond_doubt_has_the_interval_of_its_branch(
    curator: dp.Curator, condition: str
) -> None:
    test = condition.replace("n ", "COUNT(*) ")
    made = ask(curator, f"ward, COUNT(*) AS n, CASE WHEN {test} THEN COUNT(*) ELSE 0 END AS x")
    assert made["x"].lower is not None
    assert made["n"].lower is not None
    assert made["x"].lower[0] == made["n"].lower[0]


# Coverage over fresh noise -----------------------------------------------------------------------

CONTRASTS = {
    "difference of means": (
        "AVG(age) FILTER (WHERE month < 7) - AVG(age) FILTER (WHERE month > 6)"
    ),
    "share": "COUNT(*) FILTER (WHERE age < 50) / COUNT(*)",
    "product": "COUNT(*) * AVG(age)",
    "ratio of ratios": ("(COUNT(*) FILTER (WHERE age < 50) / COUNT(*)) / AVG(age)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", CONTRASTS)
def test_intervals_hold_as_often_as_they_say_and_errors_are_as_large(form: str) -> None:
    """400 fresh runs: intervals of 95 % hold, and the realised error is about the stated one.

    False alarms: the coverage of a correct 95 % interval leaves 91.5-98.5 % with probability
    below .002; the 95 % quantile of 400 errors is within 20 % of the half width likewise.
    """
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS)
    curator = dp.Curator(
        visits=visits, budget=dp.PureDP(epsilon=100_000), ledger=dp.ledger.Memory()
    )
    text = f"SELECT {CONTRASTS[form]} AS x FROM visits WHERE ward = 'a'"
    sure = curator.sql(text, spend=dp.PureDP(epsilon=50_000))
    truth, held, errors, widths = float(sure), [], [], []
    for number in range(400):
        made = curator.sql(text, spend=SPEND, analyst=f"analyst {number}")["x"]
        assert made.lower is not None
        assert made.upper is not None
        value = made.values[0]
        assert value is not None
        held.append(made.lower[0] <= truth <= made.upper[0])
        errors.append(value - truth)
        widths.append((made.upper[0] - made.lower[0]) / 2)
    assert 0.915 <= np.mean(held) <= 0.985
    realised = np.quantile(np.abs(errors), 0.95)
    assert realised == pytest.approx(np.mean(widths), rel=0.2)
