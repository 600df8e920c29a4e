"""A stream is paid for once, goes on by its id, and refuses what it cannot keep before it costs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.curator.interactive.sessions import SessionKind
from discreet.errors import DiscreetError, Exhausted, LedgerError
from discreet.ledger import EntryKind
from discreet.ledger.session_log import SessionLog
from discreet.mechanisms import AboveThreshold
from discreet.noise.randomness import Seeded
from discreet.streams.contribution import EventContribution
from discreet.streams.live.clock import ReplayClock
from discreet.streams.live.events import EventFields
from discreet.streams.live.pan_private import pan_private
from discreet.streams.live.patience import Patience
from discreet.streams.live.rules import CountAs, EventRules
from discreet.streams.live.state_file import StateFile
from discreet.streams.live.ticks import Ticks
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.sources.parquet_files import ParquetFiles
from discreet.streams.sources.source import away
from discreet.streams.sources.text_file import JSONLines
from discreet.streams.tree import BinaryTree, ReducedTree
from discreet.streams.units import EventLevel, UserLevel, UserWindow, WEvent
from tests.curator.streams.wards import (
    EXACT,
    FIELDS,
    MINUTE,
    START,
    WARDS,
    curator,
    source,
    stream,
    visits,
    write,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "visits.jsonl", visits(40))
    return tmp_path


def test_a_stream_is_charged_once_whatever_happens_in_it(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder)
        spent = owner.spent
        assert spent == EXACT.per(owner.unit)
        found = list(opened)
        assert owner.spent == spent
        assert sum(found[-1].values.values()) == 40
        assert [session.kind for session in owner.interactive_sessions()] == [SessionKind.STREAM]
        owner.ledger.verify()


def test_estimates_come_with_their_error(folder: Path) -> None:
    with curator(folder, budget=dp.PureDP(epsilon=1)) as owner:
        opened = stream(owner, folder, spend=dp.PureDP(epsilon=1), confidence=0.9)
        tick = next(opened)
        made = BinaryTree(
            horizon=8, spend=dp.PureDP(epsilon=1), unit=UserLevel("patient", max_events=3), keys=3
        )
        assert tick.within == made.error(1, confidence=0.9)
        assert "within" in str(tick)
        assert tick.to_dict()["values"] == dict(tick.values)


def test_resuming_costs_nothing_and_tells_the_same(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder, spend=dp.PureDP(epsilon=0.1))
        told = [next(opened) for _ in range(3)]
        spent, name = owner.spent, opened.id
    with curator(folder) as owner:
        again = owner.resume(name, source=source(folder), clock=ReplayClock())
        assert list(again.released()) == told
        assert [tick.number for tick in again] == [3, 4, 5, 6, 7]
        assert owner.spent == spent
        with pytest.raises(DiscreetError):
            owner.resume(name, source=source(folder), clock=ReplayClock())


def test_resuming_ends_whoever_spoke_before(folder: Path) -> None:
    with curator(folder) as owner:
        old = stream(owner, folder)
        next(old)
        new = owner.resume(old.id, source=source(folder), clock=ReplayClock())
        with pytest.raises(LedgerError, match="conversation_taken"):
            next(old)
        assert next(new).number == 1


def test_a_stream_needs_its_own_source_and_analyst_again(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder, analyst="ann")
        with pytest.raises(DiscreetError, match="stream_source_needed"):
            owner.resume(opened.id, analyst="ann")
        with pytest.raises(DiscreetError, match="stream_source_differs"):
            owner.resume(
                opened.id, analyst="ann", source=source(folder, EventFields(key="ward", person="x"))
            )
        with pytest.raises(DiscreetError, match="conversation_unknown"):
            owner.resume(opened.id, analyst="bob", source=source(folder))


def test_what_is_no_stream_takes_no_source(folder: Path) -> None:
    with curator(folder, unit=None, visits=table()) as owner:
        watch = AboveThreshold(epsilon=1, threshold=300, sensitivity=1)
        opened = owner.open(watch, spend=dp.PureDP(epsilon=1))
        with pytest.raises(DiscreetError, match="not_a_stream"):
            owner.resume(opened.id, source=source(folder))


def test_the_state_may_move(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder)
        next(opened)
        moved = (folder / "wards.stream").rename(folder / "moved")
        again = owner.resume(opened.id, source=source(folder), clock=ReplayClock(), state=moved)
        assert next(again).number == 1


def test_a_closed_stream_stays_closed(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder)
        next(opened)
        opened.close()
        with pytest.raises(Exhausted, match="conversation_interrupted"):
            next(opened)
        with pytest.raises(DiscreetError):
            owner.resume(opened.id, source=source(folder), clock=ReplayClock())


ROWS: dict[str, Any] = {"unit": dp.Row()}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "keys that nobody listed": ({}, {"keys": None}, "stream_keys_undeclared"),
    "one text for a list": ({}, {"keys": "ABC"}, "stream_keys_undeclared"),
    "a key twice": ({}, {"keys": ["A", "A"]}, "stream_keys"),
    "an other that is not listed": (
        {},
        {"rules": EventRules(unlisted=CountAs("other"))},
        "stream_keys",
    ),
    "events from a budget of people": ({}, {"unit": EventLevel()}, "stream_unit_mismatch"),
    "windows from a budget of people": (
        {},
        {"unit": UserWindow("patient", ticks=2, max_events=3)},
        "stream_unit_mismatch",
    ),
    "other people": ({}, {"unit": UserLevel("visitor", max_events=3)}, "stream_unit_mismatch"),
    "visits, of named people": (
        {"unit": dp.Person("patient", of="patients")},
        {"unit": UserLevel("visit", max_events=1)},
        "stream_unit_mismatch",
    ),
    "people of another name": (
        {"unit": dp.Person("patient", of="patients")},
        {"unit": UserLevel("patient", max_events=3, of="nurses")},
        "stream_unit_mismatch",
    ),
    "people of a name that the ledger does not have": (
        {},
        {"unit": UserLevel("patient", max_events=3, of="patients")},
        "stream_unit_mismatch",
    ),
    # One record that goes lets another in: two counts move, and the price is for one.
    "a person's windows from a budget of rows": (
        ROWS,
        {"unit": UserWindow("patient", ticks=8, max_events=7, max_per_tick=1)},
        "stream_unit_mismatch",
    ),
    "people from a budget of rows": (ROWS, {}, "stream_unit_mismatch"),
    "no unit": ({}, {"unit": dp.Person("patient")}, "not_a_stream_unit"),
    "no state": ({}, {"state": None}, "stream_state_place"),
    "a folder that is not there": ({}, {"state": "nowhere/at/all"}, "stream_state_place"),
    "too little budget": ({"budget": dp.PureDP(epsilon=1)}, {}, "budget_exhausted|exhausted"),
    "no spend": ({}, {"spend": 1}, "not_a_spend"),
    "a confidence that is none": ({}, {"confidence": 2}, "confidence|probability"),
    "another definition": ({}, {"spend": dp.ZCDP(rho=1)}, "spend_notion"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_nothing_and_leaves_nothing(folder: Path, name: str) -> None:
    owner_given, given, code = REFUSED[name]
    with curator(folder, **owner_given) as owner:
        before = owner.spent
        with pytest.raises(DiscreetError, match=code):
            stream(owner, folder, **given)
        assert owner.spent == before
        assert not (folder / "wards.stream").exists()


def test_single_records_have_no_identifiers_that_tell_copies(folder: Path) -> None:
    """One of two copies with different keys that goes would move two counts."""
    with curator(folder, unit=dp.Row()) as owner:
        before = owner.spent
        told = source(folder, EventFields(key="ward", id="patient"))
        with pytest.raises(DiscreetError, match="stream_event_ids"):
            stream(owner, folder, unit=EventLevel(), source=told)
        assert owner.spent == before


def test_a_source_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    with curator(tmp_path) as owner:
        with pytest.raises(DiscreetError, match="source_away"):
            stream(owner, tmp_path)
        assert owner.spent == dp.PureDP(epsilon=0).per(owner.unit)


def test_a_place_that_is_taken_is_refused_before_it_costs(folder: Path) -> None:
    with curator(folder) as owner:
        stream(owner, folder)
        spent = owner.spent
        with pytest.raises(DiscreetError, match="stream_state_place"):
            stream(owner, folder)
        assert owner.spent == spent


@pytest.mark.parametrize(
    "unit",
    [EventLevel(), WEvent(ticks=3, max_per_tick=1)],
)
def test_a_budget_of_rows_pays_for_events_and_windows(folder: Path, unit: Any) -> None:
    with curator(folder, unit=dp.Row()) as owner:
        assert len(list(stream(owner, folder, unit=unit))) == 8


def test_people_whom_events_call_otherwise_are_named_in_both(folder: Path) -> None:
    unit = UserLevel("who", max_events=1, of="patients")
    write(folder / "calls.jsonl", [{"ward": "A", "who": f"p{n}"} for n in range(5)])
    calls = JSONLines(folder / "calls.jsonl", EventFields(key="ward", person="who"))
    with curator(folder, unit=dp.Person("patient", of="patients")) as owner:
        opened = stream(owner, folder, unit=unit, source=calls)
        assert next(opened)["A"] == 5
        opened.pause()
        again = owner.resume(opened.id, source=calls, clock=ReplayClock())
        assert next(again)["A"] == 5


def test_a_budget_may_be_for_the_very_window(folder: Path) -> None:
    unit = UserWindow("patient", ticks=2, max_events=3)
    with curator(folder, unit=unit.privacy_unit) as owner:
        assert len(list(stream(owner, folder, unit=unit))) == 8


def table() -> Any:
    return dp.table(
        {"patient": np.array(["p1", "p2"]), "age": np.array([30, 40])},
        unit=dp.Person("patient", max_rows=1),
        columns={"age": dp.Integer(0, 99)},
    )


def test_a_stream_beside_tables_shares_their_budget(folder: Path) -> None:
    with curator(folder, unit=None, visits=table()) as owner:
        owner.sql("SELECT COUNT(*) AS n FROM visits", spend=dp.PureDP(epsilon=1))
        next(stream(owner, folder, spend=dp.PureDP(epsilon=2)))
        assert owner.spent == dp.PureDP(epsilon=3).per(owner.unit)


def test_a_unit_is_declared_by_tables_or_by_itself(folder: Path) -> None:
    with pytest.raises(DiscreetError, match="unit_declared_twice"):
        curator(folder, visits=table())
    with pytest.raises(DiscreetError, match="no_private_table"):
        curator(folder, unit=None)


def test_a_policy_admits_no_stream_that_it_cannot_describe(folder: Path) -> None:
    uses: dict[str, Any] = {"visits": {"filter": [], "group": [], "aggregate": ["age"]}}
    policy = dp.Policy.of({"max_spend": {"epsilon": 10**7}, "tables": uses})
    with curator(folder, unit=None, visits=table(), policy=policy) as owner:
        with pytest.raises(DiscreetError, match="policy"):
            stream(owner, folder)
        assert owner.spent == dp.PureDP(epsilon=0).per(owner.unit)


def test_a_ledger_in_memory_needs_no_file(folder: Path) -> None:
    with curator(folder, ledger=dp.ledger.Memory()) as owner:
        opened = stream(owner, folder, state=None)
        assert len(list(opened)) == 8
        kept = stream(owner, folder, state=None)
        next(kept)
        with pytest.raises(DiscreetError, match="stream_kept_nothing"):
            owner.resume(kept.id, source=source(folder))


def test_test_mode_is_repeatable_and_costs_nothing(folder: Path) -> None:
    def told() -> list[dict[str, float]]:
        with curator(folder, ledger=dp.ledger.Memory(), randomness=Seeded(7)) as owner:
            opened = stream(owner, folder, state=None, spend=dp.PureDP(epsilon=0.1))
            return [dict(tick.values) for tick in opened]

    assert told() == told()


def test_other_counters_and_budgets(folder: Path) -> None:
    with curator(folder, budget=dp.ApproxDP(epsilon=9, delta=1e-6, by=dp.ZCDP)) as owner:
        opened = stream(
            owner, folder, mechanism=ReducedTree, spend=dp.ApproxDP(epsilon=1, delta=1e-7)
        )
        assert len([next(opened) for _ in range(3)]) == 3
        again = owner.resume(opened.id, source=source(folder), clock=ReplayClock())
        assert len(list(again)) == 5


def test_a_child_pays_for_its_own_stream(folder: Path) -> None:
    with curator(folder) as owner:
        child = owner.child("ann", budget=dp.PureDP(epsilon=10**6))
        opened = stream(child, folder)  # type: ignore[arg-type]
        next(opened)
        again = child.resume(opened.id, source=source(folder), clock=ReplayClock())
        assert next(again).number == 1


def test_a_tick_that_the_ledger_refused_is_not_told(folder: Path) -> None:
    """Else whoever resumes elsewhere again and again sees the same tick drawn again and again."""
    with curator(folder) as owner:
        opened = stream(owner, folder)
        owner.resume(opened.id, source=source(folder), state=folder / "again", clock=ReplayClock())
        with pytest.raises(DiscreetError):
            next(opened)
        assert list(opened.released()) == []


def test_a_window_of_one_event_is_not_paid_by_rows(folder: Path) -> None:
    with curator(folder, unit=dp.Row()) as owner:
        one = UserWindow("patient", ticks=1, max_events=1)
        with pytest.raises(DiscreetError, match="stream_unit_mismatch"):
            stream(owner, folder, unit=one)


TINY = Fraction(1, 1000)


@pytest.mark.parametrize(
    "other",
    [
        {"unit": UserLevel("patient", max_events=1)},
        {"keys": 2},
        {"horizon": 4},
        {"contribution": EventContribution(l1=TINY, l2_squared=TINY, largest=TINY)},
    ],
)
def test_a_counter_for_another_stream_is_refused(folder: Path, other: dict[str, Any]) -> None:
    with curator(folder) as owner:
        before = owner.spent
        with pytest.raises(DiscreetError, match="mechanism_forgets"):
            stream(owner, folder, mechanism=lambda **given: BinaryTree(**{**given, **other}))
        assert owner.spent == before


# Pan-privacy --------------------------------------------------------------------------------------


def handed_in(folder: Path, fields: EventFields) -> ParquetFiles:
    """The visits so far as one file, in a folder whose names are public."""
    place = folder / "handed-in"
    if not place.exists():
        place.mkdir()
        lines = (folder / "visits.jsonl").read_text().splitlines()
        wards = [json.loads(line)["ward"] for line in lines]
        pl.DataFrame({"ward": wards}).write_parquet(place / "0800.parquet")
    return ParquetFiles(place, fields)


def seized(owner: dp.Curator, folder: Path, **more: Any) -> Any:
    given: dict[str, Any] = {
        "unit": EventLevel(),
        "mechanism": pan_private,
        "source": handed_in(folder, EventFields(key="ward")),
        "state": None,
        **more,
    }
    return stream(owner, folder, **given)


def test_a_pan_private_stream_writes_no_state_and_ends_with_its_process(folder: Path) -> None:
    with curator(folder, unit=dp.Row()) as owner:
        handed_in(folder, EventFields(key="ward"))
        before = {path.name for path in folder.iterdir()}
        opened = seized(owner, folder)
        told = [next(opened) for _ in range(3)]
        assert {path.name for path in folder.iterdir()} == before
        assert list(opened.released()) == told
        assert sum(told[-1].values.values()) == 40
        with pytest.raises(DiscreetError, match="stream_kept_nothing"):
            owner.resume(opened.id, source=source(folder, EventFields(key="ward")))
        kept = [e for e in owner.ledger.entries() if e.kind is EntryKind.KEPT]
        assert kept == []


def test_a_pan_private_stream_counts_nothing_exactly(folder: Path) -> None:
    write(folder / "visits.jsonl", [{"ward": "elsewhere"}] * 5)
    with curator(folder, unit=dp.Row()) as owner:
        opened = seized(owner, folder)
        next(opened)
        assert opened.left_out_for_owner() == {}
        with pytest.raises(DiscreetError, match="stream_pan_private"):
            seized(owner, folder, source=CountedBatches("ward"))


class LeavingFiles(ParquetFiles):
    """Goes away once it has handed out a file, and is back at the next try."""

    left = False

    def read_events_until(self, cut: Any) -> Any:
        yield from super().read_events_until(cut)
        if not self.left:
            self.left = True
            raise away(what="a folder")


def test_a_seized_stream_holds_no_exact_counts_while_its_source_is_away(folder: Path) -> None:
    handed_in(folder, EventFields(key="ward"))
    leaving = LeavingFiles(folder / "handed-in", EventFields(key="ward"))
    with curator(folder, unit=dp.Row()) as owner:
        opened = seized(
            owner, folder, source=leaving, patience=Patience(every=MINUTE, most=timedelta(0))
        )
        with pytest.raises(DiscreetError, match="source_away"):
            next(opened)
        assert opened._intake.keys.state() == {}
        assert sum(next(opened).values.values()) == 0  # what it had handed out is lost


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"source": "timed"}, "stream_pan_private"),
        ({"source": "lines"}, "stream_pan_private"),
        ({"state": "here"}, "stream_pan_private"),
        ({"unit": WEvent(ticks=2, max_per_tick=1)}, "stream_pan_private"),
        ({"spend": dp.ApproxDP(epsilon=1, delta=1e-6)}, "spend_notion"),
        # A function around it is not known to keep no state.
        ({"mechanism": partial(pan_private), "state": "visits.stream"}, "stream_state_unreadable"),
    ],
)
def test_what_would_have_to_be_remembered_is_refused(
    folder: Path, given: dict[str, Any], code: str
) -> None:
    if given.get("source") == "timed":
        given = {"source": handed_in(folder, EventFields(key="ward", time="at"))}
    if given.get("source") == "lines":  # where one stands in them is how many there were
        given = {"source": source(folder, EventFields(key="ward"))}
    with curator(folder, unit=dp.Row(), budget=dp.ApproxDP(epsilon=9, delta=1e-6)) as owner:
        before = owner.spent
        with pytest.raises(DiscreetError, match=code):
            seized(owner, folder, **{"spend": dp.PureDP(epsilon=1), **given})
        assert owner.spent == before


# Crashes ----------------------------------------------------------------------------------------


class CrashError(BaseException):
    """The process ends here."""


def crashing(honest: Callable[..., None], at: int, *, done: bool) -> Callable[..., None]:
    def act(*given: Any, **named: Any) -> None:
        nonlocal at
        at -= 1
        if at or done:
            honest(*given, **named)
        if not at:
            raise CrashError

    return act


@pytest.mark.parametrize("place", ["state", "ledger"])
@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("at", [1, 4])
def test_a_crash_at_each_write_loses_nothing_and_spends_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, done: Any, at: int
) -> None:
    seen: list[Any] = []
    with curator(folder) as owner:
        opened = stream(owner, folder, spend=dp.PureDP(epsilon=10**6))
        spent, name = owner.spent, opened.id
        with monkeypatch.context() as broken:
            if place == "state":
                broken.setattr(StateFile, "commit", crashing(StateFile.commit, at, done=done))
            else:
                broken.setattr(SessionLog, "_added", crashing(SessionLog._added, at, done=done))
            with pytest.raises(CrashError):
                seen.extend(opened)
    with curator(folder) as owner:
        again = owner.resume(name, source=source(folder), clock=ReplayClock())
        # What was seen is told again, and so is what was written and not seen.
        assert list(again.released())[: len(seen)] == seen
        written = place == "ledger" or done
        assert again.next_tick == len(seen) + written == at - 1 + written
        rest = list(again)
        lost = place == "ledger" and done
        assert [tick.number for tick in rest] == list(range(len(seen) + lost, 8))
        assert rest[-1].values == {"A": 14, "B": 13, "C": 13}
        assert owner.spent == spent
        reserved = [e for e in owner.ledger.entries() if e.kind is EntryKind.RESERVED]
        assert len(reserved) == 1
        owner.ledger.verify()


@pytest.mark.parametrize("left", ["nothing", "empty", "half"])
def test_what_was_paid_for_and_never_spoke_begins_when_it_is_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    def crash(*_: Any) -> None:
        if left == "empty":
            (folder / "wards.stream").touch()
        elif left == "half":
            with closing(sqlite3.connect(folder / "wards.stream")) as file:
                file.execute("CREATE TABLE t (x)")
                file.execute("DROP TABLE t")
        raise CrashError

    with curator(folder) as owner:
        with monkeypatch.context() as broken:
            broken.setattr(StateFile, "begin", crash)
            with pytest.raises(CrashError):
                stream(owner, folder)
        spent = owner.spent
        (session,) = owner.interactive_sessions()
    with curator(folder) as owner:
        again = owner.resume(session.id, source=source(folder), clock=ReplayClock())
        *_, last = again
        assert sum(last.values.values()) == 40
        assert owner.spent == spent


def test_events_that_come_while_it_is_down_count_once(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder)
        next(opened)
        name = opened.id
    write(folder / "visits.jsonl", visits(45)[40:])
    with curator(folder) as owner:
        again = owner.resume(name, source=source(folder), clock=ReplayClock())
        *_, last = again
        assert sum(last.values.values()) == 45


def test_limits_on_a_person_survive_a_restart(folder: Path) -> None:
    flood = [{"ward": "A", "patient": "ann", "at": START.timestamp() + n} for n in range(400)]
    write(folder / "visits.jsonl", flood)
    with curator(folder) as owner:
        opened = stream(owner, folder)
        next(opened)
        name = opened.id
    write(folder / "visits.jsonl", flood)
    with curator(folder) as owner:
        *_, last = owner.resume(name, source=source(folder), clock=ReplayClock())
        assert last["A"] == 14 + 3


def test_a_ledger_that_was_restored_ends_its_streams(folder: Path, tmp_path: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder)
        next(opened)
        owner.ledger.backup(folder / "copy")
        next(opened)
    with pytest.raises(DiscreetError):
        dp.ledger.restore(folder / "copy", folder / "wards.ledger")


def test_ticks_of_the_ledger_are_fields_of_the_stream(folder: Path) -> None:
    with curator(folder) as owner:
        opened = stream(owner, folder, ticks=Ticks(start=START, length=MINUTE, count=4))
        assert opened.ticks == Ticks(start=START, length=MINUTE, count=4, lateness=timedelta(0))
        assert opened.keys == WARDS
        assert FIELDS.to_dict()["key"] == "ward"
        assert "tick=0 of 4" in repr(opened)
