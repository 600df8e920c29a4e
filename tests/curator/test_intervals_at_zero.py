"""Wherever counts come from, noise far below zero never makes an interval that looks certain.

Of twenty empty groups about half come out negative: all twenty are not with probability 2^-20.
"""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp

KEYS = [f"k{n}" for n in range(20)]
SQL = "SELECT key, COUNT(*) AS n FROM events GROUP BY key"
SPEND = dp.PureDP(epsilon=0.01)


@pytest.fixture
def curator() -> dp.Curator:
    events = dp.table(
        pl.DataFrame({"key": ["other"]}), unit=dp.Row(), columns={"key": dp.Category(KEYS)}
    )
    return dp.Curator(events=events, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory())


def answered(curator: dp.Curator) -> dp.Release:
    return curator.sql(SQL, spend=SPEND)


def computed(curator: dp.Curator) -> dp.Release:
    return curator.sql("SELECT key, COUNT(*) + 0 AS n FROM events GROUP BY key", spend=SPEND)


def in_a_batch(curator: dp.Curator) -> dp.Release:
    total = "SELECT COUNT(*) AS n FROM events"
    return curator.batch({"total": total, "by_key": SQL}, spend=SPEND)["by_key"]


def from_a_synopsis(curator: dp.Curator) -> dp.Release:
    counts = dp.queries.Workload.marginals(curator.universe("events", "key"), 1)
    made = curator.synopsis(counts, mechanism=dp.queries.MarginalMechanism, spend=SPEND)
    return made.table("key")


@pytest.mark.parametrize("way", [answered, computed, in_a_batch, from_a_synopsis])
def test_every_interval_reaches_its_half_width_above_zero(curator: dp.Curator, way: object) -> None:
    columns = way(curator).to_dict()  # type: ignore[operator]
    rows = list(zip(columns["n"], columns["n_lower"], columns["n_upper"], strict=True))
    width = max(high - n for n, _, high in rows if n >= 0)
    assert any(n < 0 for n, _, _ in rows)
    assert all(low == 0 for n, low, _ in rows if n < 0)
    assert all(high == pytest.approx(width, rel=1e-6, abs=1) for n, _, high in rows if n < 0)
