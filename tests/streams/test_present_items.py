"""Items that come and go: what each adds is bounded whatever it does, and trees know it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet import streams
from discreet.errors import InvalidParameter
from discreet.noise.randomness import Noiseless
from discreet.streams.counter import largest_increment
from discreet.streams.live.events import EventFields
from discreet.streams.live.limits import limit_of

EVENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abc"), max_size=5), st.lists(st.sampled_from("abc"), max_size=5)
    ),
    max_size=12,
)


def increments(ticks: list[tuple[list[str], list[str]]], flips: int) -> list[int]:
    items = streams.PresentItems(streams.ItemLevel("id", max_flips=flips))
    return [items.tick(inserted, deleted) for inserted, deleted in ticks]


@settings(max_examples=60)
@given(ticks=EVENTS, flips=st.integers(1, 5))
def test_an_item_that_goes_takes_turns_of_one_with_it(
    ticks: list[tuple[list[str], list[str]]], flips: int
) -> None:
    """The neighbour without item a: differences are +1 and -1 by turns, at most so many."""
    without = [([e for e in i if e != "a"], [e for e in d if e != "a"]) for i, d in ticks]
    change = np.subtract(increments(ticks, flips), increments(without, flips)).astype(int)
    changes = change[change != 0]
    assert len(changes) <= flips
    assert changes.tolist() == [(-1) ** turn for turn in range(len(changes))]
    # and the claim of a tree holds for exactly these
    horizon = max(1, len(ticks))
    tree = streams.BinaryTree(
        horizon=horizon,
        spend=dp.PureDP(epsilon=1),
        unit=streams.ItemLevel("id", max_flips=flips),
    )
    padded = np.pad(change, (0, -len(change) % (1 << tree.height)))
    moved = sum(
        int(np.abs(padded.reshape(-1, 1 << level).sum(axis=1)).sum())
        for level in range(tree.height)
    )
    assert moved <= tree.sensitivity().l1 == tree.sensitivity().l2_squared


@settings(max_examples=30)
@given(ticks=EVENTS)
def test_with_changes_enough_the_total_is_the_number_of_present_items(
    ticks: list[tuple[list[str], list[str]]],
) -> None:
    held: dict[str, int] = {}
    total = 0
    for (inserted, deleted), step in zip(ticks, increments(ticks, 100), strict=True):
        for each in {*inserted, *deleted}:
            by = inserted.count(each) - deleted.count(each)
            held[each] = max(0, held.get(each, 0) + by)
        total += step
        assert total == sum(number > 0 for number in held.values())


def test_a_counter_counts_what_is_present() -> None:
    unit = streams.ItemLevel("badge", max_flips=2)
    items = streams.PresentItems(unit)
    live = streams.ReducedTree(
        horizon=4, spend=dp.PureDP(epsilon=1), unit=unit, randomness=Noiseless()
    ).open()
    ticks: list[dict[str, Any]] = [
        {"inserted": [np.int64(1), 2, np.str_("x"), "x", None, 2.5]},
        {"deleted": [1, "x"]},
        {"deleted": ["x", 7]},
        {"inserted": [1], "deleted": [2]},  # 1 has come and gone, and stays away
    ]
    seen = [float(live.step([items.tick(**tick)])[0]) for tick in ticks]
    assert seen == [3, 2, 1, 0]


def test_noise_is_for_changes_and_not_for_their_square() -> None:
    """16 changes in 1024 ticks: a sixth of the deviation of a person's sixteen events at once."""
    given_: dict[str, Any] = {"horizon": 1024, "spend": dp.ZCDP(rho=0.5)}
    changes = streams.BinaryTree(**given_, unit=streams.ItemLevel("id", max_flips=16))
    events = streams.BinaryTree(**given_, unit=streams.UserLevel("id", max_events=16))
    spread = streams.BinaryTree(
        **given_, unit=streams.UserLevel("id", max_events=16, max_per_tick=1)
    )
    assert changes.sensitivity().l2_squared == 16 * 7 + 8 + 4 + 2  # levels of 1024, 512, … nodes
    assert events.sensitivity().l2_squared == 16**2 * 10
    assert changes.variance(1023) < spread.variance(1023) / 12
    assert changes.event.zcdp().rho <= 0.5
    several = streams.BinaryTree(**given_, keys=2, unit=streams.ItemLevel("id", max_flips=16))
    assert several.sensitivity() == spread.sensitivity()  # nothing is known of turns by key


def test_changes_that_a_clamp_cuts_off_take_no_turns_and_are_paid_for() -> None:
    """Others fill each tick in which the item appears: only its disappearances are left.

    Ticks of the longest horizon are clamped at 2**21, which others' changes can reach.
    """
    for horizon in (1 << 40, 1 << 30, 1 << 26):
        tree = streams.BinaryTree(
            horizon=horizon,
            spend=dp.ZCDP(rho=0.5),
            unit=streams.ItemLevel("id", max_flips=100),
        )
        most = largest_increment(horizon)
        others = np.tile([most, 1 - most], 50)
        beside = np.clip(others + np.tile([1, -1], 50), -most, most)
        left = np.pad(beside - np.clip(others, -most, most), (0, 28))
        squares = [(left.reshape(-1, 1 << level).sum(axis=1) ** 2).sum() for level in range(8)]
        above = [left.sum() ** 2] * (tree.height - 8)
        assert sum(squares) + sum(above) <= tree.sensitivity().l2_squared


def test_no_item_keeps_the_others_from_being_written_down() -> None:
    """A number of many digits is none that JSON has room for: whoever sends it is left out."""
    unit = streams.ItemLevel("badge", max_flips=2)
    items = streams.PresentItems(unit)
    assert items.tick([10**5000, -(10**5000), 2**128, -(2**4095), "a"]) == 3
    again = streams.PresentItems.from_state(json.loads(json.dumps(items.state())), unit)
    assert again.tick(deleted=[2**128, "a", 10**5000]) == -2


def test_items_and_counters_go_on_after_a_crash() -> None:
    unit = streams.ItemLevel("badge", max_flips=2)
    items = streams.PresentItems(unit)
    items.tick(["a", "b", 3])
    items.tick([], ["a"])
    live = streams.BinaryTree(horizon=4, spend=dp.PureDP(epsilon=1), unit=unit).open()
    live.step([3])
    again: Any = streams.from_state(json.loads(json.dumps(live.state())))
    assert again.mechanism.unit == unit
    kept = json.loads(json.dumps(items.state()))
    resumed = streams.PresentItems.from_state(kept, unit)
    assert resumed.state() == items.state()
    assert resumed.tick(["a"], ["b"]) == items.tick(["a"], ["b"]) == -1  # a is used up
    more = streams.ItemLevel("badge", max_flips=3)
    broken: list[tuple[object, streams.ItemLevel]] = [
        (kept, more),
        (None, unit),
        ({**kept, "items": None}, unit),
        *(
            ({**kept, "items": [row]}, unit)
            for row in (["a", 1, True], ["a", -1, True, 1], ["a", 1, True, 3], ["a", 1, True, 2])
        ),
    ]
    for state, under in broken:
        with pytest.raises(InvalidParameter, match="state"):
            streams.PresentItems.from_state(state, under)


def test_one_text_is_no_list_of_items() -> None:
    items = streams.PresentItems(streams.ItemLevel("badge", max_flips=3))
    for tick in ({"inserted": "ann"}, {"inserted": ["bob"], "deleted": "ann"}):
        with pytest.raises(InvalidParameter, match="items_not_listed"):
            items.tick(**tick)
    assert items.state()["items"] == []  # nothing was counted


def test_what_has_no_cap_and_streams_of_events_refuse_it() -> None:
    with pytest.raises(InvalidParameter, match="most changes of one item"):
        streams.ItemLevel("badge")
    with pytest.raises(InvalidParameter, match="not_a_stream_unit"):
        streams.PresentItems(streams.UserLevel("badge", max_events=3))  # type: ignore[arg-type]
    unit = streams.ItemLevel("badge", max_flips=3)
    assert unit.privacy_unit == dp.Person("badge", max_rows=3, max_rows_per_group=1)
    with pytest.raises(InvalidParameter, match="not_a_stream_unit"):
        limit_of(unit, EventFields(person="badge"))
