"""Our answers to the questions of the suite ``accuracy``: their errors, intervals and noise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_data import copies
from accuracy_groups import Array, error_of, truths
from accuracy_queries import COPY, KEYS, Query

import discreet as dp

COPIES = 200
ANSWERS = 100
"""Together 20 000 releases of every group."""
FEWER = 20
"""Enough for the coverage of intervals where the law of the noise gives the error exactly."""
EXACT = ("count", "people", "sum")
BUDGET = 1e9
CALLS = {
    "count": "COUNT(*)",
    "people": "COUNT(DISTINCT pid)",
    "sum": "SUM({column})",
    "mean": "AVG({column})",
    "variance": "VARIANCE({column})",
    "deviation": "STDDEV({column})",
    "quantile": "QUANTILE({column}, {level})",
}


@dataclass(frozen=True)
class Accuracy:
    """How wrong our answers are, and how often their intervals hold."""

    rmse: float
    standard_error: float
    how: str
    coverage: float
    releases: int
    whole: bool


def measured(query: Query, path: Path) -> Accuracy:
    """Ask about the table once, for the law of the noise, and about its copies, for the rest.

    A mean over a noisy count that is not positive has no value; the middle of the bounds stands
    for it.
    """
    answers = FEWER if query.what in EXACT else ANSWERS
    once = ask(curator(query, path, 1), query, 1, 0)["x"]
    repeated = curator(query, copies(path, COPIES), COPIES)
    exact = truths(query, path)
    values: dict[str, list[float]] = {key: [] for key in exact}
    held: list[bool] = []
    for number in range(answers):
        release = ask(repeated, query, COPIES, number)
        answer = release["x"]
        if number == 0 and noise(answer) != noise(once):
            message = f"{query.name}: other noise by copies, {noise(answer)}, not {noise(once)}"
            raise ValueError(message)
        keys = release.keys[query.by] if query.by else (None,) * len(answer)
        for row, key in enumerate(map(str, keys)):
            if key in exact:
                value = answer.values[row]
                values[key].append((query.low + query.high) / 2 if value is None else value)
                if answer.interval is not None:
                    held.append(answer.lower[row] <= exact[key] <= answer.upper[row])
    arrays: dict[str, Array] = {key: np.array(column) for key, column in values.items()}
    rmse, spread = error_of(arrays, exact)
    laws = noise(once)
    how = sampled = f"{COPIES * answers} releases"
    if query.what in EXACT:
        rmse, spread, how = laws[0].std, 0.0, f"exact: {laws[0]}"
    return Accuracy(
        rmse=rmse,
        standard_error=spread,
        how=how,
        coverage=float(np.mean(held)) if held else float("nan"),
        releases=COPIES * answers,
        whole=how != sampled and laws[0].step == 1,
    )


def noise(answer: Any) -> list[Any]:
    """The laws of the noisy numbers from which a column is made."""
    return [measure.distribution for measure in answer.formula.measures()]


def curator(query: Query, path: Path, times: int) -> Any:
    """A curator of the query's table with the columns it needs declared."""
    columns: dict[str, Any] = {COPY: dp.Category(range(times))} if times > 1 else {}
    if query.by:
        columns[query.by] = dp.Category(query.keys)
    if query.column:
        step = query.step if query.what == "quantile" else None
        columns[query.column] = dp.Number(query.low, query.high, step)
    if query.where and query.where[0] in KEYS[query.table]:
        columns[query.where[0]] = dp.Category(KEYS[query.table][query.where[0]])
    unit: Any = dp.Row()
    if query.people:
        bounds = query.people
        unit = dp.Person(
            "pid",
            max_rows=bounds.rows,
            max_groups=bounds.groups,
            max_rows_per_group=bounds.rows_per_group,
        )
    table = dp.table(path, unit=unit, columns=columns)
    budget: Any = dp.ZCDP(rho=BUDGET) if query.rho else dp.PureDP(epsilon=BUDGET)
    return dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory())


def ask(holder: Any, query: Query, times: int, number: int) -> Any:
    """Ask once; each time as another analyst, so that no answer comes from the store."""
    names = [COPY] if times > 1 else []
    names += [query.by] if query.by else []
    call = CALLS[query.what].format(column=query.column, level=query.level)
    where = f" WHERE {query.condition()}" if query.where else ""
    grouped = f" GROUP BY {', '.join(names)}" if names else ""
    spend: Any = dp.ZCDP(rho=query.rho) if query.rho else dp.PureDP(epsilon=query.epsilon)
    text = f"SELECT {', '.join([*names, f'{call} AS x'])} FROM t{where}{grouped}"
    return holder.sql(text, spend=spend, analyst=str(number))
