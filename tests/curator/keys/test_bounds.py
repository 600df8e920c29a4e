"""Bounds that are bought: bins by comparisons, thresholds, payment, and what is not found."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.mechanisms.distributions.distribution import (
    DiscreteLaplaceDistribution,
    RoundedLaplace,
)
from discreet.noise import Noiseless
from discreet.relational.planning.magnitudes import Magnitudes, magnitudes
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, evaluate

SPEND = dp.PureDP(epsilon=1)


def curator(column: list[Any], unit: Any = None, **more: Any) -> dp.Curator:
    frame = pl.DataFrame({"id": range(len(column)), "x": column})
    given = {"budget": dp.PureDP(epsilon=10), "ledger": dp.ledger.Memory()} | more
    return dp.Curator(t=dp.table(frame, unit=unit or dp.Row(), columns={}, snapshot="a"), **given)


@pytest.mark.parametrize("kind", [DataType.INTEGER, DataType.DOUBLE])
def test_every_value_is_within_the_ends_of_its_bin(kind: DataType) -> None:
    bins = magnitudes(kind)
    key = bins.bin(Column("x", ColumnDomain(kind)))
    whole = [0, 1, 2, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, 2**62, 2**62 - 1]
    values = (
        whole
        if kind is DataType.INTEGER
        else [*map(float, whole[:-2]), 2.0**-20, 1e-9, 1.5, 2.0**60]
    )
    for value in [*values, *(-value for value in values)]:
        place = evaluate(key, {"x": value})
        assert isinstance(place, int)
        low, high = bins.ends(place)
        assert low <= value <= high
        assert low == 0 or high == 0 or abs(high) == 2 * abs(low) or abs(low) == 2 * abs(high)
    assert evaluate(key, {"x": None}) is None
    ends = [bins.ends(place) for place in range(bins.size)]
    assert ends == sorted(ends)


def test_worked_threshold_and_its_relaxation() -> None:
    """Laplace at epsilon 1 over 128 bins: about 25 at failure 1e-9, less on the same noise."""
    bins, distribution = (
        Magnitudes(tuple(2**power for power in range(64))),
        DiscreteLaplaceDistribution(1, 1),
    )
    noisy = [0] * 128
    noisy[64 + 5] = 26
    assert bins.bounds(noisy, distribution) == (16, 32)
    noisy[64 + 5], noisy[64 - 3] = 20, 19
    assert bins.bounds(noisy, distribution) == (-4, 32)
    noisy[64 + 5], noisy[64 - 3] = 17, 17
    assert bins.bounds(noisy, distribution) is None


@pytest.mark.parametrize(
    ("failure", "bins", "stated"),
    [
        (0.1, 4, 3.643239),
        (1e-9, 64, 24.882149),
        (1e-8, 64, 22.579564),
        (1e-7, 64, 20.276979),
        (1e-9, 2047, 28.347396),
    ],
)
def test_thresholds_of_the_catalogue(failure: float, bins: int, stated: float) -> None:
    """modern-data:B1, Laplace noise at epsilon 1 in so many bins on each side of zero.

    The chance that no empty bin passes is then as stated, not only bounded by the sum.
    """
    magnitudes = Magnitudes(tuple(range(1, bins + 1)))
    fine = RoundedLaplace(scale=1, step=2**-30)
    threshold = magnitudes.threshold(fine, failure)
    assert threshold == pytest.approx(stated, abs=6e-7)
    below = 1 - fine.tail(threshold) / 2
    assert -math.expm1(2 * bins * math.log(below)) == pytest.approx(failure, rel=1e-5)
    whole = DiscreteLaplaceDistribution(1, 1)
    assert magnitudes.threshold(whole, failure) in (math.floor(stated), math.ceil(stated))


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ([5] * 500 + [90] * 500, 4, 128),
        ([-5] * 500 + [0] * 500, -8, 1),
        ([0.3] * 500 + [1000.0] * 500 + [1e300], 0.25, 1024),
        ([2**62] * 500, 2**61, 2**62),
    ],
)
def test_found_bounds_are_a_declaration(column: list[Any], low: Any, high: Any) -> None:
    found = curator(column).bounds("t", "x", spend=SPEND)
    assert (found.low, found.high) == (low, high)
    assert found.number() == dp.Number(low, high)
    assert "factor of two" in repr(found)


def test_paid_for_and_remembered() -> None:
    asked = curator([5] * 1000)
    first = asked.bounds("t", "x", spend=SPEND)
    assert asked.bounds("t", "x", spend=SPEND) == first
    assert asked.spent.epsilon == 1  # type: ignore[attr-defined]
    assert first.guarantee == dp.PureDP(epsilon=1, unit=dp.Row())
    assert "bounds of t.x" in str(asked.history())


def test_nothing_found_is_said_and_paid_for() -> None:
    for column in ([None] * 50 + [1], [1]):
        asked = curator(column)
        found = asked.bounds("t", "x", spend=SPEND)
        assert "no bounds found" in repr(found)
        assert asked.spent.epsilon == 1  # type: ignore[attr-defined]
        with pytest.raises(DiscreetError) as refusal:
            found.number()
        assert refusal.value.code == "no_bounds_found"


def test_people_are_bounded_and_need_more_values() -> None:
    person = dp.Person("id", max_rows=10)
    asked = curator([5] * 1000, person)
    assert asked.bounds("t", "x", spend=SPEND).needed > 200
    with pytest.raises(DiscreetError) as refusal:
        curator([5] * 10, dp.Person("id")).bounds("t", "x", spend=SPEND)
    assert refusal.value.code == "unbounded_person"


def test_one_person_with_many_rows_makes_no_bounds() -> None:
    """The twin that counts rows would place a bound at one person's value."""
    frame = pl.DataFrame({"id": [0] * 5000 + list(range(1, 801)), "x": [10**6] * 5000 + [5] * 800})
    table = dp.table(frame, unit=dp.Person("id", max_rows=1), columns={})
    asked = dp.Curator(
        t=table, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory(), randomness=Noiseless()
    )
    assert asked.bounds("t", "x", spend=SPEND).high == 8


@pytest.mark.parametrize(
    ("table", "column"), [("t", "y"), ("t", "name"), ("nobody", "x"), ('"', "x")]
)
def test_refused_freely(table: str, column: str) -> None:
    frame = pl.DataFrame({"id": [1], "x": [1], "name": ["a"]})
    asked = dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns={}),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    with pytest.raises(DiscreetError):
        asked.bounds(table, column, spend=SPEND)
    assert asked.spent.epsilon == 0  # type: ignore[attr-defined]
