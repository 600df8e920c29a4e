"""OpenDP's answers to the questions of the suite ``accuracy``, and the noise it says they have."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import opendp.prelude as dp  # type: ignore[import-not-found,unused-ignore]
import polars  # type: ignore[import-not-found,unused-ignore]
from accuracy_asking import Noise, System
from accuracy_queries import COPY, Query
from peers import serve

pl: Any = polars  # OpenDP adds to its expressions what type checkers do not see


@lru_cache(maxsize=16)
def table(path: str) -> tuple[Any, Any, int]:
    """A scan of the table, which is faster than a frame, with its columns and size."""
    scan = pl.scan_parquet(path)
    return scan, scan.collect_schema(), scan.select(pl.len()).collect().item()


def expression(query: Query) -> Any:
    """The aggregate, in OpenDP's own form for it."""
    if query.what in ("count", "people"):
        return pl.len().dp.noise()
    column = pl.col(query.column).fill_null(0)
    if not query.whole:
        column = column.fill_nan(0.0)
    kind = int if query.whole else float
    bounds = kind(query.low), kind(query.high)
    if query.what == "sum":
        return column.dp.sum(bounds)
    if query.what == "mean":
        return column.dp.mean(bounds)
    if query.what == "quantile":
        return column.dp.quantile(query.level, query.candidates)
    message = f"no {query.what} where the number of rows is private"
    raise ValueError(message)


def question(query: Query, path: str, copies: int) -> Any:
    """The question in a context that allows it once; a copy is a group."""
    scan, columns, size = table(path)
    loss = {"rho": query.rho} if query.rho else {"epsilon": float(query.epsilon)}
    person = {"identifier": "pid"} if query.people else {}
    keys = all_keys(query, columns, copies)
    context = dp.Context.compositor(
        data=scan,
        privacy_unit=dp.unit_of(contributions=1, **person),
        privacy_loss=dp.loss_of(**loss),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=keys.columns, max_length=size // copies)],
    )
    asked = context.query()
    if query.where:
        asked = asked.filter(pl.sql_expr(query.condition()))
    if query.people:
        asked = truncated(asked, query)
    aggregate = expression(query).alias("x")
    if not keys.columns:
        return asked.select(aggregate)
    return asked.group_by(keys.columns).agg(aggregate).with_keys(keys.lazy())


def all_keys(query: Query, columns: Any, copies: int) -> Any:
    """Every combination of copy and key; no columns where there are no groups."""
    parts: list[tuple[str, Any]] = [(COPY, range(copies))] if copies > 1 else []
    parts += [(query.by, query.keys)] if query.by else []
    frames = [pl.DataFrame({name: part}, schema={name: columns[name]}) for name, part in parts]
    if len(frames) == 2:
        return frames[0].join(frames[1], how="cross")
    return frames[0] if frames else pl.DataFrame()


def truncated(asked: Any, query: Query) -> Any:
    """Bound what a person contributes, in the form that costs OpenDP least.

    Counting people needs one row of each. Under rho the number of groups matters; OpenDP 0.16 keeps
    and charges one group less than it is told, and chooses by order, since by chance it fails.
    """
    assert query.people is not None
    if query.what == "people":
        return asked.truncate_per_group(1)
    if query.rho:
        kept = asked.truncate_per_group(query.people.rows_per_group, by=[query.by])
        return kept.truncate_num_groups(query.people.groups + 1, by=[query.by], keep="first")
    return asked.truncate_per_group(query.people.l1)


def noise(query: Query, path: str, copies: int) -> Noise:
    """What OpenDP says about the noise of a question."""
    columns = ("aggregate", "distribution", "scale")
    rows = question(query, path, copies).summarize().to_dicts()
    return [{name: row[name] for name in columns} for row in rows]


def release(query: Query, path: str, copies: int) -> list[tuple[Any, float]]:
    """One answer, which is a value for each copy and key."""
    rows = question(query, path, copies).release().collect().to_dicts()
    return [(row.get(query.by), row["x"]) for row in rows]


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve(System(noise, release).ask, "opendp", "polars")
