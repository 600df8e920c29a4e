"""Rows that were sampled, as whatever people work with: frames, Arrow, files."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".parquet", ".csv", ".arrow")
"""What a table can be written as."""
_SHOWN = 10
_WIDEST = 40


class SyntheticTable(Mapping[str, list[Any]]):
    """Columns by name, each a list; prints its first rows.

    Contract: post-processing of a release; it may be given to anybody.
    """

    def __init__(
        self, columns: Mapping[str, list[Any]], digits: Mapping[str, int] | None = None
    ) -> None:
        """Keep the columns in order; ``digits`` are decimals that are printed, and no more."""
        self._columns = dict(columns)
        self._digits = dict(digits or {})

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values()), []))

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns by name, as lists."""
        return {name: list(column) for name, column in self._columns.items()}

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame."""
        polars = _loaded("polars")
        made: pl.DataFrame = polars.DataFrame(
            [polars.Series(n, c, dtype=_polars(polars, c)) for n, c in self._columns.items()]
        )
        return made

    def to_pandas(self) -> Any:
        """A pandas frame of nullable columns."""
        pandas = _loaded("pandas")
        return pandas.DataFrame(self._columns).convert_dtypes()

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return _loaded("pyarrow").table(self._columns)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a file: ``name.parquet``, ``name.csv`` or ``name.arrow``."""
        place = Path(path)
        require_writable(place)
        match place.suffix.lower():
            case ".parquet":
                self.to_polars().write_parquet(place)
            case ".arrow":
                self.to_polars().write_ipc(place)
            case _:
                with place.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow(self._columns)
                    writer.writerows(zip(*self._columns.values(), strict=True))

    def __repr__(self) -> str:
        """The first rows, and how many there are."""
        columns = [
            _aligned(name, column[:_SHOWN], self._digits.get(name))
            for name, column in self._columns.items()
        ]
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        more = ["…"] if self.rows > _SHOWN else []
        return "\n".join([f"{self.rows:,} synthetic rows", *lines, *more])


def _aligned(name: str, values: list[Any], digits: int | None) -> list[str]:
    """A column as texts of one width under its name: numbers to the right, all else to the left."""
    told = [name, *(_format_cell_value(value, digits) for value in values)]
    told = [each if len(each) <= _WIDEST else f"{each[: _WIDEST - 1]}…" for each in told]
    wide = max(map(len, told))
    known = [value for value in values if value is not None]
    number = all(isinstance(each, int | float) and not isinstance(each, bool) for each in known)
    return [each.rjust(wide) if number and known else each.ljust(wide) for each in told]


def _format_cell_value(value: object, digits: int | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.6g}" if digits is None else f"{value:.{digits}f}"
    return str(value)


def require_writable(path: Path) -> None:
    """Refuse a file that could not be written, before anything is paid for."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidParameter(
            code="output_format",
            expectation=f"a name that ends in one of {', '.join(SUFFIXES)}",
            received=path.name,
            remedy="Rename the file.",
        )
    if not path.parent.is_dir():
        raise InvalidParameter(
            code="table_not_saved",
            expectation="a folder that exists",
            received=str(path.parent),
            remedy="Make the folder first, or choose another place.",
        )
    if path.suffix.lower() != ".csv":
        _loaded("polars")


def _polars(polars: Any, column: list[Any]) -> Any:
    """The type of a column by its first value; text where there is none."""
    first = next((value for value in column if value is not None), "")
    kinds = {bool: "Boolean", int: "Int64", float: "Float64", datetime: "Datetime", date: "Date"}
    return getattr(polars, kinds.get(type(first), "String"))


def _loaded(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_frames",
            expectation=f"{module}, which holds tables",
            received=module,
            remedy="pip install 'discreet[frames]', or write a .csv file.",
        ) from None
