"""When prices fall: charges stay, answers stay free, resumed sessions keep the noise they paid for.

The former prices are played by the quadratic ones, which every ledger before the tight ones holds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import discreet as dp
from discreet.accounting.zcdp import QUADRATIC, ZERO_CONCENTRATED, zcdp_rho
from discreet.core.guarantee import Guarantee
from discreet.queries.online.pmw import private_gap_weights
from discreet.queries.online.sharing_rule import sharing_rule
from discreet.queries.record_count import PublicCount

COUNT = "SELECT COUNT(*) AS n FROM people"
SUM = "SELECT SUM(age) AS s FROM people"
HALF = dp.PureDP(epsilon=0.5)


def curator(path: Path, budget: Guarantee) -> dp.Curator:
    people = pl.DataFrame({"id": range(100), "age": [float(i % 50) for i in range(100)]})
    table = dp.table(
        people,
        unit=dp.Person("id", max_rows=1),
        columns={"age": dp.Number(0, 50)},
        snapshot="1",
    )
    return dp.Curator(people=table, budget=budget, ledger=path)


def spent(source: dp.Curator) -> float:
    guarantee = source.spent
    assert isinstance(guarantee, dp.ZCDP)
    return float(guarantee.rho)


@pytest.mark.parametrize(
    "budget", [dp.ZCDP(rho=1), dp.ApproxDP(epsilon=5, delta=1e-6, by=dp.ZCDP)], ids=str
)
def test_old_charges_and_answers_stay_and_new_questions_cost_the_tight_price(
    tmp_path: Path, budget: Guarantee, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    with monkeypatch.context() as then:
        then.setattr(type(ZERO_CONCENTRATED), "price", lambda _, event: QUADRATIC.price(event))
        with curator(path, budget) as source:
            before = source.sql(COUNT, spend=HALF)
            assert spent(source) == 0.125
            source.child("team", budget=HALF)
            assert spent(source) == 0.25
    with curator(path, budget) as source:
        source.ledger.verify()
        assert spent(source) == 0.25
        assert source.sql(COUNT, spend=HALF).to_json() == before.to_json()
        source.child("team", budget=HALF)
        assert spent(source) == 0.25
        source.sql(SUM, spend=HALF)
        assert spent(source) - 0.25 == pytest.approx(0.5 - 1 + math.exp(-0.5), rel=1e-9)


@pytest.mark.parametrize("spend", [dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=3, delta=1e-6)], ids=str)
def test_a_conversation_is_made_again_with_the_noise_it_was_paid_with(
    spend: Guarantee,
) -> None:
    planned = private_gap_weights(
        cells=8, spend=spend, size=PublicCount(1000), questions=100, confidence=0.95
    )
    made = replace(planned, rule=sharing_rule(1))
    paid = spend.rho if isinstance(spend, dp.ZCDP) else zcdp_rho(3, 1e-6)
    price = float(QUADRATIC.price(made.event))
    assert price == pytest.approx(float(paid), rel=1e-9)
    assert price <= float(paid)
    assert float(planned.epsilon_each) > float(made.epsilon_each)
