"""Where each person has one row, COUNT(*) of discovered keys costs no more than naming them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare

import discreet as dp
from discreet.audit import FalseAlarms
from discreet.curator.budget import as_written
from discreet.curator.sql import planned_sql
from discreet.mechanisms.key_selection import ConcentratedThreshold, GeometricThreshold
from discreet.relational.planning.discovered_keys import Discovering
from tests.curator.keys.people import SPEND, curator, still, words

ALPHA = FalseAlarms(total=1e-9, tests=1)
ONE, TWO = dp.Person("id", max_rows=1), dp.Person("id", max_rows=2)
BY_WORD = "SELECT word, COUNT(*) AS n FROM t GROUP BY word"
PEOPLE = "SELECT word, COUNT(DISTINCT id) AS n FROM t GROUP BY word"
BOTH = "SELECT word, COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM t GROUP BY word"


def planned(source: dp.Curator, text: str, spend: Any = SPEND) -> Discovering:
    found = planned_sql(source.context, text, spend)[1]
    assert isinstance(found, Discovering)
    return found


@pytest.mark.parametrize("text", [BY_WORD, BOTH])
def test_rows_are_people_and_the_whole_spend_names_and_counts_them(text: str) -> None:
    source = curator(words({"tea": 30}), ONE)
    rows, people = planned(source, text), planned(source, PEOPLE)
    assert rows.event == people.event
    assert [spend for spend, _ in rows.charges] == [as_written(SPEND)]
    assert isinstance(rows.rule, GeometricThreshold)
    assert rows.rule.groups == 1


def test_with_several_rows_of_a_person_rows_are_another_number_and_paid_for() -> None:
    source = curator(words({"tea": 30}, rows_each=2), TWO)
    assert len(planned(source, BY_WORD).charges) == 2
    assert planned(source, BY_WORD).published_measure is None
    release = still(words({"tea": 90}, rows_each=2), TWO).sql(BOTH, spend=SPEND)
    assert [answer.values[0] for answer in release.answers] == [180, 90]


def test_both_counts_are_one_number() -> None:
    release = curator(words({"tea": 60}), ONE).sql(BOTH, spend=SPEND)
    rows, people = release.answers
    assert list(rows.values) == list(people.values)


def test_other_aggregates_still_take_their_part() -> None:
    source = curator(words({"tea": 30}), ONE)
    text = "SELECT word, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY word"
    (keys, _), (rest, _) = planned(source, text).charges
    assert keys.epsilon + rest.epsilon == SPEND.epsilon  # type: ignore[attr-defined]
    assert [type(part.measure).__name__ for part in planned(source, text).parts] == ["Total"]


def test_a_concentrated_spend_pays_once_as_well() -> None:
    budget = dp.ApproxZCDP(rho=9, delta=1e-3)
    source = curator(words({"tea": 30}), ONE, budget)
    spend = dp.ApproxZCDP(rho=1, delta=1e-5)
    found = planned(source, BY_WORD, spend)
    assert isinstance(found.rule, ConcentratedThreshold)
    assert found.event == planned(source, PEOPLE, spend).event


def test_who_has_more_rows_than_declared_counts_once_in_one_key() -> None:
    rows = words({"tea": 40, "coffee": 40})
    liars = pl.concat([rows, rows.with_columns(word=pl.lit("milk"))])
    source = still(liars, ONE)
    release = source.sql(BY_WORD, spend=SPEND)
    assert sum(int(value or 0) for value in release.answers[0].values) <= 80


def test_counts_have_the_law_that_is_paid_for() -> None:
    """The law of a published count, against truncated geometric noise at the whole spend.

    600 releases, one chi-square test: a right law is refused once in 10**9.
    """
    people, runs = 16, 600
    source = curator(words({"tea": people}), ONE)
    plan = planned(source, BY_WORD)
    rule = plan.rule
    assert isinstance(rule, GeometricThreshold)
    weights = {
        people + x: math.exp(-float(SPEND.epsilon) * abs(x))
        for x in range(-rule.bound, rule.bound + 1)
    }
    total = sum(weights.values())
    law = {y: weight / total for y, weight in weights.items() if y > rule.bound}
    law[0] = 1 - sum(law.values())  # not named
    found = dict.fromkeys(law, 0)
    for _ in range(runs):
        (counts,) = plan.release(source.context.database).linear
        found[int(counts[0]) if len(counts) else 0] += 1
    often = [y for y, chance in law.items() if runs * chance >= 5]
    seen = [*(found[y] for y in often), sum(n for y, n in found.items() if y not in often)]
    due = [*(runs * law[y] for y in often), runs * sum(p for y, p in law.items() if y not in often)]
    assert chisquare(seen, np.asarray(due)).pvalue > ALPHA.alpha("the law of a count")
