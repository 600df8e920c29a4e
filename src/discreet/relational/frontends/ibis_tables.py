"""Ibis tables that stand for a curator's, and Ibis expressions as SQL. No data is in them.

Ibis (the extra ``ibis``) is loaded on first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.relational.frontends.frame.term import require_few_nodes
from discreet.relational.sql.catalog import Catalog
from discreet.relational.types.data_type import DataType

_TYPES = {
    DataType.INTEGER: "int64",
    DataType.DOUBLE: "float64",
    DataType.TEXT: "string",
    DataType.BOOLEAN: "boolean",
    DataType.DATE: "date",
    DataType.TIMESTAMP: "timestamp",
}


class IbisTables(Mapping[str, Any]):
    """Unbound Ibis tables by name, as items and as attributes: ``tables.visits``."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._ibis = _ibis()

    def __getitem__(self, name: str) -> Any:
        """The table as the curator declares it: names and kinds of columns."""
        entry = self._catalog.find(name)
        if entry is None:
            raise KeyError(name)
        schema = {field.name: _TYPES[field.domain.kind] for field in entry.fields.values()}
        return self._ibis.table(schema, name=entry.name)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalog.names())

    def __len__(self) -> int:
        return len(self._catalog.names())


def sql_of(expression: Any) -> str:
    """The SQL of an Ibis expression over tables without data."""
    ibis = _ibis()
    require_few_nodes(_written_out(expression, ibis.expr.operations.Relation))
    try:
        return str(ibis.to_sql(expression, dialect="duckdb"))
    except Exception as fault:
        reason = type(fault).__name__
    raise InvalidParameter(
        code="ibis_not_sql",
        expectation="an Ibis expression that can be written as SQL",
        received=reason,
        remedy="Build it from curator.ibis, without Python functions or tables in memory.",
    )


def _written_out(expression: Any, relation: type) -> int:
    """How many parts an expression has when each is written wherever it is used.

    Tables that are used several times are written once and named.
    """
    if not callable(getattr(expression, "op", None)):
        return 0  # refused where it is written
    sizes: dict[Any, int] = {}
    waiting = [expression.op()]
    while waiting:
        part = waiting[-1]
        below = part.__children__
        missing = [each for each in below if each not in sizes]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        sizes[part] = 1 + sum(1 if isinstance(each, relation) else sizes[each] for each in below)
    return max(sizes.values())


def _ibis() -> Any:
    try:
        return import_module("ibis")
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_ibis",
            expectation="Ibis, to read its expressions",
            received="ibis",
            remedy="pip install 'discreet[ibis]'.",
        ) from None
