"""Tables of a DuckDB file whose rows are stored there: no views, no columns computed on reading.

A view may give other rows each time it is read (``random()``, ``LIMIT``), may fail on somebody's
row (a cast, ``error()``) and may read files that a locked engine cannot. A stored table does not.

Source: contract, "What may be seen".
"""

from __future__ import annotations

import duckdb

from discreet.core.errors import InvalidParameter
from discreet.relational.compile.dialect import Dialect


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
