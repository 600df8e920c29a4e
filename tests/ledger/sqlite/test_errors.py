"""Full disks, locked files, folders that are not there: a clear error, and nothing else lost."""

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from discreet.core.errors import InvalidParameter
from discreet.ledger import LedgerError, Memory, SQLite, ledger_at, restore, waiting
from tests.ledger.examples import released, reserve, terms


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(LedgerError) as refusal:
        attempt()
    return refusal.value.code


@pytest.mark.parametrize(
    "address", ["mysql://ann:swordfish@db/x", "postgres://ann:swordfish@db", " S3://swordfish/x"]
)
def test_no_address_of_a_server_becomes_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "backup").touch()
    for attempt in (SQLite, ledger_at, partial(restore, "backup")):
        with pytest.raises(InvalidParameter) as refusal:
            attempt(address)
        assert refusal.value.code == "ledger_key_needed"
        assert "swordfish" not in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["backup"]


class TestAFullDisk:
    def test_refuses_the_charge_and_loses_nothing(self, kept: SQLite) -> None:
        released(kept, 17)
        before = kept.checkpoint()
        connection = kept.chain.store._connection  # type: ignore[attr-defined]
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        assert code_of(lambda: self.fill(kept)) == "ledger_unwritable"
        kept.verify(before)
        assert kept.find(analyst="ann", query="count") == {"value": 17}
        connection.execute("PRAGMA max_page_count = 1000000")
        reserve(kept)
        kept.verify(before)

    def fill(self, ledger: SQLite) -> None:
        for _ in range(100):
            ledger.answer(reserve(ledger, (0, 0)), {"text": "x" * 10_000})

    @pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a file system of its own")
    def test_that_is_really_full(self, tmp_path: Path) -> None:
        """In a file system of 300 kB, inside a mount namespace that ends with the process."""
        script = Path(__file__).with_name("full_disk.py")
        done = subprocess.run(
            [
                *("unshare", "--mount", "--map-root-user", "sh", "-c"),
                'mount -t tmpfs -o size=300k tmpfs "$0" || exit 77; exec "$1" "$2" "$0"',
                *(str(tmp_path), sys.executable, str(script)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 77 or "unshare" in done.stderr:
            pytest.skip("this system lets nobody mount a file system")
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["ledger_unwritable", "whole", "goes-on"]


def test_a_read_only_file_refuses_the_charge_and_can_be_read(kept: SQLite) -> None:
    released(kept, 17)
    connection = kept.chain.store._connection  # type: ignore[attr-defined]
    connection.execute("PRAGMA query_only = ON")
    assert code_of(lambda: reserve(kept)) == "ledger_unwritable"
    assert kept.spent() == (1, 0)
    kept.verify()


def test_a_folder_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with SQLite(tmp_path / "no" / "visits.ledger") as ledger:
        assert code_of(lambda: ledger.open(terms())) == "ledger_unwritable"


def test_a_folder_in_its_place_is_an_error_in_words(place: Path) -> None:
    place.mkdir()
    with SQLite(place) as ledger:
        assert code_of(lambda: ledger.open(terms())) == "ledger_unwritable"


def test_a_file_that_others_keep_locked_is_busy(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    with SQLite(place) as ledger:
        ledger.open(terms())
    with SQLite(place) as ledger, closing(sqlite3.connect(place)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert code_of(lambda: reserve(ledger)) == "ledger_busy"
        assert code_of(ledger.spent) == "ledger_busy"
        other.rollback()
        reserve(ledger)
        assert ledger.spent() == (1, 0)


def test_a_reader_that_stays_delays_a_writer_until_it_is_busy(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    with SQLite(place) as ledger:
        ledger.open(terms())
    with SQLite(place) as ledger, closing(sqlite3.connect(place)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM entries").fetchone()
        assert code_of(lambda: reserve(ledger)) == "ledger_busy"
        other.rollback()
        assert ledger.spent() == (0, 0)
        reserve(ledger)
        ledger.verify()


def test_an_exception_in_mid_transaction_takes_everything_back(
    kept: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = kept.checkpoint()
    append = kept.chain.store.append

    def interrupted(entry: object) -> None:
        append(entry)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kept.chain.store, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reserve(kept)
    assert kept.checkpoint() == before
    reserve(kept)
    kept.verify(before)


def test_an_iteration_left_in_the_middle_locks_nothing(kept: SQLite, place: Path) -> None:
    for _ in range(300):
        reserve(kept, (0, 0))
    entries = kept.entries()
    next(entries)
    with SQLite(place) as other:
        reserve(other)
    assert sum(1 for _ in entries) == 301


def test_a_committed_file_needs_no_second_file(kept: SQLite, place: Path, tmp_path: Path) -> None:
    """Copying the one file while the ledger is open takes everything that was acknowledged."""
    released(kept, 17)
    assert sorted(path.name for path in tmp_path.iterdir()) == [place.name, f"{place.name}.key"]
    shutil.copyfile(place, tmp_path / "copy")
    with SQLite(tmp_path / "copy", key=tmp_path / f"{place.name}.key") as copy:
        copy.verify(kept.checkpoint())


def test_every_commit_is_flushed(kept: SQLite) -> None:
    connection = kept.chain.store._connection  # type: ignore[attr-defined]
    assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_file_switched_to_another_journal_is_switched_back(place: Path) -> None:
    with SQLite(place) as ledger:
        ledger.open(terms())
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with SQLite(place) as ledger:
        reserve(ledger)
        connection = ledger.chain.store._connection  # type: ignore[attr-defined]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # threads, from Python 3.12
class TestForks:
    def test_a_child_opens_the_file_anew(self, kept: SQLite) -> None:
        reserve(kept, (1, 0))
        child = multiprocessing.get_context("fork").Process(target=reserve, args=(kept, (2, 0)))
        child.start()
        reserve(kept, (3, 0))
        child.join(60)
        assert child.exitcode == 0
        assert kept.spent() == (6, 0)
        kept.verify()

    def test_a_fork_waits_for_a_transaction_under_way(self, kept: SQLite) -> None:
        """Another thread is in the middle of a charge; the child is none the wiser."""
        entered, leave = threading.Event(), threading.Event()
        append = kept.chain.store.append

        def slow(entry: object) -> None:
            append(entry)  # type: ignore[arg-type]
            entered.set()
            leave.wait(0.3)

        kept.chain.store.append = slow  # type: ignore[method-assign]
        writer = threading.Thread(target=reserve, args=(kept, (1, 0)))
        writer.start()
        entered.wait(10)
        child = multiprocessing.get_context("fork").Process(target=reserve, args=(kept, (2, 0)))
        child.start()
        child.join(60)
        writer.join(60)
        assert child.exitcode == 0
        assert kept.spent() == (3, 0)
        kept.verify()

    def test_a_ledger_in_memory_stays_in_its_process(self) -> None:
        ledger = Memory()
        ledger.open(terms())
        child = os.fork()
        if child == 0:
            code = 1
            try:
                reserve(ledger)
            except LedgerError as error:
                code = 0 if error.code == "ledger_not_copied" else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
