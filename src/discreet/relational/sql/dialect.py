"""The dialect that questions are read in: DuckDB's, with names in back-quotes as well.

BigQuery, MySQL and Spark quote names so, and nothing in DuckDB's dialect begins with a back-quote.
What the parser would write into somebody's log is the text of a question, and is dropped here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar

import sqlglot
from sqlglot import exp, parser
from sqlglot.dialects.duckdb import DuckDB

from discreet.core.errors import InvalidParameter

_reading: ContextVar[bool] = ContextVar("reading", default=False)


class QueryDialect(DuckDB):
    """How a question is read."""

    class Tokenizer(DuckDB.Tokenizer):
        """Names stand in double quotes or back-quotes."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]


def statements(text: str) -> list[exp.Expression]:
    """The statements of a text, read without a word in any log."""
    require_interpreted(parser.__file__)
    with unlogged():
        trees = sqlglot.parse(text, read=QueryDialect)
    return [tree for tree in trees if isinstance(tree, exp.Expression)]


@contextmanager
def unlogged() -> Iterator[None]:
    """While a text is read, nothing of it is written to any log."""
    told = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(told)


def require_interpreted(place: str) -> None:
    """Refuse the compiled parser: nobody can see which parts of its trees were read."""
    if not place.endswith(".py"):
        raise InvalidParameter(
            code="sqlglot_compiled",
            expectation="the parser sqlglot without its compiled parts",
            received="sqlglotc",
            remedy="pip uninstall sqlglotc; nothing else changes.",
        )


def _not_ours(_: logging.LogRecord) -> bool:
    return not _reading.get()


logging.getLogger("sqlglot").addFilter(_not_ours)
