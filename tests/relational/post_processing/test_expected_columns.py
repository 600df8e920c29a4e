"""Previews of ratios, contrasts, deviations and correlations: errors before anything is spent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp

SPEND = dp.PureDP(epsilon=1)
ROWS = 1000
COLUMNS: dict[str, Any] = {"age": dp.Number(0, 99), "month": dp.Number(1, 12)}
FORMS = {
    "share": "COUNT(*) FILTER (WHERE age < 50) / COUNT(*)",
    "contrast": "AVG(age) - AVG(month)",
    "difference": "COUNT(*) - COUNT(*) FILTER (WHERE age < 50)",
    "mean": "AVG(age)",
    "deviation": "STDDEV_POP(age)",
    "correlation": "CORR(age, month)",
    "covariance": "COVAR_POP(age, month)",
}


@pytest.fixture(scope="module")
def curator() -> dp.Curator:
    number = np.arange(ROWS)
    rows = {"age": number % 100, "month": number * 7 % 12 + 1}
    return dp.Curator(
        people=dp.table(rows, unit=dp.Row(), columns=COLUMNS),
        budget=dp.PureDP(epsilon=1_000_000),
        ledger=dp.ledger.Memory(),
    )


def predicted(curator: dp.Curator, form: str) -> float:
    text = f"SELECT {FORMS[form]} AS x FROM people"
    column = curator.preview(text, spend=SPEND)["x"]
    if column.half_width is not None:
        return column.half_width
    return dict(column.typical or column.by_size)[ROWS]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_a_prediction_and_larger_groups_a_smaller_one(
    curator: dp.Curator, form: str
) -> None:
    column = curator.preview(f"SELECT {FORMS[form]} AS x FROM people", spend=SPEND)["x"]
    widths = [width for _, width in column.typical or column.by_size]
    assert widths == sorted(widths, reverse=True)
    assert predicted(curator, form) > 0


def test_a_typical_mean_is_less_wrong_than_the_worst(curator: dp.Curator) -> None:
    column = curator.preview("SELECT AVG(age) AS x FROM people", spend=SPEND)["x"]
    worst = dict(column.by_size)
    assert all(width < worst[size] for size, width in column.typical)
    assert "typically" in str(curator.preview("SELECT AVG(age) AS x FROM people", spend=SPEND))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["share", "contrast", "difference", "mean"])
def test_realised_errors_are_as_predicted(curator: dp.Curator, form: str) -> None:
    """400 runs: the 95 % quantile of errors within 15 % of the half-width that was predicted.

    That quantile of 400 draws has a relative standard deviation of at most .06 for Laplace noise:
    false alarms below .02.
    """
    text = f"SELECT {FORMS[form]} AS x FROM people"
    truth = float(curator.sql(text, spend=dp.PureDP(epsilon=100_000)))
    errors = [
        abs(float(curator.sql(text, spend=SPEND, analyst=f"{form} {number}")) - truth)
        for number in range(400)
    ]
    assert np.quantile(errors, 0.95) == pytest.approx(predicted(curator, form), rel=0.15)
