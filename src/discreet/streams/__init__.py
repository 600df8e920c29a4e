"""Counts that never stop: continual observation, windows, alarms, and state that may be seized.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.streams.absorption import BudgetAbsorption, absorption_from_state
    from discreet.streams.alarms import Alarms, alarms_from_state
    from discreet.streams.baselines import NoisePerPrefix, NoisePerTick
    from discreet.streams.contribution import EventContribution
    from discreet.streams.counter import Counter
    from discreet.streams.doubling import DoublingTree
    from discreet.streams.factorisation.buffered import BufferedToeplitzCounter
    from discreet.streams.factorisation.dense import OptimalCounter
    from discreet.streams.factorisation.optimum import ErrorObjective
    from discreet.streams.factorisation.participation import participation_norm
    from discreet.streams.factorisation.toeplitz import ToeplitzCounter
    from discreet.streams.lower_bounds import pure_counter_bound, spectral_bound
    from discreet.streams.pan_private.checkpoints import NO_CHECKPOINT, ONE_CHECKPOINT
    from discreet.streams.pan_private.counter import PanPrivateCounter
    from discreet.streams.pan_private.cropped_counts import (
        CroppedCounts,
        cropped_mean,
        density,
        heavy_hitter_fraction,
        incidence,
    )
    from discreet.streams.planning import StreamPlan, plan
    from discreet.streams.plots import error_by_tick
    from discreet.streams.present_items import PresentItems
    from discreet.streams.resume import from_state
    from discreet.streams.statistics.histogram import Histogram, Quantiles
    from discreet.streams.statistics.statistic import Statistic
    from discreet.streams.statistics.totals import BoundedNumber, RunningAverage, RunningTotal
    from discreet.streams.statistics.vectors import ClippedVectors
    from discreet.streams.tails import laplace_sum_tail
    from discreet.streams.tree import BinaryTree, ReducedTree
    from discreet.streams.units import EventLevel, ItemLevel, UserLevel, UserWindow, WEvent
    from discreet.streams.window import SlidingWindow

__all__ = [
    "NO_CHECKPOINT",
    "ONE_CHECKPOINT",
    "Alarms",
    "BinaryTree",
    "BoundedNumber",
    "BudgetAbsorption",
    "BufferedToeplitzCounter",
    "ClippedVectors",
    "Counter",
    "CroppedCounts",
    "DoublingTree",
    "ErrorObjective",
    "EventContribution",
    "EventLevel",
    "Histogram",
    "ItemLevel",
    "NoisePerPrefix",
    "NoisePerTick",
    "OptimalCounter",
    "PanPrivateCounter",
    "PresentItems",
    "Quantiles",
    "ReducedTree",
    "RunningAverage",
    "RunningTotal",
    "SlidingWindow",
    "Statistic",
    "StreamPlan",
    "ToeplitzCounter",
    "UserLevel",
    "UserWindow",
    "WEvent",
    "absorption_from_state",
    "alarms_from_state",
    "cropped_mean",
    "density",
    "error_by_tick",
    "from_state",
    "heavy_hitter_fraction",
    "incidence",
    "laplace_sum_tail",
    "participation_norm",
    "plan",
    "pure_counter_bound",
    "spectral_bound",
]

_NAMES = {
    "absorption": (
        "BudgetAbsorption",
        "absorption_from_state",
    ),
    "alarms": (
        "Alarms",
        "alarms_from_state",
    ),
    "baselines": (
        "NoisePerPrefix",
        "NoisePerTick",
    ),
    "contribution": ("EventContribution",),
    "counter": ("Counter",),
    "doubling": ("DoublingTree",),
    "factorisation.buffered": ("BufferedToeplitzCounter",),
    "factorisation.dense": ("OptimalCounter",),
    "factorisation.optimum": ("ErrorObjective",),
    "factorisation.participation": ("participation_norm",),
    "factorisation.toeplitz": ("ToeplitzCounter",),
    "lower_bounds": (
        "pure_counter_bound",
        "spectral_bound",
    ),
    "pan_private.checkpoints": (
        "NO_CHECKPOINT",
        "ONE_CHECKPOINT",
    ),
    "pan_private.counter": ("PanPrivateCounter",),
    "pan_private.cropped_counts": (
        "CroppedCounts",
        "cropped_mean",
        "density",
        "heavy_hitter_fraction",
        "incidence",
    ),
    "planning": (
        "StreamPlan",
        "plan",
    ),
    "plots": ("error_by_tick",),
    "resume": ("from_state",),
    "statistics.histogram": (
        "Histogram",
        "Quantiles",
    ),
    "statistics.statistic": ("Statistic",),
    "statistics.totals": (
        "RunningAverage",
        "BoundedNumber",
        "RunningTotal",
    ),
    "statistics.vectors": ("ClippedVectors",),
    "tails": ("laplace_sum_tail",),
    "tree": (
        "BinaryTree",
        "ReducedTree",
    ),
    "present_items": ("PresentItems",),
    "units": (
        "EventLevel",
        "ItemLevel",
        "UserLevel",
        "UserWindow",
        "WEvent",
    ),
    "window": ("SlidingWindow",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
