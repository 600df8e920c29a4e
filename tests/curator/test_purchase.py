"""The same bad inputs through every verb that is paid for: refused with a code, and free.

What can be refused without data is refused before anything is reserved; so after each refusal what
remains is what remained before, and the ledger has no further reservation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import events
from discreet.core.measurement import Measurement
from discreet.curator.session import Session
from discreet.errors import DiscreetError
from discreet.mechanisms import AboveThreshold, Exponential, Laplace
from discreet.queries import Workload
from discreet.queries.analysts.guarantee import OneQuery
from discreet.streams import BinaryTree, EventLevel
from discreet.streams.live import Ticks
from discreet.streams.sources import CountedBatches

SPEND = dp.PureDP(epsilon=50)
BUDGET = dp.PureDP(epsilon=500)
COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age > 30"
EVERYBODY = "SELECT COUNT(*) AS n FROM visits"
ABOVE = AboveThreshold(epsilon=50, threshold=300, sensitivity=1)
TALKING = partial(dp.queries.private_gap_weights, about=600, updates=3)
MATRIX = dp.queries.MatrixMechanism
NAMED: dict[str, Any] = {"spend": SPEND, "analyst": "ann", "purpose": "planning"}
POLICY: dict[str, Any] = {
    "max_spend": {"epsilon": 60},
    "min_spend": {"epsilon": 1},
    "tables": {"visits": {"filter": ["age"], "group": ["ward", "age"], "aggregate": ["age"]}},
    "purposes": ["planning"],
    "analysts": ["ann"],
}

PAIRS = "SELECT age, age AS years FROM visits"
EACH = dp.synthetic.IndependentMarginals

Verb = Callable[..., object]


def rows() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "ward": ["ABC"[row % 3] for row in range(600)],
            "age": [row % 100 for row in range(600)],
            "cost": [row % 100 for row in range(600)],
        }
    )


COLUMNS: dict[str, Any] = {
    "ward": dp.Category(["A", "B", "C"]),
    "age": dp.Number(0, 99),
    "cost": dp.Number(0, 99),
}


def curator(
    source: Any = None, budget: Any = BUDGET, ledger: Any = None, **more: Any
) -> dp.Curator:
    table = dp.table(rows() if source is None else source, unit=dp.Row(), columns=COLUMNS)
    return dp.Curator(visits=table, budget=budget, ledger=ledger or dp.ledger.Memory(), **more)


def measurement(session: Any, event: Any = None) -> Any:
    return Measurement(session.space, lambda _: 1, lambda _: event or events.Laplace(epsilon=50))


def universe(session: Any) -> Any:
    return session.universe("visits", "ward", tens="FLOOR(age / 25)")


def workload(session: Any) -> Workload:
    return Workload.marginals(universe(session), 1)


def opened_round(session: Any, about: Any = None, **more: Any) -> Any:
    return session.round(
        about or universe(session),
        analysts=["ann"],
        queries_each=1,
        protects=OneQuery(),
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
        **more,
    )


def opened_stream(session: Any, **more: Any) -> Any:
    day = datetime(2027, 1, 1, tzinfo=UTC)
    return session.stream(
        CountedBatches("ward"),
        keys=["A"],
        unit=EventLevel(),
        ticks=Ticks(start=day, length=timedelta(days=1), count=2),
        mechanism=BinaryTree,
        **more,
    )


VERBS: dict[str, Verb] = {
    "sql": lambda s, **more: s.sql(COUNT, **more),
    "batch": lambda s, **more: s.batch({"a": COUNT, "b": EVERYBODY}, **more),
    "bounds": lambda s, **more: s.bounds("visits", "age", **more),
    "learn_limits": lambda s, **more: s.learn_limits(dp.RowsPer("visits", "age"), **more),
    "release": lambda s, **more: s.release(measurement(s), **more),
    "synopsis": lambda s, **more: s.synopsis(workload(s), mechanism=MATRIX, **more),
    "open": lambda s, **more: s.open(ABOVE, **more),
    "converse": lambda s, **more: s.converse(universe(s), mechanism=TALKING, questions=9, **more),
    "round": opened_round,
    "stream": opened_stream,
    "fit": lambda s, **more: s.fit(dp.learn.LinearRegression(), PAIRS, target="years", **more),
    "synthesize": lambda s, **more: s.synthesize(
        "visits", columns=["ward"], mechanism=EACH, **more
    ),
    "evaluate_synthetic": lambda s, **more: s.evaluate_synthetic(
        "visits", rows(), columns=["ward"], ways=(1,), **more
    ),
}  # fmt: skip
"""Every verb that is paid for, as it is answered with what is named in ``NAMED``."""
SEVERAL_TABLES = {"synthesize_tables"}
"""Verbs that need people and their rows: ``synthetic/test_make_tables`` asks the same of them."""


def refused(session: Any, attempt: Callable[[], object]) -> str:
    """The code of a refusal that left no trace in the budget."""
    left, paid = session.remaining, reservations(session)
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    assert session.remaining == left
    assert reservations(session) == paid
    return refusal.value.code


def reservations(session: Any) -> int:
    return sum(entry.kind == "reserved" for entry in session.ledger.entries())


def test_what_is_well_asked_is_paid_for_once() -> None:
    """The list is complete, and each of its verbs would be answered."""
    for verb in VERBS.values():
        source = curator()
        verb(source, **NAMED)
        assert reservations(source) == 1
        assert source.remaining == dp.PureDP(epsilon=450, unit=dp.Row())
    assert paying() == set(VERBS) | SEVERAL_TABLES


def paying() -> set[str]:
    """The verbs of a session that take a spend from somebody."""
    verbs = {name: signature(verb) for name, verb in vars_of(Session) if callable(verb)}
    return {name for name, given in verbs.items() if {"spend", "analyst"} <= set(given.parameters)}


def vars_of(kind: type) -> list[tuple[str, Any]]:
    return [(name, getattr(kind, name)) for name in dir(kind) if not name.startswith("_")]


# What is no spend --------------------------------------------------------------------------------

NO_SPEND: dict[str, tuple[Any, set[str]]] = {
    "none": (None, {"not_a_spend", "spend_or_accuracy"}),
    "a number": (0.5, {"not_a_spend"}),
    "a number of numpy": (np.float64(0.5), {"not_a_spend"}),
    "an array": (np.array([0.5]), {"not_a_spend"}),
    "text": ("PureDP(epsilon=0.5)", {"not_a_spend"}),
    "an event": (events.Laplace(epsilon=0.5), {"not_a_spend"}),
    "the class": (dp.PureDP, {"not_a_spend"}),
    "a definition the budget cannot pay": (dp.ZCDP(rho=0.5), {"spend_notion"}),
    "a delta the budget has not": (dp.ApproxDP(epsilon=1, delta=1e-6), {"spend_notion"}),
    "more than remains": (dp.PureDP(epsilon=501), {"budget_exhausted"}),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("spend", NO_SPEND)
def test_what_is_no_spend_is_refused(verb: str, spend: str) -> None:
    if spend == "more than remains" and verb in {"release", "open"}:
        pytest.skip("what is charged is the event, which is affordable")
    source = curator()
    given, codes = NO_SPEND[spend]
    if spend == "more than remains" and verb == "fit":
        codes = {"noise_beyond_grid"}  # nothing is fitted so precisely, whatever remains
    assert refused(source, lambda: VERBS[verb](source, **(NAMED | {"spend": given}))) in codes


@pytest.mark.parametrize("verb", VERBS)
def test_numbers_of_numpy_in_a_spend_are_numbers(verb: str) -> None:
    """The same price as with the number itself."""
    source = curator()
    VERBS[verb](source, **(NAMED | {"spend": dp.PureDP(epsilon=np.float64(50))}))
    assert source.remaining == dp.PureDP(epsilon=450, unit=dp.Row())


@pytest.mark.parametrize("verb", ["release", "open"])
def test_a_spend_below_the_event_is_refused(verb: str) -> None:
    source = curator()
    small = NAMED | {"spend": dp.PureDP(epsilon=49)}
    assert refused(source, lambda: VERBS[verb](source, **small)) == "spend_too_small"


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_child_has_left_is_what_counts(verb: str) -> None:
    child = curator().child("team", budget=dp.PureDP(epsilon=49.5))
    assert refused(child, lambda: VERBS[verb](child, **NAMED)) == "budget_exhausted"


# Who asks, and why -------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("policy", [None, POLICY], ids=["free", "policy"])
@pytest.mark.parametrize(
    "given",
    [
        {"analyst": 7},
        {"analyst": None},
        {"analyst": ["ann"]},
        {"purpose": 7},
        {"purpose": ["planning"]},
    ],
    ids=str,
)
def test_who_and_why_are_text(verb: str, policy: Any, given: dict[str, Any]) -> None:
    if policy is not None and verb in {"release", "stream"}:
        pytest.skip("what is of one's own making is not released under a policy at all")
    source = curator(policy=None if policy is None else dp.Policy.of(policy))
    assert refused(source, lambda: VERBS[verb](source, **(NAMED | given))) == "not_text"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("given", [{"analyst": ""}, {"analyst": " \n"}, {"purpose": ""}], ids=str)
def test_who_and_why_are_named(verb: str, given: dict[str, Any]) -> None:
    source = curator()
    assert refused(source, lambda: VERBS[verb](source, **(NAMED | given))) == "name_empty"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("inside", ["curator", "child"])
@pytest.mark.parametrize(
    ("narrowed", "given", "code"),
    [
        ({"analysts": ["bob"]}, {}, "policy_asker"),
        ({"purposes": ["research"]}, {}, "policy_purpose"),
        ({}, {"purpose": None}, "policy_purpose"),
        ({"max_spend": {"epsilon": 10}}, {}, "policy_spend"),
        ({"min_spend": {"epsilon": 55}}, {}, "policy_spend"),
        ({"max_spend": {"rho": 10}, "min_spend": {}}, {}, "policy_spend"),
        ({"tables": {"visits": {"filter": [], "group": [], "aggregate": []}}}, {}, "policy_column"),
        ({"tables": {"other": POLICY["tables"]["visits"]}}, {}, "policy_table"),
    ],
)  # fmt: skip
def test_a_policy_refuses_for_free(
    verb: str, inside: str, narrowed: dict[str, Any], given: dict[str, Any], code: str
) -> None:
    other = dp.table(rows(), unit=dp.Row(), columns=COLUMNS)
    source: Any = curator(policy=dp.Policy.of({**POLICY, **narrowed}), other=other)
    session = source.child("team", budget=dp.PureDP(epsilon=400)) if inside == "child" else source
    if verb in {"release", "stream"}:
        code = "policy_measurement"
    if verb == "open" and code in {"policy_table", "policy_column"}:
        pytest.skip("what is asked is seen once a question is asked")
    assert refused(session, lambda: VERBS[verb](session, **(NAMED | given))) == code


# The tables and the process ----------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_changed_is_refused_for_free(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    rows().write_parquet(path)
    source = curator(path)
    rows().head(100).write_parquet(path)
    assert refused(source, lambda: VERBS[verb](source, **NAMED)) == "data_changed"


def test_a_question_about_a_file_that_changed_leaves_a_session_open(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    rows().write_parquet(path)
    before = path.read_bytes()
    stamp = path.stat()
    source = curator(path)
    session = source.open(ABOVE, **NAMED)
    rows().head(100).write_parquet(path)
    assert refused(source, lambda: session.ask(COUNT)) == "data_changed"
    path.write_bytes(before)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [entry.ended for entry in source.interactive_sessions()] == ["open"]
    assert session.ask(COUNT) in (True, False)


@pytest.mark.parametrize("verb", VERBS)
def test_a_closed_curator_refuses(verb: str, tmp_path: Path) -> None:
    kept = tmp_path / "visits.ledger"
    with curator(ledger=kept) as source:
        child = source.child("team", budget=dp.PureDP(epsilon=100))
        left = source.remaining
    for session in (source, child):
        with pytest.raises(DiscreetError) as refusal:
            VERBS[verb](session, **NAMED)
        assert refusal.value.code == "ledger_closed"
    with curator(ledger=kept) as again:
        assert again.remaining == left
        assert reservations(again) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("verb", VERBS)
def test_a_copied_process_pays_for_nothing(verb: str, tmp_path: Path) -> None:
    source = curator(ledger=tmp_path / "visits.ledger")
    left = source.remaining
    receive, send = os.pipe()
    if os.fork() == 0:
        try:
            VERBS[verb](source, **NAMED)
            os.write(send, b"answered")
        except DiscreetError as refusal:
            os.write(send, refusal.code.encode())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as told:
        assert told.read() == "curator_forked"
    assert source.remaining == left
    assert reservations(source) == 0


# What is bought ----------------------------------------------------------------------------------


class Silent:
    """Says what it costs and opens what nobody can ask."""

    event = events.Laplace(epsilon=50)
    sensitivity = 1

    def open(self) -> object:
        return object()


class Torn:
    """Fails when it is opened."""

    event = events.Laplace(epsilon=50)
    sensitivity = 1

    def open(self) -> object:
        raise ValueError


@pytest.mark.parametrize(
    "mechanism",
    [
        Exponential(epsilon=50, sensitivity=1),
        Laplace(epsilon=50, sensitivity=1),
        Silent(),
        Torn(),
        AboveThreshold,
        None,
        "AboveThreshold",
        np.zeros(3),
        dp.PureDP(epsilon=1),
    ],
    ids=lambda each: getattr(each, "__name__", type(each).__name__),
)
def test_what_cannot_be_opened_is_refused(mechanism: Any) -> None:
    source = curator()
    code = refused(source, lambda: source.open(mechanism, **NAMED))
    assert code == "not_an_interactive_mechanism"


@pytest.mark.parametrize(
    "mechanism",
    [None, 7, "MWEM", ABOVE, dict, print, object()],
    ids=lambda each: getattr(each, "__name__", type(each).__name__),
)
def test_what_makes_no_synopsis_or_conversation_is_refused(mechanism: Any) -> None:
    source = curator()
    about = universe(source)
    asked = {**NAMED, "mechanism": mechanism}
    code = refused(source, lambda: source.synopsis(workload(source), **asked))
    assert code == "not_a_synopsis_mechanism"
    code = refused(source, lambda: source.converse(about, questions=9, **asked))
    assert code == "not_an_online_mechanism"
    if mechanism is not None:  # the planner chooses
        assert refused(source, lambda: opened_round(source, **asked))


@pytest.mark.parametrize("given", [None, 7, COUNT, ABOVE, events.Laplace(epsilon=50)], ids=str)
def test_what_is_no_measurement_is_refused(given: Any) -> None:
    source = curator()
    assert refused(source, lambda: source.release(given, **NAMED)) == "not_a_measurement"


def test_a_measurement_of_other_tables_is_refused() -> None:
    other = dp.Curator(
        t=dp.table(rows(), unit=dp.Row(), columns={}), budget=BUDGET, ledger=dp.ledger.Memory()
    )
    source = curator()
    assert refused(source, lambda: source.release(measurement(other), **NAMED))


@pytest.mark.parametrize(
    "event", [None, "Laplace", 7, events.Gaussian(noise_multiplier=1)], ids=str
)
def test_an_event_that_is_none_or_has_no_price_is_refused(event: Any) -> None:
    source = curator()
    told: Any = Measurement(source.space, lambda _: 1, lambda _: event)
    assert refused(source, lambda: source.release(told, **NAMED))


UNKNOWN: dict[str, Verb] = {
    "a table in SQL": lambda s: s.sql("SELECT COUNT(*) AS n FROM nothing", **NAMED),
    "a column in SQL": lambda s: s.sql("SELECT SUM(nothing) AS n FROM visits", **NAMED),
    "no SQL": lambda s: s.sql(7, **NAMED),
    "a table in a batch": lambda s: s.batch({"a": "SELECT COUNT(*) AS n FROM x"}, **NAMED),
    "no batch": lambda s: s.batch([COUNT], **NAMED),
    "an empty batch": lambda s: s.batch({}, **NAMED),
    "a table with bounds": lambda s: s.bounds("nothing", "age", **NAMED),
    "a column with bounds": lambda s: s.bounds("visits", "nothing", **NAMED),
    "a column of another kind with bounds": lambda s: s.bounds("visits", "ward", **NAMED),
    "no names with bounds": lambda s: s.bounds(7, 8, **NAMED),
    "no workload": lambda s: s.synopsis(universe(s), mechanism=MATRIX, **NAMED),
    "no universe to ask": lambda s: s.converse("x", mechanism=TALKING, questions=9, **NAMED),
    "no universe of a round": lambda s: opened_round(s, "ward", **NAMED),
    "no questions": lambda s: s.converse(universe(s), mechanism=TALKING, questions=0, **NAMED),
    "no confidence": lambda s: s.sql(COUNT, confidence=1.5, **NAMED),
    "no confidence in a batch": lambda s: s.batch({"a": COUNT}, confidence="high", **NAMED),
}  # fmt: skip


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_not_there_is_refused(what: str) -> None:
    source = curator()
    assert refused(source, lambda: UNKNOWN[what](source))


ABOUT: dict[str, Verb] = {
    "synopsis": lambda s, about: s.synopsis(
        Workload.marginals(about, 1), mechanism=MATRIX, **NAMED
    ),
    "converse": lambda s, about: s.converse(about, mechanism=TALKING, questions=9, **NAMED),
    "round": lambda s, about: opened_round(s, about, **NAMED),
}


@pytest.mark.parametrize("verb", ABOUT)
def test_a_universe_of_somebody_else_is_refused(verb: str) -> None:
    """Of another table, of other values, and of none at all."""
    source = curator()
    columns = {**COLUMNS, "ward": dp.Category(["C", "B", "A"])}
    turned = dp.Curator(
        visits=dp.table(rows(), unit=dp.Row(), columns=columns),
        other=dp.table(rows(), unit=dp.Row(), columns=columns),
        budget=BUDGET,
        ledger=dp.ledger.Memory(),
    )
    plain = dp.queries.Universe(universe(source).attributes)
    for about, code in (
        (turned.universe("other", "ward"), "unknown_table"),
        (turned.universe("visits", "ward"), "universe_differs"),
        (plain, "universe_not_counted"),
    ):
        assert refused(source, partial(ABOUT[verb], source, about)) == code


# One place ---------------------------------------------------------------------------------------


def test_nothing_else_touches_the_ledgers_money() -> None:
    from discreet.curator import purchase

    folder = Path(purchase.__file__).parent
    money = re.compile(r"\baccount\.(reserve|commit|fail)\(|\bledger\.(reserve|commit|fail)\(")
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if money.search(path.read_text(encoding="utf-8"))
    }
    assert found <= {"purchase.py"}


def test_the_price_is_asked_with_what_is_in_force_after_an_amendment() -> None:
    source = curator(budget=dp.PureDP(epsilon=40))
    assert refused(source, lambda: source.sql(COUNT, **NAMED)) == "budget_exhausted"
    source.amend(budget=dp.PureDP(epsilon=60), reason="more")
    source.sql(COUNT, **NAMED)
    assert source.remaining == replace(dp.PureDP(epsilon=10), unit=dp.Row())
