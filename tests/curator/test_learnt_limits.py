"""Limits on rows per key are learnt, paid for, and used in later questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.curator.learnt_limits import LearntLimits
from discreet.errors import DiscreetError, InvalidParameter
from discreet.mechanisms import DiscreteLaplace
from discreet.noise import Noiseless

SPEND = dp.PureDP(epsilon=1)
CITY = dp.RowsPer("visits", "city")
COUNT = "SELECT COUNT(*) AS n FROM visits v JOIN clinics c ON v.city = c.city"
PERSON = dp.Person("patient", max_rows=2)


def frames() -> dict[str, pl.DataFrame]:
    """Forty cities: the first has fifty visits, the others two each; a clinic in each city."""
    city = [0] * 50 + [1 + row % 39 for row in range(78)]
    return {
        "visits": pl.DataFrame({"patient": range(128), "city": city, "ward": ["A", "B"] * 64}),
        "clinics": pl.DataFrame({"patient": range(40), "city": range(40)}),
    }


def curator(unit: Any = PERSON, ledger: Any = None, **more: Any) -> dp.Curator:
    made: dict[str, Any] = {
        "visits": dp.table(
            frames()["visits"],
            unit=unit,
            columns={"ward": dp.Category(["A", "B"])},
            snapshot="one",
        ),
        "clinics": dp.table(
            frames()["clinics"], unit=unit, columns={}, snapshot="one", max_rows_per={"city": 1}
        ),
    }
    budget = more.pop("budget", dp.PureDP(epsilon=100))
    return dp.Curator(**made, budget=budget, ledger=ledger or dp.ledger.Memory(), **more)


def refusal(attempt: Callable[[], object]) -> DiscreetError:
    with pytest.raises(DiscreetError) as caught:
        attempt()
    return caught.value


# What is learnt ----------------------------------------------------------------------------------


def test_without_noise_the_rows_beyond_each_limit_are_those_it_leaves_out() -> None:
    found = curator(randomness=Noiseless()).learn_limits(CITY, spend=SPEND)
    assert found.total == 128
    assert found.beyond[:7] == (88, 48, 46, 42, 34, 18, 0)
    exactly = replace(found, half_widths=(0.0,) * 12)
    assert exactly.limit(keeping=0.6) == 2
    assert exactly.limit(keeping=0.64) == 4
    assert exactly.limit(keeping=0.99) == 64


def test_people_are_counted_by_their_rows() -> None:
    found = curator(randomness=Noiseless()).learn_limits(dp.RowsPer("visits"), spend=SPEND)
    assert (found.total, found.beyond[0]) == (128, 0)
    assert found.limit(keeping=0.9) == 1


def test_the_noise_is_that_of_one_count_of_a_persons_rows_and_is_stated() -> None:
    """Of 20 intervals of .95 fewer than 11 hold once in 90 million times; there are 11 limits."""
    exact = curator(randomness=Noiseless()).learn_limits(CITY, spend=SPEND).beyond
    source, hits = curator(), np.zeros(len(exact))
    for number in range(20):
        found = source.learn_limits(CITY, spend=SPEND, analyst=f"a{number}")
        hits += np.abs(np.subtract(found.beyond, exact)) <= found.half_widths[:-1]
    assert hits.min() >= 11
    two_rows = DiscreteLaplace(epsilon=1, sensitivity=2)
    assert found.half_widths[-2] == two_rows.error(confidence=0.95)
    shown = source.preview(CITY, spend=SPEND)
    assert shown["rows"].half_width == found.half_widths[-2]
    assert shown.price == dp.PureDP(epsilon=1, unit=PERSON)
    assert found.guarantee == SPEND.per(source.unit)


def test_what_is_read_off_is_free_and_refused_where_no_limit_keeps_enough() -> None:
    found = LearntLimits(
        dp.RowsPer("visits", "city", (1, 2)), (69.0, 27.0), 100.0, (9.0, 7.0, 11.0), SPEND
    )
    assert [found.limit(keeping=share) for share in (0.4, 0.41, 0.8)] == [1, 2, 2]
    assert refusal(lambda: found.limit(keeping=0.81)).code == "no_limit_found"
    nobody = LearntLimits(found.asked, (-3.0, -5.0), -1.0, found.half_widths, SPEND)
    assert refusal(lambda: nobody.limit(keeping=0.5)).code == "no_limit_found"
    assert "beyond 2: 27 ± 7 (27.0%)" in repr(found)
    assert "%" not in repr(nobody)


def test_it_is_paid_for_once_and_known_after_a_restart(tmp_path: Path) -> None:
    ledger = tmp_path / "visits.ledger"
    with curator(ledger=ledger) as source:
        first = source.learn_limits(CITY, spend=SPEND)
        assert source.spent == SPEND.per(source.unit)
    with curator(ledger=ledger) as again:
        assert again.learn_limits(CITY, spend=SPEND) == first
        assert again.spent == SPEND.per(again.unit)
        assert "rows of visits per city" in str(again.history())


# How a limit is used ------------------------------------------------------------------------------


def test_a_join_without_a_bound_names_what_can_be_bought() -> None:
    told = refusal(lambda: curator().preview(COUNT, spend=SPEND))
    assert told.code == "private_join"
    assert "learn_limits(dp.RowsPer('visits', 'city')" in str(told)


@pytest.mark.parametrize("most", [1, 2, 64])
def test_the_limit_holds_in_later_questions_as_if_it_were_declared(most: int) -> None:
    source = curator(randomness=Noiseless())
    session = source.with_max_rows_per(visits={"city": most})
    assert session.explain(COUNT).measures[0].l1 == 2 * (2 * 1 + 2 * most)
    kept = {1: 40, 2: 80, 64: 128}[most]
    assert session.sql(COUNT, spend=SPEND)["n"].values == (kept,)
    assert refusal(lambda: source.sql(COUNT, spend=SPEND)).code == "private_join"


def test_it_pays_from_the_same_budget_and_is_identical_to_a_declared_one() -> None:
    ledger = dp.ledger.Memory()
    source = curator(ledger=ledger)
    session = source.with_max_rows_per(visits={"city": 2})
    first = session.sql(COUNT, spend=SPEND)
    assert source.spent == session.spent == SPEND.per(source.unit)
    declared = dp.table(
        frames()["visits"],
        unit=PERSON,
        columns={"ward": dp.Category(["A", "B"])},
        snapshot="one",
        max_rows_per={"city": 2},
    )
    clinics = source.context.database.tables["clinics"]
    other = dp.Curator(
        visits=declared, clinics=clinics, budget=dp.PureDP(epsilon=100), ledger=ledger
    )
    assert other.sql(COUNT, spend=SPEND).to_json() == first.to_json()
    assert other.spent == source.spent
    another = source.with_max_rows_per(visits={"city": 3}).sql(COUNT, spend=SPEND)
    assert another.id != first.id


def test_limits_of_a_session_add_up_and_hold_below_it() -> None:
    source = curator(randomness=Noiseless()).with_max_rows_per(visits={"city": 2})
    twice = source.with_max_rows_per(clinics={"city": 3})
    assert twice.explain(COUNT).measures[0].l1 == 2 * (2 * 3 + 2 * 2)
    child = twice.child("team", budget=dp.PureDP(epsilon=5))
    assert child.explain(COUNT).measures[0].l1 == 20
    assert "at most 2 rows" in str(child.explain(COUNT))
    assert twice.simulate(COUNT, spend=SPEND, rows=20).statement["invented"]
    assert len(twice.batch({"a": COUNT}, spend=SPEND)["a"]) == 1


def test_within_a_part_only_its_rows_are_counted() -> None:
    source = curator(dp.Row(), randomness=Noiseless())
    parts = source.partition("visits", by="ward", budget=dp.PureDP(epsilon=5))
    found = parts["A"].learn_limits(CITY, spend=SPEND)
    assert found.total == 64
    other = dp.RowsPer("clinics", "city")
    assert refusal(lambda: parts["A"].learn_limits(other, spend=SPEND)).code == "outside_the_part"


# Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (lambda: dp.RowsPer("visits", 3), "not_a_key"),  # type: ignore[arg-type]
        (lambda: dp.RowsPer("visits", ()), "not_a_key"),
        (lambda: dp.RowsPer("visits", "city", ()), "ladder_misread"),
        (lambda: dp.RowsPer("visits", "city", (2, 1)), "ladder_misread"),
        (lambda: dp.RowsPer("visits", "city", (1, 1)), "ladder_misread"),
        (lambda: dp.RowsPer("visits", "city", (0, 1)), "not_a_count"),
        (lambda: dp.RowsPer("visits", "city", (1 << 21,)), "ladder_misread"),
        (lambda: dp.RowsPer("visits", "city", tuple(range(1, 102))), "ladder_misread"),
    ],
)
def test_questions_that_are_none(asked: Callable[[], object], code: str) -> None:
    assert refusal(asked).code == code


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (dp.RowsPer("nowhere", "city"), "unknown_table"),
        (dp.RowsPer("visits", "CITY"), "unknown_column"),
        ("visits", "not_rows_per"),
    ],
)
def test_what_is_not_there_is_refused_for_nothing(asked: Any, code: str) -> None:
    source = curator()
    assert refusal(lambda: source.learn_limits(asked, spend=SPEND)).code == code
    assert len(source.history()) == 0


def test_rows_have_no_people_and_a_preview_needs_a_price() -> None:
    rows = curator(dp.Row())
    asked = dp.RowsPer("visits")
    assert refusal(lambda: rows.learn_limits(asked, spend=SPEND)).code == "rows_without_person"
    for given in ({}, {"accuracy": dp.Within(5)}):
        told = refusal(lambda given=given: rows.preview(CITY, **given))  # type: ignore[misc]
        assert told.code == "spend_or_accuracy"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"nowhere": {"city": 2}}, "unknown_table"),
        ({"visits": {"town": 2}}, "unknown_column"),
        ({"visits": {3: 2}}, "not_a_key"),
        ({"visits": {"city": 0}}, "not_a_count"),
        ({"visits": 2}, "not_a_limit"),
    ],
)
def test_limits_that_are_none(limits: Any, code: str) -> None:
    assert refusal(lambda: curator().with_max_rows_per(**limits)).code == code


def test_the_policy_holds_for_keys_and_for_joins() -> None:
    """Learning a limit of a key is a use of the key, and a chosen limit opens no join."""
    open_to = {"filter": ["city"], "group": ["city"], "aggregate": ["city"]}
    closed = {"filter": ["ward"], "group": ["ward"], "aggregate": ["ward"]}

    def under(visits: Any) -> dp.Curator:
        given = {"max_spend": {"epsilon": 5}, "tables": {"visits": visits, "clinics": open_to}}
        return curator(policy=dp.Policy.of(given))

    assert isinstance(under(open_to).learn_limits(CITY, spend=SPEND), LearntLimits)
    for use in ("group", "aggregate"):
        told = refusal(
            lambda use=use: under({**open_to, use: []}).learn_limits(CITY, spend=SPEND)  # type: ignore[misc]
        )
        assert told.code == "policy_column"
    assert refusal(lambda: under(closed).preview(CITY, spend=SPEND)).code == "policy_column"
    large = dp.PureDP(epsilon=6)
    assert refusal(lambda: under(open_to).learn_limits(CITY, spend=large)).code == "policy_spend"
    joined = under(open_to).with_max_rows_per(visits={"city": 2})
    assert refusal(lambda: joined.sql(COUNT, spend=SPEND)).code == "policy_join"


def test_a_public_table_has_no_limits_to_learn_or_choose() -> None:
    visits = curator().context.database.tables["visits"]
    places = dp.public(pl.DataFrame({"city": range(40)}))
    source = dp.Curator(
        visits=visits, places=places, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory()
    )
    asked = dp.RowsPer("places", "city")
    assert refusal(lambda: source.learn_limits(asked, spend=SPEND)).code == "public_question"
    with pytest.raises(InvalidParameter, match="not_a_limit"):
        source.with_max_rows_per(places={"city": 1})
