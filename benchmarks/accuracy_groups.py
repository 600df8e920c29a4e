"""Exact statistics of the tables of the suite ``accuracy``, and errors against them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from accuracy_queries import Query

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Group:
    """The clamped values of one group, sorted, and how many people they belong to."""

    values: Array
    people: int

    @property
    def size(self) -> int:
        """How many rows."""
        return len(self.values)

    def total(self, middle: float = 0, power: int = 1) -> float:
        """The sum of distances from the middle, or of a power of them."""
        return math.fsum((self.values - middle) ** power)

    def truth(self, query: Query) -> float:
        """The answer without noise."""
        values = self.values
        answers: dict[str, Callable[[], float]] = {
            "count": lambda: float(self.size),
            "people": lambda: float(self.people),
            "sum": self.total,
            "mean": lambda: float(values.mean()),
            "variance": lambda: float(values.var(ddof=1)),
            "deviation": lambda: float(values.std(ddof=1)),
            "quantile": lambda: float(values[math.ceil(query.level * self.size) - 1]),
        }
        return answers[query.what]()


def groups(query: Query, path: Path) -> dict[str, Group]:
    """The groups of a query that have at least two rows, by key as text."""
    column = f"least(greatest({query.column}, {query.low}), {query.high})" if query.column else "0"
    where = f"WHERE {query.condition()}" if query.where else ""
    people = "pid" if query.people else "0"
    with duckdb.connect() as engine:
        found = engine.execute(
            f"SELECT {query.by or 'NULL'} AS k, {column} AS v, {people} AS p FROM '{path}' {where}"
        ).fetchnumpy()
    keys = np.array([str(key) for key in found["k"]]) if query.by else None
    made = {}
    for key in map(str, query.keys):
        inside = slice(None) if keys is None else keys == key
        values = np.sort(np.asarray(found["v"][inside], dtype=np.float64))
        if len(values) > 1:
            made[key] = Group(values, len(np.unique(found["p"][inside])))
    return made


def truths(query: Query, path: Path) -> dict[str, float]:
    """The answers without noise, by key as text."""
    return {key: group.truth(query) for key, group in groups(query, path).items()}


def error_of(answers: Mapping[str, Array], exact: Mapping[str, float]) -> tuple[float, float]:
    """Root mean squared error over all groups alike, and its standard error."""
    squares = [np.square(values - exact[key]) for key, values in answers.items()]
    root = math.sqrt(np.mean([each.mean() for each in squares]))
    spread = math.sqrt(sum(each.var() / len(each) for each in squares)) / len(squares)
    return root, spread / (2 * root) if root else 0.0
