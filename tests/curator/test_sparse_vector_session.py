"""Sparse vector over SQL, taken up again by another process: the same threshold, no yes lost."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.core.events.event import Event
from discreet.errors import Exhausted, InvalidParameter
from discreet.ledger import LedgerError
from discreet.ledger.session_log import SessionLog
from discreet.mechanisms import MONOTONE, AboveThreshold, NumericSparse, Sparse
from discreet.mechanisms.sparse_vector.plain import mechanism_from_dict, mechanism_to_dict
from discreet.noise import SYSTEM
from tests.curator.crashes import CrashError, crashing
from tests.curator.people import curator

ALL = "SELECT COUNT(*) AS n FROM people"
NONE = "SELECT COUNT(*) AS n FROM people WHERE age > 200"
SPEND = dp.PureDP(epsilon=30)
GIVEN: dict[str, Any] = {"threshold": 2000, "sensitivity": 2}
ABOVE = AboveThreshold(epsilon=30, **GIVEN)
SPARSE = Sparse.pure(epsilon=30, cutoff=3, **GIVEN)
NUMERIC = NumericSparse(epsilon=30, cutoff=3, **GIVEN)


def entries(source: dp.Curator, name: str) -> list[Any]:
    return list(SessionLog(source.ledger, name, 0).entries())


def test_a_threshold_is_kept_before_the_first_comparison_and_read_again(tmp_path: Path) -> None:
    with curator(tmp_path / "one.ledger") as source:
        watch = source.open(ABOVE, spend=SPEND)
        assert not watch.ask(NONE)
        secret, name = watch._session._secret, watch.id
        assert [list(entry) for entry in entries(source, name)] == [
            ["hidden"],
            ["sql", "answer", "above"],
        ]
    with curator(tmp_path / "one.ledger") as source:
        again = source.resume(name)
        assert again._session._secret == secret
        assert again.ask(ALL)
        assert [e for e in entries(source, name) if "hidden" in e] == [{"hidden": secret}]
        with pytest.raises(Exhausted, match="threshold_reached"):
            source.resume(name).ask(ALL)
        assert source.spent == dp.PureDP(epsilon=30, unit=source.unit)
        exported = " ".join(entry.text for entry in source.ledger.entries())
        assert f'"hidden":{secret}' not in exported
        source.ledger.verify()


@pytest.mark.parametrize("mechanism", [SPARSE, NUMERIC], ids=["sparse", "numeric"])
def test_positive_answers_are_counted_over_resumptions(mechanism: Any) -> None:
    source = curator()
    name = source.open(mechanism, spend=SPEND).id
    for left in (3, 2, 1):
        watch = source.resume(name)
        assert watch._session.positive_answers_left == left
        assert not watch.ask(NONE)
        assert watch.ask(ALL)
    with pytest.raises(Exhausted, match="cutoff_reached"):
        source.resume(name).ask(ALL)
    told = entries(source, name)
    assert sum("hidden" in entry for entry in told) == 3
    assert sum(entry.get("above", False) for entry in told) == 3


def used_up(watch: Any) -> None:
    while watch._session.positive_answers_left:
        watch.ask(NONE)
        watch.ask(ALL)


@pytest.mark.parametrize("written", [False, True])
def test_a_crash_at_any_entry_loses_nothing_and_gains_nothing(
    monkeypatch: pytest.MonkeyPatch, *, written: bool
) -> None:
    """Three rounds of a secret, a no and a yes."""
    source = curator()
    for at in range(1, 10):
        watch = source.open(SPARSE, spend=SPEND)
        with monkeypatch.context() as patch:
            patch.setattr(SessionLog, "_added", crashing(at, written=written))
            with pytest.raises(CrashError):
                used_up(watch)
        with pytest.raises(Exhausted, match="conversation_interrupted"):
            watch.ask(ALL)
        before = entries(source, watch.id)
        used_up(source.resume(watch.id))
        told = entries(source, watch.id)
        assert told[: len(before)] == before
        assert sum("hidden" in entry for entry in told) == 3
        assert sum(entry.get("above", False) for entry in told) == 3
    source.ledger.verify()


def test_the_older_process_can_say_nothing_more() -> None:
    source = curator()
    older = source.open(SPARSE, spend=SPEND)
    newer = source.resume(older.id)
    with pytest.raises(LedgerError, match="conversation_taken"):
        older.ask(NONE)
    assert not newer.ask(NONE)


def test_only_what_can_be_taken_up_is() -> None:
    class Own:
        """A mechanism that keeps its secrets to itself."""

        event: Event = ABOVE.event
        sensitivity = 2

        def open(self, *_: object) -> Any:
            return ABOVE.open()

    source = curator()
    own = source.open(Own(), spend=SPEND)
    named = source.open(ABOVE, spend=SPEND, analyst="ann")
    for name in (own.id, named.id):
        with pytest.raises(InvalidParameter, match="conversation_unknown"):
            source.resume(name)
    assert not source.resume(named.id, analyst="ann").ask(NONE)


def test_mechanisms_come_back_as_they_were_written() -> None:
    mechanisms = (
        AboveThreshold(epsilon=0.1, threshold=Fraction(1, 3), sensitivity=1, scores=MONOTONE),
        SPARSE,
        NUMERIC,
    )
    for mechanism in mechanisms:
        plain = mechanism_to_dict(mechanism)
        assert plain is not None
        again = mechanism_from_dict(plain, SYSTEM)
        assert again == mechanism
        assert again.event.epsilon(delta=0) == mechanism.event.epsilon(delta=0)
    assert mechanism_to_dict(object()) is None
