"""Rows invented from the schema alone, to simulate with: declared columns within their bounds.

Nothing is read of any private table. Values follow from a hash of the row's number and the
column's, so that the same schema gives the same rows.

Source: 004d:D20 (tuning without private data).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from discreet.core.unit import Person, add_remove
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.plan.nodes import Field
from discreet.relational.schema.sources import DatabaseTable
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

_MAX_VALUES = 200
_FINE = 1 << 20
_DIALECT = DuckDBDialect()


def invented(database: Database, rows: int, folder: Path) -> dict[str, Table | PublicTable]:
    """The tables of ``database`` with ``rows`` invented rows each; public ones as they are."""
    path = folder / "simulation.duckdb"
    links = _links(database)
    made: dict[str, Table | PublicTable] = {}
    with duckdb.connect(str(path), config={"temp_directory": str(folder)}) as engine:
        for name, table in database.tables.items():
            if isinstance(table, PublicTable) and not table.source.live:
                made[name] = table
                continue
            entry = database.find(name)
            assert entry is not None
            fields = entry.fields
            if isinstance(table, PublicTable):
                items = _copied(fields, database.combinations(name, list(fields)))
            else:
                items = _invented(name, fields, links, rows)
            engine.execute(f"CREATE TABLE {_DIALECT.identifier(name)} AS {items}")
            made[name] = _placed(table, fields, DatabaseTable(path, name, table.source))
    return made


def _placed(
    table: Table | PublicTable, fields: Mapping[str, Field], source: DatabaseTable
) -> Table | PublicTable:
    """The same table elsewhere; what its owner derives is invented as if it were stored."""
    if isinstance(table, PublicTable) or not table.derived:
        return replace(table, source=source)
    declared = {name: each.declaration for name, each in fields.items() if each.declaration}
    return replace(table, source=source, derived={}, columns=declared)


def _links(database: Database) -> dict[tuple[str, str], str]:
    """How the columns that say whose row it is are invented: as (table, column) -> expression."""
    people = "hash(i, -1) % greatest(n // 3, 1)"
    found = {}
    for name, table in database.tables.items():
        unit = add_remove(table.unit) if isinstance(table, Table) else None
        if not isinstance(unit, Person):
            continue
        if unit.via is None:
            found[name, unit.id] = people
        else:
            through = database.find(unit.via.rpartition(".")[0])
            assert through is not None
            found[through.name, unit.id] = "i"
            found[name, unit.id] = "hash(i, -2) % n"
    return found


def _invented(
    name: str, fields: Mapping[str, Field], links: Mapping[tuple[str, str], str], rows: int
) -> str:
    items = []
    for number, (column, field) in enumerate(fields.items()):
        link = links.get((name, column))
        kind = field.domain.kind
        if link is not None:
            text = f"CAST({link} AS BIGINT)"
            text = f"'person ' || {text}" if kind is DataType.TEXT else text
        else:
            text = _value(field.domain, f"hash(i, {number})")
        items.append(f"CAST({text} AS {_DIALECT.types[kind]}) AS {_DIALECT.identifier(column)}")
    return f"SELECT {', '.join(items)} FROM (SELECT range AS i, {rows} AS n FROM range({rows}))"


def _value(domain: ColumnDomain, draw: str) -> str:
    """An expression for one value within ``domain``, from a large whole number."""
    if domain.values:
        step = max(1, len(domain.values) // _MAX_VALUES)
        values = domain.values[::step]
        listed = ", ".join(_DIALECT.literal(value) for value in values)
        return f"list_value({listed})[1 + CAST({draw} % {len(values)} AS BIGINT)]"
    low, high = _ends(domain)
    match domain.kind:
        case DataType.INTEGER:
            return f"{low} + CAST({draw} % {int(high - low) + 1} AS HUGEINT)"
        case DataType.DOUBLE:
            width = _DIALECT.literal(float(high) - float(low))
            return f"{_DIALECT.literal(float(low))} + ({draw} % {_FINE}) / {_FINE} * {width}"
        case DataType.DATE | DataType.TIMESTAMP:
            days = max((high - low).days, 0) + 1
            return f"{_DIALECT.literal(low)} + to_days(CAST({draw} % {days} AS INTEGER))"
        case DataType.BOOLEAN:
            return f"{draw} % 2 = 0"
    return f"'text ' || {draw} % 20"


def _ends(domain: ColumnDomain) -> tuple[Any, Any]:
    if domain.low is not None and domain.high is not None:
        return domain.low, domain.high
    match domain.kind:
        case DataType.DATE:
            return date(2020, 1, 1), date(2020, 1, 1) + timedelta(days=364)
        case DataType.TIMESTAMP:
            return datetime(2020, 1, 1), datetime(2020, 1, 1) + timedelta(days=364)
    return 0, 100


def _copied(fields: Mapping[str, Field], rows: Sequence[tuple[object, ...]]) -> str:
    kinds = [_DIALECT.types[field.domain.kind] for field in fields.values()]
    names = ", ".join(map(_DIALECT.identifier, fields))
    if not rows:
        empty = ", ".join(f"CAST(NULL AS {kind})" for kind in kinds)
        return f"SELECT * FROM (SELECT {empty}) AS v({names}) WHERE FALSE"
    literal = _DIALECT.literal
    listed = [
        ", ".join(f"CAST({literal(v)} AS {kind})" for v, kind in zip(row, kinds, strict=True))
        for row in rows
    ]
    return f"SELECT * FROM (VALUES ({'), ('.join(listed)})) AS v({names})"
