"""Quantiles bought when they were chosen one by one or by recursion come back, byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from tests.curator.golden import quartiles

HERE = Path(__file__).parent
TOLD: dict[str, Any] = json.loads((HERE / quartiles.TOLD).read_text(encoding="utf-8"))
SPENT = tuple(map(Fraction, TOLD["spent"]))


@pytest.fixture
def source(tmp_path: Path) -> Iterator[dp.Curator]:
    for name in (quartiles.NAME, f"{quartiles.NAME}.key"):
        shutil.copyfile(HERE / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    with quartiles.curator(tmp_path / quartiles.NAME) as opened:
        yield opened


def unspent(source: dp.Curator) -> bool:
    """Whether nothing was charged since it was kept."""
    return tuple(source.ledger.spent()) == SPENT


def mechanism(release: dp.Release) -> str:
    return str(release.statement["measures"][-1]["mechanism"])


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("ends", "IndependentQuantiles"),
        ("five", "RecursiveQuantiles"),
        ("median", "Quantile"),
    ],
)
def test_what_was_bought_comes_back_as_it_was(source: dp.Curator, name: str, way: str) -> None:
    again = source.sql(quartiles.ASKED[name], spend=quartiles.TWO)
    assert again.to_json() == TOLD[name]
    assert mechanism(again) == way
    wider = source.sql(quartiles.ASKED[name], spend=quartiles.TWO, confidence=0.8)
    assert [a.values for a in wider.answers] == [a.values for a in again.answers]
    assert mechanism(wider) == way
    assert unspent(source)


def test_so_does_a_batch(source: dp.Curator) -> None:
    batch = source.batch(quartiles.TOGETHER, spend=quartiles.TWO)
    assert {name: release.to_json() for name, release in batch.items()} == TOLD["batch"]
    assert unspent(source)


def test_another_price_buys_the_best_way_once(source: dp.Curator) -> None:
    other = dp.PureDP(epsilon=3)
    answer = source.sql(quartiles.ENDS, spend=other)
    assert mechanism(answer) == "JointQuantiles"
    assert not unspent(source)
    spent = source.spent
    assert source.sql(quartiles.ENDS, spend=other).to_json() == answer.to_json()
    assert source.spent == spent


def test_somebody_else_gets_the_best_way(source: dp.Curator) -> None:
    assert mechanism(source.sql(quartiles.ENDS, spend=quartiles.TWO, analyst="bob")) == (
        "JointQuantiles"
    )
    assert not unspent(source)
