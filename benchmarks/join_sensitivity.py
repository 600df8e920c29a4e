"""Suite ``join_sensitivity``: noise by elastic and smooth sensitivity against truncated joins.

Real tables, joined on keys that many rows share. For each join and each epsilon: the root mean
square error of its count, or of its counts by group, as a share of the mean cell,

- with Laplace noise in proportion to Flex's smooth elastic sensitivity, which the data decides, at
  a delta of 1e-6. Neither this error nor the noise scale could be shown to anybody;
- truncated at the best limits of the ladder, which nobody knows: pure, and without delta;
- truncated at limits that were learnt, all of it paid from the same epsilon: a tenth of it for each
  table, each keeping 99.9 % of the rows, as far as the noisy counts tell.

Errors of truncation are what is left out, from the engine itself, and the variance of the noise.
Each row is a unit, as in Flex.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
from peers import Missing, Peer
from timing import Figure

import discreet as dp
from discreet.mechanisms.robust.smooth_noise import SmoothLaplace
from discreet.noise import Noiseless
from discreet.theory import elastic_join, elastic_self_join, smooth_linear

LADDER = tuple(2**power for power in range(11))
EPSILONS = (1.0, 0.1)
LEARNING = 0.1
KEEPING = 0.999
DRAWS = 25
NOISE = SmoothLaplace(delta=1e-6)


@dataclass(frozen=True)
class Case:
    """A join of two tables, or of one with itself, counted in ``groups``."""

    name: str
    left: str
    right: str
    key: tuple[str, ...]
    groups: dict[str, Any]

    @property
    def itself(self) -> bool:
        """Whether a table is joined with itself."""
        return self.left == self.right

    @property
    def text(self) -> str:
        """The question."""
        on = " AND ".join(f"a.{name} = b.{name}" for name in self.key)
        names = ", ".join(f"a.{name}" for name in self.groups)
        listed, by = (f"{names}, ", f" GROUP BY {names}") if names else ("", "")
        rows = f"{self.left} AS a JOIN {self.right} AS b ON {on}"
        return f"SELECT {listed}COUNT(*) AS n FROM {rows}{by}"


MONTHS, DAYS, HOURS = dp.Integer(1, 12), dp.Integer(1, 31), dp.Integer(0, 23)
HOUR = ("origin", "month", "day", "hour")
CASES = [
    Case("planes", "flights", "planes", ("tailnum",), {}),
    Case("planes_by_day", "flights", "planes", ("tailnum",), {"month": MONTHS, "day": DAYS}),
    Case("weather", "flights", "weather", HOUR, {}),
    Case("weather_by_hour", "flights", "weather", HOUR, {"month": MONTHS, "hour": HOURS}),
    Case("same_day", "flights", "flights", ("tailnum", "month", "day"), {}),
    Case("teams", "batting", "batting", ("team", "year"), {}),
    Case("teams_by_year", "batting", "batting", ("team", "year"), {"year": dp.Integer(1871, 2007)}),
    Case("movies", "movies", "movies", ("movieId",), {}),
    Case("movies_by_rating", "movies", "movies", ("movieId",), {"rating": dp.Integer(1, 10)}),
    Case("lectures", "lectures", "lectures", ("d",), {}),
    Case("lectures_by_department", "lectures", "lectures", ("d",), {"dept": dp.Integer(1, 15)}),
]


def figures() -> list[Figure]:
    """For each case and epsilon the error of learnt truncation over that of smooth sensitivity."""
    with TemporaryDirectory(prefix="join-sensitivity-") as name:
        folder = Path(name)
        try:
            _write(folder)
        except Missing as reason:
            print(f"MISSING datasets: {reason}", file=sys.stderr)
            return []
        return [figure for case in CASES for figure in _figures(case, folder)]


def _write(folder: Path) -> None:
    tables = {table for case in CASES for table in (case.left, case.right)}
    with Peer("datasets", "peer_datasets_join_sensitivity.py") as peer:
        for table in sorted(tables):
            peer.seconds(table=table, path=str(folder / f"{table}.parquet"))


def _figures(case: Case, folder: Path) -> list[Figure]:
    print(case.name, file=sys.stderr, flush=True)
    found = _Measured(case, folder)
    figures = []
    for epsilon in EPSILONS:
        smooth, best = found.smooth(epsilon), found.best(epsilon)
        learnt = found.learnt(epsilon)
        figures.append(
            Figure(
                name=f"join_sensitivity/{case.name}/epsilon_{epsilon:g}",
                values=[learnt / smooth],
                unit="x",
                remark=f"cell {found.cell:.0f}; smooth {smooth / found.cell:.2%}, best limits "
                f"{best / found.cell:.2%}, learnt {learnt / found.cell:.2%}",
            )
        )
    return figures


class _Measured:
    """Exact counts of one case: whole, and truncated at each limit of the ladder."""

    def __init__(self, case: Case, folder: Path) -> None:
        """Count everything once."""
        self.case, self._folder = case, folder
        self._tables: dict[str, Any] = {
            name: dp.table(folder / f"{name}.parquet", unit=dp.Row(), columns=self._columns(name))
            for name in {case.left, case.right}
        }
        self.most = self._most(case.left), self._most(case.right)
        self._kept: dict[tuple[int, int], Any] = {}
        self.truth = self.kept(self.most)
        self.cell = max(float(self.truth.mean()), 1.0)

    def kept(self, limits: tuple[int, int]) -> Any:
        """The counts at limits of both sides."""
        if limits not in self._kept:
            self._kept[limits] = self._counts(limits)
        return self._kept[limits]

    def _sides(self, left: int) -> tuple[int, int]:
        """Limits of both sides; the right one the least of the ladder that cuts nothing."""
        if self.case.itself:
            return left, left
        return left, next(most for most in LADDER if most >= self.most[1])

    def _columns(self, table: str) -> dict[str, Any]:
        return self.case.groups if table == self.case.left else {}

    def _most(self, table: str) -> int:
        """The greatest frequency of the key."""
        keys, path = ", ".join(self.case.key), self._folder / f"{table}.parquet"
        with duckdb.connect() as engine:
            counted = f"SELECT COUNT({self.case.key[0]}) AS n FROM '{path}' GROUP BY {keys}"
            found = engine.execute(f"SELECT MAX(n) FROM ({counted})").fetchone()
        return int((found or (0,))[0])

    def _counts(self, limits: tuple[int, int]) -> Any:
        with dp.Curator(
            **self._tables,
            budget=dp.PureDP(epsilon=10),
            ledger=dp.ledger.Memory(),
            randomness=Noiseless(),
        ) as curator:
            session = self._limited(curator, limits)
            answer = session.sql(self.case.text, spend=dp.PureDP(epsilon=1))
            return np.array(answer["n"].values, dtype=np.float64)

    def _limited(self, curator: Any, limits: tuple[int, int]) -> Any:
        sides = zip((self.case.left, self.case.right), limits, strict=True)
        return curator.with_max_rows_per(**{name: {self.case.key: most} for name, most in sides})

    def changed(self, limits: tuple[int, int]) -> int:
        """Rows of the join that one unit changes, as charged."""
        return 2 * sum(limits)

    def smooth(self, epsilon: float) -> float:
        """The deviation of the noise that smooth sensitivity needs."""
        beta = NOISE.beta(epsilon)
        if self.case.itself:
            at = [elastic_self_join(most=self.most[0], distance=k) for k in (0, 1)]
        else:
            left, right = self.most
            at = [elastic_join(left=left, right=right, distance=k) for k in (0, 1)]
        scale = smooth_linear(start=at[0], slope=at[1] - at[0], beta=beta)
        return math.sqrt(2) * float(NOISE.multiplier(epsilon)) * scale

    def error(self, limits: tuple[int, int], epsilon: float) -> float:
        """Root mean square of what is left out and of the noise, over the cells."""
        noise = math.sqrt(2) * self.changed(limits) / epsilon
        bias = math.sqrt(float(((self.kept(limits) - self.truth) ** 2).mean()))
        return math.hypot(bias, noise)

    def best(self, epsilon: float) -> float:
        """The least error of any limit of the ladder."""
        return min(self.error(self._sides(most), epsilon) for most in LADDER)

    def learnt(self, epsilon: float) -> float:
        """The error at limits that were bought from the same epsilon: the median of some draws."""
        tables = list(dict.fromkeys((self.case.left, self.case.right)))
        rest = (1 - LEARNING * len(tables)) * epsilon
        errors = []
        with dp.Curator(
            **self._tables, budget=dp.PureDP(epsilon=1000), ledger=dp.ledger.Memory()
        ) as curator:
            for draw in range(DRAWS):
                found = [self._limit(curator, table, epsilon, f"a{draw}") for table in tables]
                errors.append(self.error((found[0], found[-1]), rest))
        return median(errors)

    def _limit(self, curator: Any, table: str, epsilon: float, analyst: str) -> int:
        asked = dp.RowsPer(table, self.case.key, LADDER)
        spend = dp.PureDP(epsilon=LEARNING * epsilon)
        found = curator.learn_limits(asked, spend=spend, analyst=analyst)
        try:
            return int(found.limit(keeping=KEEPING))
        except dp.errors.DiscreetError:
            return LADDER[-1]
