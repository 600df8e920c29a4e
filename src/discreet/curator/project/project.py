"""A project: what a data owner decided, in one commented file that people can read and review.

``dp.Project.read("discreet.toml").curator()`` opens the curator that the file describes. The
command line and the service read the same file. It holds no secrets: keys are named by path and
connections by the environment variable that holds them.

Source: 004d:D11, D14.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit
from discreet.curator.budget import PrivacyBudget
from discreet.curator.curator import Curator
from discreet.curator.policy.policy import Policy
from discreet.curator.project import locations as places
from discreet.curator.project.declarations import budget, unit_without_tables
from discreet.curator.project.fields import TABLE, Fields
from discreet.curator.project.ledger import ProjectLedger
from discreet.curator.project.locations import DatabaseServer, Embedded, FileLedger, ServerLedger
from discreet.curator.project.preview import Look
from discreet.curator.project.tables import PrivateEntry, PublicEntry, tables
from discreet.ledger import Ledger, Memory
from discreet.relational.database import Database
from discreet.relational.engines.engine import Engine
from discreet.relational.schema.agreement import agreed_unit
from discreet.relational.schema.table import PublicTable, Table


@dataclass(frozen=True, kw_only=True)
class Project:
    """Tables, units, columns, budget and ledger. Reading one touches no data and no ledger.

    ``service`` and ``record`` are the parts of the file that the service reads; here they are kept
    as they stand. ``alone`` is the unit of a project for streams, which has no private table.
    """

    tables: Mapping[str, PrivateEntry | PublicEntry]
    budget: Guarantee
    ledger: FileLedger | ServerLedger
    engine: Embedded | DatabaseServer = field(default_factory=Embedded)
    policy: Policy | None = None
    owner_log: Path | None = None
    service: Fields | None = None
    record: Fields | None = None
    alone: PrivacyUnit | None = None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Project:
        """The project in a file. Paths in it are relative to its folder."""
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InvalidParameter(
                code="project_missing",
                expectation="a project file that can be read",
                received=str(path),
                remedy=f"{said}. `discreet init data.csv` writes one; --project names another.",
            ) from None
        return cls.parse(text, place.absolute().parent)

    @classmethod
    def parse(cls, text: str, folder: Path) -> Project:
        """The project that ``text`` describes, for a file in ``folder``."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidParameter(
                code="project_unreadable",
                expectation="a file in TOML",
                received=str(error),
                remedy="Fix that line: text stands in quotes, a name only once in its part.",
            ) from None
        fields = Fields(values, (), text)
        engine = places.engine(fields, folder)
        listed = tables(fields, folder, on_server=isinstance(engine, places.DatabaseServer))
        private = any(isinstance(each, PrivateEntry) for each in listed.values())
        made = cls(
            engine=engine,
            tables=listed,
            alone=None if private else unit_without_tables(fields),
            budget=budget(fields),
            ledger=places.ledger(fields, folder),
            policy=_policy(fields, folder),
            owner_log=places.path(fields, "owner_log", folder),
            service=_part(fields, "service"),
            record=_part(fields, "record"),
        )
        fields.finish()
        return made

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is protected."""
        return agreed_unit(self._units())

    @property
    def guarded(self) -> PrivacyBudget:
        """The budget, and whose privacy it guards."""
        return PrivacyBudget(self.budget, self.unit, self._units())

    def _units(self) -> tuple[PrivacyUnit, ...]:
        if self.alone is not None:
            return (self.alone,)
        return tuple(each.unit for each in self.tables.values() if isinstance(each, PrivateEntry))

    def curator(self) -> Curator:
        """Open the tables, and start the ledger or go on with it."""
        return self._curator(self.ledger.opened())

    def owner(self) -> Curator:
        """The curator for the data owner: without the policy, on a ledger that was started."""
        return replace(self, policy=None)._curator(self._started())

    def look(self) -> Look:
        """Previews and plans; it goes on with a ledger, but begins none.

        So the terms in the file may still change after a look at what they would buy.
        """
        started = self.ledger.started()
        return Look(self.curator() if started else self._curator(Memory()))

    def database(self) -> Database:
        """The tables alone, checked against their declarations; no ledger is started."""
        engine = self.engine.opened()
        return Database(engine, self._opened(engine))

    def open_ledger(self) -> ProjectLedger:
        """The ledger alone, for its owner; no data is opened."""
        return ProjectLedger.of(self.guarded, self._started())

    def read_ledger(self) -> ProjectLedger:
        """The same to be read alone, of a copy too."""
        return ProjectLedger.open_for_reading(self.guarded, self._started())

    def _started(self) -> Ledger:
        if not self.ledger.started():
            raise LedgerError(
                code="ledger_not_begun",
                expectation="a ledger that was started",
                remedy="The first question begins it: `discreet query`. If there was one before, "
                "restore a back-up.",
            )
        return self.ledger.opened()

    def _curator(self, ledger: Ledger) -> Curator:
        engine = self.engine.opened()
        return Curator(
            budget=self.budget,
            ledger=ledger,
            engine=engine,
            policy=self.policy,
            unit=self.alone,
            **self._opened(engine),  # type: ignore[arg-type]
        )

    def _opened(self, engine: Engine) -> dict[str, Table | PublicTable]:
        return {name: entry.opened(engine) for name, entry in self.tables.items()}


def _policy(fields: Fields, folder: Path) -> Policy | None:
    path = places.path(fields, "policy", folder)
    if path is None:
        return None
    with fields.at("policy"):
        return Policy.read(path)


def _part(fields: Fields, name: str) -> Fields | None:
    return None if fields.maybe(name, TABLE) is None else fields.part(name)
