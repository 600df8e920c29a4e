"""What is public about a data file that a project is to be written for: columns, never a value."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from discreet.core.errors import InvalidParameter
from discreet.relational.engines.duckdb.csv_file import header_of, readable
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.schema.sources import CSVFile, DatabaseTable, source_of
from discreet.relational.types.data_type import DataType


@dataclass(frozen=True)
class Schema:
    """Columns in order, each with the type in which it is stored and its kind, if usable.

    ``name`` is a name for SQL; ``table`` the table inside a DuckDB file.
    """

    name: str
    table: str | None
    stored: dict[str, str]
    kinds: dict[str, DataType | None]


def schema_of(path: Path, table: str | None) -> Schema:
    """The columns of a file; nothing but its header or metadata is read."""
    source = source_of(path, table)
    if isinstance(source, DatabaseTable):
        source = DatabaseTable(source.path, _table(source.path, table))
    engine = DuckDB()
    try:
        stored = _header(source) if isinstance(source, CSVFile) else engine.attach("data", source)
        kinds = {name: engine.dialect.kind_of(kind) for name, kind in stored.items()}
    finally:
        engine.close()
    inside = source.table if isinstance(source, DatabaseTable) else None
    name = path if inside is None else Path(inside.rpartition(".")[2])
    return Schema(table_name(name), inside, stored, kinds)


def _header(source: CSVFile) -> dict[str, str]:
    """The columns of a text file, from its first line."""
    with readable(source.path) as file:
        names = header_of(source.path, file).names
    _require_header(names[0])
    return dict.fromkeys(names, "VARCHAR")


def _require_header(first: str) -> None:
    """Refuse a first line that looks like values: they would be shown, and written as names."""
    try:
        float(first)
    except ValueError:
        return
    raise InvalidParameter(
        code="no_header_line",
        expectation="a first line with the names of the columns, not with values",
        remedy="Put a line such as patient,ward,age before the first row.",
    )


def table_name(path: Path) -> str:
    """A name for SQL from the name of a file.

    >>> table_name(Path("Données 2024 (final).csv.gz"))
    'donnees_2024_final'
    >>> table_name(Path("select.csv")), table_name(Path("2024.csv"))
    ('select_table', 't_2024')
    """
    stem = path.name.partition(".")[0].lower()
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    words = "_".join(re.findall(r"[a-z0-9]+", plain)) or "data"
    if words[0].isdigit():
        return f"t_{words}"
    return words if is_name(words) else f"{words}_table"


def is_name(word: str) -> bool:
    """Whether a word can stand for a table or a column in SQL without quotes."""
    if not re.fullmatch(r"[^\W\d]\w*", word):
        return False
    try:
        found = parse_one(f"SELECT {word}.a, {word} FROM {word} WHERE {word} > 1").find(exp.Table)
    except ParseError:
        return False
    return found is not None and found.name == word


def _table(path: Path, wanted: str | None) -> str:
    """The table meant in a DuckDB file: the one named, or the only one."""
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal "
                "UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal "
                "ORDER BY ALL"
            ).fetchall()
    except duckdb.Error:
        raise InvalidParameter(
            code="source_unreadable",
            expectation="a DuckDB file that can be opened",
            received=path.name,
            remedy="Check that it is whole, and that no other program has it open.",
        ) from None
    names = [name if schema == "main" else f"{schema}.{name}" for schema, name in found]
    if wanted is not None and wanted in names:
        return wanted
    if wanted is None and len(names) == 1:
        return str(names[0])
    raise InvalidParameter(
        code="table_not_named",
        expectation=f"--table with one of the tables {names}",
        received=wanted,
        remedy="Pass --table NAME.",
    )
