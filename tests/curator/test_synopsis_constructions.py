"""Constructions and SmallDB leave synopses too: paid for once, read again for nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.noise import Noiseless
from discreet.queries import (
    IterativeConstruction,
    MedianUpdater,
    MultiplicativeUpdater,
    PerceptronUpdater,
    Workload,
    small_databases,
    small_db,
)
from tests.curator.tables import private, visits

EXCHANGED = dp.Replace(dp.Row())
ROWS = visits().height

Make = Callable[..., Any]
MAKERS: dict[str, Make] = {
    "weights": partial(IterativeConstruction, updater=MultiplicativeUpdater(6, 0.2)),
    "median": partial(IterativeConstruction, updater=MedianUpdater(small_databases(6, 6), 0.1)),
    "perceptron": partial(
        IterativeConstruction, updater=PerceptronUpdater(6, 0.2, ROWS, float(ROWS**2))
    ),
    "small databases": partial(small_db, error=0.5),
}
SPENDS: list[Any] = [dp.PureDP(epsilon=2), dp.ApproxDP(epsilon=2, delta=1e-6)]


def pairs(source: dp.Curator) -> Workload:
    universe = source.universe("visits", "ward", old="age >= 50")
    return Workload.marginals(universe, 2)


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "pairs"])
@pytest.mark.parametrize("name", MAKERS)
def test_it_is_paid_for_once_and_answers_bit_for_bit(name: str, spend: Any, tmp_path: Path) -> None:
    path = tmp_path / "visits.sqlite"
    with private(unit=EXCHANGED, ledger=path) as source:
        workload = pairs(source)
        made = source.synopsis(workload, mechanism=MAKERS[name], spend=spend)
        paid = source.spent
        assert 1 < paid.epsilon <= 2  # type: ignore[attr-defined]
        first = made.answers(workload)
        assert made.rmse is None
    with private(unit=EXCHANGED, ledger=path) as source:
        again = source.synopsis(pairs(source), mechanism=MAKERS[name], spend=spend)
        assert again.id == made.id
        assert again.answers(workload).tolist() == first.tolist()
        assert again.counts.shape == (6,)
        assert source.spent == paid
        assert again.table("ward").answers[0].name == "n"


@pytest.mark.parametrize("name", MAKERS)
def test_without_noise_it_is_near_the_counts(name: str) -> None:
    source = private(unit=EXCHANGED, randomness=Noiseless())
    workload = pairs(source)
    made = source.synopsis(workload, mechanism=MAKERS[name], spend=SPENDS[0])
    frame = visits()
    truth = [
        frame.filter((frame["ward"] == ward) & ((frame["age"] >= 50) == old)).height
        for ward in "ABC"
        for old in (False, True)
    ]
    # Twice the updater's error; a database of four rows is half of one row off at most, twice.
    assert np.abs(made.answers(workload) - truth).max() <= 0.4 * ROWS


@pytest.mark.parametrize("name", MAKERS)
def test_rows_that_come_and_go_are_refused_for_nothing(name: str) -> None:
    source = private()
    with pytest.raises(InvalidParameter, match="records_unknown"):
        source.synopsis(pairs(source), mechanism=MAKERS[name], spend=SPENDS[0])
    assert source.spent.epsilon == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", MAKERS)
def test_a_preview_names_its_price(name: str) -> None:
    source = private(unit=EXCHANGED)
    ahead = source.preview(pairs(source), mechanism=MAKERS[name], spend=SPENDS[0])
    assert ahead.affordable == 5
    assert ahead.rmse is None


def test_a_construction_that_noise_leads_astray_ends_with_what_it_has() -> None:
    """At so small a spend values are nothing but noise, and a net has no member near them."""
    source = private(unit=EXCHANGED)
    updater = MedianUpdater(small_databases(6, 3), 0.01)
    make = partial(IterativeConstruction, updater=updater)
    tiny = dp.PureDP(epsilon=1e-3)
    for place in range(20):
        workload = pairs(source)
        found = source.synopsis(workload, mechanism=make, spend=tiny, analyst=f"n{place}")
        assert np.isfinite(found.answers(workload)).all()


def test_small_db_takes_an_epsilon_or_a_spend() -> None:
    given: dict[str, Any] = {"error": 0.5, "size": dp.queries.PublicCount(ROWS)}
    workload = Workload.marginals(private().universe("visits", "ward"), 1)
    by_epsilon = small_db(workload, epsilon=2, **given)
    by_spend = small_db(workload, spend=SPENDS[0], **given)
    assert by_epsilon.event == by_spend.event
    in_rho = small_db(workload, spend=dp.ZCDP(rho=0.1), **given)
    assert float(in_rho.event.zcdp().rho) == pytest.approx(0.1, rel=1e-6)
    for wrong in ({}, {"epsilon": 2, "spend": SPENDS[0]}):
        with pytest.raises(InvalidParameter, match="spend_or_epsilon"):
            small_db(workload, **wrong, **given)


def test_a_universe_beyond_its_reach_is_refused_for_nothing() -> None:
    source = private(unit=EXCHANGED)
    many = Workload.marginals(source.universe("visits", "ward", "age"), 2)
    with pytest.raises(InvalidParameter, match="net_too_large"):
        source.synopsis(many, mechanism=MAKERS["small databases"], spend=SPENDS[0])
    with pytest.raises(InvalidParameter, match="updater_misfit"):
        source.synopsis(many, mechanism=MAKERS["weights"], spend=SPENDS[0])
    assert source.spent.epsilon == 0  # type: ignore[attr-defined]
