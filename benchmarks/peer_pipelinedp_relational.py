"""PipelineDP counting and summing by group on its local backend; started by ``relational``.

Its rows are Python tuples, made off the clock; the thousand groups are public partitions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pipeline_dp  # type: ignore[import-not-found,unused-ignore]
import pyarrow.parquet as pq  # type: ignore[import-not-found,import-untyped,unused-ignore]
from peers import serve
from timing import clock

GROUPS = 1000
MOST = 100


@lru_cache(maxsize=1)
def tuples(path: str) -> list[tuple[int, int, int]]:
    """The table as tuples of person, group and value."""
    columns = ["pid", "grp", "v"]
    table = pq.read_table(path, columns=columns)
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def answer(source: list[tuple[int, int, int]]) -> list[Any]:
    """Build an engine, as a user would, and ask for the count and the sum of every group."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    parameters = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=[pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=MOST,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    result = engine.aggregate(source, parameters, extractors, public_partitions=range(GROUPS))
    accountant.compute_budgets()
    return list(result)


def seconds(request: dict[str, Any]) -> float:
    """Time one question."""
    source = tuples(request["path"])
    found: list[list[Any]] = []
    took = clock(lambda: found.append(answer(source)))()
    if len(found[0]) != GROUPS:
        message = f"{len(found[0])} groups"
        raise ValueError(message)
    return took


if __name__ == "__main__":
    serve(seconds, "pipeline-dp", "python-dp")
