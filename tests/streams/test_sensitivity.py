"""No pair of neighbouring streams moves what is measured by more than its noise is made for."""

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import PureDP
from discreet.core.unit import Person, Row, TickWindow
from discreet.noise import Noiseless
from discreet.streams.contribution import EventContribution
from discreet.streams.counter import ContinualCounter
from discreet.streams.doubling import DoublingTree
from discreet.streams.factorisation.dense import OptimalCounter
from discreet.streams.factorisation.toeplitz import ToeplitzCounter
from discreet.streams.tree import BinaryTree
from discreet.streams.units import (
    EventLevel,
    ItemLevel,
    StreamUnit,
    UserLevel,
    UserWindow,
    WEvent,
)
from tests.streams.counters import KINDS, NORMAL, PURE, made

UNITS: list[StreamUnit] = [
    EventLevel(),
    UserLevel("id", max_events=2),
    UserLevel("id", max_events=3, max_per_tick=1),
    UserLevel("id", max_events=3, max_per_tick=2),
    UserWindow("id", ticks=3, max_events=3, max_per_tick=2),
    WEvent(ticks=3, max_per_tick=1),
    ItemLevel("id", max_flips=1),
    ItemLevel("id", max_flips=4),
]


def neighbours(unit: StreamUnit, horizon: int) -> list[NDArray[np.int64]]:
    """All differences of neighbouring streams of whole events."""
    found = []
    if isinstance(unit, ItemLevel):  # in and out by turns
        for many in range(1, min(unit.events, horizon) + 1):
            for places in combinations(range(horizon), many):
                change = np.zeros(horizon, dtype=np.int64)
                change[list(places)] = [(-1) ** turn for turn in range(many)]
                found.append(change)
        return found
    window = unit.ticks if isinstance(unit, UserWindow | WEvent) else horizon
    for many in range(1, unit.events + 1):
        for ticks in combinations_with_replacement(range(horizon), many):
            change = np.bincount(ticks, minlength=horizon)
            if change.max() <= unit.per_tick and ticks[-1] - ticks[0] < window:
                found.append(change)
    return found


def measured(counter: ContinualCounter, horizon: int) -> NDArray[np.int64]:
    """The matrix of all noisy numbers, rows, by ticks: found by feeding one tick at a time."""
    columns = []
    for tick in range(horizon):
        rows = np.zeros((horizon, 1), dtype=np.int64)
        rows[tick] = 1
        columns.append(np.array(_released(counter, rows), dtype=np.int64))
    return np.array(columns).T


def _released(counter: ContinualCounter, rows: NDArray[np.int64]) -> list[int]:
    """All numbers that get noise while a counter runs, in order."""
    from unittest.mock import patch

    from discreet.streams import node_noise

    seen: list[int] = []

    def watched(values: NDArray[np.int64], noise: object, source: object) -> NDArray[np.int64]:
        del noise, source
        seen.extend(np.asarray(values).reshape(-1).tolist())
        return values

    del node_noise
    places = ["baselines", "live_tree", "factorisation.toeplitz", "factorisation.dense"]
    places.append("factorisation.buffered")
    patches = [patch(f"discreet.streams.{place}.noisy", watched) for place in places]
    for each in patches:
        each.start()
    try:
        live = counter.open()
        for row in rows:
            live.step(row)
    finally:
        for each in patches:
            each.stop()
    return seen


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("name", [name for name in KINDS if name != "doubling"])
@pytest.mark.parametrize("horizon", [1, 4, 7])
def test_neighbours_stay_within_the_sensitivity(name: str, unit: StreamUnit, horizon: int) -> None:
    counter = made(name, horizon, unit=unit, randomness=Noiseless())
    matrix, claimed = measured(counter, horizon), counter.sensitivity()
    moved = [matrix @ change for change in neighbours(unit, horizon)]
    l1 = max(int(np.abs(each).sum()) for each in moved)
    l2 = max(int((each.astype(object) ** 2).sum()) for each in moved)
    assert l1 <= claimed.l1
    assert l2 <= claimed.l2_squared
    if isinstance(unit, EventLevel) and horizon == 4:  # and the claim is not wider than it must be
        if name != "buffered":
            assert l1 == claimed.l1
            assert l2 == claimed.l2_squared
        else:  # floors are let go a unit and a bit of each of four measurements
            assert l1 >= claimed.l1 - 8
            assert l2**0.5 >= float(claimed.l2_squared) ** 0.5 - 3


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("spend", [PURE, NORMAL], ids=["pure", "normal"])
def test_epochs_of_doubling_lengths_share_one_spend(unit: StreamUnit, spend: PureDP) -> None:
    counter = DoublingTree(spend=spend, unit=unit, randomness=Noiseless())
    horizon = 7
    matrix = measured(counter, horizon)
    widths = [counter.epoch_noise((tick + 1).bit_length() - 1) for tick in range(horizon)]
    worst = 0.0
    for change in neighbours(unit, horizon):
        moved = matrix @ change  # one noisy node for each tick
        if spend is PURE:
            worst = max(worst, sum(abs(m) / w.l1 for m, w in zip(moved, widths, strict=True)))  # type: ignore[union-attr]
        else:
            squares = (m * m / w.l2_squared for m, w in zip(moved, widths, strict=True))  # type: ignore[union-attr]
            worst = max(worst, float(sum(squares)))
    assert worst <= 1 + 1e-12


def test_contributions_multiply() -> None:
    plain = BinaryTree(horizon=8, spend=PURE, unit=EventLevel()).sensitivity()
    several = EventContribution.of(bound=3, keys=2)
    wide = BinaryTree(horizon=8, spend=PURE, unit=EventLevel(), contribution=several).sensitivity()
    assert (wide.l1, wide.l2_squared) == (plain.l1 * 6, plain.l2_squared * 18)


def test_participations_of_the_catalogue() -> None:
    # k = 1024 participations of distance one would be all ticks; here 16 next to each other.
    unit = UserLevel("id", max_events=16, max_per_tick=1)
    counter = ToeplitzCounter(horizon=64, spend=NORMAL, unit=unit)
    one = OptimalCounter(horizon=64, spend=NORMAL, unit=unit)
    for each in (counter, one):
        alone = type(each)(horizon=64, spend=NORMAL, unit=EventLevel()).sensitivity().l2_squared
        assert each.sensitivity().l2_squared < 256 * alone


def test_units_say_what_guarantees_carry() -> None:
    assert EventLevel().privacy_unit == Row()
    assert UserLevel("id", max_events=4).privacy_unit == Person("id", max_rows=4)
    window = UserWindow("id", ticks=5, max_events=4).privacy_unit
    assert window == TickWindow(Person("id", max_rows=4), ticks=5)
    assert WEvent(ticks=5, max_per_tick=2).privacy_unit == TickWindow(Row(), ticks=5)
    assert UserWindow("id", ticks=2, max_events=9, max_per_tick=1).events == 2


def test_a_person_without_a_cap_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="user_without_cap"):
        UserLevel("id")
    with pytest.raises(InvalidParameter, match="user_without_cap"):
        UserWindow("id", ticks=3)
    with pytest.raises(InvalidParameter, match="not_a_stream_unit"):
        BinaryTree(horizon=8, spend=PURE, unit=Row())  # type: ignore[arg-type]


def test_windows_do_not_lie_in_one_part() -> None:
    from discreet.accounting.adaptive.filter import PureFilter
    from discreet.accounting.adaptive.hierarchy import ByRow, open_parts
    from discreet.core.errors import Mismatch

    budget = PureFilter(limit=PureDP(epsilon=1, unit=TickWindow(Row(), ticks=3)))
    with pytest.raises(Mismatch, match="parts_not_per_unit"):
        open_parts(budget, ByRow(["day", "night"]))
    with pytest.raises(Mismatch, match="unit_mismatch"):
        PureDP(epsilon=1, unit=TickWindow(Row(), ticks=3)).replaced()
    with pytest.raises(InvalidParameter, match="not_a_unit"):
        TickWindow("somebody", ticks=3)  # type: ignore[arg-type]
