"""What ± covers where people have more rows than the unit allows: weights have no sampling spread.

Without sampling the estimator's mean is the same in every run, so stated 95 % intervals hold it 19
times in 20. Each question is asked 400 times of a curator, with noise of the real laws from
reproducible bits, so that there are no false alarms: the share of a right interval has a standard
deviation of .011 for one cell, and of .006 or .003 for the three wards or twelve months together.
Limits are .93 and .97 where cells are pooled and two deviations more, .022, for one number; counts
are whole numbers, of which the least interval holds a little more than 95 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.noise.randomness import Seeded

RUNS = 400
LEAST, MOST = 0.93, 0.97
ALONE = 0.022
"""Of one number the share has twice the deviation that pooled ones have, and more."""
Floats = NDArray[np.float64]


def patients() -> pl.DataFrame:
    """3 000 patients with 4 to 29 visits each."""
    rng = np.random.default_rng(3)
    visits = rng.integers(4, 30, 3_000)
    who = np.repeat(np.arange(3_000), visits)
    return pl.DataFrame(
        {
            "who": who,
            "part": rng.choice(["A", "B", "C"], len(who), p=[0.6, 0.3, 0.1]),
            "x": rng.gamma(2.0, 60.0, len(who)).clip(0, 1000).round(2),
        }
    )


def flights() -> pl.DataFrame:
    """40 000 flights of 900 planes by month: few planes fly most of them."""
    rng = np.random.default_rng(4)
    plane = np.floor(900 * rng.random(40_000) ** 2).astype(int)
    delay = rng.normal(8, 30, 40_000).clip(-60, 180).round()
    return pl.DataFrame({"who": plane, "part": rng.integers(1, 13, 40_000), "x": delay})


TABLES: dict[str, tuple[Callable[[], pl.DataFrame], int, dp.Number]] = {
    "patients": (patients, 5, dp.Number(0, 1000)),
    "flights": (flights, 20, dp.Number(-60, 180)),
}
BY_PART = {
    "COUNT": "COUNT(*)",
    "SUM": "SUM(x)",
    "AVG": "AVG(x)",
    "ratio": "SUM(x) / COUNT(*)",
    "share": "COUNT(*) FILTER (WHERE x > 60) / COUNT(*)",
}
ALL = {
    "contrast of counts": "COUNT(*) FILTER (WHERE part = {0}) - COUNT(*) FILTER (WHERE part = {1})",
    "contrast of means": "AVG(x) FILTER (WHERE part = {0}) - AVG(x) FILTER (WHERE part = {1})",
    "contrast of shares": (
        "COUNT(*) FILTER (WHERE part = {0} AND x > 60) / COUNT(*) FILTER (WHERE part = {0}) - "
        "COUNT(*) FILTER (WHERE part = {1} AND x > 60) / COUNT(*) FILTER (WHERE part = {1})"
    ),
}


def expected(frame: pl.DataFrame, rows: int, form: str) -> list[float]:
    """What the estimator means: each row of a person with N rows counts as min(1, rows / N)."""
    weighted = frame.with_columns(w=(rows / pl.len().over("who")).clip(upper_bound=1.0))
    totals = (
        weighted.group_by("part")
        .agg(
            n=pl.col("w").sum(),
            s=(pl.col("w") * pl.col("x")).sum(),
            high=pl.col("w").filter(pl.col("x") > 60).sum(),
        )
        .sort("part")
    )
    values = {
        "COUNT": totals["n"],
        "SUM": totals["s"],
        "AVG": totals["s"] / totals["n"],
        "share": totals["high"] / totals["n"],
    }
    values["ratio"], values["contrast of counts"] = values["AVG"], values["COUNT"]
    values["contrast of means"], values["contrast of shares"] = values["AVG"], values["share"]
    found = [float(value) for value in values[form].to_list()]
    return found if form in BY_PART else [found[0] - found[1]]


def released(source: dp.Curator, sql: str) -> tuple[Floats, Floats, Floats]:
    """Values and both ends of all runs, cell by cell."""
    found: list[list[tuple[float, float, float]]] = []
    for run in range(RUNS):
        column = source.sql(sql, spend=dp.PureDP(epsilon=1 + run * 1e-9))["v"]
        assert column.lower is not None
        assert column.upper is not None
        ends = zip(column.values, column.lower, column.upper, strict=True)
        found.append([(float(value), low, high) for value, low, high in ends])  # type: ignore[arg-type]
    made = np.array(found)
    return made[:, :, 0], made[:, :, 1], made[:, :, 2]


@pytest.mark.slow
@pytest.mark.parametrize("form", [*BY_PART, *ALL])
@pytest.mark.parametrize("table", TABLES)
def test_intervals_hold_the_mean_of_the_estimator(table: str, form: str) -> None:
    make, rows, number = TABLES[table]
    frame = make()
    parts = frame["part"].unique().sort().to_list()
    source = dp.Curator(
        t=dp.table(
            frame,
            unit=dp.Person("who", max_rows=rows),
            columns={"part": dp.Category(parts), "x": number},
            snapshot="1",
        ),
        budget=dp.PureDP(epsilon=1e6),
        ledger=dp.ledger.Memory(),
        randomness=Seeded(11),
    )
    if form in BY_PART:
        sql, slack = f"SELECT part, {BY_PART[form]} AS v FROM t GROUP BY part", 0.0
    else:
        first, second = (repr(part) for part in parts[:2])
        sql, slack = f"SELECT {ALL[form].format(first, second)} AS v FROM t", ALONE
    values, low, high = released(source, sql)
    truth = np.array(expected(frame, rows, form))
    covered = ((low <= truth) & (truth <= high)).mean()
    realised = np.quantile(np.abs(values - truth) / ((high - low) / 2), 0.95)
    assert LEAST - slack <= covered <= MOST + slack, covered
    assert 0.85 <= realised <= 1.15, realised
