"""The database's clock, in whole milliseconds since 1970: the only one that decides anything.

Replicas may disagree about the time. What expires, expires for all of them at once.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


class now(FunctionElement[int]):
    """This moment; written like the functions of SQL."""

    inherit_cache = True
    name = "now_ms"
    type = BigInteger()


@compiles(now, "sqlite")
def _on_sqlite(element: now, compiler: Any, **_: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(now, "postgresql")
def _on_postgres(element: now, compiler: Any, **_: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
