"""Counts asked for in SQL: the same conditions as a mapping gives, or a refusal."""

from datetime import date, datetime
from typing import Any

import pytest

import discreet as dp
from discreet.synthetic.conditions import condition_weights
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.constraints import Between
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn
from discreet.synthetic.sql_condition import conditions_of

COLUMNS: dict[str, EncodedColumn] = {
    "sex": CategoryColumn(["f", "m"]),
    "ill": CategoryColumn([False, True]),
    "day": CategoryColumn([date(2024, 1, 1)]),
    "age": NumberColumn.between(0, 119, bins=4, whole=True),
    "cost": NumberColumn((0, 10, 100)),
    "came": DayColumn.between(date(2024, 1, 1), date(2024, 12, 31)),
    "left": DayColumn.between(datetime(2024, 1, 1), datetime(2024, 1, 31)),
}


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("sex = 'f'", {"sex": ["f"]}),
        ("SELECT COUNT(*) FROM visits WHERE sex = 'f'", {"sex": ["f"]}),
        ("select count(*) from visits", {}),
        ("sex IN ('f', 'm') AND ill", {"sex": ["f", "m"], "ill": [True]}),
        ("NOT ill AND sex IS NULL", {"ill": [False], "sex": [None]}),
        ("ill = TRUE AND day = DATE '2024-01-01'", {"ill": [True], "day": [date(2024, 1, 1)]}),
        ("age BETWEEN 18 AND 65", {"age": Between(18, 66)}),
        ("age >= 18 AND age < 65", {"age": Between(18, 65)}),
        ("age > 18 AND (age <= 65)", {"age": Between(19, 66)}),
        ("age > 17.5", {"age": Between(18, None)}),
        ("age = 30", {"age": Between(30, 31)}),
        ("cost BETWEEN 5 AND 7.5", {"cost": Between(5, 7.5)}),
        ("cost > -1", {"cost": Between(-1, None)}),
        ("Sex = 'f'", {"sex": ["f"]}),
        ("sex <> 'f'", {"sex": ["m"]}),
        ("sex NOT IN ('f', 'm')", {"sex": []}),
        ("NOT (sex = 'f') AND ill IS NOT NULL", {"sex": ["m"], "ill": [False, True]}),
        ("age IS NOT NULL", {"age": ["0–29", "30–59", "60–89", "90–119"]}),
        ("came >= DATE '2024-02-01'", {"came": Between(31, None)}),
        ("came BETWEEN '2024-01-02' AND '2024-01-03'", {"came": Between(1, 3)}),
        ("came = DATE '2024-01-02'", {"came": Between(1, 2)}),
        ("came IS NULL", {"came": [None]}),
        ("left < TIMESTAMP '2024-01-01 00:01:00'", {"left": Between(None, 60)}),
        ("left >= DATE '2024-01-02'", {"left": Between(86400, None)}),
    ],
)
def test_what_a_text_means(text: str, means: dict[str, Any]) -> None:
    assert conditions_of(text, COLUMNS) == means


@pytest.mark.parametrize(
    "text",
    [
        "sex = 'f' OR ill",
        "age + 1 > 3",
        "3 < age",
        "sex > 'a'",
        "cost = 7",
        "sex = 'f' AND sex = 'm'",
        "SELECT SUM(age) FROM visits",
        "SELECT COUNT(*) FROM visits GROUP BY sex",
        "SELECT COUNT(*) FROM visits JOIN others ON a = b WHERE ill",
        "SELECT COUNT(*) FROM (SELECT * FROM visits)",
        "sex IN (SELECT sex FROM visits)",
        "DELETE FROM visits",
        "(" * 3000 + "ill" + ")" * 3000,
        "ill AND " * 2000 + "ill",
        "age BETWEEN 'a' AND 'b'",
        "day = DATE '2024-13-01'",
        "came > 3",
        "NOT age > 3",
        "NOT (ill AND ill)",
        "came > 'soon'",
        "'",
    ],
    ids=lambda text: text[:40],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(dp.errors.InvalidParameter) as refused:
        conditions_of(text, COLUMNS)
    assert refused.value.code == "condition_unclear"


def test_other_columns_are_refused_by_name() -> None:
    with pytest.raises(dp.errors.InvalidParameter) as refused:
        conditions_of("coost > 3", COLUMNS)
    assert refused.value.code == "column_unknown"
    assert refused.value.remedy == "Did you mean cost?"


def test_values_that_a_column_cannot_have_are_refused_with_the_nearest() -> None:
    ward = CategoryColumn(["North", "South"])
    with pytest.raises(dp.errors.InvalidParameter) as refused:
        condition_weights("ward", ward, ["nrth"])
    assert refused.value.code == "condition_value"
    assert refused.value.remedy == "Did you mean North?"
    with pytest.raises(dp.errors.InvalidParameter, match="Ask for a range"):
        condition_weights("age", COLUMNS["age"], [7])


def test_a_range_of_days_counts_parts_of_bins() -> None:
    (found,) = conditions_of("came < '2024-01-07'", COLUMNS).values()
    weights = condition_weights("came", COLUMNS["came"], found)
    width = 366 // 32  # the first bin
    assert weights[0] == pytest.approx(6 / width)
    assert weights[1:].sum() == 0
