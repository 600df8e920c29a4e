"""The dialect that questions are read in: DuckDB's, with names in back-quotes as well.

BigQuery, MySQL and Spark quote names so, and nothing in DuckDB's dialect begins with a back-quote.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.duckdb import DuckDB


class Asked(DuckDB):
    """How a question is read."""

    class Tokenizer(DuckDB.Tokenizer):
        """Names stand in double quotes or back-quotes."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]

    class Parser(DuckDB.Parser):  # type: ignore[misc, valid-type]  # assigned there, not defined
        """Reads what it does not know as one command, which is refused later, without a word."""

        def _warn_unsupported(self) -> None:
            """Nothing: the warning would write the text of a question into somebody's log."""
