"""Spending done elsewhere is charged to the same budget, in the words of whoever did it."""

import math
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

import discreet as dp
from discreet import events
from discreet.errors import DiscreetError
from tests.curator.tables import private

SQL = "SELECT COUNT(*) AS n FROM visits"


def curator(budget: Any) -> dp.Curator:
    return private(budget=budget, ledger=dp.ledger.Memory())


def code_of(made: dp.Curator, what: Any, **more: Any) -> str:
    before = made.spent
    with pytest.raises(DiscreetError) as refusal:
        made.record(what, **{"reason": "a report", **more})
    assert made.spent == before
    return refusal.value.code


PAIR = dp.ApproxDP(epsilon=2, delta=1e-6)
CONCENTRATED = dp.ZCDP(rho=1)


@pytest.mark.parametrize(
    ("budget", "what", "spent"),
    [
        (dp.PureDP(epsilon=2), dp.PureDP(epsilon=0.1), {"epsilon": 0.1}),
        (dp.PureDP(epsilon=2), events.Laplace(epsilon=0.1) * 10, {"epsilon": 1}),
        (PAIR, dp.PureDP(epsilon=0.1), {"epsilon": 0.1, "delta": 0}),
        (PAIR, dp.ApproxDP(epsilon=0.5, delta=1e-7), {"epsilon": 0.5, "delta": 1e-7}),
        (CONCENTRATED, dp.PureDP(epsilon=1), {"rho": math.tanh(0.5)}),
        (CONCENTRATED, dp.ZCDP(rho=0.25), {"rho": 0.25}),
        (CONCENTRATED, dp.GaussianDP(mu=1), {"rho": 0.5}),
        (CONCENTRATED, events.Gaussian(noise_multiplier=2), {"rho": 0.125}),
        (dp.RenyiDP(alpha=8, epsilon=4), dp.RenyiDP(alpha=8, epsilon=1), {"epsilon": 1}),
        (dp.RenyiDP(alpha=8, epsilon=4), dp.ZCDP(rho=0.125), {"epsilon": 1}),
    ],
)
def test_it_costs_what_it_promised(budget: Any, what: Any, spent: dict[str, float]) -> None:
    made = curator(budget)
    made.record(what, reason="the 2023 report")
    for name, value in spent.items():
        assert float(getattr(made.spent, name)) == pytest.approx(value, rel=1e-11)


def test_tenths_add_up_as_they_were_written() -> None:
    made = curator(dp.PureDP(epsilon=1))
    for _ in range(10):
        made.record(dp.PureDP(epsilon=0.1), reason="a tenth")
    assert made.remaining == dp.PureDP(epsilon=0, unit=made.unit)
    assert code_of(made, dp.PureDP(epsilon=Fraction(1, 10**6))) == "budget_exhausted"


def test_noise_without_a_delta_of_its_own_names_one() -> None:
    made = curator(PAIR)
    assert code_of(made, events.Gaussian(noise_multiplier=5)) == "delta_needed"
    made.record(events.Gaussian(noise_multiplier=5), reason="a histogram", delta=1e-7)
    assert made.spent.delta == pytest.approx(1e-7)  # type: ignore[attr-defined]


def test_it_stands_in_the_history_and_leaves_less_for_questions() -> None:
    made = curator(dp.PureDP(epsilon=1))
    made.record(dp.PureDP(epsilon=0.75), reason="the 2023 report", spent_on=date(2023, 5, 31))
    (line,) = made.history()
    assert (line.analyst, line.ended, line.price) == ("elsewhere", "recorded", "epsilon 0.75")
    assert line.query == "the 2023 report (2023-05-31)"
    with pytest.raises(DiscreetError) as refusal:
        made.sql(SQL, spend=dp.PureDP(epsilon=0.5))
    assert refusal.value.code == "budget_exhausted"
    made.ledger.verify()


def test_what_no_longer_fits_needs_an_amendment_first() -> None:
    made = curator(dp.PureDP(epsilon=1))
    with pytest.raises(DiscreetError, match="amend the budget, then record it"):
        made.record(dp.PureDP(epsilon=2), reason="an accident")
    made.amend(budget=dp.PureDP(epsilon=3), reason="an accident")
    made.record(dp.PureDP(epsilon=2), reason="an accident")
    assert made.remaining == dp.PureDP(epsilon=1, unit=made.unit)


@pytest.mark.parametrize(
    ("budget", "what", "more", "code"),
    [
        (PAIR, dp.ZCDP(rho=0.1), {}, "spend_notion"),
        (dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=0.1, delta=1e-9), {}, "spend_notion"),
        (CONCENTRATED, dp.ApproxDP(epsilon=0.1, delta=1e-9), {}, "spend_notion"),
        (PAIR, dp.PureDP(epsilon=0.1, unit=dp.Person("id", max_rows=3)), {}, "unit_mismatch"),
        (PAIR, 0.1, {}, "not_an_event"),
        (PAIR, dp.PureDP(epsilon=0.1), {"reason": " "}, "reason_needed"),
        (PAIR, dp.PureDP(epsilon=0.1), {"reason": None}, "reason_needed"),
        (PAIR, dp.PureDP(epsilon=0.1), {"spent_on": "May"}, "not_a_date"),
        (CONCENTRATED, events.Gaussian(noise_multiplier=2), {"delta": 1e-6}, "delta_not_spent"),
    ],
)
def test_what_has_no_price_here_is_refused_in_words(
    budget: Any, what: Any, more: dict[str, Any], code: str
) -> None:
    assert code_of(curator(budget), what, **more) == code
