"""True answers, computed without privacy: for the demonstration only.

Nobody who protects data would run this. It reads the rows directly, so that the demonstration can
show how far each private answer is from the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import discreet as dp

# The curator's bin(x, low, high, n), for plain DuckDB.
_BIN = (
    "CREATE MACRO bin(x, low, high, n) AS "
    "low + least((x - low) * n // (high - low), n - 1) * (high - low) // n"
)


@dataclass
class Compared:
    """How many stated intervals were checked, and how many of them hold the truth."""

    intervals: int = 0
    holding: int = 0


class Truth:
    """The same tables without protection; numbers are held to their declared bounds."""

    def __init__(self, people: Path, levels: Path, bounds: dict[str, dp.Number]) -> None:
        self._connection = duckdb.connect()
        clamped = ", ".join(
            f"greatest(least({name}, {bound.high}), {bound.low}) AS {name}"
            for name, bound in bounds.items()
        )
        self._connection.execute(_BIN)
        self._connection.read_parquet(str(people)).create("raw")
        self._connection.read_csv(str(levels)).create("levels")
        self._connection.execute(
            f"CREATE VIEW people AS SELECT * REPLACE ({clamped}) FROM raw",
        )
        self.compared = Compared()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What plain DuckDB answers."""
        return self._connection.execute(sql).fetchall()

    def beside(self, release: dp.Release, sql: str) -> str:
        """The release as it prints, with the truth and the error of each number at its right."""
        found = self._connection.execute(sql)
        names = [column[0] for column in found.description]
        true = {
            tuple(row[names.index(key)] for key in release.keys): dict(zip(names, row, strict=True))
            for row in found.fetchall()
        }
        keys = list(zip(*release.keys.values(), strict=True)) if release.keys else [()]
        columns: list[list[str]] = []
        for answer in release.answers:
            truths = [true[key][answer.name] for key in keys]
            self._compare(truths, answer.lower, answer.upper)
            errors = [
                None if said is None else said - truth
                for said, truth in zip(answer.values, truths, strict=True)
            ]
            columns.append([f"true {answer.name}", *map(_number, truths)])
            columns.append(["error", *map(_number, errors)])
        return _joined(str(release).splitlines(), columns)

    def _compare(self, truths: list[Any], lower: Any, upper: Any) -> None:
        if lower is None:
            return
        for truth, low, high in zip(truths, lower, upper, strict=True):
            self.compared.intervals += 1
            self.compared.holding += low <= truth <= high


def _number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value}" if isinstance(value, int) else f"{value:.4g}"


def _joined(lines: list[str], columns: list[list[str]]) -> str:
    """The printed table with more columns, divided by a bar, and its footer as it is."""
    rows = len(columns[0])
    table, footer = lines[:rows], lines[rows:]
    width = max(map(len, table))
    wide = [max(map(len, column)) for column in columns]
    right = [
        "  ".join(column[row].rjust(each) for column, each in zip(columns, wide, strict=True))
        for row in range(rows)
    ]
    return "\n".join(
        [*(f"{a.ljust(width)}  │  {b}" for a, b in zip(table, right, strict=True)), *footer]
    )
