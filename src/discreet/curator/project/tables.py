"""The tables of a project as its file describes them; their rows may be elsewhere by now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.core.unit import PrivacyUnit
from discreet.curator.project.declarations import columns, derived, unit
from discreet.curator.project.fields import LIST, TABLE, TEXT, WHOLE, Fields
from discreet.relational.engines.engine import Engine, EngineTable
from discreet.relational.schema.column_types import column_types
from discreet.relational.schema.declarations import Declaration
from discreet.relational.schema.sources import TableSource, source_of
from discreet.relational.schema.table import MOST_ROWS, PublicTable, Table, public, table

RESERVED = {"budget", "ledger", "engine", "randomness", "policy", "self"}
"""Names that a table cannot have, since they name other things that a curator takes."""


@dataclass(frozen=True)
class InFile:
    """Rows in a file; ``table`` names the table of a DuckDB file."""

    path: Path
    table: str | None
    names: tuple[str, ...] | None = None

    def source(self, _: Engine) -> TableSource:
        """The file, if it is there."""
        try:
            return source_of(self.path, self.table, self.names)
        except InvalidParameter as refusal:
            if refusal.code != "file_not_found":
                raise
            raise InvalidParameter(
                code=refusal.code,
                expectation=refusal.expectation,
                received=refusal.received,
                remedy="Check `path =` in the project file; it is taken relative to the folder of "
                "that file.",
            ) from None


@dataclass(frozen=True)
class OnServer:
    """Rows in a table of the database server: ``clinic.visits``."""

    table: str

    def source(self, engine: Engine) -> EngineTable:
        """The table of the engine."""
        return EngineTable(engine, self.table)


@dataclass(frozen=True, kw_only=True)
class PrivateEntry:
    """A private table."""

    place: InFile | OnServer
    unit: PrivacyUnit
    columns: Mapping[str, Declaration]
    rows_at_most: int = MOST_ROWS
    snapshot: str | None = None
    max_rows_per: Mapping[str, int] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    fixed_per_person: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)

    def opened(self, engine: Engine) -> Table:
        """The table, where its rows are there."""
        return table(
            self.place.source(engine),
            unit=self.unit,
            columns=self.columns,
            rows_at_most=self.rows_at_most,
            snapshot=self.snapshot,
            max_rows_per=self.max_rows_per,
            derived=self.derived,
            fixed_per_person=self.fixed_per_person,
            types=self.types,
        )


@dataclass(frozen=True)
class PublicEntry:
    """A public table."""

    place: InFile | OnServer
    types: Mapping[str, str] = field(default_factory=dict)

    def opened(self, engine: Engine) -> PublicTable:
        """The table, where its rows are there."""
        return public(self.place.source(engine), types=self.types)


def tables(
    project: Fields, folder: Path, *, on_server: bool
) -> dict[str, PrivateEntry | PublicEntry]:
    """``[tables.NAME]``, which are private, and ``[public.NAME]``."""
    made: dict[str, PrivateEntry | PublicEntry] = {}
    for name, fields in project.parts("tables"):
        made[name] = PrivateEntry(
            place=_place(fields, folder, on_server=on_server),
            unit=unit(fields),
            columns=columns(fields),
            rows_at_most=fields.maybe("rows_at_most", WHOLE) or MOST_ROWS,
            snapshot=fields.maybe("snapshot", TEXT),
            max_rows_per=_limits(fields),
            derived=derived(fields),
            fixed_per_person=_fixed(fields),
            types=_types(fields),
        )
        fields.finish()
    if not made and project.maybe("unit", TABLE) is None:
        raise InvalidParameter(
            code="project_field_missing",
            expectation="a private table, [tables.NAME]",
            remedy="Write [tables.visits] with its path, unit and columns; or, for streams alone, "
            '[unit] with kind = "person" and id = the field that says whose an event is.',
        )
    for name, fields in project.parts("public"):
        if name in made:
            raise _name(name, why="no two tables of one name")
        place = _place(fields, folder, on_server=on_server)
        made[name] = PublicEntry(place, _types(fields))
        fields.finish()
    for name in made:
        if name in RESERVED or not name:
            raise _name(name, why=f"a table name other than {', '.join(sorted(RESERVED))}")
        if sum(name.lower() == other.lower() for other in made) > 1:
            raise _name(name, why="no two tables whose names differ in capital letters only")
    return made


def _place(fields: Fields, folder: Path, *, on_server: bool) -> InFile | OnServer:
    if on_server:
        return OnServer(fields.take("table", TEXT))
    path, table = folder / fields.take("path", TEXT), fields.maybe("table", TEXT)
    names = fields.maybe("names", LIST)
    return InFile(path, table, None if names is None else tuple(names))


def _fixed(fields: Fields) -> tuple[str, ...]:
    listed = fields.maybe("fixed_per_person", LIST)
    return () if listed is None else tuple(listed)


def _types(fields: Fields) -> dict[str, str]:
    """``[tables.NAME.types]``: SQL's names of types by column."""
    if fields.maybe("types", TABLE) is None:
        return {}
    inside = fields.part("types")
    made = {name: inside.take(name, TEXT) for name in inside.values}
    with fields.at("types"):
        column_types(made)
    return made


def _limits(fields: Fields) -> dict[str, int]:
    if fields.maybe("max_rows_per", TABLE) is None:
        return {}
    inside = fields.part("max_rows_per")
    return {name: inside.take(name, WHOLE) for name in inside.values}


def _name(name: str, *, why: str) -> InvalidParameter:
    return InvalidParameter(
        code="project_table_name", expectation=why, received=name, remedy="Rename the table."
    )
