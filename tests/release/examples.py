"""Releases made by hand, and draws from the laws of noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet import events
from discreet.mechanisms.distributions.distribution import (
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
)
from discreet.release import Atom, Estimate, LinearFormula, NoisyMeasure, Release, ReleasedColumn

COUNTS = DiscreteLaplaceDistribution(scale=2, step=1)
SUMS = RoundedLaplace(scale=100, step=2.0**-20)
NORMAL = RoundedGaussian(sigma=3, step=2.0**-20)
POSITIVE = (0, math.inf)
PATIENTS = dp.Person("patient_id", max_rows=20, max_groups=5)
QUESTION = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def estimate(
    value: int | float, cell: int = 0, distribution: Distribution = COUNTS, release: str = "r1"
) -> Estimate:
    return Estimate(value, ((Atom(release, "n", cell), 1, distribution),))


def counts(
    values: Sequence[int], *, release: str = "r1", distribution: Distribution = COUNTS
) -> NoisyMeasure:
    return NoisyMeasure(release, "n", distribution, tuple(values))


def count_column(n: NoisyMeasure) -> ReleasedColumn:
    return ReleasedColumn.linear("n", [(1, n)], within=POSITIVE, confidence=0.95)


def mean_column(s: NoisyMeasure, n: NoisyMeasure) -> ReleasedColumn:
    return ReleasedColumn.quotient(
        "age",
        LinearFormula(((1, s),)),
        LinearFormula(((1, n),), within=POSITIVE),
        offset=60.0,
        within=(0.0, 120.0),
        confidence=0.95,
    )


def quantile_column(values: Sequence[int | None]) -> ReleasedColumn:
    return ReleasedColumn.from_given_values(
        "median", values, interval=None, note="rank error at most 12 (95 %)"
    )


def made(
    answers: Sequence[ReleasedColumn],
    keys: Mapping[str, tuple[Any, ...]] | None = None,
    /,
    **others: Any,
) -> Release:
    parts: dict[str, Any] = {
        "id": "r1",
        "query": QUESTION,
        "keys": keys or {},
        "answers": tuple(answers),
        "confidence": 0.95,
        "guarantee": dp.PureDP(epsilon=0.5, unit=PATIENTS),
        "event": events.Laplace(epsilon=0.25) * 2,
        "statement": {"bounds": {"age": [0, 120]}},
    }
    return Release(**(parts | others))


def wards(**others: Any) -> Release:
    """Three wards with a count, a mean and a median; the last ward is nearly empty."""
    n = counts((123, 77, 4))
    s = NoisyMeasure("r1", "s", SUMS, (-250.5, 310.25, -80.125))
    answers = (count_column(n), mean_column(s, n), quantile_column((41, None, 40)))
    return made(answers, {"ward": ("A", "B", None)}, **others)


def many(rows: int) -> Release:
    """A count, a mean and a sum in each of many cells."""
    rng = np.random.default_rng(5)
    n = counts(rng.integers(500, 2000, rows).tolist())
    s = NoisyMeasure(
        "r1", "s", SUMS, tuple((np.rint(rng.normal(0, 5e3, rows) * 1024) / 1024).tolist())
    )
    t = NoisyMeasure("r1", "t", SUMS, tuple((np.rint(rng.normal(9e5, 5e4, rows) * 8) / 8).tolist()))
    cost = ReleasedColumn.linear("cost", [(1, t)], confidence=0.95)
    keys = {"ward": tuple(f"ward {row}" for row in range(rows))}
    return made((count_column(n), mean_column(s, n), cost), keys)


def draws(distribution: Distribution, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Noise of a law, good enough for simulations."""
    if isinstance(distribution, DiscreteLaplaceDistribution):
        p = -math.expm1(-distribution.step / distribution.scale)
        return np.asarray((rng.geometric(p, size) - rng.geometric(p, size)) * distribution.step)
    kind = rng.laplace if "laplace" in distribution.kind else rng.normal
    return np.asarray(
        np.rint(kind(0, distribution.spread, size) / distribution.step) * distribution.step
    )


def misses(right: NDArray[np.bool_], confidence: float = 0.95) -> float:
    """By how many standard errors a simulated coverage falls short of the confidence."""
    error = math.sqrt(confidence * (1 - confidence) / len(right))
    return (confidence - float(right.mean())) / error
