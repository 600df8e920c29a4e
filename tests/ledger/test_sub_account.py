"""Budgets within a budget: reserved in full when granted, in the same chain, never exceeded."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import Exhausted, InvalidParameter, Mismatch
from discreet.ledger import (
    Entry,
    EntryKind,
    Ledger,
    LedgerError,
    Memory,
    Role,
    SQLite,
    SubAccount,
    SubAccountGrant,
    restore,
)
from discreet.ledger.entry import following
from discreet.ledger.plain_json import compact
from tests.ledger.examples import LIMIT, reserve, terms


def granted(ledger: Ledger, name: str = "marketing", above: str = "", **changes: Any) -> SubAccount:
    """An allotment in the currency of its ledger; a partition charges as it is told."""
    fixed: dict[str, Any] = {
        "name": name,
        "role": Role.CHILD,
        "charge": (3, 1),
        "limit": (3, 1),
        "filter": "epsilon+delta",
        "budget": {"epsilon": "0.3"},
        "detail": {},
    }
    return SubAccount.opened(ledger, above, SubAccountGrant(**{**fixed, **changes}))


def draw(
    account: SubAccount,
    charge: tuple[int, ...] = (1, 0),
    *,
    analyst: str = "ann",
    query: str = "q",
) -> str:
    return account.reserve(analyst=analyst, query=query, charge=charge, event="{}", detail={})


def test_a_grant_is_charged_at_once_and_in_full(ledger: Ledger) -> None:
    child = granted(ledger)
    assert ledger.spent() == (3, 1)
    assert (child.spent(), child.remaining()) == ((0, 0), (3, 1))


def test_what_a_child_spends_costs_the_ledger_nothing_more(ledger: Ledger) -> None:
    child = granted(ledger)
    draw(child, (2, 1))
    assert ledger.spent() == (3, 1)
    assert child.remaining() == (1, 0)
    ledger.verify()


def test_a_child_cannot_exceed_its_limit_and_a_refusal_writes_nothing(ledger: Ledger) -> None:
    child = granted(ledger)
    draw(child, (3, 0))
    checkpoint = ledger.checkpoint()
    with pytest.raises(Exhausted):
        draw(child, (0, 2))
    with pytest.raises(Exhausted):
        draw(child, (1, 0))
    assert ledger.checkpoint() == checkpoint


def test_a_ledger_cannot_grant_more_than_it_has(ledger: Ledger) -> None:
    granted(ledger, "a", charge=(8, 0), limit=(8, 0))
    checkpoint = ledger.checkpoint()
    with pytest.raises(Exhausted):
        granted(ledger, "b")
    assert ledger.checkpoint() == checkpoint
    with pytest.raises(Exhausted):
        reserve(ledger, (3, 0))


def test_the_same_name_finds_the_same_child_with_what_it_spent(ledger: Ledger) -> None:
    draw(granted(ledger), (2, 0))
    again = granted(ledger)
    assert again.spent() == (2, 0)
    assert ledger.spent() == (3, 1)


@pytest.mark.parametrize(
    "other",
    [
        {"budget": {"epsilon": "0.4"}},
        {"filter": "epsilon"},
        {"role": Role.PARTITION},
        {"detail": {"k": 2}},
    ],
)
def test_the_same_name_on_other_terms_is_refused(ledger: Ledger, other: dict[str, Any]) -> None:
    granted(ledger)
    with pytest.raises(Mismatch) as refusal:
        granted(ledger, **other)
    assert refusal.value.code == "allotment_terms"
    assert ledger.spent() == (3, 1)


def test_a_refusal_of_other_terms_shows_only_what_differs(ledger: Ledger) -> None:
    granted(ledger, detail={"table": "visits", "columns": {"fever": "one"}})
    with pytest.raises(Mismatch) as refusal:
        granted(ledger, detail={"table": "visits", "columns": {"fever": "another"}, "k": 2})
    assert refusal.value.received == {"columns": {"fever": "another"}, "k": 2}
    assert refusal.value.expectation.endswith("granted with, {'columns': {'fever': 'one'}}")


def test_grandchildren_are_drawn_from_their_parent_and_cost_the_ledger_nothing(
    ledger: Ledger,
) -> None:
    child = granted(ledger)
    grandchild = granted(ledger, "interns", above=child.account, charge=(2, 1), limit=(2, 1))
    assert (ledger.spent(), child.remaining()) == ((3, 1), (1, 0))
    draw(grandchild, (2, 1))
    with pytest.raises(Exhausted):
        granted(ledger, "more", above=child.account, charge=(2, 0), limit=(2, 0))
    ledger.verify()


def test_parts_cost_nothing_further_and_each_has_the_whole_limit(ledger: Ledger) -> None:
    whole = granted(ledger, "by ward", role=Role.PARTITION, charge=(6, 2))
    parts = [
        granted(ledger, name, above=whole.account, role=Role.PART, charge=(0, 0)) for name in "AB"
    ]
    for part in parts:
        draw(part, (3, 1))
        with pytest.raises(Exhausted):
            draw(part, (1, 0))
    assert ledger.spent() == (6, 2)
    ledger.verify()


def test_nothing_is_drawn_from_a_partition_itself(ledger: Ledger) -> None:
    whole = granted(ledger, "by ward", role=Role.PARTITION)
    for attempt in (
        lambda: draw(whole),
        lambda: granted(ledger, "child", above=whole.account),
    ):
        with pytest.raises(InvalidParameter) as refusal:
            attempt()
        assert refusal.value.code == "account_not_spendable"


def test_parts_belong_to_partitions_only(ledger: Ledger) -> None:
    child = granted(ledger)
    with pytest.raises(InvalidParameter):
        granted(ledger, "A", above=child.account, role=Role.PART, charge=(0, 0))
    with pytest.raises(InvalidParameter) as refusal:
        granted(ledger, "A", above="nobody", role=Role.PART, charge=(0, 0))
    assert refusal.value.code == "account_unknown"


def test_analysts_of_different_accounts_do_not_find_each_others_releases(ledger: Ledger) -> None:
    child, other = granted(ledger), granted(ledger, "sales")
    ledger.commit(draw(child), {"n": 1})
    assert child.find(analyst="ann", query="q") == {"n": 1}
    assert other.find(analyst="ann", query="q") is None
    assert ledger.find(analyst="ann", query="q") is None


def test_a_child_outlives_its_process(place: Path) -> None:
    with SQLite(place) as ledger:
        ledger.open(terms())
        draw(granted(ledger), (2, 0))
    with SQLite(place) as ledger:
        ledger.open(terms())
        assert granted(ledger).remaining() == (1, 1)


def test_back_ups_and_heads_cover_children(kept: SQLite, tmp_path: Path) -> None:
    child = granted(kept)
    draw(child, (1, 0))
    copy = tmp_path / "copy"
    checkpoint = kept.backup(copy)
    place = kept.path
    kept.close()
    place.unlink()
    restore(copy, place, checkpoint=checkpoint)
    with SQLite(place) as ledger:
        ledger.open(terms())
        assert granted(ledger).spent() == (1, 0)
        ledger.verify(checkpoint)


def test_totals_are_found_without_reading_the_history(ledger: Ledger) -> None:
    child = granted(ledger, charge=(0, 0), limit=(0, 0))
    for _ in range(40):
        draw(child, (0, 0))
    read: list[int] = []
    store, after = ledger.chain.store, ledger.chain.store.after

    def counted(number: int, count: int) -> list[Entry]:
        found = after(number, count)
        read.extend(entry.number for entry in found)
        return found

    store.after = counted  # type: ignore[method-assign]
    child.spent()
    draw(child, (0, 0))
    assert read == []


class TestVerify:
    """Entries that a holder of the key should not have written."""

    @pytest.fixture
    def forged(self) -> Callable[..., str]:
        """Add entries to a fresh ledger with one child, and verify; the code of the refusal."""

        def attempt(*changes: Callable[[SubAccount, Entry], Entry]) -> str:
            ledger = Memory()
            ledger.open(terms())
            child = granted(ledger)
            draw(child, (1, 0))
            for change in changes:
                with ledger.chain.writing() as last:
                    ledger.chain.add(change(child, last))
            with pytest.raises(LedgerError) as refusal:
                ledger.verify()
            return refusal.value.code

        return attempt

    @staticmethod
    def drawn(child: SubAccount, last: Entry, charge: str, total: str) -> Entry:
        body = {"charge": charge.split(), "total": total.split()}
        return following(last, EntryKind.DRAWN, text=compact(body), subject=child.account)

    @pytest.mark.parametrize(
        ("charge", "total"),
        [("0 0", "0 0"), ("1 0", "1 0"), ("-1 0", "0 0"), ("9 0", "9 0"), ("0", "0")],
    )
    def test_totals_are_added_up_anew(
        self, forged: Callable[..., str], charge: str, total: str
    ) -> None:
        found = forged(lambda child, last: self.drawn(child, last, charge, total))
        assert found == "ledger_damaged"

    def test_a_question_needs_the_drawing_that_paid_for_it(
        self, forged: Callable[..., str]
    ) -> None:
        def unpaid(child: SubAccount, last: Entry) -> Entry:
            body = {"account": child.account, "asker": "a", "question": "q", "charge": ["0", "0"]}
            subject = child._subject("a", "q")
            return following(last, EntryKind.RESERVED, text=compact(body), subject=subject)

        assert forged(unpaid) == "ledger_damaged"

    def test_a_grandchild_needs_the_drawing_that_paid_for_it(
        self, forged: Callable[..., str]
    ) -> None:
        def unpaid(child: SubAccount, last: Entry) -> Entry:
            grant = SubAccountGrant(
                name="x",
                role=Role.CHILD,
                charge=(0, 0),
                limit=(9, 9),
                filter="",
                budget={},
                detail={},
            )
            owner = child._ledger.chain.owner()
            subject = owner.tag("account", child.account, "x")
            return following(
                last, EntryKind.GRANTED, text=grant.text(child.account), subject=subject
            )

        assert forged(unpaid) == "ledger_damaged"

    def test_a_grant_is_charged_to_the_ledger(self, forged: Callable[..., str]) -> None:
        def free(child: SubAccount, last: Entry) -> Entry:
            text = child._granted.text.replace("marketing", "other")
            subject = child._ledger.chain.owner().tag("account", "", "other")
            return following(last, EntryKind.GRANTED, text=text, subject=subject)

        assert forged(free) == "ledger_damaged"

    def test_a_name_is_granted_once(self, forged: Callable[..., str]) -> None:
        def twice(child: SubAccount, last: Entry) -> Entry:
            first = child._granted
            total = tuple(a + b for a, b in zip(last.spent, first.charge, strict=True))
            return replace(
                following(last, EntryKind.GRANTED, text=first.text, subject=first.subject),
                spent=total,
            )

        assert forged(twice) == "ledger_damaged"


def test_a_drawing_that_was_taken_away_is_noticed(kept: SQLite) -> None:
    child = granted(kept)
    draw(child, (1, 0))
    draw(child, (1, 0))
    assert child.spent() == (2, 0)
    with closing(sqlite3.connect(kept.path)) as connection, connection:
        connection.execute("DROP TRIGGER entries_remain")
        connection.execute(
            "DELETE FROM entries WHERE number ="
            " (SELECT max(number) FROM entries WHERE kind = 'drawn')"
        )
    with pytest.raises(LedgerError) as refusal:
        draw(child, (1, 0))
    assert refusal.value.code == "ledger_rolled_back"
    with pytest.raises(LedgerError):
        kept.verify()


def test_eight_threads_open_one_child_and_spend_it_exactly(ledger: Ledger) -> None:
    together = threading.Barrier(8)

    def spend(worker: int) -> int:
        together.wait()
        child = granted(ledger, charge=LIMIT, limit=LIMIT)
        done = 0
        while True:
            try:
                ledger.commit(draw(child, (1, 0), analyst=str(worker)), {})
            except Exhausted:
                return done
            done += 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(8))) == LIMIT[0]
    assert ledger.spent() == LIMIT
    kinds = [entry.kind for entry in ledger.entries()]
    assert kinds.count(EntryKind.GRANTED) == 1
    ledger.verify()


def test_threads_that_look_while_others_spend_see_no_roll_back(ledger: Ledger) -> None:
    child = granted(ledger, charge=LIMIT, limit=LIMIT)
    done = threading.Event()

    def look() -> int:
        looks = 0
        while not done.is_set():
            child.remaining()
            looks += 1
        return looks

    with ThreadPoolExecutor(3) as pool:
        looking = [pool.submit(look) for _ in range(3)]
        for _ in range(LIMIT[0]):
            draw(child, (1, 0))
        done.set()
        assert all(task.result() > 0 for task in looking)
    assert child.remaining() == (0, LIMIT[1])


LIMITED = """
import sys
from discreet.ledger import SubAccount, SubAccountGrant, Role, SQLite, LedgerTerms
from discreet.errors import Exhausted

ledger = SQLite(sys.argv[1])
terms = dict(unit="Row()", budget={}, filter="epsilon", limit=(40,))
ledger.open(LedgerTerms(**terms, identities="question/1"))
child = SubAccount.opened(ledger, "", SubAccountGrant(name="child", role=Role.CHILD, charge=(40,),
                                           limit=(40,), filter="epsilon", budget={}, detail={}))
"""
SPENDER = """
print("open", flush=True)
try:
    while True:
        name = child.reserve(analyst=sys.argv[2], query="q", charge=(1,), event="{}", detail={})
        child.commit(name, {"worker": sys.argv[2]})
except Exhausted:
    pass
"""


def test_processes_that_race_and_are_killed_never_overspend_a_child(place: Path) -> None:
    command = [sys.executable, "-c", LIMITED + SPENDER]
    running = [
        subprocess.Popen([*command, str(place), str(n)], stdout=subprocess.PIPE) for n in range(3)
    ]
    try:
        for victim in running[:2]:
            assert victim.stdout is not None
            victim.stdout.readline()
            victim.kill()
            victim.wait()
        assert running[2].wait(60) == 0
    finally:
        for process in running:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    with SQLite(place) as ledger:
        ledger.verify()
        entries = list(ledger.entries())
        drawn = [entry for entry in entries if entry.kind is EntryKind.DRAWN]
        assert ledger.spent() == drawn[-1].amounts("total") == (40,)
        kinds = [entry.kind for entry in entries]
        assert kinds.count(EntryKind.GRANTED) == 1
        assert len(drawn) == kinds.count(EntryKind.RESERVED) == 40


@pytest.mark.slow
def test_forty_kills_of_four_spenders_never_overspend_a_child(place: Path) -> None:
    command = [sys.executable, "-c", (LIMITED + SPENDER).replace("40", "4000")]
    chance = random.Random(20261116)
    running: list[subprocess.Popen[bytes]] = []
    seen = 0
    try:
        for kill in range(44):
            arguments = [*command, str(place), str(kill)]
            running.append(subprocess.Popen(arguments, stdout=subprocess.PIPE))
            if kill < 4:
                continue
            victim = running.pop(chance.randrange(4))
            assert victim.stdout is not None
            victim.stdout.readline()
            time.sleep(chance.uniform(0, 0.05))
            victim.kill()
            victim.wait()
            victim.stdout.close()
            with SQLite(place) as ledger:
                drawn = [e for e in ledger.entries() if e.kind is EntryKind.DRAWN]
            assert seen <= len(drawn) <= 4000
            seen = len(drawn)
    finally:
        for process in running:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    with SQLite(place) as ledger:
        ledger.verify()
        kinds = [entry.kind for entry in ledger.entries()]
        assert kinds.count(EntryKind.GRANTED) == 1
        assert kinds.count(EntryKind.DRAWN) == kinds.count(EntryKind.RESERVED) > 100
