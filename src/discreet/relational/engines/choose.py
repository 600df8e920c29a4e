"""The engine of a curator: the one that holds its tables, or DuckDB for files and frames."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.errors import Mismatch
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.engines.engine import Engine, EngineTable
from discreet.relational.schema.table import PublicTable, Table


def engine_of(tables: Mapping[str, Table | PublicTable], engine: Engine | None) -> Engine:
    """The given engine or that of the tables; refused where they are not one and the same.

    An engine that another curator has is not shared with it: this one gets one like it.
    """
    sources = [table.source for table in tables.values()]
    engines = [source.engine for source in sources if isinstance(source, EngineTable)]
    if engine is not None:
        engines.append(engine)
    if not engines:
        return DuckDB().vacant()
    for other in engines[1:]:
        if other is not engines[0]:
            raise Mismatch(
                code="engines_differ",
                expectation="tables that all lie in one engine object",
                received=sorted({type(engine).__name__ for engine in engines}),
                remedy="Make every table with the same engine: postgres.table(...), and leave "
                "`engine=` out.",
            )
    return engines[0].vacant()
