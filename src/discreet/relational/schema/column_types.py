"""Types of the columns of text files, in which every field is text.

An owner says them, ``types={"id": int, "day": date}``: then a text file behaves as a Parquet file
with such columns does. For private rows nobody looks at the values to find out, since a type that
followed from them would tell of them: a value that is no such number, day or word is NULL. The
rows of a public table anybody may know, so its types are read off all of them, where nobody says
others (``PublicTexts``).

Source: contract, "Columns".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.relational.types.data_type import DataType

_KINDS: Mapping[object, DataType] = {
    bool: DataType.BOOLEAN,
    int: DataType.INTEGER,
    float: DataType.DOUBLE,
    str: DataType.TEXT,
    date: DataType.DATE,
    datetime: DataType.TIMESTAMP,
}
_NAMES: Mapping[str, DataType] = {
    **dict.fromkeys(("BOOLEAN", "BOOL"), DataType.BOOLEAN),
    **dict.fromkeys(("INTEGER", "INT", "BIGINT"), DataType.INTEGER),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), DataType.DOUBLE),
    **dict.fromkeys(("VARCHAR", "TEXT"), DataType.TEXT),
    "DATE": DataType.DATE,
    "TIMESTAMP": DataType.TIMESTAMP,
}


def column_types(types: Mapping[str, object]) -> dict[str, DataType]:
    """Types by column: Python's, or SQL's by name, such as "BIGINT".

    >>> column_types({"id": int, "day": "DATE"})["day"]
    <DataType.DATE: 'date'>
    """
    made = {}
    for name, given in types.items():
        kind = _NAMES.get(given.upper()) if isinstance(given, str) else None
        kind = kind or (_KINDS.get(given) if isinstance(given, type) else None)
        if kind is None or not isinstance(name, str):
            raise InvalidParameter(
                code="not_a_type",
                expectation="int, float, str, bool, date or datetime for each column in types, or "
                f"one of {', '.join(_NAMES)}",
                received=(name, given if isinstance(given, str) else type(given).__name__),
                remedy='Write types={"id": int, "opened": date}.',
            )
        made[name] = kind
    return made


def typed_kind(
    table: str, column: str, stored: DataType | None, types: Mapping[str, DataType]
) -> DataType | None:
    """The kind of a column: as its owner says, where it is stored as text, else as it is stored."""
    said = types.get(column)
    if said is None or said is stored:
        return stored
    if stored is not DataType.TEXT:
        raise Mismatch(
            code="type_clash",
            expectation=f"types for columns that are stored as text; {table}.{column} has its own",
            received="unreadable" if stored is None else stored.value,
            remedy="Leave it out of types: declare bounds, or cast it where it is used.",
        )
    return said
