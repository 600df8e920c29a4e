"""A release as a frame, or a file of comma-separated values.

Every export has the same columns in the same order: keys, then each answer with its lower and
upper end. Numbers are in full. Polars, pandas and PyArrow are loaded when they are asked for.
"""

from __future__ import annotations

import csv
import importlib
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.release.keys import kind_of
from discreet.release.released_table import ReleasedTable

if TYPE_CHECKING:
    import polars as pl

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def to_polars(release: ReleasedTable) -> pl.DataFrame:
    """A Polars frame; whole numbers beyond 64 bits become reals."""
    polars = _loaded("polars")
    dtypes = {
        "text": polars.String,
        "whole": polars.Int64,
        "real": polars.Float64,
        "truth": polars.Boolean,
        "date": polars.Date,
    }
    frame: pl.DataFrame = polars.DataFrame(
        [
            polars.Series(name, column, dtype=dtypes.get(kind), strict=False)
            for name, (kind, column) in _typed(release).items()
        ]
    )
    return frame


def to_pandas(release: ReleasedTable) -> Any:
    """A pandas frame of nullable columns; whole numbers beyond 64 bits become reals."""
    pandas = _loaded("pandas")
    dtypes = {"text": "string", "whole": "Int64", "real": "Float64", "truth": "boolean"}
    columns = {
        name: pandas.to_datetime(pandas.Series(column, dtype="object"))
        if kind in {"date", "time"}
        else pandas.Series(column, dtype=dtypes[kind])
        for name, (kind, column) in _typed(release).items()
    }
    return pandas.DataFrame(columns)


def to_arrow(release: ReleasedTable) -> Any:
    """An Arrow table; whole numbers beyond 64 bits become reals."""
    arrow = _loaded("pyarrow")
    dtypes = {
        "text": arrow.string(),
        "whole": arrow.int64(),
        "real": arrow.float64(),
        "truth": arrow.bool_(),
        "date": arrow.date32(),
    }
    typed = _typed(release)
    return arrow.table(
        {name: arrow.array(column, type=dtypes.get(kind)) for name, (kind, column) in typed.items()}
    )


def to_csv(release: ReleasedTable, path: str | PathLike[str]) -> None:
    """Write all columns in UTF-8; dates as ISO 8601, nothing for None."""
    columns = release.to_dict()
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    except OSError as error:
        raise InvalidParameter(
            code="table_not_saved",
            expectation="a place that can be written to",
            received=str(path),
            remedy=f"Choose another place: {error.strerror or 'it could not be written'}.",
        ) from None


def _typed(release: ReleasedTable) -> dict[str, tuple[str, list[Any]]]:
    """Each column with its kind; a whole number that no frame can hold makes its column real."""
    typed = {}
    for name, column in release.to_dict().items():
        known = name in release.keys
        kind = kind_of(name, tuple(column)) if known else _number_kind(column)
        if kind == "time":
            typed[name] = (kind, [_in_utc(value) for value in column])
        else:
            typed[name] = (kind, column) if kind != "whole" or _fits(column) else _as_real(column)
    return typed


def _in_utc(value: datetime | None) -> datetime | None:
    """Times with a zone in UTC, since a column of a frame has one zone; others as they are."""
    return value if value is None or value.utcoffset() is None else value.astimezone(UTC)


def _fits(column: list[Any]) -> bool:
    return all(value is None or _SMALLEST <= value <= _LARGEST for value in column)


def _as_real(column: list[Any]) -> tuple[str, list[Any]]:
    return "real", [None if value is None else float(value) for value in column]


def _number_kind(column: list[Any]) -> str:
    return "whole" if column and set(map(type, column)) <= {int, type(None)} else "real"


def _loaded(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_frames",
            expectation=f"{module}, which this export is made of",
            received=module,
            remedy="pip install 'discreet[frames]'.",
        ) from None
