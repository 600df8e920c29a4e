"""Parquet files and tables of DuckDB files, read so that no value in them makes it fail.

*Parquet.* DuckDB believes the statistics in a file: what lies outside them is not read, and a clamp
that they make superfluous is left out. They say nothing of NaN, so DuckDB is told that it may be
there. Bytes of a text that are not UTF-8 are read as ``?``, each value for itself; the statistics
know the bytes as they are, not as they are read, so text is hidden from them. Two identifiers may
be read as one that way: in columns that tell people apart, text with ``?`` in it is NULL, which is
nobody.

*Tables* must be stored: no views, no columns computed on reading. A view may give other rows each
time it is read (``random()``, ``LIMIT``), may fail on somebody's row (a cast, ``error()``) and may
read files that a locked engine cannot.

Source: contract, "Columns", "What may be seen".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import duckdb

from discreet.core.errors import InvalidParameter
from discreet.relational.compile.dialect import Dialect


def parquet(path: Path, dialect: Dialect) -> str:
    """What stands after FROM."""
    return (
        f"read_parquet({dialect.literal(str(path))}, "
        "can_have_nan = true, utf8_validation = 'replace')"
    )


def parquet_columns(
    types: Mapping[str, str], identifiers: Collection[str], dialect: Dialect
) -> str:
    """What stands after SELECT: text by a detour that statistics do not follow.

    Trimming no letters leaves every text as it is, cannot fail, and is done once for each entry of
    a dictionary: a detour by bytes took five times as long, and so did what groups by the text.
    """
    items = []
    for name, stored in types.items():
        column = dialect.identifier(name)
        text = column
        if stored.upper() == "VARCHAR":
            text = f"rtrim({column}, '')"
            if name in identifiers:
                text = f"CASE WHEN NOT contains({text}, '?') THEN {text} END"
        items.append(f"{text} AS {column}")
    return ", ".join(items)


def require_stored(
    connection: duckdb.DuckDBPyConnection, dialect: Dialect, database: str, schema: str, table: str
) -> None:
    """Refuse a view of an attached database, and a table with generated columns."""
    where, named, called = map(dialect.literal, (database, schema or "main", table))
    found = connection.execute(
        "SELECT what FROM (SELECT 'a view' AS what, database_name AS d, schema_name AS s, "
        "view_name AS n FROM duckdb_views() UNION ALL SELECT 'a table with generated columns', "
        "database_name, schema_name, table_name FROM duckdb_tables() "
        "WHERE contains(sql, 'GENERATED ALWAYS AS')) "
        f"WHERE d = {where} AND lower(s) = lower({named}) AND lower(n) = lower({called})"
    ).fetchone()
    if found is not None:
        raise InvalidParameter(
            code="rows_not_stored",
            expectation="a table whose rows are stored: the same each time, and none that fails",
            received=found[0],
            remedy="Store them in the file: CREATE TABLE rows AS SELECT * FROM the_view.",
        )
