"""Where a project keeps its ledger, and on what it computes.

Connections are named by the environment variable that holds them: no password is ever in a file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.curator.project.fields import TABLE, TEXT, VARIABLE, WHOLE, Fields
from discreet.ledger import Checkpoint, Ledger, PostgreSQL, SQLite, restore
from discreet.ledger.durable_files import file_name
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.engines.postgres.engine import Postgres


@dataclass(frozen=True)
class FileLedger:
    """A ledger in a file; ``key`` is the path of its key, by default beside it."""

    path: Path
    key: Path | None

    def opened(self) -> Ledger:
        """The ledger, not yet started."""
        return SQLite(self.path, key=self.key)

    def started(self) -> bool:
        """Whether there is anything yet."""
        return self.path.exists()

    def restored(self, backup: Path, checkpoint: Checkpoint | None) -> Checkpoint:
        """Bring it up to a back-up, here; the checkpoint it then has."""
        return restore(backup, self.path, key=self.key, checkpoint=checkpoint)


@dataclass(frozen=True)
class ServerLedger:
    """A ledger on a PostgreSQL server, at the address that an environment variable holds."""

    variable: str
    name: str
    key: Path

    def opened(self) -> Ledger:
        """The ledger, not yet started."""
        return self._ledger()

    def started(self) -> bool:
        """Whether there is anything yet."""
        with self._ledger() as ledger:
            return ledger.exists()

    def restored(self, backup: Path, checkpoint: Checkpoint | None) -> Checkpoint:
        """Bring it up to a back-up; the checkpoint it then has."""
        with self._ledger() as ledger:
            return restore(backup, ledger, checkpoint=checkpoint)

    def _ledger(self) -> PostgreSQL:
        return PostgreSQL(from_environment(self.variable), name=self.name, key=self.key)


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """DuckDB, inside this process."""

    memory_limit: str | None = None
    temp_directory: Path | None = None
    threads: int | None = None

    def opened(self) -> DuckDB:
        """An empty engine."""
        return DuckDB(
            memory_limit=self.memory_limit,
            temp_directory=self.temp_directory,
            threads=self.threads,
        )


@dataclass(frozen=True)
class DatabaseServer:
    """PostgreSQL, at the address that an environment variable holds."""

    variable: str

    def opened(self) -> Postgres:
        """The engine, not yet connected."""
        return Postgres(from_environment(self.variable))


def ledger(project: Fields, folder: Path) -> FileLedger | ServerLedger:
    """``ledger = "visits.ledger"``, or a part that names a server."""
    key = path(project, "key", folder)
    if not isinstance(project.values.get("ledger"), dict):
        return FileLedger(folder / file_name(project.take("ledger", TEXT)), key)
    fields = project.part("ledger")
    fields.choice("kind", ("postgres",))
    made = ServerLedger(
        fields.take("address_from", VARIABLE),
        fields.take("name", TEXT),
        folder / project.take("key", TEXT),
    )
    fields.finish()
    return made


def engine(project: Fields, folder: Path) -> Embedded | DatabaseServer:
    """``[engine]``, which may be left out."""
    if project.maybe("engine", TABLE) is None:
        return Embedded()
    fields = project.part("engine")
    if fields.choice("kind", ("duckdb", "postgres")) == "postgres":
        server = DatabaseServer(fields.take("address_from", VARIABLE))
        fields.finish()
        return server
    made = Embedded(
        memory_limit=fields.maybe("memory_limit", TEXT),
        temp_directory=path(fields, "temp_directory", folder),
        threads=fields.maybe("threads", WHOLE),
    )
    fields.finish()
    return made


def path(fields: Fields, name: str, folder: Path) -> Path | None:
    """A path as seen from the project file."""
    value = fields.maybe(name, TEXT)
    return None if value is None else folder / value


def from_environment(variable: str) -> str:
    """What an environment variable holds; it is never shown."""
    value = os.environ.get(variable)
    if not value:
        raise InvalidParameter(
            code="variable_not_set",
            expectation=f"the environment variable {variable}, which holds an address",
            remedy=f'Set it: export {variable}="host=... dbname=... user=... password=...".',
        )
    return value
