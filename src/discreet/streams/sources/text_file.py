"""Events from a text file that grows by whole lines: CSV with a header, or JSON lines.

The file is read from its first line and followed as it grows. A line counts once it ends; until
then it has not arrived. A line that cannot be read is an event without a key. What was read before
is recognised by the bytes before the place: a file that was cut short or replaced is refused.

Source: contract, "Spending" (streams), "Columns" (a line is one record).
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources.source import Offset, away, changed

_BLOCK = 1 << 16
_LONGEST = 1 << 20
_KNOWN = 4096


class _GrowingFile:
    """Whole lines of a file, from a place on."""

    def __init__(self, path: str | os.PathLike[str], fields: EventFields) -> None:
        """Touch nothing yet."""
        if not isinstance(fields, EventFields):
            raise InvalidParameter(
                code="stream_field",
                expectation="EventFields that say which field is the key, the person, the time",
                received=type(fields).__name__,
                remedy='Write EventFields(key="ward", person="patient").',
            )
        self.fields = fields
        self._path = Path(path)
        self._identity = (0, 0)
        self._place = 0
        self._after = hashlib.sha256(b"").hexdigest()

    def begin(self, offset: Offset | None) -> None:
        """Look at the file; the bytes before a kept place must be those that were read."""
        with self._opened() as file:
            status = os.fstat(file.fileno())
            self._identity = (status.st_dev, status.st_ino)
            first = self._first(file)
            place = first if offset is None else int(offset["byte"])
            after = self._before(file, place)
            if _size(file) < place or (offset is not None and after != offset["after"]):
                raise changed(what=f"{self._path.name}, which was cut short or replaced")
            self._place, self._after = place, after

    def find_end_offset(self) -> Offset:
        with self._same() as file:
            size = _size(file)
        if size < self._place:
            raise changed(what=f"{self._path.name}, which was cut short")
        return {"byte": size}

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        end = int(cut["byte"])
        with self._same() as file:
            if _size(file) < end:
                raise changed(what=f"{self._path.name}, which was cut short")
            while self._place < end:
                file.seek(self._place)
                block = file.read(min(_BLOCK, end - self._place))
                if b"\n" not in block:  # a long line
                    block += file.read(max(0, min(_LONGEST, end - self._place) - len(block)))
                whole = block.rfind(b"\n") + 1
                if not whole:
                    if len(block) < _LONGEST or not self._passed_over(file, end):
                        return  # the last line is not ended yet
                    continue
                lines = block[:whole].split(b"\n")[:-1]
                self._place += whole
                self._after = self._before(file, self._place)
                yield self.fields.events(
                    self._record(line) if len(line) <= _LONGEST else None for line in lines
                )

    def _passed_over(self, file: BinaryIO, end: int) -> bool:
        """Step behind a line that is too long to be an event; whether it has ended."""
        place = self._place
        while place < end:
            file.seek(place)
            block = file.read(min(_BLOCK, end - place))
            if not block:
                break
            found = block.find(b"\n")
            if found >= 0:
                self._place = place + found + 1
                self._after = self._before(file, self._place)
                return True
            place += len(block)
        return False

    @property
    def offset(self) -> Offset:
        return {"byte": self._place, "after": self._after}

    def committed(self, offset: Offset) -> None:
        """Nothing to tell a file."""

    def close(self) -> None:
        """Nothing is held between ticks."""

    def _opened(self) -> BinaryIO:
        try:
            return self._path.open("rb")
        except OSError:
            raise away(what=self._path.name) from None

    @contextmanager
    def _same(self) -> Iterator[BinaryIO]:
        """The file, if its name still leads to the one that was begun with."""
        with self._opened() as file:
            status = os.fstat(file.fileno())
            if (status.st_dev, status.st_ino) != self._identity:
                raise changed(what=f"{self._path.name}, which was replaced")
            yield file

    @staticmethod
    def _before(file: BinaryIO, place: int) -> str:
        start = max(0, place - _KNOWN)
        file.seek(start)
        return hashlib.sha256(file.read(place - start)).hexdigest()

    def _first(self, file: BinaryIO) -> int:
        """Where the first record begins."""
        return 0

    def _record(self, line: bytes) -> Mapping[str, Any] | None:
        raise NotImplementedError


class JSONLines(_GrowingFile):
    """A file with one JSON object on each line, followed as it grows."""

    def _record(self, line: bytes) -> Mapping[str, Any] | None:
        return json_record(line)


class CSVLines(_GrowingFile):
    """A CSV file with a header, followed as it grows; a record is one line."""

    _names: tuple[str, ...] = ()

    def _first(self, file: BinaryIO) -> int:
        file.seek(0)
        header = file.readline(_LONGEST)
        if not header.endswith(b"\n"):
            raise away(what=f"{self._path.name}, which has no whole header yet")
        self._names = tuple(_cells(header) or ())
        missing = [name for name in self.fields.names if name not in self._names]
        if missing:
            raise InvalidParameter(
                code="stream_field",
                expectation=f"fields of the header: {list(self._names)}",
                received=missing,
                remedy="Name them as the header does.",
            )
        return len(header)

    def _record(self, line: bytes) -> Mapping[str, Any] | None:
        cells = _cells(line)
        if cells is None or len(cells) != len(self._names):
            return None
        return dict(zip(self._names, cells, strict=True))


def json_record(line: bytes | str) -> Mapping[str, Any] | None:
    """The object on a line; None where there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _cells(line: bytes) -> list[str] | None:
    try:
        return next(csv.reader([line.decode("utf-8").rstrip("\r\n")], strict=True), None)
    except (ValueError, csv.Error):
        return None


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size
