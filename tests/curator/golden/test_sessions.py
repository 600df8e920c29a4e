"""Conversations and rounds of earlier versions go on with exactly the noise they were paid with.

None of them says by which rule it was planned: those before rules had a name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.core.events.event import from_json
from discreet.curator.rounds import resume
from discreet.errors import DiscreetError
from discreet.queries.analysts.round_rule import CURRENT
from discreet.queries.online import sharing_rule, stored_construction
from tests.curator.golden import sessions

KEPT = Path(__file__).parent / "kept_sessions"
NAMES = sorted(path.stem for path in KEPT.glob("*.json"))
TOLD: dict[str, Any] = {
    name: json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")) for name in NAMES
}
GAMES = ("expected", "corrected")


@contextmanager
def opened(name: str, folder: Path) -> Iterator[dp.Curator]:
    """The curator of a kept ledger; nothing may be charged."""
    for part in (f"{name}.sqlite", f"{name}.sqlite.key"):
        shutil.copyfile(KEPT / part, folder / part)
        (folder / part).chmod(0o600)
    with sessions.curator(folder / f"{name}.sqlite") as source:
        source.ledger.verify(TOLD[name]["head"])
        yield source
        assert [str(amount) for amount in source.ledger.spent()] == TOLD[name]["spent"]


def paid(source: dp.Curator) -> Callable[[str], Any]:
    """The event that was charged for, by the number of a session."""
    charged = {
        entry.id: entry.body["event"]
        for entry in source.ledger.entries()
        if entry.kind.value == "reserved"
    }
    return lambda number: from_json(charged[number])


@pytest.mark.parametrize("name", NAMES)
def test_conversations_go_on(name: str, tmp_path: Path) -> None:
    with opened(name, tmp_path) as source:
        charged = paid(source)
        for number, asked, left, _ in TOLD[name]["talks"].values():
            again = source.resume(number)
            assert (again.asked, again.left) == (asked, left)
            assert again.event == charged(number)
            assert again.ask("ward", "C").number == (asked + 1 if left else 0)


def closed(name: str, chosen: list[str], folder: Path) -> None:
    kept = sessions.rounds(name.split("-", 1)[1])
    with opened(name, folder) as source:
        charged = paid(source)
        for about in chosen:
            number = TOLD[name]["rounds"][about]
            again = source.resume(number)
            assert again.plan().event == charged(number), about
            results = again.close()
            first = kept[about].get("analysts", ["ann"])[0]
            assert len(results.for_analyst(first).answers) == len(sessions.SUBMITTED)


@pytest.mark.parametrize("name", NAMES)
def test_rounds_go_on(name: str, tmp_path: Path) -> None:
    closed(name, [each for each in TOLD[name]["rounds"] if each not in GAMES], tmp_path)


@pytest.mark.slow
def test_games_go_on(tmp_path: Path) -> None:
    closed("then-rho-exchanged", list(GAMES), tmp_path)


def test_the_rule_of_today_would_not_make_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin that plans old sessions by today's rule: other noise, and so it is refused."""
    monkeypatch.setattr(resume, "round_rules", lambda _: (CURRENT,))
    today = sharing_rule.CURRENT
    monkeypatch.setattr(stored_construction, "sharing_rule", lambda _: today)
    name = "then-pairs-rows"
    with opened(name, tmp_path) as source:
        for number in TOLD[name]["rounds"].values():
            with pytest.raises(DiscreetError, match="round_differs"):
                source.resume(number)
        number = TOLD[name]["talks"]["gap ApproxDP"][0]
        with pytest.raises(DiscreetError, match=r"journal_differs|engine_failed"):
            source.resume(number)


def test_a_round_of_today_says_by_which_rule_it_goes_and_is_planned_by_it_again() -> None:
    source = dp.Curator(
        people=dp.table(
            sessions.people(),
            unit=dp.Replace(dp.Row()),
            columns={"ward": dp.Category(sessions.WARDS), "age": dp.Number(0, 3)},
            snapshot="one",
        ),
        budget=dp.ApproxDP(epsilon=10, delta=1e-3),
        ledger=dp.ledger.Memory(),
    )
    about = sessions.opened_about(source.universe("people", "ward", "age"), source)
    (entry,) = [each for each in source.ledger.entries() if each.kind.value == "reserved"]
    assert entry.body["detail"]["round"]["rule"] == CURRENT.version == 2
    again = source.resume(about.id)
    assert again.plan().event == about.plan().event
    talk = source.converse(
        source.universe("people", "ward"),
        mechanism=dp.queries.private_gap_weights,
        spend=sessions.PAIR,
        questions=10,
    )
    entry = [each for each in source.ledger.entries() if each.kind.value == "reserved"][-1]
    assert entry.body["detail"]["conversation"]["mechanism"]["rule"] == 2
    assert source.resume(talk.id).event == talk.event


@pytest.mark.parametrize("version", [0, 3, "2", None])
def test_a_rule_that_is_not_known_here_is_refused(version: Any) -> None:
    with pytest.raises(DiscreetError, match="journal_misread"):
        sharing_rule.sharing_rule(version)
