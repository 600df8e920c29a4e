"""Keys that nobody listed: who is named, how often, and what one person moves.

A key of n people is named with a probability that is known exactly. A true law is refuted with
probability at most ``ALARM`` in each test.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, PureDP
from discreet.mechanisms.key_selection.optimal import OptimalSelection
from discreet.mechanisms.key_selection.rule import KeptKeys
from discreet.noise.randomness import SYSTEM, Noiseless
from discreet.streams.live.events import EventFields
from discreet.streams.live.found_keys import FoundKeys, KeysByName
from discreet.streams.live.intake import Intake
from discreet.streams.live.limits import limit_of
from discreet.streams.live.rules import EventRules
from discreet.streams.units import EventLevel, StreamUnit, UserLevel, UserWindow, WEvent
from tests.streams.live.scripted import event, ticks

ALARM = 1e-6
RUNS = 4000
FIELDS = EventFields(key="key", person="who")
LOUD = ApproxDP(epsilon=2, delta=Fraction(1, 5))


def rule(unit: StreamUnit, spend: ApproxDP = LOUD, **more: Any) -> OptimalSelection:
    found = FoundKeys(most=4, every=2, share=Fraction(1, 2), **more)
    return found.rule(spend, unit, SYSTEM)


class NamesAll(OptimalSelection):
    """The twin: whatever somebody brought is named."""

    def _release(self, people: Any) -> KeptKeys:
        return KeptKeys(people > 0, None)


class OneGroup(OptimalSelection):
    """The twin: priced for all groups of a person, and drawn as if there were one."""

    @property
    def coin(self) -> Any:
        return OptimalSelection(epsilon=self.epsilon, delta=self.delta).coin


def intake(unit: StreamUnit, chosen: OptimalSelection, *, every: int = 2, most: int = 4) -> Intake:
    keys = KeysByName(FoundKeys(most=most, every=every), chosen, 7)
    fields = FIELDS if isinstance(unit, UserLevel) else EventFields(key="key")
    return Intake(ticks(), keys, EventRules(), limit_of(unit, fields), b"secret")


def run(found: Intake, arrivals: list[list[Any]]) -> list[tuple[tuple[str, ...], list[int]]]:
    """Names and numbers after each tick."""
    fields = EventFields(key="key") if found.limit is None else FIELDS
    seen = []
    for tick in range(8):
        found.take(fields.events(arrivals[tick] if tick < len(arrivals) else []), tick)
        numbers = found.close(tick)
        seen.append((found.keys.names, numbers.tolist()))
    return seen


def everybody(unit: StreamUnit) -> OptimalSelection:
    """A rule under which two people are enough, and one is not."""
    given: Any = {"epsilon": 40 * unit.events, "delta": 1e-9, "groups": unit.events}
    return OptimalSelection(**given, randomness=Noiseless())


UNIT = UserLevel("who", max_events=3)


def test_a_key_is_named_at_the_end_of_an_interval_and_counts_from_the_beginning() -> None:
    first = [event("tea", who="a"), event("tea", who="a"), event("mine", who="b")]
    second = [event("tea", who="c")]
    third = [event("tea", who="d"), event("mine", who="b")]
    seen = run(intake(UNIT, everybody(UNIT)), [first, second, third])
    assert seen[0] == ((), [0, 0, 0, 0])
    assert seen[1] == (("tea",), [3, 0, 0, 0])  # with what was before its naming
    assert seen[2] == (("tea",), [1, 0, 0, 0])
    assert seen[3] == seen[7] == (("tea",), [0, 0, 0, 0])


def test_people_of_different_intervals_do_not_add_up() -> None:
    arrivals = [[event("tea", who="a")], [], [event("tea", who="b")], [], [], [], []]
    assert run(intake(UNIT, everybody(UNIT)), arrivals)[7][0] == ()
    longer = run(intake(UNIT, everybody(UNIT), every=4), arrivals)
    assert longer[3] == (("tea",), [2, 0, 0, 0])


def test_a_last_interval_that_is_cut_short_ends_with_the_stream() -> None:
    arrivals = [*[[]] * 6, [event("tea", who="a"), event("tea", who="b")]]
    assert run(intake(UNIT, everybody(UNIT), every=5), arrivals)[7] == (("tea",), [2, 0, 0, 0])


def test_no_more_are_named_than_there_is_room_for_and_the_alphabet_decides() -> None:
    brought = [event(key, who=f"{n}") for n in range(2) for key in "dbac"]
    unit = UserLevel("who", max_events=4)
    seen = run(intake(unit, everybody(unit), most=3), [brought, [], brought])
    assert seen[1] == (("a", "b", "c"), [2, 2, 2])


def test_single_events_are_counted_where_they_are_the_unit() -> None:
    unit = EventLevel()
    seen = run(intake(unit, everybody(unit)), [[event("tea")] * 5, [event("tea")]])
    assert seen[1] == (("tea",), [6, 0, 0, 0])


@pytest.mark.parametrize("key", ["\ud800", "a\x1b[2J", "x" * 300, "two\nlines"])
def test_what_cannot_be_shown_is_never_named(key: str) -> None:
    unit = EventLevel()
    found = intake(unit, everybody(unit))
    assert run(found, [[event(key)] * 9])[7][0] == ()
    assert found.left_out["unlisted"] == 9


def test_a_state_goes_on_where_it_was() -> None:
    arrivals = [[event("tea", who="a")], [], [event("tea", who="c"), event("mine", who="c")]]
    whole = run(intake(UNIT, everybody(UNIT), every=8), arrivals)
    parted = intake(UNIT, everybody(UNIT), every=8)
    parted.take(FIELDS.events(arrivals[0]), 0)
    parted.close(0)
    again = intake(UNIT, everybody(UNIT), every=8)
    again.restore(parted.state())
    again.close(1)
    again.take(FIELDS.events(arrivals[2]), 2)
    assert again.state() != parted.state()
    last = [again.close(tick).tolist() for tick in range(2, 8)][-1]
    assert (again.keys.names, last) == whole[7] == (("tea",), [2, 0, 0, 0])


# What it costs ------------------------------------------------------------------------------------


def test_a_person_has_as_many_groups_as_events_that_count() -> None:
    paid = rule(UNIT)
    assert (paid.groups, paid.epsilon, paid.delta) == (3, 1, Fraction(1, 10))
    assert rule(EventLevel()).groups == 1
    names, rest = FoundKeys(most=4, every=2, share=Fraction(1, 4)).parted(LOUD)
    assert (names.epsilon, rest.epsilon) == (Fraction(1, 2), Fraction(3, 2))
    assert names.delta + rest.delta == Fraction(LOUD.delta)


@pytest.mark.parametrize(
    "unit",
    [
        UserLevel("who", max_events=3, max_per_tick=1),
        UserWindow("who", ticks=2, max_events=3),
        WEvent(ticks=2, max_per_tick=1),
    ],
)
def test_units_that_bound_a_tick_are_refused(unit: StreamUnit) -> None:
    with pytest.raises(InvalidParameter, match="stream_found_unit"):
        rule(unit)


def test_a_spend_without_a_delta_is_refused() -> None:
    for spend in (PureDP(epsilon=1), ApproxDP(epsilon=1, delta=0)):
        with pytest.raises(InvalidParameter, match="keys_need_delta"):
            FoundKeys(most=4, every=2).parted(spend)


def cells(sent: list[tuple[int, str, str]]) -> dict[tuple[int, str], int]:
    """What the rule reads at the end of each interval, by key, where nothing is named."""
    seen: dict[tuple[int, str], int] = {}

    class Reading(KeysByName):
        at = 0

        def close(self, tick: int) -> Any:
            self.at = tick
            return super().close(tick)

        def _chosen(self) -> list[str]:
            seen.update({(self.at, key): len(who) for key, who in self._interval.items()})
            return super()._chosen()

    found = intake(UNIT, _never())
    found.keys = Reading(FoundKeys(most=4, every=2), _never(), 7)
    run(found, [[event(k, who=w) for t, k, w in sent if t == tick] for tick in range(8)])
    return seen


def _never() -> Any:
    class Never(OptimalSelection):
        def _release(self, people: Any) -> KeptKeys:
            return KeptKeys(np.zeros(len(people), dtype=bool), None)

    return Never(epsilon=1, delta=0.1)


SENT = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from("xyz"), st.sampled_from("abc")), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(SENT)
def test_a_person_is_in_as_many_counts_of_all_intervals_as_events_that_count(
    sent: list[tuple[int, str, str]],
) -> None:
    whole = cells(sent)
    without = cells([each for each in sent if each[2] != "a"])
    moved = [whole.get(cell, 0) - without.get(cell, 0) for cell in {*whole, *without}]
    assert set(moved) <= {0, 1}
    assert sum(moved) <= 3


@settings(max_examples=60, deadline=None)
@given(SENT, st.lists(st.sampled_from(["", "x", "y", "z"]), min_size=4, max_size=4))
def test_a_person_moves_all_increments_by_as_many_events_whatever_is_named_when(
    sent: list[tuple[int, str, str]], named: list[str]
) -> None:
    """Given the same names at the same ends of intervals, as both neighbours then are told."""

    def increments(events: list[tuple[int, str, str]]) -> Any:
        found = intake(UNIT, everybody(UNIT))

        class Told(KeysByName):
            ended = 0

            def _chosen(self) -> list[str]:
                key = named[self.ended]
                self.ended += 1
                self._before.setdefault(key, 0)
                return [key] if key and key not in self.names else []

        found.keys = Told(FoundKeys(most=4, every=2), everybody(UNIT), 7)
        by_tick = [[event(k, who=w) for t, k, w in events if t == tick] for tick in range(8)]
        return np.array([numbers for _, numbers in run(found, by_tick)])

    moved = increments(sent) - increments([each for each in sent if each[2] != "a"])
    assert (moved >= 0).all()
    assert moved.sum() <= 3


# The law ------------------------------------------------------------------------------------------


def named_of(chosen: OptimalSelection, people: int) -> int:
    """How many of many keys, each of so many people, one stream names at its first interval."""
    found = intake(UNIT, chosen, most=RUNS)
    sent = [event(f"k{n}", who=f"{n} {who}") for n in range(RUNS) for who in range(people)]
    found.take(FIELDS.events(sent), 0)
    found.close(0)
    found.close(1)
    return len(found.keys.names)


@pytest.mark.parametrize("people", [1, 2, 4])
def test_keys_are_named_with_the_probability_that_was_paid_for(people: int) -> None:
    paid = rule(UNIT)
    chance = paid.keep_probability(people)
    assert binomtest(named_of(paid, people), RUNS, chance).pvalue > ALARM / 3


TWINS: list[Callable[..., OptimalSelection]] = [NamesAll, OneGroup]


@pytest.mark.parametrize("twin", TWINS)
def test_twins_name_a_lonely_key_more_often_than_was_paid_for(twin: Any) -> None:
    paid = rule(UNIT)
    broken = twin(epsilon=paid.epsilon, delta=paid.delta, groups=paid.groups)
    allowed = float(paid.delta) / paid.groups  # of one event of a person nobody else shares
    assert binomtest(named_of(paid, 1), RUNS, allowed, "greater").pvalue > ALARM
    assert binomtest(named_of(broken, 1), RUNS, allowed, "greater").pvalue < ALARM
