"""Batches of reports on disk, mixed before they are written.

Reports wait in memory until so many are together; then they are put in random order and written as
one file, without nonces, senders or times. Nonces are written apart, in an order of their own, so
that a replay is noticed after a restart too. Up to one batch is lost if the process is killed.

Files and folders are for their owner alone. Nonces are durable before the reports they belong to,
and a batch has its name only once it is durable, so that a crash at any byte loses reports of the
batch that was being written and never counts one twice. A batch that cannot be read all the same is
left out and counted; the others stand.

Source: contract, "What may be seen"; 004a:C36.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.core.errors import InvalidData
from discreet.core.parameters import count
from discreet.ledger.durable_files import (
    OWNER_ONLY,
    sync_file,
    sync_folder,
    unwritable_at,
    write_new,
)
from discreet.ledger.errors import unwritable
from discreet.local.collection import Collection
from discreet.local.collector import Collector, Rejections
from discreet.local.reports import ReportBatch
from discreet.local.tally import Tally
from discreet.noise import permutation
from discreet.noise.randomness import random_id

OWNER_FOLDER = 0o700
_LINE = re.compile(rb"[0-9a-f]{32}")


@dataclass(frozen=True)
class StoredReports:
    """What the batches of a collection add up to, and how many could not be read."""

    tally: Tally
    unreadable: int


class BatchStore:
    """The reports of one collection, in a folder of its own."""

    def __init__(self, collection: Collection, folder: Path, *, batch: int) -> None:
        """Open the folder of this very schema; make it if it is not there."""
        self.collection = collection
        self._batch = count("batch", batch)
        self._home = folder / hashlib.sha256(collection.schema.encode()).hexdigest()[:32]
        for place in (folder, self._home):
            place.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        self._nonces = self._home / "nonces"
        self._lock = threading.Lock()
        self._collector = Collector(collection)
        self._collector.remember(_whole_nonces(self._nonces))
        self._written = set(self._collector.nonces)
        self._waiting: list[ReportBatch] = []

    @property
    def rejected(self) -> Rejections:
        """What was dropped since the start, and why."""
        return self._collector.rejected

    def take(self, reports: Iterable[str | bytes]) -> int:
        """Check reports and keep the good ones; says how many."""
        with self._lock:
            good = self._collector.checked(reports)
            if good.people:
                self._waiting.append(good)
            while sum(each.people for each in self._waiting) >= self._batch:
                self._write(self._batch)
            return good.people

    def flush(self) -> None:
        """Write what waits, a smaller batch than others."""
        with self._lock:
            left = sum(each.people for each in self._waiting)
            if left:
                self._write(left)

    def _write(self, size: int) -> None:
        fields = self.collection.oracle.fields
        joined = ReportBatch(
            {
                each.name: np.concatenate([part.columns[each.name] for part in self._waiting])
                for each in fields
            }
        )
        order = permutation(size)
        mixed = ReportBatch({name: each[:size][order] for name, each in joined.columns.items()})
        rest = ReportBatch({name: each[size:] for name, each in joined.columns.items()})
        fresh = sorted(self._collector.nonces - self._written)
        _append_lines(self._nonces, fresh)
        self._written.update(fresh)
        path = self._home / f"{random_id()}.reports"
        unfinished = path.with_suffix(".part")
        write_new(unfinished, mixed.to_bytes(fields))
        os.utime(unfinished, (0, 0))  # when a batch was full is nobody's business
        sync_file(unfinished)
        unfinished.replace(path)
        sync_folder(self._home)
        self._waiting = [rest] if rest.people else []  # a disk that is full loses nothing

    def tally(self) -> Tally:
        """The tally of all batches written so far that can be read."""
        return self.stored().tally

    def stored(self) -> StoredReports:
        """The tally of all batches written so far, and how many of them cannot be read."""
        oracle = self.collection.oracle
        total, unreadable = oracle.aggregate(oracle.batch([])[0]), 0
        for path in sorted(self._home.glob("*.reports")):
            try:
                batch = ReportBatch.from_bytes(path.read_bytes(), oracle.fields)
            except InvalidData:
                unreadable += 1
            else:
                total = total + oracle.aggregate(batch)
        return StoredReports(total, unreadable)


def _whole_nonces(path: Path) -> list[str]:
    """The nonces of whole lines; part of a line is from a write that did not end, and not kept."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    return [line.decode("ascii") for line in lines if _LINE.fullmatch(line)]


def _append_lines(path: Path, lines: Sequence[str]) -> None:
    """Add lines, durable on return. They begin on a line of their own, whatever was torn before."""
    content = "\n".join(["", *lines, ""]).encode("ascii")
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, OWNER_ONLY)
        try:
            path.chmod(OWNER_ONLY)  # one that was there before, too
            if os.write(handle, content) != len(content):
                raise unwritable(reason=path.name)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise unwritable_at(path, error) from error
    sync_folder(path.parent)
