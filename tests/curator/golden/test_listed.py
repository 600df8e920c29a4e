"""Answers bought over every listed key stay paid for, byte for byte; new ones have fewer keys."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from tests.curator.golden import listed

HERE = Path(__file__).parent
TOLD: dict[str, Any] = json.loads((HERE / listed.TOLD).read_text(encoding="utf-8"))
SPENT = tuple(map(Fraction, TOLD["spent"]))


@pytest.fixture
def source(tmp_path: Path) -> Iterator[dp.Curator]:
    for name in (listed.NAME, f"{listed.NAME}.key"):
        shutil.copyfile(HERE / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    with listed.curator(tmp_path / listed.NAME) as opened:
        yield opened


def unspent(source: dp.Curator) -> bool:
    """Whether nothing was charged since it was kept."""
    return tuple(source.ledger.spent()) == SPENT


@pytest.mark.parametrize("name", listed.ASKED)
def test_what_was_bought_over_all_keys_comes_back_as_it_was(source: dp.Curator, name: str) -> None:
    again = source.sql(listed.ASKED[name], spend=listed.TWO)
    assert again.to_json() == TOLD[name]
    assert len(again) == listed.ROWS[name]
    wider = source.sql(listed.ASKED[name], spend=listed.TWO, confidence=0.8)
    assert [a.values for a in wider.answers] == [a.values for a in again.answers]
    assert unspent(source)


def test_so_does_what_was_bought_by_accuracy_and_in_a_batch(source: dp.Curator) -> None:
    assert source.sql(listed.AGES, accuracy=listed.WITHIN).to_json() == TOLD["within"]
    batch = source.batch(listed.TOGETHER, spend=listed.TWO)
    assert {name: release.to_json() for name, release in batch.items()} == TOLD["batch"]
    assert unspent(source)


def test_another_price_buys_the_permitted_keys_once(source: dp.Curator) -> None:
    other = dp.PureDP(epsilon=3)
    answer = source.sql(listed.AGES, spend=other)
    assert answer.keys["age"] == tuple(range(5, 18))
    assert not unspent(source)
    spent = source.spent
    assert source.sql(listed.AGES, spend=other).to_json() == answer.to_json()
    assert source.spent == spent


def test_somebody_else_gets_the_permitted_keys(source: dp.Curator) -> None:
    answer = source.sql(listed.AGES, spend=listed.TWO, analyst="bob")
    assert len(answer) == 13
    assert not unspent(source)
