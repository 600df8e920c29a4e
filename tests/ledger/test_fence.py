"""One key file, one living copy of its ledger, whatever is copied, moved, restored or cut off."""

import importlib
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import DiscreetError
from discreet.ledger import Checkpoint, LedgerError, PostgreSQL, SQLite, restore
from discreet.ledger import durable_files as disk
from discreet.ledger import fence as fences
from discreet.ledger.entry import Entry
from discreet.ledger.fence import Fence, LedgerPlace, fence_of, fenced, secret_of
from tests import postgres_server
from tests.ledger.examples import KEY, reserve, terms

restoring = importlib.import_module("discreet.ledger.restore")


class Crash(BaseException):
    """The process ends here."""


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


def lives(place: Path, key: Path) -> bool:
    """Whether a copy is opened and added to; what is neither is refused in both ways."""
    if not place.exists():
        return False
    acts: tuple[Callable[[SQLite], object], ...] = (lambda found: found.open(terms()), reserve)
    (outcome,) = {_does(act, place, key) for act in acts}
    return outcome


def _does(act: Callable[[SQLite], object], place: Path, key: Path) -> bool:
    with SQLite(place, key=key) as ledger:
        try:
            act(ledger)
        except LedgerError as error:
            if error.code not in {"ledger_superseded", "ledger_rolled_back"}:
                raise
            return False
        return True


@pytest.fixture
def key(place: Path) -> Path:
    return place.with_name(place.name + ".key")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return tmp_path / "other"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "backup"


class TestASecondPlace:
    def test_is_where_the_ledger_lives_once_it_was_restored_there(
        self, kept: SQLite, key: Path, place: Path, other: Path, copy: Path
    ) -> None:
        reserve(kept, (3, 0))
        checkpoint = kept.backup(copy)
        restore(copy, other, key=key, checkpoint=checkpoint)
        assert code_of(lambda: reserve(kept)) == "ledger_superseded"  # also where it was open
        assert not lives(place, key)
        assert lives(other, key)
        with SQLite(place, key=key) as old, SQLite(other, key=key) as new:
            old.verify(checkpoint)  # reading stays free
            new.verify(checkpoint)
            assert old.spent() == (3, 0)
            assert new.spent() == (4, 0)

    def test_is_refused_while_the_living_ledger_has_more_than_the_back_up(
        self, kept: SQLite, key: Path, place: Path, other: Path, copy: Path
    ) -> None:
        """Else both together would spend more than the budget."""
        checkpoint = kept.backup(copy)
        reserve(kept, (9, 0))
        refused = code_of(lambda: restore(copy, other, key=key, checkpoint=checkpoint))
        assert refused == "restore_refused"
        assert not other.exists()
        assert lives(place, key)

    def test_is_refused_while_the_living_ledger_cannot_be_read(
        self, kept: SQLite, key: Path, place: Path, other: Path, copy: Path
    ) -> None:
        checkpoint = kept.backup(copy)
        kept.close()
        place.write_bytes(b"nonsense" * 2000)
        refused = code_of(lambda: restore(copy, other, key=key, checkpoint=checkpoint))
        assert refused == "restore_refused"
        place.unlink()
        restore(copy, other, key=key, checkpoint=checkpoint)
        assert lives(other, key)

    def test_outlives_the_return_of_a_disk_that_was_thought_lost(
        self, *, kept: SQLite, key: Path, place: Path, other: Path, copy: Path, tmp_path: Path
    ) -> None:
        checkpoint = kept.backup(copy)
        kept.close()
        place.rename(tmp_path / "away")
        restore(copy, other, key=key, checkpoint=checkpoint)
        (tmp_path / "away").rename(place)
        assert lives(other, key)
        assert not lives(place, key)

    def test_gives_life_back_to_the_first(
        self, *, kept: SQLite, key: Path, place: Path, other: Path, copy: Path, tmp_path: Path
    ) -> None:
        checkpoint = kept.backup(copy)
        kept.close()
        restore(copy, other, key=key, checkpoint=checkpoint)
        with SQLite(other, key=key) as moved:
            reserve(moved, (2, 0))
            moved.backup(tmp_path / "later")
        assert code_of(lambda: restore(copy, place, key=key)) == "restore_refused"
        restore(tmp_path / "later", place, key=key)
        assert lives(place, key)
        assert not lives(other, key)
        with SQLite(place, key=key) as ledger:
            assert ledger.spent() == (3, 0)
            ledger.verify(checkpoint)


class TestACopyOfTheFile:
    def test_is_read_and_never_added_to(
        self, kept: SQLite, key: Path, place: Path, other: Path
    ) -> None:
        reserve(kept)
        shutil.copyfile(place, other)
        with SQLite(other, key=key) as twin:
            twin.verify(kept.checkpoint())
        assert not lives(other, key)
        assert lives(place, key)

    def test_takes_the_place_of_a_lost_ledger_by_the_owners_word(
        self, kept: SQLite, key: Path, place: Path, other: Path, copy: Path
    ) -> None:
        """Moved to another machine, as a copy of file and key."""
        checkpoint = kept.checkpoint()
        shutil.copyfile(place, other)
        kept.close()
        place.unlink()
        assert not lives(other, key)
        with SQLite(other, key=key) as moved:
            moved.backup(copy)
        assert code_of(lambda: restore(copy, other, key=key)) == "head_needed"
        restore(copy, other, key=key, checkpoint=checkpoint)
        assert lives(other, key)

    def test_in_the_ledgers_own_place_lives(
        self, kept: SQLite, key: Path, place: Path, copy: Path
    ) -> None:
        kept.backup(copy)
        kept.close()
        place.unlink()
        shutil.copyfile(copy, place)
        assert lives(place, key)

    def test_from_before_the_last_restoration_does_not_live_in_its_own_place(
        self, kept: SQLite, key: Path, place: Path, copy: Path
    ) -> None:
        checkpoint = kept.backup(copy)
        kept.close()
        place.unlink()
        restore(copy, place, checkpoint=checkpoint)
        shutil.copyfile(copy, place)
        assert code_of(lambda: SQLite(place).open(terms())) == "ledger_rolled_back"
        assert not lives(place, key)


def test_a_ledger_that_is_renamed_lives_on_and_its_old_place_is_nobodys(
    kept: SQLite, key: Path, place: Path, other: Path
) -> None:
    kept.close()
    place.rename(other)
    assert lives(other, key)
    shutil.copyfile(other, place)
    assert not lives(place, key)
    assert lives(other, key)


class TestAKeyFileWithoutAFence:
    @pytest.fixture
    def old(self, kept: SQLite, key: Path) -> Path:
        """As it was written before there were fences."""
        kept.close()
        key.write_bytes(secret_of(key.read_bytes()))
        return key

    def test_opens_its_ledger_and_is_fenced_from_then_on(
        self, old: Path, place: Path, other: Path
    ) -> None:
        secret = old.read_bytes()
        shutil.copyfile(place, other)
        with SQLite(place) as ledger:
            assert ledger.open(terms()) == terms()
        assert secret_of(old.read_bytes()) == secret
        assert fence_of(old.read_bytes()) is not None
        assert not lives(other, old)
        assert lives(place, old)

    def test_is_fenced_by_a_restoration(
        self, old: Path, place: Path, other: Path, copy: Path
    ) -> None:
        with SQLite(place) as ledger:
            checkpoint = ledger.backup(copy)
        assert fence_of(old.read_bytes()) is None  # reading changes nothing
        restore(copy, other, key=old, checkpoint=checkpoint)
        assert not lives(place, old)
        assert lives(other, old)

    def test_is_not_changed_by_another_ledger(self, old: Path, tmp_path: Path) -> None:
        with SQLite(tmp_path / "foreign", key=KEY) as foreign:
            foreign.open(terms())
        before = old.read_bytes()
        with SQLite(tmp_path / "foreign", key=old) as wrong:
            assert code_of(lambda: reserve(wrong)) == "ledger_key_wrong"
        assert old.read_bytes() == before

    def test_that_cannot_be_written_still_opens(
        self, old: Path, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = old.read_bytes()
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert lives(place, old)
        assert old.read_bytes() == before

    def test_is_fenced_once_by_two_copies_at_once(
        self, old: Path, place: Path, other: Path
    ) -> None:
        shutil.copyfile(place, other)
        ready, lived = threading.Barrier(2), []

        def opened(path: Path) -> None:
            ready.wait()
            if lives(path, old):
                lived.append(path)

        threads = [threading.Thread(target=opened, args=(path,)) for path in (place, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(lived) == 1


class TestTheKeyFile:
    def test_keeps_its_secret_its_permissions_and_its_folder(
        self, kept: SQLite, key: Path, place: Path, other: Path, copy: Path
    ) -> None:
        secret = secret_of(key.read_bytes())
        key.chmod(0o640)
        checkpoint = kept.backup(copy)
        restore(copy, other, key=key, checkpoint=checkpoint)
        assert secret_of(key.read_bytes()) == secret
        assert key.stat().st_mode & 0o777 == 0o640
        assert {path.name for path in key.parent.iterdir()} == {
            *(place.name, key.name, other.name, copy.name),
        }

    def test_that_cannot_be_written_refuses_a_restoration_elsewhere(
        self, kept: SQLite, key: Path, other: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checkpoint = kept.backup(copy)
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert (
            code_of(lambda: restore(copy, other, key=key, checkpoint=checkpoint))
            == "restore_refused"
        )
        assert not other.exists()
        reserve(kept)

    def test_may_hold_any_secret(self, tmp_path: Path) -> None:
        fence = Fence(Checkpoint(number=3, mac="ab" * 32), LedgerPlace("\u00e9/x", (1, 2)))
        for secret in (KEY, KEY + b"\ndiscreet fence ", b"{}" * 20, bytes(range(256))):
            content = fenced(secret, fence)
            assert (secret_of(content), fence_of(content)) == (secret, fence)

    def test_whose_fence_was_changed_in_any_byte_is_refused(self, kept: SQLite, key: Path) -> None:
        """Or it is no fence any more, and no key of this ledger either."""
        whole = key.read_bytes()
        begin = len(secret_of(whole))
        for place in range(begin, len(whole) - 1, 7):  # the last byte is the end of a line
            changed = bytearray(whole)
            changed[place] ^= 1
            key.write_bytes(changed)
            with pytest.raises(LedgerError) as refusal:
                reserve(kept)
            assert refusal.value.code in {"ledger_damaged", "ledger_key_wrong"}, place


def test_a_key_of_bytes_has_no_fence(place: Path, other: Path, copy: Path) -> None:
    """One living copy is then the owner's to see to, as the document says."""
    with SQLite(place, key=KEY) as ledger:
        ledger.open(terms())
        checkpoint = ledger.backup(copy)
        restore(copy, other, key=KEY, checkpoint=checkpoint)
        reserve(ledger)


STEPS = [
    (SQLite, "backup"),
    (restoring, "_note"),
    (fences.FenceFile, "write_fence"),
    (disk, "write_new"),
    (Path, "chmod"),
    (Path, "replace"),
    (disk, "sync_folder"),
    (restoring, "give_name"),
    (os, "link"),
]


class TestACrashWhileRestoring:
    """Wherever it stops, at most one copy lives; repeating it completes it."""

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize(("where", "name"), STEPS, ids=[name for _, name in STEPS])
    @pytest.mark.parametrize("lost", [False, True], ids=["living", "lost"])
    def test_elsewhere(
        self,
        *,
        kept: SQLite,
        key: Path,
        place: Path,
        other: Path,
        copy: Path,
        monkeypatch: pytest.MonkeyPatch,
        where: object,
        name: str,
        after: bool,
        lost: bool,
    ) -> None:
        reserve(kept, (2, 0))
        checkpoint = kept.backup(copy)
        kept.close()
        if lost:
            place.unlink()
        self.crash(
            monkeypatch,
            where,
            name,
            lambda: restore(copy, other, key=key, checkpoint=checkpoint),
            after=after,
        )
        safe = [path.read_bytes() for path in (place, other, key) if path.exists()]
        assert [lives(place, key), lives(other, key)].count(True) <= 1
        for path, content in zip([p for p in (place, other, key) if p.exists()], safe, strict=True):
            path.write_bytes(content)  # as before the question
        if other.exists():  # nothing was left to do, or it is moved aside
            other.unlink()
        restore(copy, other, key=key, checkpoint=checkpoint)
        assert lives(other, key)
        assert not lives(place, key)

    @staticmethod
    def crash(
        monkeypatch: pytest.MonkeyPatch,
        where: object,
        name: str,
        act: Callable[[], object],
        *,
        after: bool,
    ) -> None:
        real = getattr(where, name)

        def crashing(*values: object, **named: object) -> None:
            if after:
                real(*values, **named)
            raise Crash

        with monkeypatch.context() as patch:
            patch.setattr(where, name, crashing)
            with pytest.raises(Crash):
                act()


class TestAWriterUnderWay:
    """It is in the middle of an entry while somebody moves the ledger."""

    def restored_meanwhile(self, kept: SQLite, key: Path, other: Path, copy: Path) -> str | None:
        """Restore while an entry is written; how that was refused."""
        checkpoint = kept.backup(copy)
        entered, leave = threading.Event(), threading.Event()
        append = kept.chain.store.append

        def slow(entry: Entry) -> None:
            append(entry)
            entered.set()
            leave.wait(0.5)

        kept.chain.store.append = slow  # type: ignore[method-assign]
        writer = threading.Thread(target=reserve, args=(kept,))
        writer.start()
        entered.wait(10)
        try:
            restore(copy, other, key=key, checkpoint=checkpoint)
        except LedgerError as error:
            return error.code
        finally:
            leave.set()
            writer.join()
        return None

    def test_is_waited_for(self, kept: SQLite, key: Path, other: Path, copy: Path) -> None:
        assert self.restored_meanwhile(kept, key, other, copy) == "restore_refused"
        assert kept.spent() == (1, 0)

    def test_would_be_lost_without_the_lock(
        self,
        kept: SQLite,
        key: Path,
        other: Path,
        copy: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The broken twin: the entry is acknowledged, and the copy that lives lacks it."""
        monkeypatch.setattr(fences, "_lock", lambda handle, alone: True)
        assert self.restored_meanwhile(kept, key, other, copy) is None
        assert kept.spent() == (1, 0)
        with SQLite(other, key=key) as moved:
            assert moved.spent() == (0, 0)


@postgres_server.needed
class TestAServer:
    def test_gives_its_ledger_to_a_file_and_lives_no_more(
        self, served: PostgreSQL, tmp_path: Path, other: Path, copy: Path
    ) -> None:
        key = tmp_path / "visits.key"
        reserve(served, (2, 0))
        checkpoint = served.backup(copy)
        restore(copy, other, key=key, checkpoint=checkpoint)
        assert lives(other, key)
        assert code_of(lambda: reserve(served)) == "ledger_superseded"
        assert code_of(lambda: served.open(terms())) == "ledger_superseded"
        served.verify(checkpoint)

    def test_takes_a_file_over_only_with_all_its_entries(
        self, served: PostgreSQL, tmp_path: Path, other: Path, copy: Path
    ) -> None:
        key = tmp_path / "visits.key"
        checkpoint = served.backup(copy)
        restore(copy, other, key=key, checkpoint=checkpoint)
        with SQLite(other, key=key) as file:
            reserve(file, (3, 0))
            assert (
                code_of(lambda: restore(copy, served, checkpoint=checkpoint)) == "restore_refused"
            )
            file.backup(tmp_path / "later")
        restore(tmp_path / "later", served)
        reserve(served)
        assert served.spent() == (4, 0)
        assert not lives(other, key)

    def test_gives_its_ledger_to_another_database(
        self, served: PostgreSQL, tmp_path: Path, copy: Path, conninfo: str
    ) -> None:
        checkpoint = served.backup(copy)
        with PostgreSQL(conninfo, name=served.name, key=tmp_path / "visits.key") as second:
            restore(copy, second, checkpoint=checkpoint)
            reserve(second)
        assert code_of(lambda: reserve(served)) == "ledger_rolled_back"
