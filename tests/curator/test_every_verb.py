"""Every verb of a curator keeps the same rules: the policy, the process, and what is one's own.

A door is a way by which something about private rows, or its price, is asked for. Each is tried
with each rule; a refusal is free.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet import events
from discreet.core.measurement import Measurement
from discreet.errors import DiscreetError
from discreet.mechanisms import AboveThreshold
from discreet.queries import Workload
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.online.pmw import private_gap_weights
from discreet.relational.database import Database
from discreet.streams import BinaryTree, EventLevel
from discreet.streams.live import Ticks
from discreet.streams.sources import CountedBatches

FIFTY = dp.PureDP(epsilon=50)
OPEN: dict[str, Any] = {
    "max_spend": {"epsilon": 60},
    "min_spend": {"epsilon": 1},
    "tables": {"visits": {"filter": ["age"], "group": ["ward", "age"], "aggregate": ["age"]}},
    "purposes": ["planning"],
    "analysts": ["ann"],
}
NO_AGE = {"visits": {"filter": [], "group": ["ward"], "aggregate": []}}
ALLOWED: dict[str, Any] = {"spend": FIFTY, "analyst": "ann", "purpose": "planning"}

Door = Callable[..., object]


def curator(
    policy: dict[str, Any] | None = None,
    ledger: Any = None,
    snapshot: str | None = "one",
    **more: Any,
) -> dp.Curator:
    rows = range(600)
    frame = pl.DataFrame(
        {
            "ward": ["ABC"[row % 3] for row in rows],
            "age": [row % 100 for row in rows],
            "cost": [row % 100 for row in rows],
        }
    )
    columns: dict[str, Any] = {
        "ward": dp.Category(["A", "B", "C"]),
        "age": dp.Number(0, 99),
        "cost": dp.Number(0, 99),
    }
    return dp.Curator(
        visits=dp.table(frame, unit=dp.Row(), columns=columns, snapshot=snapshot),
        budget=dp.PureDP(epsilon=10_000),
        ledger=ledger or dp.ledger.Memory(),
        policy=None if policy is None else dp.Policy.of(policy),
        **more,
    )


def above(column: str) -> str:
    return f"SELECT COUNT(*) AS n FROM visits WHERE {column} > 30"


def universe(source: Any, column: str) -> Any:
    return source.universe("visits", "ward", tens=f"FLOOR({column} / 25)")


def workload(source: Any, column: str) -> Workload:
    return Workload.marginals(universe(source, column), 1)


WATCHING = AboveThreshold(epsilon=50, threshold=300, sensitivity=1)
TALKING = partial(private_gap_weights, about=600, updates=3)
MATRIX = dp.queries.MatrixMechanism


def opened_round(source: Any, column: str, **more: Any) -> Any:
    return source.round(
        universe(source, column),
        analysts=["ann"],
        queries_each=1,
        protects=OneQuery(),
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
        **more,
    )


def conversation(source: Any, column: str, **more: Any) -> Any:
    return source.converse(universe(source, column), mechanism=TALKING, questions=9, **more)


PAYING: dict[str, Door] = {
    "sql": lambda c, column, **more: c.sql(above(column), **more),
    "frame": lambda c, column, **more: (
        c.frame("visits").filter(dp.col(column) > 30).agg(n=dp.count()).release(**more)
    ),
    "batch": lambda c, column, **more: c.batch(
        {"a": "SELECT COUNT(*) AS n FROM visits", "b": above(column)}, **more
    ),
    "bounds": lambda c, column, **more: c.bounds("visits", column, **more),
    "limits": lambda c, column, **more: c.learn_limits(dp.RowsPer("visits", column), **more),
    "synopsis": lambda c, column, **more: c.synopsis(workload(c, column), mechanism=MATRIX, **more),
    "fit": lambda c, column, **more: c.fit(
        dp.learn.Ridge(), f"SELECT {column}, age AS years FROM visits", target="years", **more
    ),
    "watch": lambda c, column, **more: c.open(WATCHING, **more).ask(above(column)),
    "converse": conversation,
    "round": opened_round,
}
FREE: dict[str, Door] = {
    "preview": lambda c, column, spend: c.preview(above(column), spend=spend),
    "preview of a frame": lambda c, column, spend: (
        c.frame("visits").filter(dp.col(column) > 30).agg(n=dp.count()).preview(spend=spend)
    ),
    "preview of limits": lambda c, column, spend: c.preview(
        dp.RowsPer("visits", column), spend=spend
    ),
    "preview under other limits": lambda c, column, spend: c.with_max_rows_per(
        visits={column: 2}
    ).preview(above(column), spend=spend),
    "preview of a synopsis": lambda c, column, spend: c.preview(
        workload(c, column), mechanism=MATRIX, spend=spend
    ),
    "simulate": lambda c, column, spend: c.simulate(above(column), spend=spend, rows=10),
    "explain": lambda c, column, spend: c.explain(above(column), spend=spend),
}
RESUMED: dict[str, tuple[Door, Door]] = {
    "conversation": (conversation, lambda c, name, **more: c.resume(name, **more)),
    "round": (opened_round, lambda c, name, **more: c.resume(name, **more)),
    "sparse vector": (
        lambda c, _, **more: c.open(WATCHING, **more),
        lambda c, name, **more: c.resume(name, **more).ask(above("age")),
    ),
}


def code_of(attempt: Callable[[], object]) -> str:
    """How an attempt is refused."""
    try:
        attempt()
    except DiscreetError as refusal:
        return refusal.code
    return "answered"


# Policies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("door", PAYING)
@pytest.mark.parametrize("inside", ["curator", "child", "part"])
def test_a_policy_holds_at_every_door_that_is_paid(door: str, inside: str) -> None:
    source = curator(OPEN)
    budget = dp.PureDP(epsilon=500)
    session: Any = source
    if inside == "child":
        session = source.child("team", budget=budget)
    elif inside == "part":
        session = source.partition("visits", by="ward", budget=budget)["A"]
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("age", {"purpose": None}, "policy_purpose"),
        ("age", {"purpose": "fun"}, "policy_purpose"),
        ("age", {"analyst": "eve"}, "policy_asker"),
        ("age", {"spend": dp.PureDP(epsilon=61)}, "policy_spend"),
        ("age", {"spend": dp.PureDP(epsilon=0.5)}, "policy_spend"),
        ("cost", {}, "policy_column"),
    ]
    for column, change, code in refused:
        spent = session.spent
        assert code_of(lambda c=column, m=change: PAYING[door](session, c, **(ALLOWED | m))) == (  # type: ignore[misc]
            code
        )
        # A watch is paid for when it is opened; the policy then holds for each of its questions.
        assert session.spent == spent or (door, code) == ("watch", "policy_column")
    assert code_of(lambda: PAYING[door](session, "age", **ALLOWED)) == "answered"


@pytest.mark.parametrize("door", FREE)
def test_a_policy_holds_where_nothing_is_paid(door: str) -> None:
    source = curator(OPEN)
    assert code_of(lambda: FREE[door](source, "cost", FIFTY)) == "policy_column"
    assert code_of(lambda: FREE[door](source, "age", dp.PureDP(epsilon=61))) == "policy_spend"
    assert code_of(lambda: FREE[door](source, "age", FIFTY)) == "answered"


@pytest.mark.parametrize("door", RESUMED)
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"tables": NO_AGE}, "policy_column"),
        ({"analysts": ["bob"]}, "policy_asker"),
        ({"purposes": ["research"]}, "policy_purpose"),
        ({"max_spend": {"epsilon": 10}}, "answered"),
        ({}, "answered"),
    ],
)
def test_what_is_resumed_is_held_to_the_policy_in_force(
    door: str, change: dict[str, Any], code: str
) -> None:
    """Its price is not: it was paid."""
    ledger = dp.ledger.Memory()
    opening, again = RESUMED[door]
    opened: Any = opening(curator(ledger=ledger), "age", **ALLOWED)
    source = curator({**OPEN, **change}, ledger)
    spent = source.spent
    assert code_of(lambda: again(source, opened.id, analyst="ann")) == code
    assert source.spent == spent


@pytest.mark.parametrize("door", ["sql", "batch", "bounds", "limits", "synopsis"])
def test_a_stored_answer_is_held_to_the_policy_in_force(door: str) -> None:
    ledger = dp.ledger.Memory()
    PAYING[door](curator(ledger=ledger), "age", **ALLOWED)
    narrowed = curator({**OPEN, "tables": NO_AGE}, ledger)
    assert code_of(lambda: PAYING[door](narrowed, "age", **ALLOWED)) == "policy_column"
    same = curator(OPEN, ledger)
    spent = same.spent
    PAYING[door](same, "age", **ALLOWED)
    assert same.spent == spent


# What was paid for on another snapshot ----------------------------------------------------------

FOUND = ["sql", "frame", "batch", "bounds", "limits", "synopsis"]
"""The verbs whose answers are known again."""


def inside(source: dp.Curator, where: str) -> Any:
    return source if where == "curator" else source.child("team", budget=dp.PureDP(epsilon=500))


@pytest.mark.parametrize("door", FOUND)
@pytest.mark.parametrize("where", ["curator", "child"])
def test_what_was_paid_before_is_not_charged_again_unasked(door: str, where: str) -> None:
    """A frame without a name has a snapshot of its own in every session."""
    ledger = dp.ledger.Memory()
    first = inside(curator(ledger=ledger, snapshot=None), where)
    answer: Any = PAYING[door](first, "age", **ALLOWED)
    again = inside(curator(ledger=ledger, snapshot=None), where)
    spent, entries = again.spent, len(list(ledger.entries()))
    ask = partial(PAYING[door], again, "age", **ALLOWED)
    assert code_of(ask) == "paid_before_other_snapshot"
    reused: Any = ask(paid_before=dp.Reuse())
    assert again.spent == spent
    assert str(reused) == str(answer)
    assert all(entry.kind.value == "snapshot" for entry in ledger.entries(entries))
    paid: Any = ask(paid_before=dp.PayAgain())
    assert again.spent.epsilon == 2 * spent.epsilon
    assert str(ask()) == str(paid)  # now it is paid for on this snapshot
    assert again.spent.epsilon == 2 * spent.epsilon
    ledger.verify()


@pytest.mark.parametrize("door", FOUND)
def test_a_curator_may_say_once_what_is_to_be_done(door: str) -> None:
    ledger = dp.ledger.Memory()
    PAYING[door](curator(ledger=ledger, snapshot=None), "age", **ALLOWED)
    spent = curator(ledger=ledger).spent
    PAYING[door](curator(ledger=ledger, snapshot=None, paid_before=dp.Reuse()), "age", **ALLOWED)
    assert curator(ledger=ledger).spent == spent
    PAYING[door](curator(ledger=ledger, snapshot=None, paid_before=dp.PayAgain()), "age", **ALLOWED)
    assert curator(ledger=ledger).spent != spent


@pytest.mark.parametrize("door", FOUND)
@pytest.mark.parametrize(
    ("before", "now", "code"),
    [
        ("july", "july", "stored"),
        ("july", "august", "charged"),
        (None, "july", "paid_before_other_snapshot"),
        ("july", None, "paid_before_other_snapshot"),
    ],
)
def test_only_names_that_the_owner_changed_say_that_the_data_changed(
    door: str, before: str | None, now: str | None, code: str
) -> None:
    ledger = dp.ledger.Memory()
    PAYING[door](curator(ledger=ledger, snapshot=before), "age", **ALLOWED)
    source = curator(ledger=ledger, snapshot=now)
    spent = source.spent
    told = code_of(lambda: PAYING[door](source, "age", **ALLOWED))
    if told == "answered":
        told = "stored" if source.spent == spent else "charged"
    assert told == code


@pytest.mark.parametrize("door", FOUND)
def test_nobody_is_told_what_another_analyst_or_account_paid_for(door: str) -> None:
    ledger = dp.ledger.Memory()
    PAYING[door](curator(ledger=ledger, snapshot=None), "age", **ALLOWED)
    again = curator(ledger=ledger, snapshot=None)
    other = {**ALLOWED, "analyst": "bob"}
    assert code_of(lambda: PAYING[door](again, "age", **other)) == "answered"
    child = again.child("team", budget=dp.PureDP(epsilon=500))
    assert code_of(lambda: PAYING[door](child, "age", **ALLOWED)) == "answered"


def test_what_cost_nothing_is_asked_again_for_nothing() -> None:
    ledger = dp.ledger.Memory()
    for _ in range(2):
        source = curator(ledger=ledger, snapshot=None)
        source.sql("SELECT ward FROM visits GROUP BY ward", spend=FIFTY)
        assert source.spent.epsilon == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("door", FOUND)
def test_a_word_that_is_none_is_refused(door: str) -> None:
    source = curator()
    assert code_of(lambda: PAYING[door](source, "age", **ALLOWED, paid_before="reuse")) == (
        "not_paid_before"
    )
    assert code_of(lambda: curator(paid_before=True)) == "not_paid_before"
    assert source.spent.epsilon == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("door", FOUND)
def test_a_policy_holds_before_a_stored_answer_is_offered(door: str) -> None:
    ledger = dp.ledger.Memory()
    PAYING[door](curator(ledger=ledger, snapshot=None), "age", **ALLOWED)
    narrowed = curator({**OPEN, "tables": NO_AGE}, ledger, snapshot=None)
    ask = partial(PAYING[door], narrowed, "age", **ALLOWED)
    assert code_of(ask) == "policy_column"
    assert code_of(lambda: ask(paid_before=dp.Reuse())) == "policy_column"


# What is of one's own making ---------------------------------------------------------------------


class Own:
    """A mechanism that says what it costs, and would tell everything it is shown."""

    event = events.Laplace(epsilon=50)
    sensitivity = 1

    def open(self, *_: Any) -> Any:
        return self

    def ask(self, exact: int) -> int:
        return exact


class Threshold(AboveThreshold):
    """A class of one's own over one of the package."""


def own_synopsis(**given: Any) -> Any:
    return MATRIX(**given)


def measured(session: Any) -> Any:
    return Measurement(session.space, lambda _: 1, lambda _: events.Laplace(epsilon=50))


def stream(session: Any, **more: Any) -> Any:
    """No policy or part can say what a source holds."""
    return session.stream(
        CountedBatches("ward"),
        unit=EventLevel(),
        keys=list("ABC"),
        ticks=Ticks(start=datetime(2027, 1, 1, tzinfo=UTC), length=timedelta(hours=1), count=4),
        mechanism=BinaryTree,
        spend=FIFTY,
        **more,
    )


MADE: dict[str, Door] = {
    "stream": stream,
    "release": lambda s, **more: s.release(measured(s), spend=FIFTY, **more),
    "open": lambda s, **more: s.open(Own(), spend=FIFTY, **more),
    "open, by a class above": lambda s, **more: s.open(
        Threshold(epsilon=50, threshold=300, sensitivity=1), spend=FIFTY, **more
    ),
    "synopsis": lambda s, **more: s.synopsis(
        workload(s, "age"), mechanism=own_synopsis, spend=FIFTY, **more
    ),
    "preview": lambda s, **_: s.preview(
        workload(s, "age"), mechanism=own_synopsis, spend=FIFTY
    ),
}  # fmt: skip


@pytest.mark.parametrize("door", MADE)
def test_one_rule_for_what_is_of_ones_own_making(door: str) -> None:
    """Under a policy and in a part it is refused; elsewhere its author answers for it."""
    budget = dp.PureDP(epsilon=500)
    held, free = curator(OPEN), curator()
    part = free.partition("visits", by="ward", budget=budget)["A"]
    whole = free.child("team", budget=budget)
    spent = free.spent
    named = {"analyst": "ann", "purpose": "planning"}
    assert code_of(lambda: MADE[door](held, **named)) == "policy_measurement"
    assert code_of(lambda: MADE[door](part, **named)) == "part_not_whole"
    assert (held.spent.epsilon, part.spent.epsilon, free.spent) == (0, 0, spent)  # type: ignore[attr-defined]
    assert code_of(lambda: MADE[door](free, **named)) == "answered"
    assert code_of(lambda: MADE[door](whole, **named)) == "answered"


@pytest.mark.parametrize("inside", ["policy", "part"])
def test_mechanisms_of_the_package_are_described_and_welcome(inside: str) -> None:
    source = curator(OPEN if inside == "policy" else None)
    budget = dp.PureDP(epsilon=500)
    session: Any = source
    if inside == "part":
        session = source.partition("visits", by="ward", budget=budget)["A"]
    for door in ("watch", "synopsis", "converse", "round"):
        assert code_of(lambda d=door: PAYING[d](session, "age", **ALLOWED)) == "answered"  # type: ignore[misc]


# Processes ---------------------------------------------------------------------------------------


def in_a_child(attempt: Callable[[], object]) -> str:
    """How an attempt ends in a forked process."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        gc.disable()  # what other tests left behind is the parent's to end
        try:
            os.write(send, code_of(attempt).encode())
        except BaseException as fault:
            os.write(send, repr(fault).encode())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as told:
        code = told.read()
    os.waitpid(child, 0)
    return code


FORKED: dict[str, Door] = {
    **{name: lambda c, d=door: d(c, "age", **ALLOWED) for name, door in PAYING.items()},
    **{name: lambda c, d=door: d(c, "age", FIFTY) for name, door in FREE.items()},
    "release": lambda c: c.release(measured(c), spend=FIFTY),
    "open": lambda c: c.open(WATCHING, spend=FIFTY),
    "stream": stream,
    "partition": lambda c: c.partition("visits", by="ward", budget=FIFTY),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("door", FORKED)
def test_a_copied_process_has_no_door(door: str, tmp_path: Path) -> None:
    """A ledger in a file works in both processes, so it is the database that must refuse."""
    source = curator(ledger=tmp_path / "visits.ledger")
    free = source.child("team", budget=dp.PureDP(epsilon=500))
    spent, entries = source.spent, len(list(source.ledger.entries()))
    for session in (source, free):
        assert in_a_child(lambda s=session: FORKED[door](s)) == "curator_forked"  # type: ignore[misc]
    assert source.spent == spent
    assert len(list(source.ledger.entries())) == entries


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_tables_are_not_looked_at_in_a_copied_process() -> None:
    """The second line: whoever reserves looks first whether the tables are unchanged."""
    assert in_a_child(curator().context.database.unchanged) == "curator_forked"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_purchase_is_refused_in_a_copied_process_before_it_looks_at_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first line, with the second one taken away."""
    source = curator()
    monkeypatch.setattr(Database, "unchanged", lambda _: True)
    assert in_a_child(lambda: source.open(WATCHING, spend=FIFTY)) == "curator_forked"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("door", RESUMED)
def test_what_is_open_goes_on_in_one_process_alone(door: str, tmp_path: Path) -> None:
    source = curator(ledger=tmp_path / "visits.ledger")
    opening, again = RESUMED[door]
    opened: Any = opening(source, "age", **ALLOWED)
    go_on: dict[str, Callable[[], object]] = {
        "conversation": lambda: opened.ask("ward", "A"),
        "round": opened.close if door == "round" else list,
        "sparse vector": lambda: opened.ask(above("age")),
    }
    assert in_a_child(go_on[door]) in {"curator_forked", "session_not_copied"}
    assert in_a_child(lambda: again(source, opened.id, analyst="ann")) == "curator_forked"
    assert code_of(go_on[door]) == "answered"
