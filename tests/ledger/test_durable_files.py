"""New files survive a loss of power: content flushed before it gets its name, names flushed too."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.ledger import Memory, SQLite, restore
from discreet.ledger.durable_files import give_name, put_in_place, write_new
from discreet.ledger.entry import first
from discreet.ledger.fence import fence_of
from discreet.ledger.sqlite.store import write_backup
from tests.ledger.examples import KEY, reserve, terms

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


class Disk:
    """What a loss of power would leave: contents and names that were flushed.

    A file is known by its number; a name stays only if its folder was flushed after it was given.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.flushed: dict[int, bytes] = {}
        self.names: dict[Path, set[str]] = {}
        fsync = os.fsync

        def note(handle: int) -> None:
            fsync(handle)
            path = Path(f"/proc/self/fd/{handle}").resolve()
            if path.is_dir():
                self.names[path] = {each.name for each in path.iterdir()}
            else:
                self.flushed[os.fstat(handle).st_ino] = path.read_bytes()

        monkeypatch.setattr(os, "fsync", note)

    def keeps(self, path: Path) -> bool:
        """Whether the file as it is now would be there after a loss of power."""
        content = self.flushed.get(path.stat().st_ino)
        return path.name in self.names.get(path.parent, set()) and content == path.read_bytes()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def never_unflushed(
    monkeypatch: pytest.MonkeyPatch, disk: Disk, name: str, source: Callable[..., Any]
) -> None:
    """Refuse to give a name to a file whose content is not on disk."""
    real = getattr(os, name)

    def checked(file: Any, target: Any, **how: Any) -> None:
        held = Path(source(file, target))
        assert disk.flushed.get(held.stat().st_ino) == held.read_bytes(), held
        real(file, target, **how)

    monkeypatch.setattr(os, name, checked)


def test_a_new_file_is_there_with_its_content(disk: Disk, tmp_path: Path) -> None:
    write_new(tmp_path / "a", b"content")
    assert disk.keeps(tmp_path / "a")


def test_a_further_name_is_there(disk: Disk, tmp_path: Path) -> None:
    write_new(tmp_path / "a", b"content")
    give_name(tmp_path / "a", tmp_path / "b")
    assert disk.keeps(tmp_path / "b")


def test_a_replaced_file_is_there_and_was_never_half_there(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_unflushed(monkeypatch, disk, "replace", lambda file, target: file)
    write_new(tmp_path / "a", b"old")
    put_in_place(tmp_path / "draft", tmp_path / "a", b"new")
    assert disk.keeps(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_ledger_that_was_started_has_its_key_on_disk(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_unflushed(monkeypatch, disk, "link", lambda file, target: file)
    place = tmp_path / "visits.ledger"
    with SQLite(place) as ledger:
        ledger.open(terms())
    assert disk.keeps(tmp_path / "visits.ledger.key")
    assert place.name in disk.names[tmp_path]
    assert disk.names[tmp_path] == {"visits.ledger", "visits.ledger.key"}  # nothing comes back


def test_a_key_is_on_disk_before_the_first_entry(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.ledger.sqlite import ledger as sqlite

    real, seen = first, []

    def looked(**how: Any) -> Any:
        seen.append(disk.keeps(tmp_path / "visits.ledger.key.new"))
        return real(**how)

    monkeypatch.setattr(sqlite, "first", looked)
    with SQLite(tmp_path / "visits.ledger") as ledger:
        ledger.open(terms())
    assert seen == [True]


def test_a_back_up_is_there_when_it_is_said_to_be(disk: Disk, kept: SQLite, tmp_path: Path) -> None:
    reserve(kept)
    kept.backup(tmp_path / "copy")
    assert disk.keeps(tmp_path / "copy")


def test_so_is_one_that_was_written_entry_by_entry(disk: Disk, tmp_path: Path) -> None:
    ledger = Memory()
    ledger.open(terms())
    reserve(ledger)
    with ledger.chain.reading() as last:
        write_backup(ledger.chain.store, last, tmp_path / "copy")
    assert disk.keeps(tmp_path / "copy")


def test_a_restored_ledger_is_there_and_so_is_the_fence_before_it(
    disk: Disk, kept: SQLite, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = kept.backup(tmp_path / "copy")
    kept.close()
    place.unlink()
    key, other = place.with_name(place.name + ".key"), tmp_path / "other"
    real, fenced = os.link, []

    def linked(file: Any, target: Any) -> None:
        fence = fence_of(key.read_bytes())
        assert fence is not None
        fenced.append(disk.keeps(key) and fence.place.text == str(other))
        real(file, target)

    monkeypatch.setattr(os, "link", linked)
    restore(tmp_path / "copy", other, key=key, checkpoint=checkpoint)
    assert fenced == [True]
    assert other.name in disk.names[tmp_path]


def test_the_mark_of_a_beginning_under_given_bytes_is_there(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.ledger.sqlite import ledger as sqlite

    seen = []

    def looked(**how: Any) -> Any:
        seen.append("visits.ledger.new" in disk.names[tmp_path])
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlite, "first", looked)
    with SQLite(tmp_path / "visits.ledger", key=KEY) as ledger, pytest.raises(KeyboardInterrupt):
        ledger.open(terms())
    assert seen == [True]
