"""Which events count, and that to take a unit away moves no more than the unit says."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EventFields, Events
from discreet.streams.live.intake import Intake
from discreet.streams.live.limits import PersonCounts, PersonLimit, limit_of
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.rules import CountAs, Duplicates, EventRules, LeaveOut
from discreet.streams.live.ticks import Ticks
from discreet.streams.units import EventLevel, StreamUnit, UserLevel, UserWindow, WEvent
from tests.streams.live.scripted import KEYS, MINUTE, START, event, ticks

TIMED = EventFields(key="key", person="who", time="at")
IDENTIFIED = EventFields(key="key", person="who", time="at", id="id")
ARRIVING = EventFields(key="key", person="who")


def taken(unit: StreamUnit, fields: EventFields, **rules: Any) -> Intake:
    return Intake(
        ticks(),
        KeysByList(KEYS, EventRules(**rules).unlisted),
        EventRules(**rules),
        limit_of(unit, fields),
        b"secret",
    )


def counted(
    unit: StreamUnit, fields: EventFields, arrivals: list[list[dict[str, Any]]], **rules: Any
) -> NDArray[np.int64]:
    """The increments of all ticks, where ``arrivals[k]`` arrive while tick k is open."""
    intake = taken(unit, fields, **rules)
    rows = []
    for tick in range(8):
        if tick < len(arrivals):
            intake.take(fields.events(arrivals[tick]), tick)
        rows.append(intake.close(tick))
    return np.array(rows)


def test_events_count_by_arrival_where_they_tell_no_time() -> None:
    arrivals = [[event("A"), event("A"), event("B")], [], [event("C")]]
    found = counted(EventLevel(), EventFields(key="key"), arrivals)
    assert found[:3].tolist() == [[2, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_events_out_of_order_count_in_their_own_tick() -> None:
    arrivals = [[event("A", minute=2.5), event("B", minute=0.5), event("A", minute=1.9)]]
    found = counted(EventLevel(), EventFields(key="key", time="at"), arrivals)
    assert found[:4].tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_late_events_count_when_they_are_seen_or_not_at_all() -> None:
    arrivals = [[], [], [event("A", minute=0.5)]]
    fields = EventFields(key="key", time="at")
    assert counted(EventLevel(), fields, arrivals)[2].tolist() == [1, 0, 0]
    assert counted(EventLevel(), fields, arrivals, late=LeaveOut()).sum() == 0


@pytest.mark.parametrize(
    "record",
    [
        event("A", minute=-1),
        event("A", minute=8),
        {"key": "A", "at": "soon"},
        {"key": "A"},
        {"key": "A", "at": 10**400},
        {"key": "A", "at": float("nan")},
        {"key": ["A"], "at": START.timestamp()},
        {"key": True, "at": START.timestamp()},
        {"key": "x" * 5000, "at": START.timestamp()},
        None,
        "A",
        event("Z"),
    ],
)
def test_what_cannot_be_read_is_left_out_by_itself(record: Any) -> None:
    fields = EventFields(key="key", time="at")
    found = counted(EventLevel(), fields, [[record, event("A")]])
    assert found.sum() == found[0][0] == 1


def test_a_second_copy_does_not_count_even_in_another_tick() -> None:
    same = [event("A", id="1"), event("A", id="1"), event("A", id="2")]
    fields = EventFields(key="key", id="id")
    found = counted(EventLevel(), fields, [same, [event("B", id="2")], [event("A", id="3")]])
    assert found.sum(axis=1)[:3].tolist() == [2, 0, 1]


def test_an_identifier_is_forgotten_after_the_stated_ticks() -> None:
    fields = EventFields(key="key", id="id")
    arrivals = [[event("A", id="1")], [event("A", id="1")], [], [event("A", id="1")]]
    found = counted(EventLevel(), fields, arrivals, duplicates=Duplicates(remembered=2))
    assert found[:, 0].tolist() == [1, 0, 0, 1, 0, 0, 0, 0]


def test_the_same_identifier_of_two_people_is_two_events() -> None:
    # Else one person could take another's event out of the counts.
    unit = UserLevel("who", max_events=5)
    arrivals = [[event("A", who="ann", id="1"), event("A", who="bob", id="1")]]
    assert counted(unit, IDENTIFIED, arrivals)[0][0] == 2


def test_a_person_who_floods_counts_as_often_as_the_cap_and_moves_nobody() -> None:
    unit = UserLevel("who", max_events=3)
    flood = [event("A", who="ann") for _ in range(10_000)]
    others = [event("B", who=f"p{n}") for n in range(50)]
    found = counted(unit, ARRIVING, [flood + others, flood])
    assert found[0].tolist() == [3, 50, 0]
    assert found[1].sum() == 0


def test_a_cap_per_tick_holds_at_each_tick() -> None:
    unit = UserLevel("who", max_events=5, max_per_tick=2)
    flood = [event("A", who="ann") for _ in range(10)]
    found = counted(unit, ARRIVING, [flood] * 5)
    assert found[:, 0].tolist() == [2, 2, 1, 0, 0, 0, 0, 0]


def test_events_without_a_person_do_not_count_where_people_are_protected() -> None:
    assert counted(UserLevel("who", max_events=3), ARRIVING, [[event("A")]]).sum() == 0


def test_keys_that_nobody_listed_count_as_another_or_not_at_all() -> None:
    arrivals = [[event("Z"), event("A")]]
    fields = EventFields(key="key")
    assert counted(EventLevel(), fields, arrivals)[0].tolist() == [1, 0, 0]
    found = counted(EventLevel(), fields, arrivals, unlisted=CountAs("C"))
    assert found[0].tolist() == [1, 0, 1]


def test_a_key_for_all_others_must_be_listed() -> None:
    with pytest.raises(InvalidParameter, match="stream_keys"):
        taken(EventLevel(), EventFields(key="key"), unlisted=CountAs("Z"))


@pytest.mark.parametrize("keys", [(), ("A", "A")])
def test_keys_are_a_list_without_repetition(keys: tuple[str, ...]) -> None:
    with pytest.raises(InvalidParameter, match="stream_keys"):
        KeysByList(keys, LeaveOut())


# Neighbours -------------------------------------------------------------------------------------

WHO = ("ann", "bob", "cid")
RECORDS = st.builds(
    lambda key, minute, who, mark: event(key, minute=minute, who=who, id=str(mark)),
    st.sampled_from("ABCZ"),
    st.floats(-1, 9),
    st.sampled_from(WHO),
    st.integers(0, 5),
)
ARRIVALS = st.lists(st.lists(RECORDS, max_size=12), min_size=8, max_size=8)


def without(arrivals: list[list[dict[str, Any]]], drop: Any) -> list[list[dict[str, Any]]]:
    return [[r for r in records if not drop(tick, r)] for tick, records in enumerate(arrivals)]


@settings(max_examples=60, deadline=None)
@given(ARRIVALS, st.sampled_from([TIMED, IDENTIFIED, ARRIVING]), st.integers(1, 4))
def test_taking_a_person_away_moves_the_counts_by_the_cap_at_most(
    arrivals: list[list[dict[str, Any]]], fields: EventFields, cap: int
) -> None:
    unit = UserLevel("who", max_events=cap, max_per_tick=min(cap, 2))
    whole = counted(unit, fields, arrivals)
    less = counted(unit, fields, without(arrivals, lambda _, r: r["who"] == "ann"))
    assert (whole >= less).all()
    assert (whole - less).sum() <= unit.events
    assert (whole - less).sum(axis=1).max() <= unit.per_tick


@settings(max_examples=60, deadline=None)
@given(ARRIVALS, st.integers(0, 5), st.sampled_from([None, "at"]))
def test_taking_an_event_away_moves_the_counts_by_one_at_most(
    arrivals: list[list[dict[str, Any]]], mark: int, time: str | None
) -> None:
    fields = EventFields(key="key", time=time, id="id")
    whole = counted(EventLevel(), fields, arrivals)
    less = counted(EventLevel(), fields, without(arrivals, lambda _, r: r["id"] == str(mark)))
    assert np.abs(whole - less).sum() <= 1


def tick_of(open_tick: int, record: dict[str, Any], fields: EventFields) -> int:
    """The tick in which an event is counted if anything: its own, or the one that is open."""
    if fields.time is None:
        return open_tick
    own = int((record["at"] - START.timestamp()) // 60)
    return max(own, open_tick)


@settings(max_examples=150, deadline=None)
@given(
    ARRIVALS,
    st.sampled_from([TIMED, ARRIVING]),
    st.integers(3, 9),
    st.integers(1, 4),
    st.integers(0, 7),
)
def test_taking_a_persons_window_away_moves_the_counts_by_the_cap_at_most(
    arrivals: list[list[dict[str, Any]]], fields: EventFields, cap: int, length: int, first: int
) -> None:
    unit = UserWindow("who", ticks=length, max_events=cap, max_per_tick=2)

    def drop(tick: int, record: dict[str, Any]) -> bool:
        inside = first <= tick_of(tick, record, fields) < first + length
        return record["who"] == "ann" and inside

    whole = counted(unit, fields, arrivals)
    less = counted(unit, fields, without(arrivals, drop))
    assert np.abs(whole - less).sum() <= unit.events
    assert np.abs(whole - less).sum(axis=1).max() <= unit.per_tick


def test_comparing_with_counted_events_would_shift_a_window_for_ever() -> None:
    # The rule that is not ours: an event counts if none was counted less than two ticks before.
    def greedy(sent: list[int]) -> list[int]:
        found: list[int] = []
        for tick in sent:
            if not found or tick - found[-1] >= 2:
                found.append(tick)
        return found

    assert set(greedy([*range(40)])) ^ set(greedy([*range(1, 40)])) == {*range(40)}
    limit = PersonLimit(cap=1, per_tick=1, window=2)

    def ours(sent: list[int]) -> list[int]:
        counts = PersonCounts(limit)
        return [tick for tick in sent if counts.admit(b"ann", tick)]

    assert set(ours([*range(40)])) ^ set(ours([*range(1, 40)])) == {0, 1}


def test_a_window_protects_no_identifiers_and_needs_room_beside_it() -> None:
    window = UserWindow("who", ticks=4, max_events=6)
    with pytest.raises(InvalidParameter, match="stream_window_ids"):
        limit_of(window, IDENTIFIED)
    with pytest.raises(InvalidParameter, match="stream_window_ids"):
        limit_of(WEvent(ticks=4, max_per_tick=1), IDENTIFIED)
    with pytest.raises(InvalidParameter, match="stream_window_cap"):
        limit_of(UserWindow("who", ticks=4, max_events=2), TIMED)
    assert limit_of(window, TIMED) == PersonLimit(2, 6, 4)
    assert limit_of(window, ARRIVING) == PersonLimit(3, 6, 4)
    by_tick = UserWindow("who", ticks=4, max_events=8, max_per_tick=2)
    assert limit_of(by_tick, TIMED) == PersonLimit(2, 2, 1)
    assert limit_of(UserWindow("who", ticks=1, max_events=2), TIMED) == PersonLimit(2, 2, 1)


def test_the_person_of_the_unit_is_the_person_of_the_events() -> None:
    with pytest.raises(InvalidParameter, match="stream_unit_field"):
        limit_of(UserLevel("who", max_events=1), EventFields(key="key", person="user"))
    with pytest.raises(InvalidParameter, match="stream_unit_field"):
        limit_of(UserLevel("who", max_events=1), EventFields(key="key"))


def test_a_person_without_a_cap_over_the_whole_stream_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="user_without_cap"):
        UserLevel("who")


@settings(max_examples=30, deadline=None)
@given(ARRIVALS, st.integers(0, 7), st.sampled_from(["user", "event", "window"]))
def test_an_intake_goes_on_from_its_state_as_if_nothing_had_happened(
    arrivals: list[list[dict[str, Any]]], stop: int, level: str
) -> None:
    units: dict[str, StreamUnit] = {
        "user": UserLevel("who", max_events=3, max_per_tick=2),
        "event": EventLevel(),
        "window": UserWindow("who", ticks=3, max_events=4),
    }
    unit = units[level]
    fields = TIMED if level == "window" else IDENTIFIED
    rows = []
    intake = taken(unit, fields)
    for tick in range(8):
        intake.take(fields.events(arrivals[tick]), tick)
        if tick == stop:
            other = taken(unit, fields)
            other.restore(intake.state())
            intake = other
        rows.append(intake.close(tick))
    assert np.array_equal(np.array(rows), counted(unit, fields, arrivals))


def test_people_and_identifiers_are_not_in_the_state_by_name() -> None:
    intake = taken(UserLevel("who", max_events=3), IDENTIFIED)
    intake.take(IDENTIFIED.events([event("A", who="annabel", id="visit-77")]), 0)
    text = str(intake.state())
    assert "annabel" not in text
    assert "visit-77" not in text


def test_ticks_refuse_what_is_no_clock() -> None:
    for wrong in (
        {"start": START.replace(tzinfo=None)},
        {"length": timedelta(0)},
        {"length": 60},
        {"count": 0},
        {"lateness": timedelta(seconds=-1)},
    ):
        given: dict[str, Any] = {"start": START, "length": MINUTE, "count": 8, **wrong}
        with pytest.raises(InvalidParameter):
            Ticks(**given)
    assert Ticks.from_dict(ticks(lateness=MINUTE).to_dict()) == ticks(lateness=MINUTE)


def test_columns_and_records_say_the_same() -> None:
    records = [event("A", who="ann"), event("B"), {"key": 3, "at": None, "who": "x"}]
    columns = {name: [r.get(name) for r in records] for name in ("key", "at", "who")}
    assert TIMED.of_columns(columns, 3) == TIMED.events(records)
    assert isinstance(TIMED.events([]), Events)


def test_a_person_whose_number_is_written_in_two_ways_is_one() -> None:
    """7 and 7.0, as pandas writes a column with gaps, had a limit each."""
    fields = EventFields(person="who", id="id")
    written = [json.loads(text) for text in ("7", "7.0", "70e-1", '"7"', "-0.0", "0", "7.5")]
    records = [{"who": who, "id": who} for who in written]
    found = fields.events(records)
    assert found.people == found.ids == ["7", "7", "7", "7", "0", "0", "7.5"]
    columns = {"who": written, "id": written}
    assert fields.of_columns(columns, len(written)) == found
