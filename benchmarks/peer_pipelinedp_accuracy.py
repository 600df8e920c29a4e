"""PipelineDP's answers to the questions of the suite ``accuracy``, and their noise.

Its quantiles come from a tree of noisy counts, for which there is no formula; they are released
many times on the whole table.
"""

from __future__ import annotations

import json
import operator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pipeline_dp as pdp  # type: ignore[import-not-found,unused-ignore]
import pyarrow.parquet as pq  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accuracy_asking import Noise, System
from accuracy_queries import COPY, Query
from peers import serve
from pipeline_dp import (  # type: ignore[import-not-found,unused-ignore]
    combiners,
    dp_computations,
)

RELEASES = 20_000
RELATIONS = {"=": operator.eq, ">=": operator.ge, "<": operator.lt}
Row = tuple[Any, tuple[Any, Any], float]
"""Whose it is, its copy and key, its value."""


@lru_cache(maxsize=8)
def table(path: str) -> dict[str, list[Any]]:
    """The table, read once."""
    columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
    return columns


def rows(query: Query, path: str) -> list[Row]:
    """The rows that satisfy the condition."""
    columns = table(path)
    size = len(next(iter(columns.values())))
    zeros = [0] * size
    people = columns["pid"] if query.people else list(range(size))
    keys = columns[query.by] if query.by else [None] * size
    values = columns[query.column] if query.column else zeros
    found = zip(people, zip(columns.get(COPY, zeros), keys, strict=True), values, strict=True)
    if query.where is None:
        return list(found)
    column, relation, value = query.where
    keep = RELATIONS[relation]
    pairs = zip(found, columns[column], strict=True)
    return [row for row, compared in pairs if keep(compared, value)]


def parameters(query: Query) -> Any:
    """What is asked, and the bounds of what one person contributes."""
    if query.rho:
        message = "no rho"
        raise ValueError(message)
    metrics = {
        "count": pdp.Metrics.COUNT,
        "people": pdp.Metrics.PRIVACY_ID_COUNT,
        "sum": pdp.Metrics.SUM,
        "mean": pdp.Metrics.MEAN,
        "variance": pdp.Metrics.VARIANCE,
        "quantile": pdp.Metrics.PERCENTILE(100 * query.level),
    }
    if query.what not in metrics:
        message = f"no {query.what}"
        raise ValueError(message)
    people = query.people
    groups, per_group = (people.groups, people.rows_per_group) if people else (1, 1)
    if people and people.l1 < groups * per_group:
        bounds = {"max_contributions": people.l1}
    else:
        bounds = {
            "max_partitions_contributed": groups,
            "max_contributions_per_partition": per_group,
        }
    values = {"min_value": query.low, "max_value": query.high} if query.column else {}
    return pdp.AggregateParams(
        noise_kind=pdp.NoiseKind.LAPLACE, metrics=[metrics[query.what]], **bounds, **values
    )


def combiner(query: Query) -> Any:
    """The part of PipelineDP that adds the noise."""
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=query.epsilon, total_delta=1e-9)
    made = combiners.create_compound_combiner(parameters(query), accountant)
    accountant.compute_budgets()
    return made._combiners[0]


def noise(query: Query, _path: str, _copies: int) -> Noise:
    """The parameters of the mechanisms inside the combiner; for the variance, its own formula."""
    found = combiner(query)
    if query.what == "quantile":
        return [{"aggregate": "tree", "distribution": "laplace tree", "scale": 1.0}]
    if query.what == "variance":
        low, high = dp_computations.compute_squares_interval(query.low, query.high)
        scales = {
            "count": 1.0,
            "sum": (query.high - query.low) / 2,
            "squares": dp_computations.compute_middle(low, high) - low,
        }
        scales = {name: 3 * query.l1 * reach / query.epsilon for name, reach in scales.items()}
    elif query.what == "mean":
        mean = found.get_mechanism()
        parts = {"sum": mean._sum_mechanism, "count": mean._count_mechanism}
        scales = {name: part.noise_parameter for name, part in parts.items()}
    else:
        scales = {query.what: found.get_mechanism().noise_parameter}
    return [
        {"aggregate": name, "distribution": "laplace", "scale": scale}
        for name, scale in scales.items()
    ]


def release(query: Query, path: str, copies: int) -> list[tuple[Any, float]]:
    """One answer of the whole engine, which is a value for each copy and key."""
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=query.epsilon, total_delta=1e-9)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    extractors = pdp.DataExtractors(
        privacy_id_extractor=operator.itemgetter(0),
        partition_extractor=operator.itemgetter(1),
        value_extractor=operator.itemgetter(2),
    )
    public = [(copy, key) for copy in range(copies) for key in query.keys]
    result = engine.aggregate(
        rows(query, path), parameters(query), extractors, public_partitions=public
    )
    accountant.compute_budgets()
    return [(partition[1], float(values[0])) for partition, values in result]


def quantiles(query: Query, path: str) -> dict[str, list[float]]:
    """Quantiles of the whole table, released many times by PipelineDP's own combiner."""
    values: dict[str, list[float]] = {str(key): [] for key in query.keys}
    for _, (_, key), value in rows(query, path):
        values[str(key)].append(value)
    found = combiner(query)
    trees = {key: found.create_accumulator(column) for key, column in values.items()}
    return {
        key: [next(iter(found.compute_metrics(tree).values())) for _ in range(RELEASES)]
        for key, tree in trees.items()
    }


def ask(request: dict[str, Any]) -> float:
    """Answer as every peer does, and add the quantiles of the whole table."""
    took = System(noise, release).ask(request)
    query = Query.from_json(request["query"])
    if query.what == "quantile":
        out = Path(request["out"])
        written = json.loads(out.read_text())
        out.write_text(json.dumps({**written, "releases": quantiles(query, request["path"])}))
    return took


if __name__ == "__main__":
    serve(ask, "pipeline-dp", "python-dp")
