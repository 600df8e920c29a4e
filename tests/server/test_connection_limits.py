"""Which connection ends where one comes too many: a model, drawn at random."""

import asyncio
import logging
import socket
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from discreet.server.api.request_pace import RequestPace, note_let_in
from discreet.server.operations.connection_limits import ConnectionLimits, Place
from discreet.server.operations.http_connection import READING
from discreet.server.operations.listener import Listener
from discreet.server.operations.logs import SparingLines

ACTS = st.tuples(st.sampled_from(["enter", "work", "wait", "leave"]), st.integers(0, 40))


@given(st.lists(ACTS, min_size=20, max_size=120), st.integers(2, 6))
def test_limits_hold_and_who_works_is_ended_by_nobody(
    acts: list[tuple[str, int]], from_one: int
) -> None:
    limits = ConnectionLimits(most=12, waiting=8, from_one=from_one)
    there: list[Place] = []
    working: set[Place] = set()
    for act, number in acts:
        there = [each for each in there if not each.ended]
        if act == "enter":
            made = limits.enter("abc"[number % 3])
            assert made is not None or len(working) == 12, "only those at work keep others out"
            there += [made] if made is not None else []
        elif there:
            place = there[number % len(there)]
            if act == "work":
                limits.work(place)
                working.add(place)
            elif act == "wait":
                working.discard(place)
                limits.wait(place)
                assert not place.ended, "the newest stays"
            else:
                limits.leave(place)
                working.discard(place)
                there.remove(place)
        assert not any(each.ended for each in working)
        assert limits.now <= 12
        assert limits.waiting_now <= 8
        assert all(len(here) <= from_one for here in limits._waiting.values())
        assert limits.now == limits.waiting_now + len(working)


def test_who_waited_longest_goes_first_and_who_was_served_last() -> None:
    limits = ConnectionLimits(most=10, waiting=10, from_one=3)
    ended: list[str] = []
    places = {}
    for name in "abcde":
        place = limits.enter("one")
        assert place is not None
        place.end = partial(ended.append, name)
        places[name] = place
        if name == "a":
            limits.work(place)
            limits.wait(place)
    assert ended == ["b", "c"]


def test_many_addresses_with_one_connection_each_push_out_nobody_who_was_served() -> None:
    limits = ConnectionLimits(most=10, waiting=6, from_one=6)
    served = [limits.enter(f"old {n}") for n in range(3)]
    for place in served:
        assert place is not None
        limits.work(place)
        limits.wait(place)
    made = [limits.enter(f"new {n}") for n in range(200)]
    assert not any(place.ended for place in served if place)
    assert sum(not place.ended for place in made if place) == 3


@pytest.mark.parametrize("form", ["2001:db8:0:7::{:x}", "2001:db8:0:7:{:x}::1%eth0"])
def test_of_one_host_all_addresses_are_one(form: str) -> None:
    limits = ConnectionLimits(most=10, waiting=10, from_one=3)

    async def wait(connection: socket.socket, place: Place) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            limits.leave(place)
            connection.close()

    async def come() -> int:
        with socket.create_server(("127.0.0.1", 0)) as door:
            listener = Listener(door, limits, wait)
            ends = [socket.socketpair() for _ in range(9)]
            for number, (one, _) in enumerate(ends):
                listener._admit(one, form.format(number + 1))
                await asyncio.sleep(0)
            found = limits.now
            await listener.close()
        for _, other in ends:
            other.close()
        return found

    assert asyncio.run(come()) == 3
    pace = RequestPace()
    subjects = {pace.subject({"headers": [], "client": (form.format(n), 1)}) for n in range(9)}
    assert len(subjects) == 1


def test_tokens_of_one_person_have_one_share() -> None:
    pace = RequestPace()
    scopes = [
        {"headers": [(b"authorization", b"Bearer %d" % n)], "client": (f"192.0.2.{n}", 1)}
        for n in range(50)
    ]
    assert len({pace.subject(each) for each in scopes}) == 50, "strangers by address"
    for each in scopes:
        note_let_in(each, "ann")
        pace.learn(each)
    assert {pace.subject(each) for each in scopes} == {"ann"}


@pytest.mark.parametrize(("level", "most"), [(logging.INFO, 1000), (logging.ERROR, 20)])
def test_lines_of_one_kind_are_few_and_the_next_says_how_many_were_left_out(
    level: int, most: int
) -> None:
    now = 0.0
    lines = SparingLines(clock=lambda: now)

    def line(number: int = 1) -> logging.LogRecord:
        return logging.LogRecord("discreet.server", level, "x.py", number, "m", (), None)

    assert sum(lines.filter(line()) for _ in range(3000)) == most
    assert lines.filter(line(2)), "another kind is counted by itself"
    now = 61.0
    later = line()
    assert lines.filter(later)
    assert later.left_out == 3000 - most  # type: ignore[attr-defined]
    passed = sum(lines.filter(line(number)) for number in range(5000))
    assert passed <= 1000 + most, "kinds that nobody counts share one"


def test_what_is_costly_to_read_is_counted_and_waited_for() -> None:
    """Of whoever sent it: between the pieces of a body, and by what comes after it."""

    async def receive() -> Message:
        scope[READING] = 5.0
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def costs() -> None:
        received = pace.received(scope, receive, "ann")
        await received()
        assert pace.shares.missing("ann") > 30
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(received(), 0.05)
        assert await pace.received(scope, receive, "bob")()

    pace = RequestPace()
    scope: dict[str, Any] = {"type": "http"}
    asyncio.run(costs())
