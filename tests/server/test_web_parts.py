"""Parts of pages by themselves: charts, what epsilon means, conditions, marks under words."""

import itertools
import math
import re
from datetime import date, timedelta
from fractions import Fraction

import pytest

from discreet import events
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.core.unit import Row
from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
from discreet.release import NoisyMeasure, Release, ReleasedColumn
from discreet.server.web.charts.burn_down import BudgetChange, burn_down
from discreet.server.web.charts.interval_chart import MOST_BARS, charts_of
from discreet.server.web.charts.scale import scale_of
from discreet.server.web.conditions import conditions_from
from discreet.server.web.meaning import PRIORS, meanings
from discreet.server.web.pages.ledger import about
from discreet.server.web.pages.questions import split_line_at_error
from discreet.server.web.preview_view import shown_preview
from discreet.server.web.release_table import MOST_ROWS, shown_table
from discreet.server.web.rendering import price, rendered, time_of


def made(keys: dict[str, list[object]], steps: list[int]) -> Release:
    measure = NoisyMeasure("r1", "n", DiscreteLaplaceDistribution(scale=2, step=1), tuple(steps))
    column = ReleasedColumn.linear("n", [(1, measure)], within=(0, math.inf), confidence=0.95)
    return Release(
        id="r1",
        query="SELECT 1",
        keys=keys,  # type: ignore[arg-type]
        answers=(column,),
        confidence=0.95,
        guarantee=PureDP(epsilon=0.5, unit=Row()),
        event=events.DiscreteLaplace(epsilon=Fraction(1, 2), steps=1),
        statement={},
    )


# Charts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 12686), (-3, 7), (0.2, 0.2013), (44.5, 67.5), (0, 3e9)]
)
def test_a_scale_has_a_few_round_marks_and_keeps_order(low: float, high: float) -> None:
    scale = scale_of([low, high], 0, 100, zero=False)
    places = [place for place, _ in scale.marks()]
    numbers = [float(text.replace(",", "")) for _, text in scale.marks()]
    assert 2 <= len(places) <= 6
    assert places == sorted(places)
    assert len(set(numbers)) == len(numbers), "no two marks read the same"
    for place, number in zip(places, numbers, strict=True):
        assert scale(number) == pytest.approx(place, abs=0.5), "a mark stands where its number does"


def test_names_are_bars_from_zero_and_days_are_points_along_time() -> None:
    (bars,) = charts_of(made({"ward": ["a", "b"]}, [100, 50]))
    assert (bars.lines, bars.dots, len(bars.marks)) == (False, False, 2)
    first, second = bars.marks
    assert first.value is not None
    assert second.value is not None
    assert first.value - bars.origin == pytest.approx(2 * (second.value - bars.origin), abs=0.1)
    assert first.low is not None
    assert first.high is not None
    assert first.low < first.value < first.high
    days = [date(2024, 1, 1) + timedelta(days=each) for each in (0, 9, 3, 1)]
    (line,) = charts_of(made({"day": list(days)}, [5, 6, 7, 8]))
    assert line.lines
    assert [mark.label for mark in line.marks] == [str(day) for day in sorted(days)]


def test_long_releases_are_cut_and_say_so() -> None:
    many = made({"ward": [f"w{n}" for n in range(500)]}, list(range(500)))
    (chart,) = charts_of(many)
    assert (len(chart.marks), chart.hidden) == (MOST_BARS, 500 - MOST_BARS)
    table = shown_table(many)
    assert (len(table.rows), table.hidden) == (MOST_ROWS, 500 - MOST_ROWS)


def test_a_table_shows_what_the_release_says() -> None:
    table = shown_table(made({"ward": ["a", None]}, [100, 2]))
    assert [head.name for head in table.heads] == ["ward", "n", "95 % interval"]
    assert table.heads[1].beside == "± 6"
    assert [cell.text for cell in table.rows[0]] == ["a", "100", "94 to 106"]
    assert [cell.text for cell in table.rows[1]] == ["NULL", "2", "0 to 8"], "a count ends at zero"


def test_a_budget_burns_down_by_what_was_charged() -> None:
    changes = [BudgetChange(100, 1.0), BudgetChange(200, -0.25), BudgetChange(150, -0.5)]
    chart = burn_down("beds", changes, now=300)
    assert (chart.left, chart.granted) == (0.25, 1.0)
    heights = [float(each) for each in re.findall(r"V([\d.]+)", chart.steps)]
    assert heights == sorted(heights), "after the grant it only falls"
    top, *_, foot = (place for place, _ in reversed(chart.axis))
    shares = [(foot - height) / (foot - top) for height in heights]
    assert shares == pytest.approx([1.0, 0.5, 0.25], abs=0.01)
    assert burn_down("none", [], now=5).left == 0


# What epsilon means -----------------------------------------------------------------------------


def test_the_numbers_of_a_pure_guarantee_are_those_of_randomised_response() -> None:
    """The worst mechanism there is: it attains every bound that the page states, exactly."""
    epsilon = 1.0
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    (meaning,) = meanings(PureDP(epsilon=epsilon))
    for prior, belief in zip(PRIORS, meaning.beliefs, strict=True):
        posterior = prior * truth / (prior * truth + (1 - prior) * (1 - truth))
        right = sum(
            max(
                prior * (truth if said else 1 - truth), (1 - prior) * (1 - truth if said else truth)
            )
            for said in (True, False)
        )
        assert belief.posterior is not None
        assert _share(belief.posterior) == pytest.approx(posterior, abs=1e-3 + 1e-9)
        assert _share(belief.posterior) >= posterior - 1e-12, "rounded up"
        assert _share(belief.guess) == pytest.approx(right, abs=1e-3 + 1e-9)
        assert _share(belief.blind) == pytest.approx(max(prior, 1 - prior))


def test_expectations_change_by_no_more_than_the_page_says_and_some_by_as_much() -> None:
    """000a:A8 on finite mechanisms: all outputs, all prices of a grid, both directions."""
    epsilon = 0.5
    (meaning,) = meanings(PureDP(epsilon=epsilon))
    most, least = (float(text.replace(",", "")) for text in (meaning.most, meaning.least))
    factor = math.exp(epsilon)
    law = [factor / (factor + 2), 1 / (factor + 2), 1 / (factor + 2)]
    other = [law[1], law[0], law[2]]
    ratios = []
    for worth in itertools.product((0.0, 1.0, 7.0), repeat=3):
        here, there = (sum(map(float.__mul__, each, worth)) for each in (law, other))
        if there:
            ratios.append(here / there)
    assert max(ratios) * 1000 <= most
    assert min(ratios) * 1000 >= least
    assert max(ratios) == pytest.approx(factor), "attained by who gains by one answer alone"
    assert most - max(ratios) * 1000 < 1


def test_with_a_delta_nothing_is_said_that_does_not_hold() -> None:
    (meaning,) = meanings(ApproxDP(epsilon=1, delta=1e-5))
    assert [belief.posterior for belief in meaning.beliefs] == [None] * len(PRIORS)
    page = rendered_meaning(ApproxDP(epsilon=1, delta=1e-5))
    assert "In money" not in page
    assert "1e-05 on top" in page
    assert len(meanings(ZCDP(rho=0.1))) == 3
    assert "more than a billion" in {each.factor for each in meanings(PureDP(epsilon=1000))}


def rendered_meaning(guarantee: PureDP | ApproxDP) -> str:
    from discreet.server.record import ProjectRecord
    from discreet.server.rights import Action, PersonRole
    from discreet.server.state.people import Member

    person = Member(
        id="1",
        name="ann",
        role=PersonRole.ANALYST,
        email=None,
        subject=None,
        has_password=True,
        created_at=0,
        disabled_at=None,
    )
    return rendered(
        "meaning.html",
        person=person,
        csrf="x",
        may=lambda _: False,
        Action=Action,
        places=[],
        said=None,
        refusal=None,
        protects="each row",
        unit="epsilon",
        written={"epsilon": "", "delta": "", "rho": ""},
        record=ProjectRecord(),
        budgets=[],
        tried=("a price", meanings(guarantee)),
    )


def _share(text: str) -> float:
    return float(text.removesuffix(" %")) / 100


# Words -----------------------------------------------------------------------------------------


def test_conditions_are_read_a_line_at_a_time() -> None:
    lines = ["ward = surgery; old = true", "age = 30, 40", "day = 2024-01-31", 'ward = "7"']
    assert conditions_from(lines) == [
        {"ward": "surgery", "old": True},
        {"age": [30, 40]},
        {"day": "2024-01-31"},
        {"ward": "7"},
    ]
    for odd in ("ward", "= surgery", "ward ="):
        with pytest.raises(InvalidParameter, match="condition_misread"):
            conditions_from([odd])


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT x FROM t", "x"),
        ("SELECT a,\n  wrong\nFROM t", "wrong"),
        ("SELECT é, w FROM t", "w"),
    ],
)
def test_the_line_with_a_mistake_is_shown_whole(sql: str, word: str) -> None:
    start = sql.index(word)
    found = split_line_at_error(sql, {"start": start, "end": start + len(word)})
    assert found is not None
    before, middle, after, *_ = found
    assert middle == word
    assert before + middle + after in sql.splitlines()
    assert split_line_at_error(sql, {"code": "no_grant"}) is None


def test_prices_and_times_in_words() -> None:
    assert price({"epsilon": 0.30000000000000004, "delta": 1e-7}) == "ε 0.3, δ 1e-07"
    assert price(None) == "nothing"
    assert "2026-11-17 18:55 UTC" in time_of("2026-11-17T19:55:37+01:00")
    assert "1970-01-01 00:00 UTC" in time_of(0)


def test_a_preview_shows_the_worst_width_as_explain_does_and_the_typical_one_beside_it() -> None:
    mean = {
        "name": "cost",
        "half_width": None,
        "by_size": [[10, 5000.0], [100, 1690.0]],
        "typical": [[10, 2500.0], [100, 1188.0]],
        "note": "",
    }
    found = {"columns": [mean], "left_out": [], "free": False, "price": {"epsilon": 0.1}}
    found |= {"keys": "", "cells": 1, "affordable": 3, "confidence": 0.95}
    (column,) = shown_preview(found).columns
    assert column.sizes == (("10", "± 5000", "± 2500"), ("100", "± 1690", "± 1188"))


@pytest.mark.parametrize(("value", "said"), [(-1700, "0 to 6"), (40, "34 to 46")])
def test_an_interval_far_below_zero_is_not_shown_as_certain(value: int, said: str) -> None:
    table = shown_table(made({}, [value]))
    assert said in table.rows[0][-1].text


def test_an_entry_of_the_ledger_states_its_charge_as_prices_are() -> None:
    body = {"charge": ["1/10", "0"], "asker": "ann", "detail": {"sql": "SELECT  1"}}
    assert about({"body": body}, {}) == "ann; charge 0.1; SELECT 1"
    body = {"charge": ["1", "1/10000000"], "name": "c1"}
    assert about({"body": body}, {"c1": "bob, for beds"}) == "to bob, for beds; charge 1, 1e-07"
