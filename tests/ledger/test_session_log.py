"""A conversation that outlives its process: one speaker at a time, and secrets that stay secret."""

import json
from pathlib import Path

import pytest

from discreet.errors import InvalidParameter
from discreet.ledger import EntryKind, Ledger, LedgerError, Memory, SQLite, restore
from discreet.ledger.entry import Entry, following
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact
from tests.ledger.examples import KEY, reserve, terms
from tests.ledger.test_sub_account import draw, granted

SECRET = {"did": "threshold", "steps": 987654321}
SAID = {"did": "update", "answer": 0.25}


def test_what_is_written_and_kept_comes_back_in_order(ledger: Ledger) -> None:
    name = reserve(ledger)
    first = ledger.session_log(name)
    first.write({"did": "open"})
    first.keep(SECRET)
    first.write(SAID)
    second = ledger.session_log(name)
    assert second.entries() == [{"did": "open"}, SECRET, SAID]
    assert (first.generation, second.generation) == (1, 2)
    assert ledger.answers(name) == [{"did": "open"}, SAID]
    ledger.verify()


def test_the_older_speaker_is_refused_before_it_says_anything(ledger: Ledger) -> None:
    name = reserve(ledger)
    older, newer = ledger.session_log(name), ledger.session_log(name)
    before = ledger.checkpoint()
    for write in (older.write, older.keep):
        with pytest.raises(LedgerError) as refusal:
            write(SAID)
        assert refusal.value.code == "conversation_taken"
    assert ledger.checkpoint() == before
    newer.write(SAID)
    assert newer.entries() == [SAID]


def test_a_conversation_that_has_ended_is_not_taken_up(ledger: Ledger) -> None:
    name = reserve(ledger)
    session_log = ledger.session_log(name)
    ledger.commit(name, {"closed": True})
    for attempt in (lambda: ledger.session_log(name), lambda: session_log.keep(SECRET)):
        with pytest.raises(InvalidParameter, match="reservation_closed"):
            attempt()
    with pytest.raises(InvalidParameter, match="reservation_unknown"):
        ledger.session_log("nobody's")


def test_only_the_account_that_paid_takes_it_up(ledger: Ledger) -> None:
    child = granted(ledger)
    mine, theirs = reserve(ledger), draw(child)
    assert child.session_log(theirs).generation == 1
    assert child.read_reservation(theirs)["account"] == child.account
    with pytest.raises(InvalidParameter, match="reservation_unknown"):
        child.session_log(mine)
    with pytest.raises(InvalidParameter, match="reservation_unknown"):
        ledger.session_log(theirs)
    ledger.verify()


def test_a_secret_is_in_no_file_export_or_back_up(kept: SQLite, tmp_path: Path) -> None:
    session_log = kept.session_log(reserve(kept))
    session_log.keep(SECRET)
    kept.backup(tmp_path / "copy")
    exported = " ".join(entry.text for entry in kept.entries())
    for shown in (exported.encode(), kept.path.read_bytes(), (tmp_path / "copy").read_bytes()):
        assert b"987654321" not in shown
        assert b"threshold" not in shown
    assert "987654321" not in repr(session_log)


def test_encryption_hides_length_and_equality_and_comes_off_with_the_key_alone() -> None:
    key, other = OwnerKey(KEY), OwnerKey(bytes(32))
    short, long = (json.dumps({"steps": n}).encode() for n in (1, -(10**18)))
    encrypted = [key.encrypt(text) for text in (short, short, long)]
    assert len(set(encrypted)) == 3
    assert len({len(text) for text in encrypted}) == 1
    assert [key.decrypt(text) for text in encrypted] == [short, short, long]
    assert other.decrypt(encrypted[0]) != short
    assert key.decrypt(key.encrypt(bytes(1000))) == bytes(1000)


def test_nothing_goes_on_where_a_copy_may_have_lost_answers(tmp_path: Path) -> None:
    """Restoring an old copy would give back updates that were used."""
    with SQLite(tmp_path / "a.ledger", key=KEY) as ledger:
        ledger.open(terms())
        name = reserve(ledger)
        ledger.session_log(name).write({"did": "open"})
        checkpoint = ledger.backup(tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "b.ledger", key=KEY, checkpoint=checkpoint)
    with SQLite(tmp_path / "b.ledger", key=KEY) as ledger:
        with pytest.raises(LedgerError) as refusal:
            ledger.session_log(name)
        assert refusal.value.code == "conversation_restored"
        ledger.session_log(reserve(ledger)).keep(SECRET)
        ledger.verify()


@pytest.mark.parametrize(
    ("kind", "generation"),
    [(EntryKind.CLAIMED, 1), (EntryKind.CLAIMED, 3), (EntryKind.KEPT, 2), (EntryKind.KEPT, 0)],
)
def test_verify_notices_claims_out_of_order_and_secrets_without_one(
    kept: SQLite, kind: EntryKind, generation: int
) -> None:
    name = reserve(kept)
    kept.session_log(name)
    kept.verify()

    def forged(last: Entry) -> Entry:
        text = compact({"generation": generation, "veiled": ""})
        return following(last, kind, text=text, subject=name)

    with kept.chain.writing() as last:
        kept.chain.add(forged(last))
    with pytest.raises(LedgerError, match="ledger_damaged"):
        kept.verify()


def test_a_conversation_under_way_ends_where_the_ledger_comes_back_from_a_copy() -> None:
    ledger = Memory()
    ledger.open(terms())
    session_log = ledger.session_log(reserve(ledger))
    session_log.write({"above": True})
    with ledger.chain.writing() as last:
        ledger.chain.add(following(last, EntryKind.RESTORED, text="{}"))
    for attempt in (session_log.write, session_log.keep):
        with pytest.raises(LedgerError, match="conversation_restored"):
            attempt({"above": False})
