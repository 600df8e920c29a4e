"""The rows of the catalogue: tables and columns as they were declared, which everybody may know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.server.wire import types
from discreet.server.wire.types import KINDS, WireType

PUBLIC, CATALOGUE, INFORMATION = 2200, 11, 13000
OWNER = "discreet"
OWNER_OID = 10
_FIRST = 16384
_CLASS_OID = 1259
_TYPES: tuple[tuple[WireType, str, str], ...] = (
    (types.BOOL, "bool", "B"),
    (types.NAME, "name", "S"),
    (types.INT8, "int8", "N"),
    (types.INT2, "int2", "N"),
    (types.INT4, "int4", "N"),
    (types.TEXT, "text", "S"),
    (types.OID, "oid", "N"),
    (types.FLOAT8, "float8", "N"),
    (types.TEXTS, "_text", "A"),
    (types.WHOLES, "_int8", "A"),
    (types.DATE, "date", "D"),
    (types.TIMESTAMP, "timestamp", "D"),
)
SHORT = {form.oid: short for form, short, _ in _TYPES}
"""How types are called in ``pg_type``."""
Row = dict[str, Any]


@dataclass(frozen=True)
class DeclaredTable:
    """A table as the schema of the service tells it, with its number."""

    oid: int
    name: str
    columns: tuple[tuple[str, WireType], ...]
    comments: tuple[str, ...]


def declared(schema: Mapping[str, Any]) -> list[DeclaredTable]:
    """All tables, in the order of the schema."""
    found = []
    for number, table in enumerate(schema["tables"]):
        columns = table["columns"]
        protects = table.get("protects")
        about = f"private: protects {protects}" if protects else "public"
        found.append(
            DeclaredTable(
                _FIRST + number,
                table["name"],
                tuple((each["name"], KINDS[each["type"]]) for each in columns),
                (about, *(_comment(each) for each in columns)),
            )
        )
    return found


def _comment(column: Mapping[str, Any]) -> str:
    """What is public about the values of a column, in words."""
    if "values" in column:
        shown = ", ".join(str(each) for each in column["values"][:20])
        return f"one of {shown}{', …' if len(column['values']) > 20 else ''}"
    if "low" in column:
        return f"from {column['low']} to {column['high']}"
    if "discovered" in column:
        return f"found privately, from {column['discovered']} people on"
    return "" if column.get("declared") else "not declared: for conditions only"


def rows(tables: list[DeclaredTable]) -> Iterator[tuple[str, str, Row]]:
    """Every row, with the schema and the name of the table that it belongs to."""
    yield from _surroundings()
    for table in tables:
        yield "pg_catalog", "pg_class", _class(table)
        yield (
            "pg_catalog",
            "pg_tables",
            {"schemaname": "public", "tablename": table.name, "tableowner": OWNER}
            | dict.fromkeys(("hasindexes", "hasrules", "hastriggers", "rowsecurity"), False),
        )
        yield (
            "information_schema",
            "tables",
            {
                "table_catalog": OWNER,
                "table_schema": "public",
                "table_name": table.name,
                "table_type": "BASE TABLE",
                "is_insertable_into": "NO",
                "is_typed": "NO",
            },
        )
        for place, comment in enumerate(table.comments):
            if comment:
                about = {"objoid": table.oid, "classoid": _CLASS_OID, "objsubid": place}
                yield "pg_catalog", "pg_description", {**about, "description": comment}
        for place, (name, form) in enumerate(table.columns, 1):
            yield "pg_catalog", "pg_attribute", _attribute(table.oid, place, name, form)
            yield "information_schema", "columns", _information(table.name, place, name, form)


def _surroundings() -> Iterator[tuple[str, str, Row]]:
    for oid, name in (
        (PUBLIC, "public"),
        (CATALOGUE, "pg_catalog"),
        (INFORMATION, "information_schema"),
    ):
        space: Row = {"oid": oid, "nspname": name, "nspowner": OWNER_OID}
        yield "pg_catalog", "pg_namespace", space
        schema = {"catalog_name": OWNER, "schema_name": name, "schema_owner": OWNER}
        yield "information_schema", "schemata", schema
    for form, short, category in _TYPES:
        element = {1009: types.TEXT.oid, 1016: types.INT8.oid}.get(form.oid, 0)
        array = {25: types.TEXTS.oid, 20: types.WHOLES.oid}.get(form.oid, 0)
        yield (
            "pg_catalog",
            "pg_type",
            {
                "oid": form.oid,
                "typname": short,
                "typnamespace": CATALOGUE,
                "typowner": OWNER_OID,
                "typlen": form.size,
                "typbyval": form.size > 0,
                "typtype": "b",
                "typcategory": category,
                "typispreferred": False,
                "typisdefined": True,
                "typdelim": ",",
                "typrelid": 0,
                "typelem": element,
                "typarray": array,
                "typnotnull": False,
                "typbasetype": 0,
                "typtypmod": -1,
                "typndims": 0,
                "typcollation": 0,
            },
        )
    yield "pg_catalog", "pg_am", {"oid": 2, "amname": "heap", "amtype": "t"}
    role: Row = dict.fromkeys(
        ("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls"), False
    )
    named: Row = {"oid": OWNER_OID, "rolname": OWNER, "rolcanlogin": True, "rolinherit": True}
    yield "pg_catalog", "pg_roles", {**role, **named, "rolconnlimit": -1}
    yield (
        "pg_catalog",
        "pg_database",
        {
            "oid": 5,
            "datname": OWNER,
            "datdba": OWNER_OID,
            "encoding": 6,
            "datcollate": "C",
            "datctype": "C",
            "datistemplate": False,
            "datallowconn": True,
            "datconnlimit": -1,
            "dattablespace": 1663,
            "datlocprovider": "c",
        },
    )


def _class(table: DeclaredTable) -> Row:
    never = (
        *("relhasindex", "relisshared", "relhasrules", "relhastriggers", "relhassubclass"),
        *("relrowsecurity", "relforcerowsecurity", "relispartition", "relhasoids"),
    )
    return {
        **dict.fromkeys(never, False),
        **dict.fromkeys(("reltype", "reloftype", "reltablespace", "reltoastrelid"), 0),
        "oid": table.oid,
        "relname": table.name,
        "relnamespace": PUBLIC,
        "relowner": OWNER_OID,
        "relam": 2,
        "relfilenode": table.oid,
        "relpages": 0,
        "reltuples": -1.0,
        "relallvisible": 0,
        "relpersistence": "p",
        "relkind": "r",
        "relnatts": len(table.columns),
        "relchecks": 0,
        "relispopulated": True,
        "relreplident": "d",
    }


def _attribute(table: int, place: int, name: str, form: WireType) -> Row:
    return {
        "attrelid": table,
        "attname": name,
        "atttypid": form.oid,
        "attstattarget": -1,
        "attlen": form.size,
        "attnum": place,
        "attndims": 0,
        "atttypmod": -1,
        "attnotnull": False,
        "atthasdef": False,
        "atthasmissing": False,
        "attidentity": "",
        "attgenerated": "",
        "attisdropped": False,
        "attislocal": True,
        "attinhcount": 0,
        "attcollation": 0,
        "attstorage": "p" if form.size > 0 else "x",
        "attcompression": "",
    }


def _information(table: str, place: int, name: str, form: WireType) -> Row:
    numeric = {20: 64, 701: 53}.get(form.oid)
    return {
        "table_catalog": OWNER,
        "table_schema": "public",
        "table_name": table,
        "column_name": name,
        "ordinal_position": place,
        "is_nullable": "YES",
        "data_type": form.name,
        "numeric_precision": numeric,
        "numeric_precision_radix": 2 if numeric else None,
        "numeric_scale": 0 if form.oid == 20 else None,
        "udt_catalog": OWNER,
        "udt_schema": "pg_catalog",
        "udt_name": SHORT[form.oid],
        "is_identity": "NO",
        "is_generated": "NEVER",
        "is_updatable": "NO",
    }
