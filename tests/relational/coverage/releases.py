"""Many releases of one question: exact numbers are read once, noise is drawn again and again.

The curator's test mode gives reproducible bits to the same samplers, so that the noise has its
own law and nothing here raises a false alarm. What is true is what the same formulas say of the
exact numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.curator.sql import planned_sql
from discreet.noise.randomness import Noiseless, Seeded, Source
from discreet.relational.answers.columns import Columns
from discreet.relational.answers.table_columns import columns_of
from discreet.relational.plan.keys import Block, KeySet
from discreet.relational.plan.query import QueryOverAnswers
from discreet.relational.planning.planned_query import MeasuredValues, Settled

SPENDS: dict[str, Any] = {
    "Laplace": dp.PureDP(epsilon=1),
    "Gaussian": dp.ZCDP(rho=0.1),
    "either": dp.ApproxDP(epsilon=1, delta=1e-6),
}
GROUPS = 4
COLUMNS: dict[str, Any] = {
    "g": dp.Category(list(range(GROUPS))),
    "x": dp.Number(0, 100),
    "y": dp.Number(0, 100),
    "k": dp.Number(0, 9),
}


@dataclass(frozen=True)
class Trials:
    """One number over many releases: what is true, what was released, the ends of intervals."""

    truth: float
    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def covered(self) -> float:
        slack = 1e-9 * max(1.0, abs(self.truth))
        held = (self.lower <= self.truth + slack) & (self.truth - slack <= self.upper)
        return float(held.mean())

    @property
    def realised(self) -> float:
        """What 95 errors in 100 stay below, where there is a value."""
        return float(np.nanquantile(np.abs(self.values - self.truth), 0.95))

    @property
    def stated(self) -> float:
        return float(np.median(self.upper - self.lower) / 2)


def rows(count: int, shape: str) -> dict[str, Any]:
    """Values between 0 and 100 of a shape, evenly over the groups."""
    rng = np.random.default_rng(count)
    x = rng.uniform(0, 100, count)
    y = {
        "even": rng.uniform(0, 100, count),
        "related": x / 2 + rng.uniform(0, 50, count),
        "equal": x,
        "opposite": 100 - x,
    }.get(shape, rng.uniform(0, 100, count))
    if shape == "skewed":
        x, y = (np.minimum(rng.exponential(5, count), 100) for _ in range(2))
    if shape == "narrow":
        x, y = 30 + rng.uniform(0, 1, count), 60 + rng.uniform(0, 1, count)
    if shape == "constant":
        x, y = np.full(count, 30.0), np.full(count, 60.0)
    return {"g": np.arange(count) % GROUPS, "x": x, "y": y, "k": rng.integers(0, 10, count)}


def curator(table: dict[str, Any], spend: Any, randomness: Source) -> dp.Curator:
    budget = (
        dp.ZCDP(rho=1000) if isinstance(spend, dp.ZCDP) else dp.ApproxDP(epsilon=1e4, delta=0.1)
    )
    return dp.Curator(
        t=dp.table(table, unit=dp.Row(), columns=COLUMNS, snapshot="1"),
        budget=budget,
        ledger=dp.ledger.Memory(),
        randomness=randomness,
    )


def predicted(table: dict[str, Any], text: str, spend: Any, size: int) -> float:
    """The half-width that a preview states of the last column, for groups of this size."""
    column = curator(table, spend, Noiseless()).preview(text, spend=spend).columns[-1]
    if column.half_width is not None:
        return column.half_width
    return dict(column.typical or column.by_size)[size]


def trials(table: dict[str, Any], text: str, spend: Any, runs: int) -> list[Trials]:
    """The last column, row by row, over ``runs`` releases."""
    source = curator(table, spend, Noiseless())
    _, planned = planned_sql(source.context, text, spend)
    exact = planned.release(source.context.database)
    truth = columns_of(planned, exact, "truth", 0.95).answers()[-1].values
    _, drawing = planned_sql(curator(table, spend, Seeded(7)).context, text, spend)
    drawn = [
        drawing.noisy(np.tile(values, runs), item).reshape(runs, -1)
        for values, item in zip(exact.linear, drawing.allocation.noised, strict=True)
    ]
    query = planned.query
    if not isinstance(query, QueryOverAnswers) and query.keys.cells == 1:
        # Every release is a cell of one answer: the formulas treat cells alike.
        names = tuple(f"m{place}" for place in range(len(drawn)))
        keys = KeySet((Block((), tuple((run,) for run in range(runs))),))
        about = replace(
            planned, query=replace(query, keys=keys), settled=Settled(planned.allocation, names)
        )
        every = MeasuredValues(tuple(each[:, 0] for each in drawn), ())
        column = Columns(about, every, "r", 0.95).answers()[-1]
        return [_trials(truth[0], [(column, run) for run in range(runs)])]
    answers = [
        columns_of(
            planned, MeasuredValues(tuple(each[run] for each in drawn), ()), "r", 0.95
        ).answers()[-1]
        for run in range(runs)
    ]
    return [
        _trials(value, [(answer, row) for answer in answers])
        for row, value in enumerate(truth)
        if value is not None
    ]


def _trials(truth: Any, cells: list[tuple[Any, int]]) -> Trials:
    values = [math.nan if c.values[row] is None else c.values[row] for c, row in cells]
    lower = [-math.inf if c.lower is None else c.lower[row] for c, row in cells]
    upper = [math.inf if c.upper is None else c.upper[row] for c, row in cells]
    return Trials(
        math.nan if truth is None else float(truth),
        np.array(values, dtype=float),
        np.array(lower, dtype=float),
        np.array(upper, dtype=float),
    )
