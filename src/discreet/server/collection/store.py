"""Batches of reports on disk, mixed before they are written.

Reports wait in memory until so many are together; then they are put in random order and written as
one file, without nonces, senders or times. Nonces are written apart, in an order of their own, so
that a replay is noticed after a restart too. Up to one batch is lost if the process is killed.

Source: contract, "What may be seen"; 004a:C36.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from discreet.core.parameters import count
from discreet.local.collection import Collection
from discreet.local.collector import Collector, Rejections
from discreet.local.reports import ReportBatch
from discreet.local.tally import Tally
from discreet.noise import permutation
from discreet.noise.randomness import random_id


class BatchStore:
    """The reports of one collection, in a folder of its own."""

    def __init__(self, collection: Collection, folder: Path, *, batch: int) -> None:
        """Open the folder of this very schema; make it if it is not there."""
        self.collection = collection
        self._batch = count("batch", batch)
        self._home = folder / hashlib.sha256(collection.schema.encode()).hexdigest()[:32]
        self._home.mkdir(parents=True, exist_ok=True)
        self._nonces = self._home / "nonces"
        self._lock = threading.Lock()
        self._collector = Collector(collection)
        if self._nonces.exists():
            self._collector.remember(self._nonces.read_text(encoding="ascii").split())
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
        with self._nonces.open("a", encoding="ascii") as file:
            file.writelines(f"{nonce}\n" for nonce in fresh)
            file.flush()
            os.fsync(file.fileno())
        self._written.update(fresh)
        path = self._home / f"{random_id()}.reports"
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(mixed.to_bytes(fields))
        os.utime(unfinished, (0, 0))  # when a batch was full is nobody's business
        unfinished.replace(path)
        self._waiting = [rest] if rest.people else []  # a disk that is full loses nothing

    def tally(self) -> Tally:
        """The tally of all batches written so far."""
        oracle = self.collection.oracle
        total = oracle.aggregate(oracle.batch([])[0])
        for path in sorted(self._home.glob("*.reports")):
            batch = ReportBatch.from_bytes(path.read_bytes(), oracle.fields)
            total = total + oracle.aggregate(batch)
        return total
