"""The curator: what is asked, what it costs, what comes back."""

from __future__ import annotations

import logging
import math
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.measurement import Measurement
from discreet.curator.budget import as_written
from discreet.errors import (
    DiscreetError,
    EngineFailed,
    Exhausted,
    InvalidParameter,
    Mismatch,
    NotPrivate,
)
from discreet.mechanisms import AboveThreshold, DiscreteLaplace
from discreet.noise import Noiseless
from discreet.release.promise import promised
from tests.curator.tables import COLUMNS, by_person, by_row, private, visits

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
HALF = dp.PureDP(epsilon=0.5)


def test_an_answer_has_every_declared_key_even_without_rows() -> None:
    frame = visits().filter(pl.col("ward") != "C")
    answer = by_row(frame).sql(COUNT, spend=HALF)
    assert answer.keys["ward"] == ("A", "B", "C")
    assert answer["n"].values[2] == 0


def test_keys_that_were_not_declared_do_not_appear() -> None:
    frame = visits().with_columns(
        ward=pl.when(pl.col("age") < 30).then(pl.lit("secret")).otherwise("ward")
    )
    answer = by_row(frame).sql(COUNT, spend=HALF)
    assert answer.keys["ward"] == ("A", "B", "C")
    assert sum(answer["n"].values) == (frame["ward"] != "secret").sum()  # type: ignore[arg-type]


def test_null_is_a_key_only_where_it_was_declared() -> None:
    frame = visits().with_columns(ward=pl.when(pl.col("age") < 30).then(None).otherwise("ward"))
    table = dp.table(frame, unit=dp.Row(), columns={"ward": dp.Category(["A", "B", "C", None])})
    curator = dp.Curator(
        visits=table,
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    answer = curator.sql(COUNT, spend=HALF)
    assert answer.keys["ward"] == ("A", "B", "C", None)
    assert answer["n"].values[3] == frame["ward"].null_count()


def test_without_noise_answers_are_those_of_plain_arithmetic() -> None:
    frame = visits()
    answer = by_row(frame).sql(
        "SELECT COUNT(*) AS n, SUM(age) AS s, AVG(cost) AS c, STDDEV(age) AS d, "
        "VAR_POP(age) AS v, CORR(age, cost) AS r, COVAR_SAMP(age, cost) AS k FROM visits",
        spend=HALF,
    )
    row = next(iter(answer))
    ages, costs = frame["age"].to_numpy(), frame["cost"].to_numpy()
    assert row["n"] == len(frame)
    assert row["s"] == ages.sum()
    assert row["c"] == pytest.approx(costs.mean(), abs=1e-9)
    assert row["d"] == pytest.approx(ages.std(ddof=1))
    assert row["v"] == pytest.approx(ages.var())
    assert row["r"] == pytest.approx(np.corrcoef(ages, costs)[0, 1])
    assert row["k"] == pytest.approx(np.cov(ages, costs)[0, 1])


def test_having_order_and_limit_act_on_released_values() -> None:
    answer = by_row().sql(
        "SELECT age, COUNT(*) AS n FROM visits WHERE ward <> 'C' GROUP BY age "
        "HAVING COUNT(*) > 1 ORDER BY n DESC, age LIMIT 4",
        spend=HALF,
    )
    assert len(answer) == 4
    assert list(answer["n"].values) == sorted(answer["n"].values, reverse=True)  # type: ignore[type-var]


def test_the_same_question_again_costs_nothing_and_is_the_same_byte_for_byte() -> None:
    curator = private()
    first = curator.sql(COUNT, spend=HALF)
    spent = curator.spent
    again = curator.sql("select  ward, count(*) as n\nfrom VISITS as v group by 1", spend=HALF)
    assert again.to_json() == first.to_json()
    assert curator.spent == spent


def test_another_asker_pays_and_gets_noise_of_its_own() -> None:
    curator = private()
    curator.sql(COUNT, spend=HALF, analyst="ann")
    curator.sql(COUNT, spend=HALF, analyst="bob")
    assert curator.spent == dp.ApproxDP(epsilon=1, delta=0, unit=dp.Row())


def test_a_larger_spend_draws_afresh() -> None:
    curator = private()
    first = curator.sql(COUNT, spend=HALF)
    second = curator.sql(COUNT, spend=dp.PureDP(epsilon=1))
    assert first.id != second.id
    assert curator.spent == dp.ApproxDP(epsilon=1.5, delta=0, unit=dp.Row())


def test_a_stored_answer_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with private(ledger=path) as curator:
        first = curator.sql(COUNT, spend=HALF)
    with private(ledger=path) as curator:
        again = curator.sql(COUNT, spend=HALF)
        assert curator.spent == dp.ApproxDP(epsilon=0.5, delta=0, unit=dp.Row())
    assert again.to_json() == first.to_json()


def test_an_exhausted_budget_refuses_and_writes_nothing() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    curator.sql(COUNT, spend=dp.PureDP(epsilon=0.9))
    entries = len(list(curator.ledger.entries()))
    with pytest.raises(Exhausted, match="budget_exhausted"):
        curator.sql(COUNT, spend=HALF)
    assert len(list(curator.ledger.entries())) == entries


@pytest.mark.parametrize(
    ("budget", "spend"),
    [
        (dp.PureDP(epsilon=2), dp.PureDP(epsilon=0.5)),
        (dp.ApproxDP(epsilon=2, delta=1e-6), dp.PureDP(epsilon=0.5)),
        (dp.ApproxDP(epsilon=2, delta=1e-6), dp.ApproxDP(epsilon=0.5, delta=1e-7)),
        (dp.ApproxDP(epsilon=2, delta=1e-6, by=dp.ZCDP), dp.ZCDP(rho=0.01)),
        (dp.ApproxDP(epsilon=2, delta=1e-6, by=dp.ZCDP), dp.ApproxDP(epsilon=0.2, delta=1e-7)),
        (dp.ZCDP(rho=1), dp.ZCDP(rho=0.1)),
        (dp.ZCDP(rho=1), dp.PureDP(epsilon=0.5)),
        (dp.RenyiDP(alpha=8, epsilon=4), dp.RenyiDP(alpha=8, epsilon=0.5)),
    ],
)
def test_every_notion_of_budget_pays_no_more_than_the_spend(budget: Any, spend: Any) -> None:
    curator = private(budget=budget, unit=dp.Person("patient_id", max_rows=3, max_groups=2))
    answer = curator.sql(
        "SELECT ward, COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m FROM visits GROUP BY ward",
        spend=spend,
    )
    stated = promised(as_written(spend).per(curator.unit), answer.event)
    assert answer.guarantee == stated
    left = curator.spent
    if type(left) is type(spend):
        assert left.implies(stated)


@pytest.mark.parametrize(
    ("budget", "spend"),
    [
        (dp.PureDP(epsilon=2), dp.ApproxDP(epsilon=1, delta=1e-6)),
        (dp.PureDP(epsilon=2), dp.ZCDP(rho=0.1)),
        (dp.ApproxDP(epsilon=2, delta=1e-6), dp.ZCDP(rho=0.1)),
        (dp.ZCDP(rho=1), dp.GaussianDP(mu=1)),
    ],
)
def test_a_spend_without_a_price_in_the_budget_is_refused(budget: Any, spend: Any) -> None:
    with pytest.raises(Mismatch, match="spend_notion"):
        private(budget=budget).sql(COUNT, spend=spend)


def test_gaussian_noise_is_chosen_where_it_is_smaller() -> None:
    wide = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"
    person = dp.Person("patient_id", max_rows=60, max_groups=60, max_rows_per_group=1)
    curator = private(unit=person, budget=dp.ApproxDP(epsilon=5, delta=1e-4))
    many = curator.sql(wide, spend=dp.ApproxDP(epsilon=1, delta=1e-5))
    few = private().sql(COUNT, spend=dp.ApproxDP(epsilon=1, delta=1e-5))
    assert "Gaussian" in many["n"].note
    assert "Laplace" in few["n"].note


def test_accuracy_buys_the_wanted_error_as_cheaply_as_it_can() -> None:
    curator = private()
    answer = curator.sql(COUNT, accuracy={"n": dp.Within(5, confidence=0.95)})
    upper, values = answer["n"].upper, answer["n"].values
    assert upper is not None
    assert upper[0] - values[0] <= 5  # type: ignore[operator]
    cheaper = DiscreteLaplace(epsilon=float(curator.spent.epsilon) * 0.98, sensitivity=1)  # type: ignore[attr-defined]
    assert cheaper.error(confidence=0.95) > 5


def test_accuracy_of_several_columns_is_split_by_what_each_needs() -> None:
    curator = private()
    text = "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits"
    accuracy = {"n": dp.Within(3), "s": dp.Within(5000)}
    expected = curator.preview(text, accuracy=accuracy)
    assert expected["n"].half_width is not None
    assert expected["n"].half_width <= 3
    assert expected["s"].half_width is not None
    assert 4000 < expected["s"].half_width <= 5000


def test_accuracy_of_a_mean_needs_a_public_number_of_rows() -> None:
    curator = private()
    text = "SELECT AVG(age) AS a FROM visits"
    with pytest.raises(InvalidParameter, match="accuracy_depends_on_data"):
        curator.sql(text, accuracy={"a": dp.Within(2)})
    curator.sql(text, accuracy={"a": dp.Within(2)}, rows_at_least=150)


def test_preview_and_explain_cost_nothing_and_open_no_data(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    curator = dp.Curator(
        visits=dp.table(path, unit=dp.Row(), columns=COLUMNS),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    path.unlink()
    shown = str(curator.preview("SELECT COUNT(*) AS n, AVG(age) AS a FROM visits", spend=HALF))
    assert "at 1,000 values" in shown
    plan = curator.explain(COUNT, spend=HALF)
    assert plan.steps[0].stability == 1
    assert plan.measures[0].l1 == 1
    assert curator.spent == dp.PureDP(epsilon=0, unit=dp.Row())


def test_explain_states_the_sensitivity_of_bounded_people() -> None:
    person = dp.Person("patient_id", max_rows=20, max_groups=5, max_rows_per_group=4)
    plan = by_person(unit=person).explain(
        "SELECT age, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY age"
    )
    counts, sums = plan.measures
    assert (counts.l1, counts.linf) == (20, 4)
    assert counts.l2 == pytest.approx(math.sqrt(5 * 16))
    assert (sums.l1, sums.linf) == (20 * 200, 4 * 200)


def test_a_person_counts_with_at_most_the_declared_rows_and_groups() -> None:
    frame = visits(people=40, each=12)
    person = dp.Person("patient_id", max_rows=4, max_groups=2)
    answer = by_person(frame, person).sql(COUNT, spend=HALF)
    assert all(abs(n - 160 / 3) <= 0.5 for n in answer["n"].values)  # type: ignore[operator]
    people = by_person(frame, person).sql(
        "SELECT ward, COUNT(DISTINCT patient_id) AS p FROM visits GROUP BY ward", spend=HALF
    )
    assert all(abs(p - 80 / 3) <= 0.5 for p in people["p"].values)  # type: ignore[operator]


def test_refusals_before_data_is_opened_are_free() -> None:
    curator = private()
    for text in ("SELECT nothing FROM visits", "SELECT * FROM visits", "DROP TABLE visits"):
        with pytest.raises(InvalidParameter):
            curator.sql(text, spend=HALF)
    assert curator.spent == dp.ApproxDP(epsilon=0, delta=0, unit=dp.Row())


def test_a_failure_after_data_was_opened_says_one_thing_and_stays_spent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    curator = dp.Curator(
        visits=dp.table(path, unit=dp.Row(), columns=COLUMNS),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )

    def broken(_: object) -> int:
        message = "the secret is 4711"
        raise ValueError(message)

    owner = logging.getLogger("discreet.owner")
    owner.addHandler(caplog.handler)
    try:
        event = DiscreteLaplace(epsilon=0.5, sensitivity=1).event
        measurement = Measurement(curator.space, broken, lambda _: event)
        with pytest.raises(EngineFailed, match="engine_failed") as failure:
            curator.release(measurement, spend=HALF)
    finally:
        owner.removeHandler(caplog.handler)
    assert "4711" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert "4711" in caplog.text
    assert curator.spent == dp.PureDP(epsilon=0.5, unit=dp.Row())
    assert curator.history()[0].ended == "failed"


def test_a_changed_file_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    curator = dp.Curator(
        visits=dp.table(path, unit=dp.Row(), columns=COLUMNS),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    visits(people=61).write_parquet(path)
    with pytest.raises(InvalidParameter, match="data_changed"):
        curator.sql(COUNT, spend=HALF)
    assert curator.spent == dp.PureDP(epsilon=0, unit=dp.Row())


def test_test_mode_enters_no_durable_ledger(tmp_path: Path) -> None:
    with pytest.raises(NotPrivate, match="test_mode_in_ledger"):
        by_row(ledger=tmp_path / "visits.ledger")


def test_a_measurement_of_ones_own_is_paid_for_by_its_event() -> None:
    curator = private()
    mechanism = DiscreteLaplace(epsilon=0.25, sensitivity=1)

    def rows(database: Any) -> int:
        (found,) = database.engine.numbers(
            f"SELECT COUNT(*) FROM {database.engine.place('visits')}"
        )
        return int(mechanism.release(int(found[0])))

    measurement = Measurement(curator.space, rows, lambda _: mechanism.event)
    value = curator.release(measurement, spend=HALF)
    assert abs(value - 180) < 200
    assert curator.spent == dp.ApproxDP(epsilon=0.25, delta=0, unit=dp.Row())
    with pytest.raises(InvalidParameter, match="spend_too_small"):
        curator.release(measurement, spend=dp.PureDP(epsilon=0.1))


def test_a_conversation_is_paid_for_once_and_every_answer_is_in_the_ledger() -> None:
    curator = private()
    watch = curator.open(
        AboveThreshold(epsilon=1, threshold=100, sensitivity=1), spend=dp.PureDP(epsilon=1)
    )
    assert not watch.ask("SELECT COUNT(*) AS n FROM visits WHERE age > 200")
    assert watch.ask("SELECT COUNT(*) AS n FROM visits")
    kinds = [entry.kind.name for entry in curator.ledger.entries()]
    assert kinds.count("ANSWERED") == 2
    with pytest.raises(InvalidParameter, match="sensitivity_too_small"):
        watch.ask("SELECT SUM(age) AS s FROM visits")


def test_a_small_table_is_warned_of_from_noisy_counts() -> None:
    answer = by_row(visits(people=10)).sql("SELECT COUNT(*) AS n FROM visits", spend=HALF)
    assert any("few hundred" in warning for warning in answer.warnings)


def test_a_large_epsilon_is_warned_of() -> None:
    answer = by_row().sql(COUNT, spend=dp.PureDP(epsilon=20))
    assert any("large" in warning for warning in answer.warnings)


def test_ratios_and_differences_of_aggregates_have_intervals() -> None:
    answer = private().sql(
        "SELECT COUNT(*) FILTER (WHERE age > 50) AS old, COUNT(*) AS n, "
        "COUNT(*) FILTER (WHERE age > 50) / COUNT(*) AS share, 2 * COUNT(*) - 5 AS twice, "
        "SQRT(COUNT(*)) AS root FROM visits",
        spend=dp.PureDP(epsilon=5),
    )
    row = next(iter(answer))
    assert row["share"] == pytest.approx(row["old"] / row["n"])  # type: ignore[operator]
    assert row["share_lower"] < row["share"] < row["share_upper"]  # type: ignore[operator]
    assert row["twice"] == 2 * row["n"] - 5  # type: ignore[operator]
    assert row["root_lower"] < row["root"] < row["root_upper"]  # type: ignore[operator]


def test_the_history_lists_questions_with_price_and_end() -> None:
    curator = private()
    curator.sql(COUNT, spend=HALF, analyst="ann")
    (asked,) = curator.history()
    assert (asked.analyst, asked.ended, asked.query) == ("ann", "released", COUNT)
    assert re.search(r"epsilon 0\.5", str(curator.history()))


def test_a_ledger_of_another_unit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    private(ledger=path).close()
    with pytest.raises(Exception, match="ledger_terms"):
        private(ledger=path, unit=dp.Person("patient_id", max_rows=3))


def test_spend_or_accuracy_must_be_given() -> None:
    with pytest.raises(InvalidParameter, match="spend_or_accuracy"):
        private().sql(COUNT)


def test_ten_questions_at_a_tenth_fit_into_one() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    for number in range(10):
        curator.sql(COUNT, spend=dp.PureDP(epsilon=0.1), analyst=f"a{number}")
    assert curator.remaining == dp.PureDP(epsilon=0, unit=dp.Row())


def test_another_confidence_shows_the_same_numbers_for_nothing() -> None:
    curator = private()
    text = "SELECT ward, COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m FROM visits GROUP BY ward"
    first = curator.sql(text, spend=HALF)
    wider = curator.sql(text, spend=HALF, confidence=0.99)
    assert curator.spent == dp.ApproxDP(epsilon=0.5, delta=0, unit=dp.Row())
    assert [answer.values for answer in wider.answers] == [a.values for a in first.answers]
    assert wider["n"].upper is not None
    assert first["n"].upper is not None
    assert wider["n"].upper[0] > first["n"].upper[0]


def test_a_public_table_beside_it_does_not_make_a_question_new(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with private(ledger=path) as curator:
        curator.sql(COUNT, spend=HALF)
    with private(ledger=path, names=dp.public({"ward": ["A"], "floor": [1]})) as curator:
        curator.sql(COUNT, spend=HALF)
        assert curator.spent == dp.ApproxDP(epsilon=0.5, delta=0, unit=dp.Row())


def test_a_finished_conversation_says_so_and_is_no_failure() -> None:
    curator = private()
    watch = curator.open(
        AboveThreshold(epsilon=1, threshold=-1000, sensitivity=1), spend=dp.PureDP(epsilon=1)
    )
    assert watch.ask("SELECT COUNT(*) AS n FROM visits")
    with pytest.raises(Exhausted):
        watch.ask("SELECT COUNT(*) AS n FROM visits")
    watch.close()
    assert curator.history()[0].ended == "released"


def test_an_amendment_enlarges_the_budget_and_is_on_record(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with private(ledger=path, budget=dp.PureDP(epsilon=1)) as curator:
        curator.sql(COUNT, spend=dp.PureDP(epsilon=1))
        curator.amend(budget=dp.PureDP(epsilon=2), reason="the board agreed")
        assert curator.remaining == dp.PureDP(epsilon=1, unit=dp.Row())
        with pytest.raises(Mismatch, match="notion_mismatch"):
            curator.amend(budget=dp.ZCDP(rho=1), reason="no")
    with private(ledger=path, budget=dp.PureDP(epsilon=2)) as curator:
        assert curator.remaining == dp.PureDP(epsilon=1, unit=dp.Row())


def test_preview_works_in_test_mode_too() -> None:
    assert by_row().preview(COUNT, spend=HALF)["n"].half_width == 6


def test_two_answers_to_one_question_combine_into_a_better_one() -> None:
    curator = private()
    older = curator.sql(COUNT, spend=HALF)
    newer = curator.sql(COUNT, spend=dp.PureDP(epsilon=1))
    both = newer.combine(older)
    assert both.guarantee == dp.PureDP(epsilon=Fraction(3, 2), unit=dp.Row())
    cell, single = both.cell("n", ward="A"), newer.cell("n", ward="A")
    assert cell.std < single.std  # type: ignore[union-attr]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_curator_refuses_before_it_charges(tmp_path: Path) -> None:
    curator = private(ledger=tmp_path / "visits.ledger")
    child = os.fork()
    if child == 0:
        try:
            curator.sql(COUNT, spend=HALF)
        except DiscreetError as refusal:
            os._exit(7 if refusal.code in ("curator_forked", "ledger_not_copied") else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert curator.spent == dp.ApproxDP(epsilon=0, delta=0, unit=dp.Row())
