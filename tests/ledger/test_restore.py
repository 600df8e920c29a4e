"""Back-ups are whole, and bringing one back never forgets what was spent."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import DiscreetError, InvalidParameter
from discreet.ledger import Checkpoint, LedgerError, Memory, SQLite, restore
from discreet.ledger.fence import secret_of
from tests.ledger.examples import KEY, released, reserve, terms


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "backup"


class TestBackups:
    def test_hold_everything_up_to_their_head(self, kept: SQLite, place: Path, copy: Path) -> None:
        released(kept, 17)
        checkpoint = kept.backup(copy)
        assert checkpoint == kept.checkpoint()
        with SQLite(copy, key=place.with_name(place.name + ".key")) as other:
            other.verify(checkpoint)
            assert list(other.entries()) == list(kept.entries())

    def test_never_overwrite(self, kept: SQLite, place: Path, copy: Path) -> None:
        copy.write_text("something else")
        assert code_of(lambda: kept.backup(copy)) == "backup_exists"
        assert code_of(lambda: kept.backup(place)) == "backup_exists"
        assert copy.read_text() == "something else"

    def test_do_not_hold_the_key(self, kept: SQLite, place: Path, copy: Path) -> None:
        kept.backup(copy)
        secret = secret_of(place.with_name(place.name + ".key").read_bytes())
        assert secret not in copy.read_bytes()

    def test_leave_nothing_behind_where_they_fail(self, kept: SQLite, tmp_path: Path) -> None:
        assert code_of(lambda: kept.backup(tmp_path / "no" / "copy")) == "ledger_unwritable"
        assert len(list(tmp_path.iterdir())) == 2

    def test_are_not_for_ledgers_in_memory(self, copy: Path) -> None:
        ledger = Memory()
        ledger.open(terms())
        with pytest.raises(InvalidParameter) as refusal:
            ledger.backup(copy)
        assert refusal.value.code == "ledger_not_durable"


class TestWithNothingInPlace:
    def test_the_owner_says_which_head_was_the_last(
        self, kept: SQLite, place: Path, copy: Path
    ) -> None:
        released(kept, 17, charge=(3, 1))
        checkpoint = kept.backup(copy)
        kept.close()
        place.unlink()
        assert code_of(lambda: restore(copy, place)) == "head_needed"
        assert not place.exists()
        found = restore(copy, place, checkpoint=checkpoint)
        with SQLite(place) as ledger:
            assert ledger.open(terms()) == terms()
            assert ledger.checkpoint() == found
            assert ledger.spent() == (3, 1)
            assert ledger.find(analyst="ann", query="count") == {"value": 17}
            *_, note = ledger.entries()
            assert (note.kind, note.body) == ("restored", {"from": str(checkpoint)})
            reserve(ledger)
            ledger.verify(checkpoint)

    def test_a_back_up_without_that_head_is_refused(
        self, kept: SQLite, place: Path, copy: Path
    ) -> None:
        kept.backup(copy)
        reserve(kept)
        last = kept.checkpoint()
        kept.close()
        place.unlink()
        assert code_of(lambda: restore(copy, place, checkpoint=last)) == "ledger_rolled_back"
        assert not place.exists()

    @pytest.mark.parametrize("ending", ["-journal", "-wal"])
    def test_a_journal_of_the_lost_ledger_must_be_moved_aside_too(
        self, kept: SQLite, place: Path, copy: Path, ending: str
    ) -> None:
        """It would be applied to the restored file, and take entries back."""
        checkpoint = kept.backup(copy)
        kept.close()
        journal = place.with_name(place.name + ending)
        place.rename(journal)
        assert code_of(lambda: restore(copy, place, checkpoint=checkpoint)) == "restore_refused"
        assert not place.exists()
        journal.unlink()
        restore(copy, place, checkpoint=checkpoint)

    def test_nothing_else_is_left_in_the_folder(
        self, kept: SQLite, place: Path, copy: Path
    ) -> None:
        checkpoint = kept.backup(copy)
        kept.close()
        place.unlink()
        restore(copy, place, checkpoint=checkpoint)
        assert sorted(path.name for path in place.parent.iterdir()) == [
            *("backup", place.name, f"{place.name}.key"),
        ]


class TestWithALedgerInPlace:
    def test_an_older_back_up_is_refused(self, kept: SQLite, place: Path, copy: Path) -> None:
        kept.backup(copy)
        reserve(kept, (3, 0))
        before = kept.checkpoint()
        assert code_of(lambda: restore(copy, place)) == "restore_refused"
        assert kept.checkpoint() == before
        assert kept.spent() == (3, 0)

    def test_a_back_up_that_parted_ways_is_refused(
        self, kept: SQLite, place: Path, copy: Path
    ) -> None:
        kept.backup(copy)
        secret = secret_of(place.with_name(place.name + ".key").read_bytes())
        with SQLite(copy, key=secret) as other:
            for _ in range(3):
                reserve(other, (1, 0))
        reserve(kept, (5, 0))
        assert code_of(lambda: restore(copy, place)) == "restore_refused"

    def test_a_back_up_that_goes_further_is_added(
        self, kept: SQLite, place: Path, copy: Path, tmp_path: Path
    ) -> None:
        old = tmp_path / "old"
        reserve(kept)
        kept.backup(old)
        for _ in range(5):
            reserve(kept)
        checkpoint = kept.backup(copy)
        kept.close()
        shutil.copyfile(old, place)
        found = restore(copy, place)
        with SQLite(place) as ledger:
            ledger.verify(checkpoint)
            ledger.verify(found)
            assert ledger.spent() == (6, 0)

    def test_a_back_up_that_says_the_same_changes_nothing(
        self, kept: SQLite, place: Path, copy: Path
    ) -> None:
        checkpoint = kept.backup(copy)
        assert restore(copy, place) == checkpoint == kept.checkpoint()

    @pytest.mark.parametrize("content", [b"", b"nonsense" * 2000])
    def test_one_that_cannot_be_read_must_be_moved_aside(
        self, kept: SQLite, place: Path, copy: Path, content: bytes
    ) -> None:
        checkpoint = kept.backup(copy)
        kept.close()
        place.write_bytes(content)
        with pytest.raises(LedgerError, match="move it aside") as refusal:
            restore(copy, place, checkpoint=checkpoint)
        assert refusal.value.code == "restore_refused"
        assert place.read_bytes() == content

    def test_another_ledger_is_not_added_to(self, place: Path, copy: Path, tmp_path: Path) -> None:
        with SQLite(place, key=KEY) as ledger, SQLite(tmp_path / "other", key=KEY) as other:
            ledger.open(terms())
            other.open(terms())
            reserve(other)
            other.backup(copy)
        assert code_of(lambda: restore(copy, place, key=KEY)) == "restore_refused"


@pytest.mark.parametrize("page", range(7))
def test_a_damaged_back_up_is_refused(kept: SQLite, place: Path, copy: Path, page: int) -> None:
    released(kept, 1)
    checkpoint = kept.backup(copy)
    content = bytearray(copy.read_bytes())
    content[4096 * page : 4096 * (page + 1)] = bytes(4096)
    copy.write_bytes(content)
    kept.close()
    place.unlink()
    assert code_of(lambda: restore(copy, place, checkpoint=checkpoint)) in {
        "ledger_damaged",
        "not_a_ledger",
    }
    assert not place.exists()


def test_a_back_up_under_another_key_is_refused(kept: SQLite, place: Path, copy: Path) -> None:
    kept.backup(copy)
    assert code_of(lambda: restore(copy, place, key=KEY)) == "ledger_key_wrong"


def test_a_back_up_that_is_not_there_is_an_error_in_words(kept: SQLite, place: Path) -> None:
    nowhere = place.with_name("nowhere")
    assert code_of(lambda: restore(nowhere, place)) == "ledger_missing"
    assert not nowhere.exists()


def test_a_key_that_is_not_there_is_an_error_in_words(
    kept: SQLite, place: Path, copy: Path, tmp_path: Path
) -> None:
    kept.backup(copy)
    elsewhere = tmp_path / "elsewhere"
    checkpoint = Checkpoint(number=1, mac="0" * 64)
    assert code_of(lambda: restore(copy, elsewhere, checkpoint=checkpoint)) == "ledger_key_missing"
