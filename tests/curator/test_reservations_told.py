"""Whoever runs a curator for others is told of each reservation, from public facts alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.curator.project.ledger import ProjectLedger
from discreet.errors import DiscreetError, EngineFailed
from discreet.queries import MatrixMechanism, Workload, private_gap_weights
from tests.curator.tables import private

COUNT = "SELECT COUNT(*) AS n FROM visits"
TENTH = dp.PureDP(epsilon=0.1)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def curator(tmp_path: Path, told: list[str]) -> dp.Curator:
    made = private(budget=dp.PureDP(epsilon=100), ledger=tmp_path / "visits.ledger")
    made.context = replace(made.context, on_reserved=told.append)
    return made


def test_each_purchase_is_told_once_and_what_is_read_again_is_not(
    curator: dp.Curator, told: list[str]
) -> None:
    curator.sql(COUNT, spend=TENTH)
    assert len(told) == 1
    curator.sql(COUNT, spend=TENTH)
    curator.preview(COUNT, spend=TENTH)
    with pytest.raises(DiscreetError):
        curator.sql("SELECT nothing FROM visits", spend=TENTH)
    with pytest.raises(DiscreetError):
        curator.sql(COUNT, spend=dp.PureDP(epsilon=1000))
    assert len(told) == 1
    assert curator.ledger.read_reservation(told[0])["detail"]["sql"] == COUNT


def test_children_and_every_verb_tell_too(curator: dp.Curator, told: list[str]) -> None:
    child = curator.child("ann", budget=dp.PureDP(epsilon=60))
    universe = child.universe("visits", "ward")
    child.sql(COUNT, spend=TENTH)
    child.batch({"n": COUNT}, spend=TENTH)
    child.bounds("visits", "cost", spend=dp.PureDP(epsilon=5))
    child.synopsis(Workload.marginals(universe, 1), mechanism=MatrixMechanism, spend=TENTH)
    child.converse(
        universe,
        mechanism=partial(private_gap_weights, about=180, updates=2),
        spend=dp.PureDP(epsilon=20),
        questions=5,
    )
    assert len(told) == len(set(told)) == 5


def test_it_is_told_once_it_is_durable_and_before_data_is_read(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def reserved(reservation: str) -> None:
        assert curator.ledger.read_reservation(reservation), "it is in the ledger by then"
        order.append("told")

    def read(*_: Any) -> None:
        order.append("read")
        raise OSError

    curator.context = replace(curator.context, on_reserved=reserved)
    monkeypatch.setattr("discreet.relational.planning.planned_query.PlannedQuery.measurement", read)
    with pytest.raises(EngineFailed):
        curator.sql(COUNT, spend=TENTH)
    assert order == ["told", "read"]


def test_a_listener_that_fails_leaves_the_reservation_spent(curator: dp.Curator) -> None:
    def broken(_: str) -> None:
        raise ConnectionError

    curator.context = replace(curator.context, on_reserved=broken)
    with pytest.raises(ConnectionError):
        curator.sql(COUNT, spend=TENTH)
    assert curator.spent == TENTH.per(dp.Row())
    assert next(iter(curator.history())).ended == "unfinished"


def test_the_ledger_gives_what_a_reservation_ended_with(
    curator: dp.Curator, told: list[str]
) -> None:
    release = curator.sql(COUNT, spend=TENTH)
    ledger = ProjectLedger(curator.ledger, curator.context.budget)
    kept = ledger.released(told[0])
    assert kept is not None
    assert kept["release"] == release.to_json()
    assert ledger.released("0" * 32) is None
