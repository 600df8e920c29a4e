"""Accuracy: forty questions about real tables against the best of four peers at the same price.

Unit and relation are the same for all: rows or people, added or removed. Errors are those of the
noise: against the answer without it, after the declared clamping.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accuracy_data import tables
from accuracy_ours import Accuracy, measured
from accuracy_queries import QUERIES, Query
from timing import Figure

RECORD = Path(__file__).with_name("accuracy_peers.json")
MOST_OVER_BEST = 1.05
LEAST_COVERAGE, MOST_COVERAGE = 0.93, 0.97


@dataclass(frozen=True)
class Best:
    """The peer with the least error, as recorded."""

    peer: str
    rmse: float
    how: str


def figures() -> list[Figure]:
    """All figures of this suite."""
    record = json.loads(RECORD.read_text())
    found = []
    with tempfile.TemporaryDirectory(prefix="accuracy-") as folder:
        paths = tables(Path(folder))
        for query in QUERIES:
            best = best_peer(record, query)
            if query.table in paths:
                made = of_query(query, best, measured(query, paths[query.table]))
            else:
                made = [ratio_figure(query, [], f"MISSING the table {query.table}")]
            for each in made:
                print(f"{each.name} {each.value:.4g} {each.remark}", file=sys.stderr, flush=True)
            found += made
    return [*found, *summary(found)]


def best_peer(record: dict[str, Any], query: Query) -> Best | None:
    """The recorded peer with the least error, if the record is of this very query."""
    asked = json.loads(json.dumps(query.to_json()))
    entries = [
        Best(peer, said["rmse"], said["how"])
        for peer, said in ((peer, entry.get(query.name, {})) for peer, entry in record.items())
        if "rmse" in said and said["query"] == asked
    ]
    return min(entries, key=lambda each: each.rmse, default=None)


def of_query(query: Query, best: Best | None, ours: Accuracy) -> list[Figure]:
    """Our error over the best peer's, and how often our intervals hold."""
    name = f"accuracy/{query.name}"
    error = f"{ours.rmse:.4g}"
    if ours.standard_error:
        error += f" ± {ours.standard_error:.1g}"
    if best is None:
        ratio = ratio_figure(query, [], f"{error} ({ours.how}); no peer is recorded")
    else:
        remark = f"{error} ({ours.how}) over {best.rmse:.4g} of {best.peer} ({best.how})"
        ratio = ratio_figure(query, [ours.rmse / best.rmse] if best.rmse else [], remark)
    coverage = Figure(
        name=f"{name}/coverage",
        values=[ours.coverage] if ours.coverage == ours.coverage else [],
        unit="of 1",
        at_least=LEAST_COVERAGE,
        at_most=1 if ours.whole else MOST_COVERAGE,
        remark=f"{ours.releases} releases" if ours.coverage == ours.coverage else "no interval",
    )
    return [ratio, coverage]


def ratio_figure(query: Query, values: list[float], remark: str) -> Figure:
    """Our root mean squared error over the best peer's."""
    name = f"accuracy/{query.name}/rmse"
    return Figure(name=name, values=values, unit="x", at_most=MOST_OVER_BEST, remark=remark)


def summary(found: list[Figure]) -> list[Figure]:
    """The worst ratio, and how many questions reach the aim."""
    over = [figure.value for figure in found if figure.name.endswith("/rmse") and figure.values]
    return [
        Figure(name="accuracy/worst", values=[max(over)], unit="x", at_most=MOST_OVER_BEST),
        Figure(
            name="accuracy/reached",
            values=[float(sum(each <= MOST_OVER_BEST for each in over))],
            unit=f"of {len(QUERIES)}",
            at_least=len(QUERIES),
        ),
    ]
