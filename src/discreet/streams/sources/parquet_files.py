"""Events from Parquet files that are put into a folder, one after the other.

A Parquet file does not grow: writers add files. Each is read whole, in the order of their names,
once a later tick finds it there; so files need names that sort in the order in which they come, as
``visits-2027-01-01T12-05.parquet`` do, and are moved into the folder when they are complete.

Source: contract, "Spending" (streams).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources.source import Offset, away, changed

_ROWS = 1 << 16


class ParquetFiles:
    """The files of a folder that match a pattern, by name.

    Names are public, and so is when there is a file: a place in the folder is the name of one.
    """

    fields: EventFields
    place_is_public = True

    def __init__(
        self, folder: str | os.PathLike[str], fields: EventFields, *, pattern: str = "*.parquet"
    ) -> None:
        """Touch nothing yet."""
        self.fields = fields
        self._folder = Path(folder)
        self._pattern = pattern
        self._last = ""

    def begin(self, offset: Offset | None) -> None:
        self._last = "" if offset is None else str(offset["file"])
        if self._last and not (self._folder / self._last).exists():
            raise changed(what="a folder from which the last file that was counted is gone")

    def find_end_offset(self) -> Offset:
        return {"file": max(self._names(), default="")}

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        for name in self._names():
            if self._last < name <= cut["file"]:
                # A file is a unit of what is committed: all of it, or nothing.
                batches = [self._events(rows) for rows in self._rows(self._folder / name)]
                self._last = name
                yield from batches

    @property
    def offset(self) -> Offset:
        return {"file": self._last}

    def committed(self, offset: Offset) -> None:
        """Nothing to tell a folder."""

    def close(self) -> None:
        """Nothing is held between files."""

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self._folder.glob(self._pattern))
        except OSError:
            raise away(what=self._folder.name) from None

    def _events(self, columns: dict[str, list[Any]]) -> Events:
        rows = len(next(iter(columns.values()), []))
        return self.fields.of_columns(columns, rows)

    def _rows(self, path: Path) -> Iterator[dict[str, list[Any]]]:
        import duckdb

        try:
            with duckdb.connect(config={"temp_directory": ""}) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
                names = [column[0] for column in found.description or ()]
                places = {name: names.index(name) for name in self.fields.names if name in names}
                while rows := found.fetchmany(_ROWS):
                    if places:
                        yield {n: [row[place] for row in rows] for n, place in places.items()}
                    else:
                        yield {"": [None] * len(rows)}
        except duckdb.Error:
            raise away(what=f"{path.name}, which is no whole Parquet file yet") from None
