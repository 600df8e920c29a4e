"""Rounds outlive their process, keep their secrets, and are run once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.curator.rounds import plan as planning
from discreet.curator.rounds import resume as resuming
from discreet.curator.rounds import run as releasing
from discreet.curator.rounds import running
from discreet.curator.rounds.log import Pages
from discreet.errors import DiscreetError, EngineFailed, InvalidParameter, LedgerError
from discreet.ledger.entry import EntryKind
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.workload.workload import Workload
from tests.curator.test_round import COLUMNS, MINE, opened, private

SECRET = "anna-of-the-ministry"
NAMES = [SECRET, "bob"]


def everything(results: Any) -> list[Any]:
    """All answers of all analysts."""
    found = [results.for_analyst(name).answers.tolist() for name in NAMES]
    if results.synopsis is not None:
        universe = results.synopsis.universe
        workload = Workload.marginal(universe, ["ward", "age"])
        found.append(results.synopsis.answers(workload).tolist())
    return found


@pytest.mark.parametrize("changes", [{}, {"asked": Conjunctions(2)}], ids=["own", "shared"])
def test_a_round_survives_restarts_and_is_read_again_for_free(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = tmp_path / "people.ledger"
    with private(ledger=path) as source:
        about = opened(source, analysts=NAMES, queries_each=4, **changes)
        about.submit(SECRET, MINE)
        name, plan, spent = about.id, about.plan(), source.spent
    with private(ledger=path) as source:
        about = source.resume(name)
        assert about.plan() == plan
        about.submit("bob", MINE[:2])
        first = everything(about.close())
        assert source.spent == spent
        assert len(first[0]) == 4
        assert len(first[1]) == 2
    with private(ledger=path) as source:
        again = source.resume(name)
        assert everything(again.close()) == first
        assert source.spent == spent
        with pytest.raises(InvalidParameter, match="round_closed"):
            again.submit("bob", MINE)
        source.ledger.verify()
        assert source.analyst_spending.rounds == 1


def test_what_was_drawn_is_never_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.ledger"
    source = private(ledger=path)
    about = opened(source, analysts=NAMES)
    about.submit("bob", MINE)

    def broken(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(about, "_commit", broken)
        with pytest.raises(OSError):  # noqa: PT011 -- a power cut: nobody saw the outcome
            about.close()
    kept = Pages(about._pages.session_log).outcome()
    source.close()
    with private(ledger=path) as source, monkeypatch.context() as patched:
        patched.setattr(running, "run", broken)
        results = source.resume(about.id).close()
        assert results.outcome.to_dict() == kept
        assert source.history()[0].ended == "released"
        source.ledger.verify()


def test_a_round_that_was_taken_up_elsewhere_is_over_here() -> None:
    source = private()
    about = opened(source, analysts=NAMES)
    again = source.resume(about.id)
    with pytest.raises(LedgerError, match="conversation_taken"):
        about.submit("bob", MINE)
    again.submit("bob", MINE)
    assert len(again.close().for_analyst("bob").answers) == 4


def test_a_failing_engine_says_one_thing_and_the_price_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = private()
    about = opened(source, analysts=NAMES)
    spent = source.spent

    def broken(*_: object) -> Any:
        message = f"{SECRET} asked about row 3"
        raise ValueError(message)

    monkeypatch.setattr(running, "run", broken)
    with pytest.raises(EngineFailed, match="engine_failed") as failed:
        about.close()
    assert SECRET not in str(failed.value)
    assert failed.value.__context__ is None
    assert source.spent == spent
    assert source.history()[0].ended == "failed"
    with pytest.raises(DiscreetError):
        about.close()


def test_neither_names_nor_queries_are_readable_in_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    with private(ledger=path) as source:
        about = opened(source, analysts=NAMES, mechanism=ProfiledMarginals, asked=Conjunctions(2))
        about.submit(SECRET, [{"ward": ["A", "C"]}, {"sex": "f"}])
        about.close()
        bodies = [json.dumps(dict(entry.body)) for entry in source.ledger.entries()]
        kinds = [entry.kind for entry in source.ledger.entries()]
        assert SECRET not in str(source.history()) + repr(about)
    assert kinds.count(EntryKind.KEPT) == 4  # names, a submission, that it runs, the outcome
    assert not any(SECRET in body or "submit" in body for body in bodies)
    raw = b"".join(file.read_bytes() for file in tmp_path.iterdir() if "key" not in file.name)
    assert SECRET.encode() not in raw


def test_only_rounds_of_the_asker_are_resumed() -> None:
    source = private()
    about = opened(source, analyst="owner")
    for name, analyst in ((about.id, "somebody"), ("x" * 24, "owner")):
        with pytest.raises(InvalidParameter, match="conversation_unknown"):
            source.resume(name, analyst=analyst)
    source.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(epsilon=0.1))
    (other,) = [e.id for e in source.ledger.entries() if "sql" in e.body.get("detail", {})]
    with pytest.raises(InvalidParameter, match="conversation_unknown"):
        source.resume(other)


def test_a_round_is_not_run_on_other_data(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    with private(ledger=path) as source:
        name = opened(source, analysts=NAMES).id
    frame = {"ward": np.array(["A", "B"]), "age": np.array([1, 2]), "sex": np.array(["f", "m"])}
    table = dp.table(frame, unit=dp.Replace(dp.Row()), columns=COLUMNS, snapshot="two")
    budget = dp.ApproxDP(epsilon=10, delta=1e-4)
    other = dp.Curator(people=table, budget=budget, ledger=path)
    with other, pytest.raises(InvalidParameter, match="data_changed"):
        other.resume(name)


def test_a_plan_that_would_differ_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    source = private()
    about = opened(source, analysts=NAMES)
    real = planning.plan

    def newer(facts: Any, wanted: Any) -> Any:
        return real(replace(facts, most=facts.most + 1), wanted)

    monkeypatch.setattr(resuming, "plan", newer)
    with pytest.raises(InvalidParameter, match="round_differs"):
        source.resume(about.id)


class TestARoundThatWasCutOff:
    """Data was opened, and the outcome was not kept: it is not drawn a second time."""

    class Cut(BaseException):
        """The process ends here."""

    def cut(
        self, monkeypatch: pytest.MonkeyPatch, path: Path, where: object, name: str
    ) -> tuple[str, Any]:
        """Close a round in a process that ends when it calls ``name``: its id, and the spending."""

        def ending(*_: object, **__: object) -> None:
            raise self.Cut

        with private(ledger=path) as source, monkeypatch.context() as patched:
            about = opened(source, analysts=NAMES)
            about.submit("bob", MINE)
            patched.setattr(where, name, ending)
            with pytest.raises(self.Cut):
                about.close()
            return about.id, source.spent

    @pytest.mark.parametrize(
        ("where", "name"), [(running, "run"), (Pages, "end")], ids=["running", "before the page"]
    )
    def test_is_not_run_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str
    ) -> None:
        about, spent = self.cut(monkeypatch, tmp_path / "people.ledger", where, name)
        with private(ledger=tmp_path / "people.ledger") as source:
            with pytest.raises(InvalidParameter, match="round_interrupted"):
                source.resume(about).close()
            assert source.spent == spent
            source.ledger.verify()

    def test_before_it_says_that_it_runs_goes_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        about, spent = self.cut(monkeypatch, tmp_path / "people.ledger", Pages, "run")
        with private(ledger=tmp_path / "people.ledger") as source:
            results = source.resume(about).close()
            assert len(results.for_analyst("bob").answers) == 4
            assert source.spent == spent

    def test_while_somebody_took_it_up_is_not_run_again_there(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Resumed before the page was written, closed after it: the page is read at closing."""
        source = private()
        about = opened(source, analysts=NAMES)
        claim = type(source.context.account).session_log
        late: list[Any] = []

        def running_meanwhile(account: Any, name: str) -> Any:
            about._pages.run()
            late.append(name)
            return claim(account, name)

        monkeypatch.setattr(type(source.context.account), "session_log", running_meanwhile)
        again = source.resume(about.id)
        assert late == [about.id]
        with pytest.raises(InvalidParameter, match="round_interrupted"):
            again.close()

    def test_by_a_full_disk_keeps_what_was_drawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        source = private()
        about = opened(source, analysts=NAMES)
        about.submit("bob", MINE)
        runs: list[int] = []
        real = releasing.run

        def counted(*values: Any) -> Any:
            runs.append(1)
            return real(*values)

        def full(*_: object) -> None:
            raise OSError

        monkeypatch.setattr(running, "run", counted)
        with monkeypatch.context() as patched:
            patched.setattr(Pages, "end", full)
            with pytest.raises(OSError):  # noqa: PT011
                about.close()
        with pytest.raises(InvalidParameter, match="round_closed"):
            about.submit("bob", MINE[::-1])  # else it would be shown the answers of the first
        results = about.close()
        assert len(results.for_analyst("bob").answers) == 4
        assert len(runs) == 1

    def test_is_free_to_try_again_where_the_data_had_changed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = private()
        about = opened(source, analysts=NAMES)
        with monkeypatch.context() as patched:
            patched.setattr(type(source.context.database), "unchanged", lambda _: False)
            with pytest.raises(InvalidParameter, match="data_changed"):
                about.close()
        about.close()
