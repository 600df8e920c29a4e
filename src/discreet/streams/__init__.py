"""Counts that never stop: continual observation, windows, alarms, and state that may be seized.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.streams.baselines import NoisePerPrefix, NoisePerTick
    from discreet.streams.contribution import Contribution
    from discreet.streams.counter import Counter
    from discreet.streams.doubling import DoublingTree
    from discreet.streams.factorisation.dense import OptimalCounter
    from discreet.streams.factorisation.optimum import Objective
    from discreet.streams.factorisation.toeplitz import ToeplitzCounter
    from discreet.streams.resume import from_state
    from discreet.streams.tree import BinaryTree, ReducedTree
    from discreet.streams.units import EventLevel, UserLevel, UserWindow, WEvent

__all__ = [
    "BinaryTree",
    "Contribution",
    "Counter",
    "DoublingTree",
    "EventLevel",
    "NoisePerPrefix",
    "NoisePerTick",
    "Objective",
    "OptimalCounter",
    "ReducedTree",
    "ToeplitzCounter",
    "UserLevel",
    "UserWindow",
    "WEvent",
    "from_state",
]

_NAMES = {
    "baselines": (
        "NoisePerPrefix",
        "NoisePerTick",
    ),
    "contribution": ("Contribution",),
    "counter": ("Counter",),
    "doubling": ("DoublingTree",),
    "factorisation.dense": ("OptimalCounter",),
    "factorisation.optimum": ("Objective",),
    "factorisation.toeplitz": ("ToeplitzCounter",),
    "resume": ("from_state",),
    "tree": (
        "BinaryTree",
        "ReducedTree",
    ),
    "units": (
        "EventLevel",
        "UserLevel",
        "UserWindow",
        "WEvent",
    ),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
