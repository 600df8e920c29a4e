"""SmartNoise SQL's answers to the questions of the suite ``accuracy``, and their noise.

SmartNoise spends its epsilon on each noisy column; here they share the epsilon of the question.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
import snsql  # type: ignore[import-not-found,unused-ignore]
from accuracy_asking import Noise, System
from accuracy_queries import COPY, KEYS, Query
from peers import serve

CALLS = {
    "count": "COUNT(*)",
    "people": "COUNT(DISTINCT pid)",
    "sum": "SUM({})",
    "mean": "AVG({})",
    "variance": "VAR({})",
    "deviation": "STDDEV({})",
}
RENAMED = {COPY: "copy_number", "year": "year_number"}
"""Names that SmartNoise's grammar does not read."""


@lru_cache(maxsize=8)
def frame(path: str) -> Any:
    """The table, read once."""
    return pd.read_parquet(path).rename(columns=RENAMED)


def metadata(query: Query, source: Any) -> dict[str, Any]:
    """What SmartNoise must be told about the table."""
    kinds = {"i": "int", "f": "float", "O": "string"}
    columns: dict[str, Any] = {
        name: {"type": kinds[source[name].dtype.kind]} for name in source.columns
    }
    if query.column:
        kind = int if query.whole else float
        columns[query.column] |= {"lower": kind(query.low), "upper": kind(query.high)}
    people = query.people
    if people:
        columns["pid"]["private_id"] = True
    table = {
        "row_privacy": people is None,
        "max_ids": query.l1 if people else 1,
        "sample_max_ids": people is not None,
        "rows": len(source),
        "censor_dims": False,
        **columns,
    }
    return {"": {"S": {"T": table}}}


def text(query: Query, copies: int) -> str:
    """The question in SQL; a copy is a group."""
    if query.what not in CALLS:
        message = f"no {query.what}"
        raise ValueError(message)
    names = [RENAMED[COPY]] if copies > 1 else []
    names += [RENAMED.get(query.by, query.by)] if query.by else []
    where = f" WHERE {query.condition()}" if query.where else ""
    groups = f" GROUP BY {', '.join(names)}" if names else ""
    call = CALLS[query.what].format(query.column)
    return f"SELECT {', '.join([*names, f'{call} AS x'])} FROM S.T{where}{groups}"


def reader(query: Query, path: str, asked: str) -> Any:
    """A reader whose noisy columns together cost the epsilon of the question."""
    if query.rho:
        message = "no rho"
        raise ValueError(message)
    source = frame(path)
    facts = metadata(query, source)

    def priced(epsilon: float) -> Any:
        privacy = snsql.Privacy(epsilon=epsilon, delta=1e-9)
        return snsql.from_df(source, privacy=privacy, metadata=facts)

    costs = priced(1.0)._get_mechanism_costs(asked)
    return priced(query.epsilon / sum(cost is not None for cost in costs))


def noise(query: Query, path: str, copies: int) -> Noise:
    """The mechanisms of the columns that SmartNoise computes first."""
    asked = text(query, copies)
    opened = reader(query, path, asked)
    subquery, _ = opened._rewrite(asked)
    return [
        {"aggregate": name, "distribution": mechanism.mechanism.name, "scale": mechanism.scale}
        for name, mechanism in opened._get_mechanism_map(subquery).items()
    ]


def release(query: Query, path: str, copies: int) -> list[tuple[Any, float]]:
    """One answer, which is a value for each copy and key."""
    asked = text(query, copies)
    _, *rows = reader(query, path, asked).execute(asked)
    known = {str(key) for key in KEYS[query.table].get(query.by, (None,))}
    pairs = [(row[-2] if query.by else None, row[-1]) for row in rows]
    return [(key, value) for key, value in pairs if str(key) in known and value is not None]


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    serve(System(noise, release).ask, "smartnoise-sql", "opendp", "pandas")
