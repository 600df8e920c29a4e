"""A table of awkward rows, cleaned and computed on by DuckDB and by the reference interpreter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import duckdb
from sqlglot import exp, parse_one

from discreet.core.errors import InvalidParameter
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.sql.expressions import expression_from
from discreet.relational.types.column_domain import ColumnDomain, cleaned
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, evaluate

DIALECT = DuckDBDialect()


@dataclass(frozen=True)
class Stored:
    """A column of the test table: its type there and what is declared about it."""

    type: str
    domain: ColumnDomain


COLUMNS: Mapping[str, Stored] = {
    "w": Stored("BIGINT", ColumnDomain(DataType.INTEGER)),
    "v": Stored("BIGINT", ColumnDomain(DataType.INTEGER)),
    "i": Stored("INTEGER", ColumnDomain(DataType.INTEGER, -1000, 1000, declared=True)),
    "j": Stored("BIGINT", ColumnDomain(DataType.INTEGER, 0, 7, declared=True)),
    "x": Stored("DOUBLE", ColumnDomain(DataType.DOUBLE)),
    "y": Stored("DOUBLE", ColumnDomain(DataType.DOUBLE)),
    "a": Stored("DOUBLE", ColumnDomain(DataType.DOUBLE, -100, 100, declared=True)),
    "b": Stored("DOUBLE", ColumnDomain(DataType.DOUBLE, 0.5, 20, declared=True)),
    "s": Stored("VARCHAR", ColumnDomain(DataType.TEXT)),
    "t": Stored("VARCHAR", ColumnDomain(DataType.TEXT)),
    "c": Stored("VARCHAR", ColumnDomain(DataType.TEXT, values=("A", "b", "É"), declared=True)),
    "p": Stored("BOOLEAN", ColumnDomain(DataType.BOOLEAN)),
    "q": Stored("BOOLEAN", ColumnDomain(DataType.BOOLEAN, declared=True)),
    "d": Stored("DATE", ColumnDomain(DataType.DATE)),
    "e": Stored(
        "DATE", ColumnDomain(DataType.DATE, date(2019, 12, 30), date(2024, 3, 1), declared=True)
    ),
    "m": Stored("TIMESTAMP", ColumnDomain(DataType.TIMESTAMP)),
    "n": Stored(
        "TIMESTAMP",
        ColumnDomain(
            DataType.TIMESTAMP, datetime(2019, 1, 1), datetime(2024, 12, 31, 23, 59), declared=True
        ),
    ),
}

Row = Mapping[str, object]


def translated(text: str, columns: Mapping[str, Stored] = COLUMNS) -> Expression:
    """Our expression for a piece of SQL."""

    def resolve(node: exp.Column) -> Expression:
        if node.name not in columns:
            raise InvalidParameter(
                code="unknown_column", expectation="a column", received=node.name, remedy=""
            )
        return Column(node.name, columns[node.name].domain)

    select = parse_one(f"SELECT {text}", read="duckdb")
    return expression_from(select.expressions[0], resolve)


def reference(expressions: Sequence[Expression], rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """What the interpreter gives, row by row."""
    results = []
    for row in rows:
        clean = {name: cleaned(row[name], stored.domain) for name, stored in COLUMNS.items()}
        results.append(tuple(evaluate(expression, clean) for expression in expressions))
    return results


def computed(
    expressions: Sequence[Expression], rows: Sequence[Row], dialect: DuckDBDialect = DIALECT
) -> list[tuple[object, ...]]:
    """What DuckDB gives, row by row."""
    with duckdb.connect() as connection:
        lists = ", ".join(
            f"unnest(?::{stored.type}[]) AS {name}" for name, stored in COLUMNS.items()
        )
        connection.execute(
            f"CREATE TABLE stored AS SELECT unnest(?::INTEGER[]) AS place, {lists}",
            [list(range(len(rows))), *([row[name] for row in rows] for name in COLUMNS)],
        )
        scan = ", ".join(
            f"{dialect.clean(f's.{name}', stored.type, stored.domain)} "
            f"AS {dialect.identifier(name)}"
            for name, stored in COLUMNS.items()
        )
        texts = ", ".join(
            f"{dialect.render(expression)} AS r{place}"
            for place, expression in enumerate(expressions)
        )
        return connection.execute(
            f"SELECT {texts} FROM (SELECT place, {scan} FROM stored AS s) ORDER BY place"
        ).fetchall()


def same(ours: Any, theirs: Any, *, ulps: int = 0) -> bool:
    """Whether two results are the same value of the same kind, but for the last places."""
    if ours is None or theirs is None:
        return ours is theirs
    if type(ours) is not type(theirs):
        return False
    if ours == theirs or not ulps:
        return bool(ours == theirs)
    return bool(abs(ours - theirs) <= ulps * math.ulp(max(abs(ours), abs(theirs))))
