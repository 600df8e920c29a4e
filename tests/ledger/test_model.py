"""Any sequence of operations agrees with a few lines of arithmetic, wherever entries lie."""

import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from discreet.errors import Exhausted, InvalidParameter
from discreet.ledger import Checkpoint, Ledger, LedgerError, Memory, PostgreSQL, SQLite
from discreet.ledger.session_log import SessionLog
from tests import postgres_server
from tests.ledger.conftest import shared_database
from tests.ledger.examples import KEY, LIMIT, reserve, terms

AMOUNT = st.integers(0, 6)
CHARGE = st.tuples(AMOUNT, AMOUNT)
ANALYST = st.sampled_from(["ann", "bob"])
QUESTION = st.sampled_from(["count", "sum", "ünïcode \ud800"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)  # fmt: skip
RELEASE = st.dictionaries(st.text(max_size=3), PLAIN, max_size=3)


class Operations(RuleBasedStateMachine):
    """The ledger beside its model: two totals, a set of open names, a table of releases."""

    waiting = Bundle("waiting")
    session_logs = Bundle("session_logs")
    heads = Bundle("heads")

    def __init__(self) -> None:
        super().__init__()
        self.ledger = self.made()
        self.ledger.open(terms())
        self.spent, self.limit = (0, 0), LIMIT
        self.asked: dict[str, tuple[str, str]] = {}
        self.answers: dict[str, list[Any]] = {}
        self.noted: dict[str, list[Any]] = {}
        self.claims: dict[str, int] = {}
        self.releases: dict[tuple[str, str], Any] = {}
        self.snapshots: dict[str, str] = {}
        self.entries = 1

    def made(self) -> Ledger:
        return Memory()

    def reopen(self) -> None:
        """Nothing to reopen in memory."""

    @initialize(target=heads)
    def start(self) -> Checkpoint:
        return self.ledger.checkpoint()

    @rule(target=waiting, charge=CHARGE, analyst=ANALYST, query=QUESTION)
    def reserve(self, charge: tuple[int, int], analyst: str, query: str) -> str:
        total = (self.spent[0] + charge[0], self.spent[1] + charge[1])
        if total[0] > self.limit[0] or total[1] > self.limit[1]:
            with pytest.raises(Exhausted):
                reserve(self.ledger, charge, analyst, query)
            return ""
        name = reserve(self.ledger, charge, analyst, query)
        self.spent, self.asked[name] = total, (analyst, query)
        self.answers[name], self.noted[name] = [], []
        self.entries += 1
        return name

    @rule(name=waiting, release=RELEASE)
    def answer(self, name: str, release: dict[str, Any]) -> None:
        if name in self.asked:
            self.ledger.answer(name, release)
            self.answers[name].append(release)
            self.noted[name].append(release)
            self.entries += 1
        else:
            with pytest.raises(InvalidParameter):
                self.ledger.answer(name, release)

    @rule(target=session_logs, name=waiting)
    def claim(self, name: str) -> tuple[str, int]:
        if name not in self.asked:
            with pytest.raises(InvalidParameter):
                self.ledger.session_log(name)
            return "", 0
        self.claims[name] = self.claims.get(name, 0) + 1
        assert self.ledger.session_log(name).generation == self.claims[name]
        self.entries += 1
        return name, self.claims[name]

    @rule(speaker=session_logs, entry=RELEASE, secret=st.booleans())
    def note(self, speaker: tuple[str, int], entry: dict[str, Any], *, secret: bool) -> None:
        """A speaker outlives closing and opening: its claim is what counts."""
        name, generation = speaker
        session_log = SessionLog(self.ledger, name, generation)
        write = session_log.keep if secret else session_log.write
        if name in self.asked and generation == self.claims[name]:
            write(entry)
            self.noted[name].append(entry)
            self.answers[name] += [] if secret else [entry]
            self.entries += 1
            assert session_log.entries() == self.noted[name]
        else:
            with pytest.raises((InvalidParameter, LedgerError)):
                write(entry)

    @rule(name=waiting, release=RELEASE)
    def commit(self, name: str, release: dict[str, Any]) -> None:
        if name in self.asked:
            self.ledger.commit(name, release)
            self.releases[self.asked.pop(name)] = release
            self.entries += 1
        else:
            with pytest.raises(InvalidParameter):
                self.ledger.commit(name, release)

    @rule(name=consumes(waiting))
    def fail(self, name: str) -> None:
        if name in self.asked:
            self.ledger.fail(name, "engine_failed")
            del self.asked[name]
            self.entries += 1

    @rule(limit=st.tuples(st.integers(0, 30), st.integers(0, 30)))
    def amend(self, limit: tuple[int, int]) -> None:
        if limit[0] < self.spent[0] or limit[1] < self.spent[1]:
            with pytest.raises(InvalidParameter):
                self.ledger.amend(limit=limit, budget={}, reason="less")
        else:
            self.ledger.amend(limit=limit, budget={}, reason="other")
            self.limit = limit
            self.entries += 1

    @rule(tag=QUESTION)
    def snapshot(self, tag: str) -> None:
        found = self.ledger.snapshot(tag)
        self.entries += tag not in self.snapshots
        assert self.snapshots.setdefault(tag, found) == found
        assert len(set(self.snapshots.values())) == len(self.snapshots)

    @rule(target=heads)
    def keep_head(self) -> Checkpoint:
        return self.ledger.checkpoint()

    @rule(checkpoint=heads)
    def verify(self, checkpoint: Checkpoint) -> None:
        self.ledger.verify(checkpoint)

    @rule()
    def close_and_open(self) -> None:
        self.reopen()
        in_force = self.ledger.open(terms())
        assert in_force.limit == self.limit

    @invariant()
    def totals_agree(self) -> None:
        assert self.ledger.spent() == self.spent
        assert self.ledger.limit() == self.limit
        assert self.ledger.checkpoint().number == self.entries

    @invariant()
    def releases_agree(self) -> None:
        for analyst in ("ann", "bob"):
            for query in ("count", "sum"):
                found = self.ledger.find(analyst=analyst, query=query)
                assert found == self.releases.get((analyst, query))
        for name, answers in self.answers.items():
            assert self.ledger.answers(name) == answers

    def teardown(self) -> None:
        self.ledger.verify()
        self.ledger.close()


class OperationsOnAFile(Operations):
    """The same in a file, which is closed and opened at any moment."""

    def made(self) -> Ledger:
        self.folder = tempfile.TemporaryDirectory()
        return SQLite(Path(self.folder.name) / "visits.ledger")

    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = SQLite(Path(self.folder.name) / "visits.ledger")

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


class OperationsOnAServer(Operations):
    """The same on a server, whose connection is closed or cut at any moment."""

    def made(self) -> Ledger:
        self.name = f"model-{uuid4().hex}"
        return self.connected()

    def connected(self) -> Ledger:
        return PostgreSQL(shared_database(), name=self.name, key=KEY)

    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = self.connected()

    @rule()
    def cut(self) -> None:
        assert isinstance(self.ledger, PostgreSQL)
        connection = self.ledger.store.transactions._connection
        if connection is not None:
            pid = connection.info.backend_pid
            postgres_server.shared().execute(f"SELECT pg_terminate_backend({pid})")


@pytest.mark.parametrize(
    ("operations", "examples"),
    [
        pytest.param(Operations, 60, id="memory"),
        pytest.param(OperationsOnAFile, 25, id="file"),
        pytest.param(OperationsOnAServer, 3, id="server", marks=postgres_server.needed),
        pytest.param(
            *(OperationsOnAServer, 30),
            id="server, for longer",
            marks=[postgres_server.needed, pytest.mark.slow],
        ),
    ],
)
def test_operations_agree_with_the_model(operations: type[Operations], examples: int) -> None:
    run_state_machine_as_test(
        operations, settings=settings(max_examples=examples, stateful_step_count=30)
    )
