"""PipelineDP naming keys that nobody listed, on its local backend; started by the suite ``keys``.

A request is as for ``peer_opendp_keys.py``. Asked for ``law``, it says how many keys the named
``strategy`` keeps on average, by its own probabilities, where rows are bounded already.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

import pipeline_dp  # type: ignore[import-not-found,unused-ignore]
import pyarrow.parquet as pq  # type: ignore[import-not-found,import-untyped,unused-ignore]
from peers import serve
from pydp.algorithms.partition_selection import (  # type: ignore[import-not-found,unused-ignore]
    create_partition_strategy,
)
from timing import clock

FOUND: list[int] = []


@lru_cache(maxsize=2)
def tuples(path: str) -> list[tuple[int, str]]:
    """The table as tuples of person and key."""
    table = pq.read_table(path, columns=["pid", "key"])
    return list(zip(table["pid"].to_pylist(), table["key"].to_pylist(), strict=True))


def answer(source: list[tuple[int, str]], request: dict[str, Any]) -> list[Any]:
    """Build an engine, as a user would, and ask which keys there are."""
    accountant = pipeline_dp.NaiveBudgetAccountant(
        total_epsilon=request["epsilon"], total_delta=request["delta"]
    )
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    parameters = pipeline_dp.SelectPartitionsParams(
        max_partitions_contributed=max(request["groups"], 1),
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
    )
    result = engine.select_partitions(source, parameters, extractors)
    accountant.compute_budgets()
    return list(result)


def law(request: dict[str, Any]) -> float:
    """How many keys are kept on average."""
    rule = create_partition_strategy(
        request["strategy"], request["epsilon"], request["delta"], max(request["groups"], 1)
    )
    people = Counter(Counter(key for _, key in tuples(request["path"])).values())
    return float(sum(keys * rule.probability_of_keep(n) for n, keys in people.items()))


def seconds(request: dict[str, Any]) -> float:
    """Time one question, or say how many keys the last one named, or how many its law names."""
    if request.get("want") == "found":
        return FOUND[-1]
    if request.get("want") == "law":
        return law(request)
    source = tuples(request["path"])
    return clock(lambda: FOUND.append(len(answer(source, request))))()


if __name__ == "__main__":
    serve(seconds, "pipeline-dp", "python-dp")
