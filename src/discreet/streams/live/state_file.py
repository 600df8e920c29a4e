"""Where the state of a stream lies: one file, in which a tick is written whole or not at all.

A commit holds counts, source offsets, noise and the tick's output together, and is on disk when it
returns; only then is anything shown. The file belongs to one speaker: whoever resumes the stream
takes it over, and what an earlier one would still write is refused.

The same in memory, for a ledger in memory.

Source: contract, "Spending" (streams); sqlite.org, "Atomic Commit". Proof:
``proofs/live-streams.md``.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.ledger.durable_files import exists, file_path, size, write_new
from discreet.ledger.errors import unwritable
from discreet.streams.live.sealed_state import StateCipher, damaged_state

_SETTINGS = (
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA secure_delete = ON",
)
_LAYOUT = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), stream TEXT NOT NULL,"
    " speaker INTEGER NOT NULL, writes INTEGER NOT NULL, state BLOB NOT NULL) STRICT",
    "CREATE TABLE ticks (tick INTEGER PRIMARY KEY, output BLOB NOT NULL) STRICT",
)
_CUTS = "CREATE TABLE IF NOT EXISTS cuts (tick INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT"


class StreamStore(Protocol):
    """Keeps the latest state of one stream, and the output of every tick.

    Contract: ``begin`` once, or ``take_over`` to go on. Guarantee: what a call wrote is durable
    when it returns, all of it or nothing.
    """

    @property
    def keeps(self) -> bool:
        """Whether states are kept at all, and not outputs alone."""

    def begin(self, state: Mapping[str, Any], speaker: int) -> None:
        """Write the first state."""

    def take_over(self, speaker: int) -> dict[str, Any]:
        """Become the only one who writes; the latest state."""

    def commit(
        self, state: Mapping[str, Any], output: tuple[int, Mapping[str, Any]] | None
    ) -> None:
        """Replace the state, and add the output of a tick if there is one; together."""

    def output(self, tick: int) -> dict[str, Any] | None:
        """What a tick released; None where it did not yet."""

    def keep_cut(self, tick: int, place: Mapping[str, Any]) -> None:
        """Write where the source ended at the closing of a tick."""

    def cuts(self) -> list[tuple[int, dict[str, Any]]]:
        """Those of ticks that were not committed yet."""


class StateFile:
    """The state in an SQLite file, encrypted under the owner's key."""

    keeps = True

    def __init__(self, path: Path, stream: str, cipher: StateCipher) -> None:
        """Touch nothing yet."""
        self.path = path
        self._stream = stream
        self._cipher = cipher
        self._speaker = 0
        self._writes = 0
        self._lock = threading.RLock()

    def begin(self, state: Mapping[str, Any], speaker: int) -> None:
        with suppress(FileExistsError):
            write_new(self.path, b"")
        if self.begun():
            raise _occupied(self.path)
        self._speaker, self._writes = speaker, 0
        with self._writing() as connection:
            for statement in (*_LAYOUT, _CUTS):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO head VALUES (1, ?, ?, 0, ?)",
                (self._stream, speaker, self._sealed(0, state)),
            )

    def begun(self) -> bool:
        """Whether a first state was written; what a crash left of the attempt is none."""
        if not size(self.path):
            return False
        with self._writing() as connection:
            tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        return bool(tables[0])

    def take_over(self, speaker: int) -> dict[str, Any]:
        if not exists(self.path):
            raise damaged_state(what=f"no file {self.path.name}")
        with self._writing() as connection:
            stream, before, writes, state = _only(
                connection.execute("SELECT stream, speaker, writes, state FROM head")
            )
            if stream != self._stream:
                raise damaged_state(what="the state of another stream")
            if before >= speaker:
                raise _make_lost_claim_error(speaker)
            found = self._cipher.opened(_place(self._stream, writes), state)
            connection.execute("UPDATE head SET speaker = ?", (speaker,))
            connection.execute(_CUTS)
        self._speaker, self._writes = speaker, writes
        return found

    def commit(
        self, state: Mapping[str, Any], output: tuple[int, Mapping[str, Any]] | None
    ) -> None:
        writes = self._writes + 1
        sealed = self._sealed(writes, state)
        with self._writing() as connection:
            changed = connection.execute(
                "UPDATE head SET writes = ?, state = ? WHERE speaker = ? AND writes = ?",
                (writes, sealed, self._speaker, self._writes),
            )
            if changed.rowcount != 1:
                raise _make_lost_claim_error(self._speaker)
            if output is not None:
                tick, told = output
                kept = self._cipher.sealed(_output_place(self._stream, tick), told)
                connection.execute("INSERT INTO ticks VALUES (?, ?)", (tick, kept))
                connection.execute("DELETE FROM cuts WHERE tick <= ?", (tick,))
        self._writes = writes

    def output(self, tick: int) -> dict[str, Any] | None:
        with self._writing() as connection:
            found = connection.execute(
                "SELECT output FROM ticks WHERE tick = ?", (tick,)
            ).fetchone()
        return (
            None
            if found is None
            else self._cipher.opened(_output_place(self._stream, tick), found[0])
        )

    def keep_cut(self, tick: int, place: Mapping[str, Any]) -> None:
        sealed = self._cipher.sealed(_cut_place(self._stream, tick), place)
        with self._writing() as connection:
            written = connection.execute(
                "INSERT INTO cuts SELECT ?, ? FROM head WHERE speaker = ?",
                (tick, sealed, self._speaker),
            )
            if written.rowcount != 1:
                raise _make_lost_claim_error(self._speaker)

    def cuts(self) -> list[tuple[int, dict[str, Any]]]:
        with self._writing() as connection:
            found = connection.execute("SELECT tick, sealed FROM cuts ORDER BY tick").fetchall()
        return [(n, self._cipher.opened(_cut_place(self._stream, n), kept)) for n, kept in found]

    def _sealed(self, writes: int, state: Mapping[str, Any]) -> bytes:
        return self._cipher.sealed(_place(self._stream, writes), state)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of the block is durable at its end, or nothing of it."""
        with self._lock:
            connection = None
            try:
                connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
                for setting in _SETTINGS:
                    connection.execute(setting)
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    raise damaged_state(what="a file without its tables") from None
                raise unwritable(reason=self.path.name) from None
            except sqlite3.DatabaseError:
                raise damaged_state(what="a file that was cut short or changed") from None
            finally:
                if connection is not None:
                    with suppress(sqlite3.Error):
                        connection.close()  # takes back what was not committed


class StateInMemory:
    """The state in this process: it ends with it. Together with a ledger in memory."""

    keeps = True

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._state: Mapping[str, Any] | None = None
        self._outputs: dict[int, Mapping[str, Any]] = {}
        self._cuts: dict[int, Mapping[str, Any]] = {}

    def begin(self, state: Mapping[str, Any], speaker: int) -> None:
        self._state = state

    def take_over(self, speaker: int) -> dict[str, Any]:
        if self._state is None:
            raise damaged_state(what="a state that was in another process")
        return dict(self._state)

    def commit(
        self, state: Mapping[str, Any], output: tuple[int, Mapping[str, Any]] | None
    ) -> None:
        self._state = state
        if output is not None:
            self._outputs[output[0]] = output[1]
            self._cuts = {tick: cut for tick, cut in self._cuts.items() if tick > output[0]}

    def output(self, tick: int) -> dict[str, Any] | None:
        found = self._outputs.get(tick)
        return None if found is None else dict(found)

    def keep_cut(self, tick: int, place: Mapping[str, Any]) -> None:
        if self.keeps:
            self._cuts = {**self._cuts, tick: place}

    def cuts(self) -> list[tuple[int, dict[str, Any]]]:
        return [(tick, dict(place)) for tick, place in self._cuts.items()]


class OutputsInMemory(StateInMemory):
    """Outputs alone, for streams whose state is never written."""

    keeps = False


def state_path(path: object) -> Path:
    """The whole path of a state file; refused where it is none."""
    if not isinstance(path, str | PathLike) or not str(path):
        raise InvalidParameter(
            code="stream_state_place",
            expectation="state= to be the path of a file for the stream's state",
            received=type(path).__name__,
            remedy='Write state="ward.stream"; with a ledger in memory leave it out.',
        )
    return file_path(path)


def _place(stream: str, writes: int) -> str:
    return f"state {stream} {writes}"


def _output_place(stream: str, tick: int) -> str:
    return f"output {stream} {tick}"


def _cut_place(stream: str, tick: int) -> str:
    return f"cut {stream} {tick}"


def _only(rows: sqlite3.Cursor) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = rows.fetchone()
    if found is None:
        raise damaged_state(what="a file without a state")
    return found


def _occupied(path: Path) -> InvalidParameter:
    return InvalidParameter(
        code="stream_state_place",
        expectation="a place for the state where nothing is yet",
        received=path.name,
        remedy="Choose another name; each stream has a file of its own. To go on with one, "
        "resume it by its id.",
    )


def _make_lost_claim_error(speaker: int) -> LedgerError:
    return LedgerError(
        code="conversation_taken",
        expectation="one process that speaks for a stream",
        received=f"claim {speaker}, which is not the latest",
        remedy="It was resumed elsewhere. Go on there, or resume it here again.",
    )
