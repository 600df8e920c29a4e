"""Faults that an attack on rounds found, each as it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError, EngineFailed, InvalidParameter
from discreet.queries.analysts import OneAnalyst, OneQuery, PaddedNoise

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)


def curator(**more: Any) -> dp.Curator:
    table = dp.table(
        {"ward": np.array(["A", "B"] * 50)},
        unit=dp.Replace(dp.Row()),
        columns={"ward": dp.Category(["A", "B"])},
        snapshot="one",
    )
    budget = dp.ApproxDP(epsilon=50, delta=1e-3)
    return dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory(), **more)


def opened(owner: Any, **more: Any) -> Any:
    given: dict[str, Any] = {
        "analysts": ["ann", "bob"],
        "queries_each": 4,
        "spend": SPEND,
        "protects": OneQuery(),
        "promise": SPEND,
        "mechanism": PaddedNoise,
    }
    return owner.round(owner.universe("t", "ward"), **given | more)


class Liar(list[Any]):
    """Says that it is short."""

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "many",
    [
        pl.DataFrame({f"q{i}": [1.0, 0.0] for i in range(7)}),
        Liar([[1.0, 0.0]] * 7),
        np.ones((7, 2)),
        iter([[1.0, 0.0]] * 7),
    ],
    ids=["frame", "liar", "array", "iterator"],
)
def test_nobody_has_more_places_than_the_public_number(many: Any) -> None:
    # They would be answered or not according to what others submitted.
    about = opened(curator())
    with pytest.raises(InvalidParameter) as refused:
        about.submit("ann", many)
    assert refused.value.code in {"query_malformed", "queries_too_many"}
    about.submit("bob", [[1.0, 0.0]] * 4)
    assert len(about.close().for_analyst("bob").answers) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"analysts": ["ann", "\ud800"]},
        {"analysts": ["ann", " "]},
        {"analysts": [["ann"]]},
        {"closes": datetime.now(UTC) - timedelta(hours=1)},
        {"closes": datetime.min.replace(tzinfo=UTC)},
        {"places": 10**9, "queries_each": 1000},
        {"limit": dp.PureDP(epsilon=1)},
        {"mechanism": "histogram"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_cannot_be_run_is_refused_before_it_is_paid_for(wrong: dict[str, Any]) -> None:
    owner = curator()
    with pytest.raises(DiscreetError):
        opened(owner, **wrong)
    assert len(list(owner.history())) == 0


def test_a_child_learns_nothing_from_a_limit_on_others_rounds() -> None:
    owner = curator()
    child = owner.child("one", budget=dp.ApproxDP(epsilon=5, delta=1e-5))
    with pytest.raises(InvalidParameter, match="analyst_limit_of_all"):
        opened(child, limit=SPEND)
    with pytest.raises(InvalidParameter, match="analyst_limit_of_all"):
        _ = child.analyst_spending


def test_a_round_that_tells_nothing_is_within_every_limit() -> None:
    owner = curator()
    zero = dp.ApproxDP(epsilon=0, delta=0)
    assert opened(owner, protects=OneAnalyst(), limit=zero).plan().cost == zero


def test_whoever_no_longer_speaks_for_a_round_opens_no_data() -> None:
    owner = curator()
    stale = opened(owner)
    current = owner.resume(stale.id)
    with pytest.raises(DiscreetError) as refused:
        stale.close()
    assert not isinstance(refused.value, EngineFailed)
    current.submit("ann", [[1.0, 0.0]])
    assert len(current.close().for_analyst("ann").answers) == 1
