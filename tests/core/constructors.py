"""One way to call every public constructor that takes numbers, found by name so none is missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import discreet as dp
from discreet import accounting, calculus, events
from discreet import mechanisms as basic
from discreet.core.domain import Integers
from discreet.mechanisms import key_selection, quantiles, robust
from discreet.queries import record_count
from tests.mechanisms.examples import EXAMPLES as MECHANISMS

PAIR = {"epsilon": 1, "delta": 0.25}
KEYS = {**PAIR, "groups": 3, "swaps": 2}
RANKS = {"candidates": range(5), "rank_sensitivity": 2, "epsilon": 1}
STABLE = {"value": sum, "distance": len}
LAPLACE = events.Laplace(epsilon=1)

GUARANTEES: dict[Any, dict[str, Any]] = {
    dp.PureDP: {"epsilon": 0.5},
    dp.ApproxDP: PAIR,
    dp.ZCDP: {"rho": 0.5},
    dp.ApproxZCDP: {"rho": 0.5, "delta": 0.25},
    dp.RenyiDP: {"alpha": 4, "epsilon": 0.5},
    dp.GaussianDP: {"mu": 0.5},
}
UNITS: dict[Any, dict[str, Any]] = {
    dp.Person: {"id": "who", "max_rows": 9, "max_groups": 3, "max_rows_per_group": 4},
    calculus.Integers: {"lower": 0, "upper": 9},
    calculus.Reals: {"lower": 0.5, "upper": 9.5},
    calculus.Rows: {"record": Integers(), "size": 4},
    calculus.Vector: {"element": Integers(), "size": 4},
}
COLUMNS: dict[Any, dict[str, Any]] = {
    dp.Number: {"low": 0, "high": 9.5, "step": 0.5},
    dp.Integer: {"low": 0, "high": 9},
    dp.Discovered: {"min_people": 3},
    dp.Within: {"error": 5, "confidence": 0.75},
    dp.LeftOut: {"share": 0.25, "rows_at_most": 4, "groups_at_most": 2},
    dp.table: {
        "source": {"a": np.array([1, 2])},
        "unit": dp.Row(),
        "columns": {},
        "rows_at_most": 100,
    },
}
EVENTS: dict[Any, dict[str, Any]] = {
    events.Pure: {"epsilon": 0.5},
    events.Approximate: PAIR,
    events.Concentrated: {"rho": 0.5},
    events.Laplace: {"epsilon": 0.5},
    events.DiscreteLaplace: {"epsilon": 0.5, "steps": 3},
    events.Gaussian: {"noise_multiplier": 0.5},
    events.DiscreteGaussian: {"noise_multiplier": 0.5, "sigma": 1.5},
    events.Exponential: {"epsilon": 0.5},
    events.PermuteAndFlip: {"epsilon": 0.5},
    events.NoisyMax: {"epsilon": 0.5},
    events.RandomizedResponse: {"epsilon": 0.5, "categories": 3},
    events.SparseVector: {"epsilon": 0.5, "cutoff": 3},
    events.KeySelection: KEYS,
    events.GeometricThreshold: KEYS,
    events.GaussianThreshold: KEYS,
    events.ConcentratedThreshold: {"rho": 0.5, "delta": 0.25, "groups": 3, "swaps": 2},
    events.PoissonSampled: {"event": LAPLACE, "rate": 0.25},
    events.FixedSizeSampled: {"event": LAPLACE, "size": 2, "of": 8},
    events.Repeated: {"event": LAPLACE, "times": 3},
    events.Shuffled: {"event": events.Pure(epsilon=1), "people": 10},
    events.TruncatedNegativeBinomial: {"eta": 0.5, "gamma": 0.25},
    events.PoissonRuns: {"mean": 2.5},
    LAPLACE.subsample: {"rate": 0.25},
    LAPLACE.__mul__: {"times": 3},
    LAPLACE.epsilon: {"delta": 0.25},
    LAPLACE.delta: {"epsilon": 0.25},
}
BUDGETS: dict[Any, dict[str, Any]] = {
    accounting.Copies: {"loss": 0.5, "slack": 0.25, "times": 3},
    accounting.AcrossParts: {"names": ("a", "b", "c"), "at_most": 2},
    accounting.ConvertedOdometer: {"delta": 0.25, "first": 0.5},
    accounting.ZCDPOdometer.converted: {"delta": 0.25, "first": 0.5},
    accounting.RenyiOdometer: {"alpha": 4},
    accounting.RenyiFilter.converted: {"limit": dp.ApproxDP(epsilon=2, delta=0.25), "alpha": 4},
    accounting.SplitRenyiFilter: {"limit": dp.ApproxDP(epsilon=2, delta=0.25), "orders": (4, 8)},
}
ROBUST: dict[Any, dict[str, Any]] = {
    robust.BlockConsensus: {**PAIR, "function": max, "blocks": 5},
    robust.EdgeCount: {"max_degree": 3, "epsilon": 1},
    robust.NoisyTest: {"epsilon": 1, "threshold": 3, "sensitivity": 2},
    robust.ProposedMedian: {**PAIR, "bound": 2, "bounds": (0, 8)},
    robust.ProposeTestRelease: {**PAIR, **STABLE, "bound": 2, "bounds": (0, 8)},
    robust.SampledConsensus: {**PAIR, "function": max, "size": 4, "most_runs": 10**6},
    robust.Scale: {**PAIR, "bounds": (0, 8), "base": 2},
    robust.SmoothLaplace: {"delta": 0.25},
    robust.SmoothMedian: {"bounds": (0, 8), "epsilon": 1, "noise": robust.SmoothCauchy()},
    robust.StableMode: PAIR,
    robust.StableValue: {**PAIR, **STABLE},
    robust.Stars: {"leaves": 3},
    robust.SubgraphCount: {"pattern": robust.Triangles(), "max_degree": 3, "epsilon": 1},
    robust.SubsampleAggregate: {
        "function": max,
        "blocks": 5,
        "bounds": (0, 8),
        "aggregator": robust.Mean(),
        "epsilon": 1,
    },
    robust.SubsampleVote: {
        "function": max,
        "options": ("a", "b"),
        "blocks": 5,
        "epsilon": 1,
        "popularity_epsilon": 0.5,
    },
    robust.Trimmed: {"alpha": 0.25},
    robust.Winsorized: {"alpha": 0.25},
    robust.base_for: {"rows": 10},
}
CHOICES: dict[Any, dict[str, Any]] = {
    quantiles.Quantile: {**RANKS, "q": 0.25},
    quantiles.Maximum: RANKS,
    quantiles.Minimum: RANKS,
    quantiles.IndependentQuantiles: {**RANKS, "levels": (0.25, 0.75)},
    quantiles.RecursiveQuantiles: {**RANKS, "levels": (0.25, 0.75), "places": 4},
    quantiles.JointQuantiles: {**RANKS, "levels": (0.25, 0.75)},
    quantiles.QuantileTree: {**RANKS, "levels": (0.25, 0.75), "fan_out": 4},
    quantiles.extreme_rank: {"epsilon": 1, "rank_sensitivity": 2, "candidates": 5},
    key_selection.ConcentratedThreshold: {"rho": 0.5, "delta": 0.25, "groups": 3, "min_people": 2},
    key_selection.GaussianThreshold: {**KEYS, "min_people": 2},
    key_selection.GeometricThreshold: {**KEYS, "min_people": 2},
    key_selection.OptimalSelection: {**KEYS, "min_people": 2},
    record_count.PublicCount: {"records": 10},
}
FACTORIES: dict[Any, dict[str, Any]] = {
    basic.DiscreteGaussian.calibrated: {**PAIR, "sensitivity": 2},
    basic.Sparse.pure: {"epsilon": 1, "cutoff": 3, "threshold": 10, "sensitivity": 2},
    basic.Sparse.approximate: {**PAIR, "cutoff": 3, "threshold": 10, "sensitivity": 2},
    robust.NoisyTest.with_false_pass: {"epsilon": 1, "chance": 0.25, "limit": 1, "sensitivity": 2},
}
EVERY: dict[Any, dict[str, Any]] = {
    **GUARANTEES,
    **UNITS,
    **COLUMNS,
    **EVENTS,
    **BUDGETS,
    **MECHANISMS,
    **ROBUST,
    **CHOICES,
    **FACTORIES,
}


@dataclass(frozen=True)
class Place:
    """One number in the arguments of one constructor, by its name and its place in a tuple."""

    make: Any
    name: str
    at: int | None = None

    @property
    def usual(self) -> Any:
        value = EVERY[self.make][self.name]
        return value if self.at is None else value[self.at]

    def made(self, value: Any) -> Any:
        """What the constructor makes of the usual arguments with ``value`` at this place."""
        arguments = dict(EVERY[self.make])
        if self.at is not None:
            old = arguments[self.name]
            value = (*old[: self.at], value, *old[self.at + 1 :])
        arguments[self.name] = value
        if getattr(self.make, "__name__", "") == "__mul__":
            return self.make(*arguments.values())
        return self.make(**arguments)

    def __str__(self) -> str:
        name = getattr(self.make, "__qualname__", str(self.make))
        module = getattr(self.make, "__module__", "").rsplit(".", 1)[-1]
        return f"{module}.{name}-{self.name}{'' if self.at is None else self.at}"


def places() -> Iterator[Place]:
    for make, arguments in EVERY.items():
        for name, value in arguments.items():
            if isinstance(value, tuple):
                numbers = [i for i, item in enumerate(value) if _number(item)]
                yield from (Place(make, name, i) for i in numbers)
            elif _number(value):
                yield Place(make, name)


def _number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction)


def numbers_inside(value: Any) -> Iterator[Any]:
    """Everything in the fields of a value, and in theirs, that is a number of some library."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from numbers_inside(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for item in fields(value):
            yield from numbers_inside(getattr(value, item.name))
    elif hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        yield value
