"""What devices sent, after a crash at any byte and any step, and who may read it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet import local
from discreet.cli.app import app
from discreet.local import report_files
from discreet.server.collection.store import BatchStore
from tests.local.examples import collection

pytest.importorskip("starlette")

ASKED = collection(local.DirectEncoding(epsilon=3, domain=["no", "yes"]))


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushing changes nothing that these tests can see, and is counted all the same."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Crash(BaseException):
    """The end of the process, as far as files are concerned."""


class Disk:
    """Counts what is written and renamed, and stops for good at one byte or at one step."""

    def __init__(self, patched: pytest.MonkeyPatch, *, most_bytes: int, most_steps: int) -> None:
        self.bytes, self.steps, self.order = 0, 0, list[str]()
        self._most = (most_bytes, most_steps)
        self._write = os.write
        patched.setattr(os, "write", self.write)
        for owner, name in ((os, "fsync"), (os, "utime"), (Path, "replace")):
            patched.setattr(owner, name, self.step(name, getattr(owner, name)))

    def write(self, handle: int, data: bytes) -> int:
        room = self._most[0] - self.bytes
        done = self._write(handle, data[: max(room, 0)])
        self.bytes += done
        if done < len(data):
            raise Crash
        return done

    def step(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any) -> Any:
            self.steps += 1
            if self.steps > self._most[1]:
                raise Crash
            self.order.append(name)
            return real(*given)

        return counted


def written(folder: Path, reports: list[str], **most: int) -> Disk:
    """Take reports, on a disk that may stop."""
    with pytest.MonkeyPatch.context() as patched:
        disk = Disk(patched, **{"most_bytes": 1 << 30, "most_steps": 1 << 30, **most})
        with contextlib.suppress(Crash):
            BatchStore(ASKED, folder, batch=5).take(reports)
        return disk


def told(count: int) -> list[str]:
    client = ASKED.client()
    return [client.privatize("yes") for _ in range(count)]


def counted_once(folder: Path, **most: int) -> None:
    """Two batches, of which the second ends in a crash; then all again, and a third."""
    first, second, third = told(5), told(5), told(5)
    written(folder, first)
    written(folder, second, **most)
    store = BatchStore(ASKED, folder, batch=5)
    before = store.stored()
    assert before.unreadable == 0
    assert before.tally.people in (5, 10)
    again = store.take([*first, *second])
    store.flush()
    assert store.rejected.replayed == 10 - again
    assert before.tally.people + again <= 10
    assert store.take(third) == 5
    after = BatchStore(ASKED, folder, batch=5)
    assert after.take([*first, *second, *third]) == 0  # nothing is forgotten
    assert after.tally().people == before.tally.people + again + 5
    assert after.stored().unreadable == 0


def test_a_crash_at_any_byte_counts_nothing_twice_and_stops_nothing(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole", told(5)).bytes
    assert whole > 5 * 33 + 40
    for most in range(whole + 1):
        counted_once(tmp_path / str(most), most_bytes=most)


def test_a_crash_at_any_step_counts_nothing_twice_and_stops_nothing(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole", told(5)).steps
    assert whole >= 5
    for most in range(whole + 1):
        counted_once(tmp_path / str(most), most_steps=most)


def test_a_batch_gets_its_name_after_it_is_durable(tmp_path: Path) -> None:
    order = written(tmp_path, told(5)).order
    assert order.index("fsync") < order.index("utime") < order.index("replace")
    assert order[order.index("replace") - 1] == "fsync"
    assert order[-1] == "fsync"  # the folder, which holds the name


def test_a_batch_torn_at_any_byte_is_left_out_and_the_others_stand(tmp_path: Path) -> None:
    store = BatchStore(ASKED, tmp_path, batch=5)
    store.take(told(15))
    torn = sorted(tmp_path.rglob("*.reports"))[1]
    content = torn.read_bytes()
    for length in range(len(content)):
        torn.write_bytes(content[:length])
        assert (store.stored().tally.people, store.stored().unreadable) == (10, 1), length
    schema = tmp_path / "survey.json"
    schema.write_text(ASKED.schema, encoding="utf-8")
    shown = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}).invoke(
        app, ["local", "estimate", str(schema), "--store", str(tmp_path)]
    )
    assert shown.exit_code == 0
    assert "10 reports" in shown.output
    assert "1 batches cannot be read" in shown.output


def test_a_line_of_nonces_torn_at_any_byte_forgets_no_other(tmp_path: Path) -> None:
    first, second = told(5), told(5)
    BatchStore(ASKED, tmp_path, batch=5).take(first)
    (nonces,) = tmp_path.rglob("nonces")
    content = nonces.read_bytes()
    for length in range(len(content) - 33, len(content)):
        for rest in (b"", b"\0\0\0", b"\xff"):
            nonces.write_bytes(content[:length] + rest)
            store = BatchStore(ASKED, tmp_path, batch=5)
            assert store.take(first) <= 1
            third = told(5)
            store.take(third)
            store.flush()
            assert BatchStore(ASKED, tmp_path, batch=5).take([*first, *third]) == 0
            for each in tmp_path.rglob("*.reports"):
                each.unlink()
    assert BatchStore(ASKED, tmp_path, batch=5).take(second) == 5


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(each.stat().st_mode) for each in [folder, *folder.rglob("*")]}


@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_only_the_owner_may_read_what_devices_sent(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        store = BatchStore(ASKED, tmp_path / "reports", batch=5)
        store.take(told(12))
        store.flush()
    finally:
        os.umask(before)
    assert modes(tmp_path / "reports") == {0o700, 0o600}
    (nonces,) = (tmp_path / "reports").rglob("nonces")
    nonces.chmod(0o644)
    store.take(told(5))
    assert stat.S_IMODE(nonces.stat().st_mode) == 0o600


def test_a_parquet_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    oracle = local.DirectEncoding(epsilon=1, domain=4)
    path = tmp_path / "reports.parquet"
    batch = oracle.privatize_many([0, 1, 2, 3] * 5)
    local.write_parquet(batch, oracle, str(path))
    assert modes(tmp_path) >= {0o600}
    whole = path.read_bytes()
    path.unlink()
    for length in range(0, len(whole), 29):

        def torn(table: Any, place: Any, length: int = length) -> None:
            Path(place).write_bytes(whole[:length])
            raise Crash

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(pq, "write_table", torn)
            with pytest.raises(Crash):
                local.write_parquet(batch, oracle, str(path))
        assert not path.exists()
        assert not list(tmp_path.glob("*.parquet"))
    local.write_parquet(batch, oracle, str(path))
    assert report_files.aggregate_files(oracle, str(path)).tally.people == 20
