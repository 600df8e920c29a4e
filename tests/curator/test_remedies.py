"""Following a remedy leads to the question that was meant; nothing is paid for on the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import InvalidParameter

ROWS = 12
SPEND = dp.PureDP(epsilon=1)


@pytest.fixture(scope="module")
def hospital() -> dp.Curator:
    frame = pl.DataFrame(
        {
            "patient": [row % 4 for row in range(ROWS)],
            "ward": ["A", "B", "A"] * 4,
            "sex": ["F", "M"] * 6,
            "age": [30 + row for row in range(ROWS)],
            "cost": [10.0 * row for row in range(ROWS)],
            "admitted": [date(2024, 1, 1 + row) for row in range(ROWS)],
        }
    )
    columns: dict[str, Any] = {
        "ward": dp.Category(["A", "B"]),
        "sex": dp.Category(["F", "M"]),
        "age": dp.Number(0, 110),
        "cost": dp.Number(0, 1000),
        "admitted": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
    }
    table = dp.table(frame, unit=dp.Person("patient", max_rows=3), columns=columns, snapshot="one")
    return dp.Curator(visits=table, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory())


def refused(source: dp.Curator, call: Callable[[], object], code: str) -> InvalidParameter:
    before = source.spent
    with pytest.raises(InvalidParameter) as refusal:
        call()
    assert refusal.value.code == code
    assert source.spent == before
    return refusal.value


def unread(source: dp.Curator, sql: str, code: str) -> InvalidParameter:
    return refused(source, lambda: source.sql(sql, spend=SPEND), code)


@pytest.mark.parametrize(
    ("inside", "outer"),
    [
        ("SELECT 1 FROM visits v2 WHERE v1.patient=v2.patient AND v2.admitted>v1.admitted", "admi"),
        ("SELECT 1 FROM visits v2 WHERE v1.patient=v2.patient AND v1.ward=v2.ward", "ward"),
        ("SELECT 1 FROM visits v2 WHERE v1.patient=v2.patient AND abs(v1.cost) > v2.cost", "cost"),
    ],
)
def test_a_subquery_compares_nothing_but_identifiers_with_the_row_outside(
    hospital: dp.Curator, inside: str, outer: str
) -> None:
    error = unread(
        hospital,
        f"SELECT COUNT(*) AS n FROM visits v1 WHERE EXISTS ({inside})",
        "unsupported_sql",
    )
    assert f"v1.{outer}" in str(error.received)
    assert "only the identifiers with the outer row" in error.remedy
    assert "Did you mean" not in error.remedy


def test_the_self_join_that_is_suggested_is_answered(hospital: dp.Curator) -> None:
    joined = (
        "SELECT COUNT(*) AS n FROM visits v1 JOIN visits v2 ON v1.patient = v2.patient "
        "WHERE v2.admitted > v1.admitted"
    )
    assert hospital.preview(joined, spend=SPEND)["n"].half_width


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("v2.cost", "No table here is called v2; there are: v1."),
        ("v1.cst", "Did you mean v1.cost?"),
        ("cst", "Did you mean cost?"),
    ],
)
def test_a_name_with_its_table_is_never_told_to_do_without(
    hospital: dp.Curator, name: str, remedy: str
) -> None:
    sql = f"SELECT COUNT(*) AS n FROM visits v1 WHERE {name} > 3"
    assert unread(hospital, sql, "unknown_column").remedy == remedy


def test_text_stands_in_single_quotes(hospital: dp.Curator) -> None:
    error = unread(hospital, 'SELECT COUNT(*) FROM visits WHERE sex = "F"', "unknown_column")
    assert "single quotes, 'F'" in error.remedy


@pytest.mark.parametrize(
    ("function", "word"), [("AVG", "mean"), ("MAX", "maximum"), ("STDDEV", "number")]
)
def test_a_number_about_everybody_is_asked_for_first(
    hospital: dp.Curator, function: str, word: str
) -> None:
    sql = f"SELECT COUNT(*) FROM visits WHERE cost > (SELECT {function}(cost) FROM visits)"
    remedy = unread(hospital, sql, "unsupported_sql").remedy
    assert remedy.startswith(f"A {word} of all rows")
    assert "ask for it first and write its number" in remedy


@pytest.mark.parametrize("grouped", ["", " GROUP BY ward", " GROUP BY sex", " GROUP BY ward, sex"])
def test_a_value_that_is_not_listed_is_told_under_any_grouping(
    hospital: dp.Curator, grouped: str
) -> None:
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE ward = 'Surgery'{grouped}"
    assert "'A', 'B'" in unread(hospital, sql, "value_not_listed").remedy


def test_listed_values_that_exclude_each_other_leave_no_keys(hospital: dp.Curator) -> None:
    sql = "SELECT ward, COUNT(*) FROM visits WHERE ward = 'A' AND ward = 'B' GROUP BY ward"
    unread(hospital, sql, "no_keys")


@pytest.mark.parametrize(("written", "meant"), [("MEDAIN", "median"), ("COUTN", "count")])
def test_misspelt_aggregates_get_a_suggestion(
    hospital: dp.Curator, written: str, meant: str
) -> None:
    error = unread(hospital, f"SELECT {written}(age) FROM visits", "unsupported_sql")
    assert error.remedy == f"Did you mean {meant}?"


@pytest.mark.parametrize(
    ("rest", "code"), [("vists", "unknown_table"), ("visits WHERE ward = 'Z'", "value_not_listed")]
)
def test_a_refusal_in_a_batch_names_the_question(
    hospital: dp.Curator, rest: str, code: str
) -> None:
    fine = "SELECT COUNT(*) AS n FROM "
    questions = {"fine": f"{fine} visits", "x": fine + rest}
    error = refused(hospital, lambda: hospital.batch(questions, spend=SPEND), code)
    assert 'in the question "x"' in error.expectation


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("SELECT ward, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM visits", "ward"),
        ("SELECT COUNT(*) * 2 / SUM(COUNT(*)) OVER () AS s, ward AS w FROM visits", "w"),
        ("SELECT 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM visits", "key_1"),
        ("SELECT ward, COUNT(*) AS n FROM visits", "ward"),
    ],
)
def test_a_report_names_its_keys_as_the_answer_does(
    hospital: dp.Curator, sql: str, key: str
) -> None:
    wish = dp.LeftOut(share=0.5)
    shown = hospital.simulate(f"{sql} GROUP BY ward", spend=SPEND, left_out=wish).left_out
    assert shown is not None
    assert shown.keys == {key: ("A", "B")}


@pytest.mark.parametrize("way", ["dp.Integer", "FLOOR(cost)", "CAST(cost AS INTEGER)"])
def test_real_keys_are_made_whole(hospital: dp.Curator, way: str) -> None:
    sql = "SELECT {0}, COUNT(*) AS n FROM visits GROUP BY {0}"
    error = unread(hospital, sql.format("cost"), "keys_not_finite")
    assert way in error.remedy
    if "cost" in way:
        assert hospital.preview(sql.format(way), spend=SPEND).cells == 1001


def test_an_accuracy_is_paid_only_from_what_remains(hospital: dp.Curator) -> None:
    sql, tiny = "SELECT COUNT(*) AS n FROM visits", {"n": dp.Within(0.01)}
    error = refused(hospital, lambda: hospital.sql(sql, accuracy=tiny), "accuracy_too_expensive")
    assert "if so much remains" in error.remedy


def test_a_share_is_no_confidence() -> None:
    with pytest.raises(InvalidParameter, match="0 < share < 1") as refusal:
        dp.LeftOut(share=2)
    assert "confidence" not in refusal.value.remedy
