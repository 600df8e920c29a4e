"""``left_out=``: what the limits left out, bought beside an answer, paid once and kept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.errors import DiscreetError

ROWS = [(who, "ABC"[(who + place) % 3], place) for who in range(300) for place in range(who % 9)]
VISITS = pl.DataFrame(ROWS, schema=["patient", "ward", "cost"], orient="row")
FIVE = dp.Person("patient", max_rows=5)
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
REPORT = dp.LeftOut(share=0.25, rows_at_most=4)
ONE = dp.PureDP(epsilon=1)
HUNDRED = dp.PureDP(epsilon=100)
PER_PERSON = "SELECT patient, SUM(cost) AS s FROM visits GROUP BY patient"


def curator(
    unit: Any = FIVE,
    budget: Guarantee = HUNDRED,
    ledger: Any = None,
    **more: Any,
) -> dp.Curator:
    columns: dict[str, Any] = {"ward": dp.Category(["A", "B", "C"]), "cost": dp.Number(0, 9)}
    return dp.Curator(
        visits=dp.table(VISITS, unit=unit, columns=columns, snapshot="1"),
        budget=budget,
        ledger=dp.ledger.Memory() if ledger is None else ledger,
        **more,
    )


def report_of(release: dp.Release) -> dp.Release:
    assert release.left_out is not None
    return release.left_out


@pytest.mark.parametrize(
    ("budget", "spend", "share"),
    [
        (dp.PureDP(epsilon=9), ONE, dp.PureDP(epsilon=Fraction(1, 4))),
        (
            dp.ApproxDP(epsilon=9, delta=1e-3),
            dp.ApproxDP(epsilon=1, delta=1e-6),
            dp.PureDP(epsilon=Fraction(1, 4)),
        ),
        (dp.ZCDP(rho=9), dp.ZCDP(rho=1), dp.ZCDP(rho=Fraction(1, 4))),
        (
            dp.RenyiDP(alpha=4, epsilon=9),
            dp.RenyiDP(alpha=4, epsilon=1),
            dp.RenyiDP(alpha=4, epsilon=Fraction(1, 4)),
        ),
    ],
)
def test_a_share_of_the_spend_pays_for_it_and_no_more(
    budget: Guarantee, spend: Guarantee, share: Guarantee
) -> None:
    source = curator(budget=budget)
    answer = source.sql(BY_WARD, spend=spend, left_out=REPORT)
    report = report_of(answer)
    assert replace(report.guarantee, unit=None) == share
    assert answer.guarantee.unit == FIVE
    name = "rho" if isinstance(spend, dp.ZCDP) else "epsilon"
    assert exact(getattr(answer.guarantee, name)) == 1
    assert 0 < float(getattr(source.spent, name)) <= 1
    alone = curator(budget=budget).sql(BY_WARD, spend=spend)
    assert answer["n"].interval != alone["n"].interval  # the answer has the rest


def test_it_has_the_numbers_by_group_with_intervals_of_their_own() -> None:
    answer = curator(budget=dp.PureDP(epsilon=1e6)).sql(
        BY_WARD, spend=dp.PureDP(epsilon=1e5), left_out=REPORT
    )
    report = report_of(answer)
    rows = VISITS.with_columns(n=pl.len().over("patient")).filter(pl.col("n") > 5)
    truth = rows.group_by("ward").agg(
        people=pl.col("patient").n_unique(), left=(1 - 5 / pl.col("n")).sum()
    )
    truth = truth.sort("ward")
    assert report.keys == {"ward": ("A", "B", "C")}
    assert report["people"].values == tuple(truth["people"])
    assert report["rows_at_least"].values == tuple(round(x) for x in truth["left"])
    told = sum(answer["n"].formula.values) + sum(report["rows_at_least"].formula.values)  # type: ignore[arg-type]
    assert told == pytest.approx(VISITS.height, abs=0.01)
    assert (report.cell("people", ward="A") + report.cell("people", ward="B")).value > 0
    assert report.columns[0] == "ward"
    assert "people" not in answer


def test_of_rows_beyond_the_cap_it_says_at_least() -> None:
    few = dp.LeftOut(share=0.25, rows_at_most=1)
    answer = curator(dp.Person("patient", max_rows=1), dp.PureDP(epsilon=1e6)).sql(
        COUNT, spend=dp.PureDP(epsilon=1e5), left_out=few
    )
    cut = VISITS.group_by("patient").len().filter(pl.col("len") > 1).height
    assert report_of(answer)["rows_at_least"].values == (cut,)
    assert report_of(answer)["people"].values == (cut,)


def test_people_in_more_groups_than_are_counted_make_it_at_least() -> None:
    source = curator(budget=dp.PureDP(epsilon=1e6))
    once = dp.LeftOut(share=0.5, groups_at_most=1)
    answer = source.sql(BY_WARD, spend=dp.PureDP(epsilon=1e5), left_out=once)
    cut = VISITS.group_by("patient").len().filter(pl.col("len") > 5).height
    (column,) = report_of(answer).answers
    assert column.name == "people_at_least"
    assert sum(column.formula.values) == pytest.approx(cut, abs=0.01)  # type: ignore[arg-type]


def test_the_same_question_is_free_and_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = curator(ledger=tmp_path / "one.ledger")
    first = source.sql(BY_WARD, spend=ONE, left_out=REPORT)
    spent = source.spent
    again = source.sql(BY_WARD, spend=ONE, left_out=dp.LeftOut(share=0.25, rows_at_most=4))
    assert again.to_json() == first.to_json() == dp.Release.from_json(first.to_json()).to_json()
    assert source.spent == spent
    source.close()
    opened = curator(ledger=tmp_path / "one.ledger")
    assert opened.sql(BY_WARD, spend=ONE, left_out=REPORT).to_json() == first.to_json()
    wide = opened.sql(BY_WARD, spend=ONE, left_out=REPORT, confidence=0.99)
    assert opened.spent == spent
    assert report_of(wide)["people"].values == report_of(first)["people"].values
    assert report_of(wide)["people"].interval != report_of(first)["people"].interval
    ordered = opened.sql(f"{BY_WARD} ORDER BY n DESC LIMIT 1", spend=ONE, left_out=REPORT)
    assert opened.spent == spent  # what is done with released numbers is free
    assert report_of(ordered).to_dict() == report_of(first).to_dict()
    assert len(ordered) == 1
    opened.close()


def test_with_and_without_a_report_are_different_questions() -> None:
    source = curator()
    plain = source.sql(BY_WARD, spend=ONE)
    assert plain.left_out is None
    assert "left_out" not in plain.to_json()
    spent = [source.spent.epsilon]  # type: ignore[attr-defined]
    for wish in (
        REPORT,
        dp.LeftOut(share=0.25, rows_at_most=5),
        dp.LeftOut(share=0.2, rows_at_most=4),
        dp.LeftOut(share=0.25),
        dp.LeftOut(share=0.25, rows_at_most=4, groups_at_most=2),
    ):
        source.sql(BY_WARD, spend=ONE, left_out=wish)
        spent.append(source.spent.epsilon)  # type: ignore[attr-defined]
    assert spent == [1, 2, 3, 4, 5, 6]
    assert source.sql(BY_WARD, spend=ONE).to_json() == plain.to_json()
    assert source.spent.epsilon == 6  # type: ignore[attr-defined]


def test_a_preview_states_its_errors_and_the_whole_price() -> None:
    source = curator()
    expected = source.preview(BY_WARD, spend=ONE, left_out=REPORT)
    answer = source.sql(BY_WARD, spend=ONE, left_out=REPORT)
    assert expected.price.epsilon == 1  # type: ignore[attr-defined]
    for column in expected.left_out:
        interval = report_of(answer)[column.name].interval
        assert column.half_width == interval.half_width  # type: ignore[union-attr]
    assert "left out, people: ±" in str(expected)
    assert expected["n"].half_width == answer["n"].interval.half_width  # type: ignore[union-attr]


def test_an_accuracy_is_kept_and_the_report_comes_on_top() -> None:
    source = curator()
    answer = source.sql(BY_WARD, accuracy={"n": dp.Within(20)}, left_out=REPORT)
    assert answer["n"].interval.half_width <= 20  # type: ignore[union-attr]
    alone = curator().sql(BY_WARD, accuracy={"n": dp.Within(20)})
    ratio = float(answer.guarantee.epsilon) / float(alone.guarantee.epsilon)  # type: ignore[attr-defined]
    assert ratio == pytest.approx(4 / 3, rel=1e-3)
    with pytest.raises(DiscreetError) as caught:
        curator().sql(
            BY_WARD,
            accuracy={"n": dp.Within(20)},
            at_most=alone.guarantee,
            left_out=REPORT,
        )
    assert caught.value.code == "accuracy_too_expensive"


def test_a_batch_reports_on_every_query_that_limits_can_act_on() -> None:
    source = curator()
    people = "SELECT COUNT(DISTINCT patient) AS n FROM visits"
    asked = {"all": COUNT, "wards": BY_WARD, "people": people}
    batch = source.batch(asked, spend=ONE, left_out=REPORT)
    assert source.spent.epsilon == 1  # type: ignore[attr-defined]
    assert batch["people"].left_out is None
    assert float(report_of(batch["all"]).guarantee.epsilon) == 0.125  # type: ignore[attr-defined]
    again = source.batch(asked, spend=ONE, left_out=REPORT)
    assert {n: r.to_json() for n, r in again.items()} == {n: r.to_json() for n, r in batch.items()}
    assert source.spent.epsilon == 1  # type: ignore[attr-defined]
    draws = {m.name for name in ("all", "wards") for m in report_of(batch[name]).measures()}
    assert len(draws) == 4  # none of them is shared
    with pytest.raises(DiscreetError) as caught:
        source.batch({"people": people}, spend=ONE, left_out=REPORT)
    assert caught.value.code == "nothing_left_out"


@pytest.mark.parametrize(
    ("sql", "unit", "wish", "code"),
    [
        (COUNT, dp.Row(), REPORT, "nothing_left_out"),
        ("SELECT COUNT(DISTINCT patient) AS n FROM visits", FIVE, REPORT, "nothing_left_out"),
        (COUNT, FIVE, 0.1, "left_out_misread"),
        (COUNT, FIVE, True, "left_out_misread"),
        (
            "SELECT (SELECT COUNT(*) FROM visits) / (SELECT SUM(cost) FROM visits) AS r",
            FIVE,
            REPORT,
            "left_out_of_several",
        ),
    ],
)
def test_what_cannot_be_reported_is_refused_free(sql: str, unit: Any, wish: Any, code: str) -> None:
    source = curator(unit)
    for ask in (source.sql, source.preview, source.simulate):
        with pytest.raises(DiscreetError) as caught:
            ask(sql, spend=ONE, left_out=wish)
        assert caught.value.code == code
        assert caught.value.remedy
    assert source.spent.epsilon == 0  # type: ignore[attr-defined]
    assert len(source.history()) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 0},
        {"share": 1},
        {"share": -0.1},
        {"share": float("nan")},
        {"share": "a"},
        {"share": 0.1, "rows_at_most": 0},
        {"share": 0.1, "rows_at_most": 1.5},
        {"share": 0.1, "rows_at_most": 10**6},
        {"share": 0.1, "groups_at_most": 0},
    ],
    ids=str,
)
def test_wishes_without_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DiscreetError):
        dp.LeftOut(**wrong)


def test_a_policy_limits_what_both_cost_together() -> None:
    policy = dp.Policy(
        max_spend={"epsilon": 0.9},
        tables={"visits": {"filter": [], "group": ["ward"], "aggregate": []}},
    )
    source = curator(policy=policy)
    with pytest.raises(DiscreetError) as caught:
        source.sql(BY_WARD, spend=ONE, left_out=REPORT)  # the answer alone would be .75
    assert caught.value.code == "policy_spend"
    source.sql(BY_WARD, spend=dp.PureDP(epsilon=0.9), left_out=REPORT)


def test_the_answer_prints_it_and_the_statement_uses_it() -> None:
    seeded = curator(randomness=dp.noise.Seeded(1))  # one value in fifty is printed otherwise
    answer = seeded.sql(COUNT, spend=ONE, left_out=REPORT)
    lines = str(answer).splitlines()
    at = lines.index("left out by limits, for epsilon 0.25 of it:")
    assert lines[at + 1].split() == ["people", "rows_at_least"]
    assert "rows that do not count, 4 of one person at most" in str(answer)
    assert "rows_at_least" in answer._repr_html_()
    text = " ".join(str(answer.statement).split())
    (people,), (rows,) = (report_of(answer)[n].values for n in ("people", "rows_at_least"))
    assert f"Bounding: {people:,} ± " in text
    assert f"people are cut and at least {rows:,} ± " in text
    assert "Of that, epsilon 0.25 say what the limits left out." in text
    assert "number of people left out (people): DiscreteLaplace" in str(report_of(answer).statement)


def test_exports_and_rows_taken_keep_it(tmp_path: Path) -> None:
    answer = curator().sql(BY_WARD, spend=ONE, left_out=REPORT)
    answer.to_csv(tmp_path / "answer.csv")
    assert (tmp_path / "answer.csv").read_text().startswith("ward,n,n_lower,n_upper\n")
    report_of(answer).to_csv(tmp_path / "left_out.csv")
    assert (tmp_path / "left_out.csv").read_text().startswith("ward,people,people_lower,")
    assert report_of(answer.take([1])).to_json() == report_of(answer).to_json()
    assert answer.to_polars().columns == list(answer.columns)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT AVG(s) AS m FROM ({PER_PERSON}) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, cost FROM visits) AS q",
    ],
)
def test_a_step_that_limits_rows_is_reported_in_all(sql: str) -> None:
    source = curator(budget=dp.PureDP(epsilon=1e6))
    report = report_of(source.sql(sql, spend=dp.PureDP(epsilon=1e5), left_out=REPORT))
    sizes = VISITS.group_by("patient").len()["len"]
    assert report["people"].values == (sum(n > 5 for n in sizes),)
    assert report["rows_at_least"].values == (sum(min(max(n - 5, 0), 4) for n in sizes),)


def test_discovered_keys_are_reported_on_as_far_as_they_are_named() -> None:
    source = dp.Curator(
        visits=dp.table(
            VISITS,
            unit=dp.Person("patient", max_rows=5, max_groups=3),
            columns={"ward": dp.Discovered()},
            snapshot="1",
        ),
        budget=dp.ApproxDP(epsilon=100, delta=0.1),
        ledger=dp.ledger.Memory(),
    )
    spend = dp.ApproxDP(epsilon=20, delta=1e-3)
    answer = source.sql(BY_WARD, spend=spend, left_out=REPORT)
    assert report_of(answer).keys == answer.keys
    assert [column.name for column in report_of(answer).answers] == [
        "people_at_least",
        "rows_at_least",
    ]
    assert source.sql(BY_WARD, spend=spend, left_out=REPORT).to_json() == answer.to_json()
