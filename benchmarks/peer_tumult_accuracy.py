"""Tumult's answers to the questions of the suite ``accuracy``, and the noise it says they have."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from accuracy_asking import Noise, System
from accuracy_queries import COPY, Query
from peer_tumult_relational import engine
from peers import serve


@lru_cache(maxsize=16)
def frame(path: str) -> Any:
    """The table, read once."""
    return engine().read.parquet(path).cache()


def budget(query: Query, amount: float = 0) -> Any:
    """The price of the query, or any amount in the same notion."""
    from tmlt.analytics import (  # type: ignore[import-not-found,unused-ignore]
        PureDPBudget,
        RhoZCDPBudget,
    )

    if query.rho:
        return RhoZCDPBudget(amount or query.rho)
    return PureDPBudget(amount or query.epsilon)


def session(query: Query, path: str) -> Any:
    """A session that never runs out."""
    from tmlt.analytics import AddOneRow, AddRowsWithID, Session

    change = AddRowsWithID("pid") if query.people else AddOneRow()
    return Session.from_dataframe(
        budget(query, float("inf")), "t", frame(path), protected_change=change
    )


def question(query: Query, copies: int) -> Any:
    """The question; a copy is a group."""
    from tmlt.analytics import KeySet, QueryBuilder

    asked = QueryBuilder("t")
    if query.where:
        asked = asked.filter(query.condition())
    if query.people:
        asked = truncated(asked, query)
    keys: dict[str, list[Any]] = {COPY: list(range(copies))} if copies > 1 else {}
    if query.by:
        keys[query.by] = list(query.keys)
    groups = asked.groupby(KeySet.from_dict(keys)) if keys else asked
    if query.what in ("count", "people"):
        return groups.count(name="x")
    bounds = {"low": query.low, "high": query.high, "name": "x"}
    if query.what == "quantile":
        return groups.quantile(query.column, query.level, **bounds)
    names = {"sum": "sum", "mean": "average", "variance": "variance", "deviation": "stdev"}
    return getattr(groups, names[query.what])(query.column, **bounds)


def truncated(asked: Any, query: Query) -> Any:
    """Bound what a person contributes; under rho the number of groups matters."""
    from tmlt.analytics import MaxGroupsPerID, MaxRowsPerGroupPerID, MaxRowsPerID

    assert query.people is not None
    if query.rho:
        limited = asked.enforce(MaxGroupsPerID(query.by, query.people.groups))
        return limited.enforce(MaxRowsPerGroupPerID(query.by, query.people.rows_per_group))
    return asked.enforce(MaxRowsPerID(1 if query.what == "people" else query.people.l1))


def noise(query: Query, path: str, copies: int) -> Noise:
    """What Tumult says about the noise of a question."""
    found = session(query, path)._noise_info(question(query, copies), budget(query))
    return [
        {"distribution": row["noise_mechanism"].name, "scale": float(row["noise_parameter"])}
        for row in found
    ]


def release(query: Query, path: str, copies: int) -> list[tuple[Any, float]]:
    """One answer, which is a value for each copy and key."""
    rows = session(query, path).evaluate(question(query, copies), budget(query)).collect()
    return [(row[query.by] if query.by else None, row["x"]) for row in rows]


if __name__ == "__main__":
    serve(System(noise, release).ask, "tmlt.analytics", "tmlt.core", "pyspark")
