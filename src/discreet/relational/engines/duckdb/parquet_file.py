"""A Parquet file, read so that no value in it can make the reading fail.

DuckDB believes the statistics in a file: what lies outside them is not read, and a clamp that they
make superfluous is left out. They say nothing of NaN, so DuckDB is told that it may be there. Bytes
of a text that are not UTF-8 are read as ``?``, each value for itself; the statistics know the bytes
as they are, not as they are read, so text is hidden from them.

Two identifiers may be read as one that way: in columns that tell people apart, text with ``?`` in
it is NULL, which is nobody.

Source: contract, "Columns", "What may be seen".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

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
    """What stands after SELECT: text by a detour that statistics do not follow."""
    items = []
    for name, stored in types.items():
        column = dialect.identifier(name)
        text = column
        if stored.upper() == "VARCHAR":
            text = f"decode(encode({column}))"
            if name in identifiers:
                text = f"CASE WHEN NOT contains({text}, '?') THEN {text} END"
        items.append(f"{text} AS {column}")
    return ", ".join(items)
