"""Long conversations about a universe: paid once, durable, resumed, one speaker at a time."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.curator.interactive.conversation import Conversation
from discreet.errors import EngineFailed, Exhausted, InvalidParameter
from discreet.ledger import EntryKind, LedgerError
from discreet.ledger.session_log import SessionLog
from discreet.noise import Noiseless
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.online.updaters import PerceptronUpdater, Updater
from discreet.queries.workload.linear_query import Region, Weights
from discreet.queries.workload.workload import Workload
from discreet.release.reply import Origin
from tests.curator.crashes import CrashError, crashing
from tests.curator.people import EASY, FRAME, WARDS, curator, table, universe
from tests.curator.people import conversation as opened

QUESTIONS: list[Any] = [
    *({"ward": ward} for ward in WARDS),
    *({"ward": ward, "sex": "f"} for ward in WARDS),
    *({"age": slice(place, place + 3)} for place in range(8)),
    {"ward": ["A", "D"], "age": [0, 3, 4]},
]


def truth(conditions: dict[str, Any]) -> int:
    found = 0
    for row in FRAME.iter_rows(named=True):
        cell = {"sex": row["sex"], "ward": row["ward"], "age": row["age"] // 10}
        met = True
        for name, condition in conditions.items():
            wanted = range(10)[condition] if isinstance(condition, slice) else condition
            met &= cell[name] in wanted if not isinstance(wanted, str) else cell[name] == wanted
        found += met
    return found


def test_answers_are_within_the_stated_error_and_say_who_gave_them() -> None:
    """All of them together, at confidence 1 - 1e-6."""
    source = curator()
    talk = opened(source, confidence=1 - 1e-6)
    origins = []
    for number, query in enumerate(QUESTIONS[:5], start=1):
        before = talk.updates_left
        reply = talk.ask(query)
        assert reply.within is not None
        assert abs(reply.count - truth(query)) <= reply.within
        assert reply.count == pytest.approx(reply.share * talk.records)
        assert (reply.origin is Origin.DATA) == (reply.left < before)
        assert (reply.number, reply.left) == (number, talk.updates_left)
        origins.append(reply.origin)
    assert Origin.DATA in origins
    assert "updates left" in str(reply)


def test_the_whole_of_it_is_paid_when_it_is_opened_and_nothing_afterwards() -> None:
    source = curator()
    talk = opened(source)
    assert source.spent == dp.PureDP(epsilon=50, unit=source.unit)
    assert talk.event.epsilon(delta=0) <= 50
    for query in QUESTIONS * 3:
        talk.ask(query)
    talk.synopsis.answers(Workload.marginals(talk.universe, 1))
    again = source.resume(talk.id)
    again.ask(QUESTIONS[0])
    assert source.spent == dp.PureDP(epsilon=50, unit=source.unit)
    (asked,) = source.history()
    assert (asked.query, asked.ended) == ("conversation about sex x ward x age", "open")
    again.close()
    assert source.history()[0].ended == "released"
    source.ledger.verify()


def test_without_noise_the_data_answers_exactly() -> None:
    source = curator(randomness=Noiseless())
    talk = opened(source)
    assert talk.records == 4000
    assert source.spent == dp.PureDP(epsilon=0, unit=source.unit)
    for query in QUESTIONS:
        reply = talk.ask(query)
        if reply.origin is Origin.DATA:
            assert reply.count == pytest.approx(truth(query))


def test_where_rows_are_exchanged_their_number_is_public() -> None:
    source = curator(unit=dp.Replace(dp.Row()))
    talk = opened(source)
    assert talk.records == 4000
    talk.ask_all(QUESTIONS)
    assert source.resume(talk.id).records == 4000


def test_questions_in_all_their_forms_mean_the_same() -> None:
    talk = opened(curator())
    while talk.updates_left:
        talk.ask_all(QUESTIONS)
    shape = talk.universe.shape
    cells = np.zeros(shape)
    cells[:, 1, 3:5] = 1
    region = Region(shape, (slice(0, 2), slice(1, 2), slice(3, 5)))
    same: list[Any] = [
        {"ward": "B", "age": [3, 4]},
        {"age": slice(3, 5), "ward": ["B"]},
        {"age": (4, 3), "ward": {"B"}},
        region,
        Weights(cells.ravel()),
    ]
    counts = [talk.ask(query).count for query in same]
    assert counts == pytest.approx([counts[0]] * 5)
    assert talk.ask("ward", "B") == talk.ask({"ward": "B"})
    assert talk.ask("age", [0, 3, 4]).count == pytest.approx(
        talk.ask("age", [0]).count + talk.ask("age", slice(3, 5)).count
    )


def test_many_questions_are_written_down_together() -> None:
    source = curator()
    talk = opened(source, mechanism=never_updating)
    before = source.ledger.checkpoint().number
    replies = talk.ask_all(QUESTIONS)
    assert [reply.number for reply in replies] == list(range(1, len(QUESTIONS) + 1))
    # One threshold, one entry for all estimates.
    assert source.ledger.checkpoint().number == before + 2
    assert source.resume(talk.id).questions_asked == len(QUESTIONS)


def never_updating(**given: Any) -> OnlineConstruction:
    return construction(MultiplicativeUpdater(given["cells"], 0.1), 10**6, **given)


def construction(updater: Updater, threshold: float, **given: Any) -> OnlineConstruction:
    return OnlineConstruction(
        updater,
        given["spend"],
        given["size"],
        threshold,
        cutoff=6,
        records=given["records"],
        randomness=given["randomness"],
    )


def test_updates_are_drawn_from_the_ledger() -> None:
    source = curator()
    talk = opened(source)
    left = [talk.ask(query).left for query in QUESTIONS[:8]]
    drawn = json.loads(source.resume(talk.id).plot().to_json())["layer"]
    used = [point["updates"] for point in drawn[0]["data"]["values"]]
    assert used == [6 - number for number in left][: talk.questions_asked]
    assert drawn[1]["data"]["values"] == [{"updates": 6}]


def test_the_synopsis_is_the_estimate_and_stays_as_it_was() -> None:
    talk = opened(curator())
    first = talk.synopsis
    assert first.counts == pytest.approx(np.full(80, talk.records / 80))
    while talk.updates_left:
        talk.ask_all(QUESTIONS)
    last = talk.synopsis
    assert last.counts.sum() == pytest.approx(talk.records)
    assert first.counts == pytest.approx(np.full(80, talk.records / 80))
    assert last.answers(Workload.marginal(talk.universe, ["ward"]))[0] == pytest.approx(
        talk.ask({"ward": "A"}).count
    )
    assert last.event == talk.event


def test_other_updaters_are_resumed_too(tmp_path: Path) -> None:
    def perceptron(**given: Any) -> OnlineConstruction:
        return construction(PerceptronUpdater(given["cells"], 0.1, 4000, 4e5), 200, **given)

    with curator(tmp_path / "one.ledger") as source:
        talk = opened(source, mechanism=perceptron)
        talk.ask_all(QUESTIONS)
        left, table = talk.updates_left, talk.synopsis.counts
        name = talk.id
    assert left < 6
    with curator(tmp_path / "one.ledger") as source:
        again = source.resume(name)
        assert (again.updates_left, again.synopsis.counts.tolist()) == (left, table.tolist())


def secrets(talk: Conversation) -> tuple[Any, ...]:
    live = talk._session
    return live._comparisons._bar, live._counts.tolist(), live.total


def test_a_conversation_goes_on_after_a_restart(tmp_path: Path) -> None:
    with curator(tmp_path / "one.ledger") as source:
        talk = opened(source, mechanism=never_updating)
        talk.ask_all(QUESTIONS)
        name, before = talk.id, secrets(talk)
        assert before[0] is not None
    with curator(tmp_path / "one.ledger") as source:
        again = source.resume(name)
        assert secrets(again) == before
        assert (again.updates_left, again.questions_asked, again.id) == (6, len(QUESTIONS), name)
        assert again.universe == universe(source)
        assert again.guarantee == talk.guarantee
        assert again.ask(QUESTIONS[0]).within == pytest.approx(talk._plan.within)


def test_the_older_speaker_can_say_nothing_more(tmp_path: Path) -> None:
    """Also where the estimate would have answered: that it does is an answer of the data."""
    with curator(tmp_path / "one.ledger") as one, curator(tmp_path / "one.ledger") as two:
        older = opened(one, mechanism=never_updating)
        older.ask(QUESTIONS[0])
        newer = two.resume(older.id)
        with pytest.raises(LedgerError) as refusal:
            older.ask(QUESTIONS[0])
        assert refusal.value.code == "conversation_taken"
        with pytest.raises(Exhausted, match="conversation_interrupted"):
            older.ask(QUESTIONS[0])
        newer.ask(QUESTIONS[0])
        one.resume(older.id).ask(QUESTIONS[1])
        with pytest.raises(LedgerError, match="conversation_taken"):
            newer.ask(QUESTIONS[0])


@pytest.mark.parametrize("written", [False, True])
def test_a_crash_at_any_entry_loses_nothing_and_gains_nothing(
    monkeypatch: pytest.MonkeyPatch, *, written: bool
) -> None:
    """At the salt, the opening, and each threshold and answer in turn."""
    source, kinds, seen = curator(), set[str](), set[str]()
    for at in range(1, 15):
        with monkeypatch.context() as patch:
            patch.setattr(SessionLog, "_added", crashing(at, written=written))
            with pytest.raises(CrashError):
                used_up(source)
        paid = {entry.id for entry in source.ledger.entries() if entry.kind is EntryKind.RESERVED}
        (name,) = paid - seen
        seen = paid
        before = entries(source, name)
        talk = source.resume(name)
        assert entries(source, name)[: len(before)] == before
        assert talk.updates_left == 6 - sum(entry["did"] == "update" for entry in before)
        while talk.updates_left:
            talk.ask_all(QUESTIONS)
        did = [entry["did"] for entry in entries(source, name)]
        kinds |= {entry["did"] for entry in before[-1:]}
        # One salt, one opening, and a threshold for each update: none was drawn twice.
        assert (did.count("salt"), did.count("open")) == (1, 1)
        assert did.count("update") == did.count("threshold") == 6
    source.ledger.verify()
    assert {"salt", "open", "threshold", "update"} <= kinds


def used_up(source: dp.Curator) -> None:
    talk = opened(source)
    while talk.updates_left:
        talk.ask_all(QUESTIONS)


def entries(source: dp.Curator, name: str) -> list[Any]:
    return list(SessionLog(source.ledger, name, 0).entries())


@pytest.mark.parametrize("mechanism", [never_updating, EASY], ids=["estimate", "data"])
def test_a_ledger_that_fails_tells_nothing_of_who_would_have_answered(
    monkeypatch: pytest.MonkeyPatch, mechanism: Callable[..., OnlineConstruction]
) -> None:
    talk = opened(curator(), mechanism=mechanism)
    talk.ask(QUESTIONS[0])

    def full(*_: object) -> None:
        raise LedgerError(code="ledger_unwritable", expectation="room", remedy="Wait.")

    with monkeypatch.context() as patch:
        patch.setattr(SessionLog, "_added", full)
        with pytest.raises(LedgerError, match="ledger_unwritable"):
            talk.ask(QUESTIONS[1])
    with pytest.raises(Exhausted, match="conversation_interrupted"):
        talk.ask(QUESTIONS[1])


def test_what_is_hidden_is_in_no_export_history_or_file(tmp_path: Path) -> None:
    with curator(tmp_path / "one.ledger") as source:
        talk = opened(source, mechanism=never_updating)
        talk.ask_all(QUESTIONS)
        name = talk.id
        hidden = [e for e in entries(source, name) if e["did"] in ("threshold", "salt")]
        assert len(hidden) == 2
        exported = json.dumps([entry.body for entry in source.ledger.entries()])
        shown = f"{exported} {source.history()} {talk!r} {talk.ask(QUESTIONS[0])}".encode()
        source.ledger.backup(tmp_path / "copy")
    for text in (shown, *((tmp_path / file).read_bytes() for file in ("one.ledger", "copy"))):
        for entry in hidden:
            number = entry.get("steps", entry.get("salt"))
            assert str(number).encode() not in text or len(str(number)) < 4


def test_conversations_and_questions_are_interleaved_by_many_threads() -> None:
    source = curator()
    talks = [opened(source), opened(source)]
    failures: list[BaseException] = []

    def busy(number: int) -> None:
        try:
            for query in QUESTIONS[:6]:
                talks[number % 2].ask(query)
            source.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(epsilon=1), analyst="me")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=busy, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for talk in talks:
        assert talk.questions_asked <= 12
        told = [entry["did"] for entry in entries(source, talk.id)]
        assert told.count("update") == 6 - talk.updates_left
        resumed = source.resume(talk.id)
        assert (resumed.updates_left, resumed.questions_asked) == (
            talk.updates_left,
            talk.questions_asked,
        )
    source.ledger.verify()


def test_a_child_pays_for_its_own_conversations() -> None:
    source = curator()
    child = source.child("marketing", budget=dp.PureDP(epsilon=60))
    talk = opened(child)
    assert child.spent == dp.PureDP(epsilon=50, unit=source.unit)
    assert child.resume(talk.id).updates_left == talk.updates_left
    with pytest.raises(InvalidParameter, match="conversation_unknown"):
        source.resume(talk.id)


def test_resuming_is_refused_where_it_is_not_the_same(tmp_path: Path) -> None:
    place = tmp_path / "one.ledger"
    with curator(place) as source:
        talk = opened(source, analyst="ann")
        name = talk.id
        with pytest.raises(InvalidParameter, match="conversation_unknown"):
            source.resume(name)
        source.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(epsilon=1))
        (other,) = [e.id for e in source.ledger.entries() if "sql" in e.body.get("detail", {})]
        with pytest.raises(InvalidParameter, match="conversation_unknown"):
            source.resume(other)
        closed = opened(source)
        closed.close()
        with pytest.raises(InvalidParameter, match="reservation_closed"):
            source.resume(closed.id)
        with pytest.raises(Exhausted, match="conversation_interrupted"):
            closed.ask(QUESTIONS[0])
    changed = dp.Curator(
        people=table(snapshot="two"), budget=dp.PureDP(epsilon=10_000), ledger=str(place)
    )
    with changed, pytest.raises(InvalidParameter, match="data_changed"):
        changed.resume(name, analyst="ann")


def test_an_engine_that_fails_ends_an_opening_and_no_resumption(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = curator()
    talk = opened(source)
    with monkeypatch.context() as patch:
        patch.setattr(
            "discreet.curator.interactive.open_conversation.cell_counts", lambda *_: 1 / 0
        )
        with pytest.raises(EngineFailed, match="engine_failed") as refusal:
            source.resume(talk.id)
        assert refusal.value.__context__ is None
        with pytest.raises(EngineFailed, match="engine_failed"):
            opened(source)
    assert source.history()[1].ended == "failed"
    assert source.resume(talk.id).updates_left == 6


def test_openings_that_cannot_be_are_refused_before_anything_is_charged() -> None:
    source = curator()
    explicit: Any = dp.queries.Universe.of(sex=["f", "m"])

    def other_records(**given: Any) -> OnlineConstruction:
        return never_updating(**{**given, "records": 1})

    def dear(**given: Any) -> OnlineConstruction:
        return never_updating(**{**given, "spend": dp.PureDP(epsilon=60)})

    refused: list[tuple[str, dict[str, Any]]] = [
        ("not_an_online_mechanism", {"mechanism": dp.queries.MWEM}),
        ("not_an_online_mechanism", {"mechanism": other_records}),
        ("not_an_online_mechanism", {"mechanism": dear}),
        ("budget_exhausted", {"spend": dp.PureDP(epsilon=10_001)}),
        ("records_unknown", {"mechanism": dp.queries.private_multiplicative_weights}),
    ]
    for code, changes in refused:
        with pytest.raises((InvalidParameter, Exhausted), match=code):
            opened(source, **changes)
    given: Any = {"mechanism": EASY, "spend": dp.PureDP(epsilon=1), "questions": 5}
    with pytest.raises(InvalidParameter, match="universe_not_counted"):
        source.converse(explicit, **given)
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        source.converse(wide_universe(source), **given)
    replaced = curator(unit=dp.Replace(dp.Person("person", max_rows=2)))
    with pytest.raises(InvalidParameter, match="records_unknown"):
        opened(replaced)
    assert source.spent == dp.PureDP(epsilon=0, unit=source.unit)


def wide_universe(source: dp.Curator) -> Any:
    keys = {name: f"FLOOR(age / {1 + place})" for place, name in enumerate("abcdef")}
    return source.universe("people", **keys)


def test_conditions_that_nothing_meets_are_refused() -> None:
    talk = opened(curator())
    wrong: list[Any] = [{"ward": "Z"}, {"ward": []}, {"age": slice(50, 60)}, {"ward": ["A", "Z"]}]
    for query in wrong:
        with pytest.raises(InvalidParameter, match="condition_unmet"):
            talk.ask(query)
    with pytest.raises(InvalidParameter, match="attribute_unknown"):
        talk.ask("height", 3)
    odd: Any
    for odd in (7, Weights([0.5])):
        with pytest.raises(InvalidParameter, match="query_misfit"):
            talk.ask(odd)
    assert talk.questions_asked == 0
    talk.ask(QUESTIONS[0])


# -- faults that an attack found -------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [never_updating, EASY], ids=["estimate", "data"])
def test_an_answer_that_was_not_kept_leaves_no_trace_of_who_would_have_given_it(
    mechanism: Callable[..., OnlineConstruction],
) -> None:
    """Resumed elsewhere, a conversation told by ``left``, ``asked`` and tracebacks what was far.

    As often as one liked, against one threshold, and at no charge.
    """
    source = curator()
    whole = {"sex": ["f", "m"]}
    talk = opened(source, mechanism=mechanism)
    reply = talk.ask(whole)  # a round is under way, so that nothing is kept before the comparison
    assert reply.origin is Origin.ESTIMATE
    shown, source_again = repr(talk), source.resume(talk.id)
    with pytest.raises(LedgerError, match="conversation_taken") as failed:
        talk.ask_all([{"ward": "D"}, whole, {"ward": "A"}])
    assert (talk.updates_left, talk.questions_asked, repr(talk)) == (reply.left, 1, shown)
    named = [frame.name for frame in failed.traceback]
    assert named[-1] == "ask_all", "where it failed"
    assert failed.value.__context__ is None or failed.value.__suppress_context__
    assert source_again.updates_left == reply.left


def test_a_conversation_is_not_resumed_with_columns_that_mean_something_else() -> None:
    """With the categories in another order, what was learnt about one was told of another."""
    kept = dp.ledger.Memory()
    talk = opened(curator(kept))
    columns: dict[str, Any] = {
        "sex": dp.Category(["m", "f"]),
        "ward": dp.Category(WARDS),
        "age": dp.Number(0, 99),
    }
    other = dp.Curator(
        people=dp.table(
            FRAME, unit=dp.Person("person", max_rows=2), columns=columns, snapshot="one"
        ),
        budget=dp.PureDP(epsilon=10_000),
        ledger=kept,
    )
    with pytest.raises(InvalidParameter, match="universe_differs"):
        other.resume(talk.id)
    assert curator(kept).resume(talk.id).updates_left == talk.updates_left


class _Unlike(OnlineConstruction):
    """Of one's own: what it opens is nobody's promise, and resuming would make another."""


def test_a_construction_of_ones_own_is_refused_before_anything_is_paid() -> None:
    def made(**given: Any) -> OnlineConstruction:
        planned = EASY(**given)
        return _Unlike(
            *(planned.updater, planned.spend, planned.size, planned.threshold, planned.cutoff),
            records=planned.records,
            randomness=planned.randomness,
        )

    source = curator()
    with pytest.raises(InvalidParameter, match="not_an_online_mechanism"):
        opened(source, mechanism=made)
    assert source.spent == dp.PureDP(epsilon=0, unit=source.unit)
