"""A conversation that outlives its process: one speaker at a time, and secrets that stay secret."""

import json
from pathlib import Path

import pytest

from discreet.errors import InvalidParameter
from discreet.ledger import Kind, Ledger, LedgerError, Memory, SQLite, restore
from discreet.ledger.entry import Entry, following
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact
from tests.ledger.examples import KEY, reserve, terms
from tests.ledger.test_allotments import draw, granted

SECRET = {"did": "threshold", "steps": 987654321}
SAID = {"did": "update", "answer": 0.25}


def test_what_is_written_and_kept_comes_back_in_order(ledger: Ledger) -> None:
    name = reserve(ledger)
    first = ledger.notebook(name)
    first.write({"did": "open"})
    first.keep(SECRET)
    first.write(SAID)
    second = ledger.notebook(name)
    assert second.entries() == [{"did": "open"}, SECRET, SAID]
    assert (first.generation, second.generation) == (1, 2)
    assert ledger.answers(name) == [{"did": "open"}, SAID]
    ledger.verify()


def test_the_older_speaker_is_refused_before_it_says_anything(ledger: Ledger) -> None:
    name = reserve(ledger)
    older, newer = ledger.notebook(name), ledger.notebook(name)
    before = ledger.head()
    for write in (older.write, older.keep):
        with pytest.raises(LedgerError) as refusal:
            write(SAID)
        assert refusal.value.code == "conversation_taken"
    assert ledger.head() == before
    newer.write(SAID)
    assert newer.entries() == [SAID]


def test_a_conversation_that_has_ended_is_not_taken_up(ledger: Ledger) -> None:
    name = reserve(ledger)
    notebook = ledger.notebook(name)
    ledger.commit(name, {"closed": True})
    for attempt in (lambda: ledger.notebook(name), lambda: notebook.keep(SECRET)):
        with pytest.raises(InvalidParameter, match="reservation_closed"):
            attempt()
    with pytest.raises(InvalidParameter, match="reservation_unknown"):
        ledger.notebook("nobody's")


def test_only_the_account_that_paid_takes_it_up(ledger: Ledger) -> None:
    child = granted(ledger)
    mine, theirs = reserve(ledger), draw(child)
    assert child.notebook(theirs).generation == 1
    assert child.paid(theirs)["account"] == child.account
    with pytest.raises(InvalidParameter, match="reservation_unknown"):
        child.notebook(mine)
    with pytest.raises(InvalidParameter, match="reservation_unknown"):
        ledger.notebook(theirs)
    ledger.verify()


def test_a_secret_is_in_no_file_export_or_back_up(kept: SQLite, tmp_path: Path) -> None:
    notebook = kept.notebook(reserve(kept))
    notebook.keep(SECRET)
    kept.backup(tmp_path / "copy")
    exported = " ".join(entry.text for entry in kept.entries())
    for shown in (exported.encode(), kept.path.read_bytes(), (tmp_path / "copy").read_bytes()):
        assert b"987654321" not in shown
        assert b"threshold" not in shown
    assert "987654321" not in repr(notebook)


def test_a_veil_hides_length_and_equality_and_comes_off_with_the_key_alone() -> None:
    key, other = OwnerKey(KEY), OwnerKey(bytes(32))
    short, long = (json.dumps({"steps": n}).encode() for n in (1, -(10**18)))
    veils = [key.veil(text) for text in (short, short, long)]
    assert len(set(veils)) == 3
    assert len({len(veil) for veil in veils}) == 1
    assert [key.unveil(veil) for veil in veils] == [short, short, long]
    assert other.unveil(veils[0]) != short
    assert key.unveil(key.veil(bytes(1000))) == bytes(1000)


def test_nothing_goes_on_where_a_copy_may_have_lost_answers(tmp_path: Path) -> None:
    """Restoring an old copy would give back updates that were used."""
    with SQLite(tmp_path / "a.ledger", key=KEY) as ledger:
        ledger.open(terms())
        name = reserve(ledger)
        ledger.notebook(name).write({"did": "open"})
        head = ledger.backup(tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "b.ledger", key=KEY, head=head)
    with SQLite(tmp_path / "b.ledger", key=KEY) as ledger:
        with pytest.raises(LedgerError) as refusal:
            ledger.notebook(name)
        assert refusal.value.code == "conversation_restored"
        ledger.notebook(reserve(ledger)).keep(SECRET)
        ledger.verify()


@pytest.mark.parametrize(
    ("kind", "generation"),
    [(Kind.CLAIMED, 1), (Kind.CLAIMED, 3), (Kind.KEPT, 2), (Kind.KEPT, 0)],
)
def test_verify_notices_claims_out_of_order_and_secrets_without_one(
    kept: SQLite, kind: Kind, generation: int
) -> None:
    name = reserve(kept)
    kept.notebook(name)
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
    notebook = ledger.notebook(reserve(ledger))
    notebook.write({"above": True})
    with ledger.chain.writing() as last:
        ledger.chain.add(following(last, Kind.RESTORED, text="{}"))
    for attempt in (notebook.write, notebook.keep):
        with pytest.raises(LedgerError, match="conversation_restored"):
            attempt({"above": False})
