"""Which events an audit tests: given ones, or ones learned from the first part of a sample.

Source: likelihood-ratio events are the best by the Neyman-Pearson lemma; learning them on
one part and testing on another keeps the confidence honest (004d:A8).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.core.arrays import Floats

Draws = Sequence[Hashable]
Label = Callable[[Any], Hashable]


@dataclass(frozen=True)
class OutcomeEvent:
    """A named set of outcomes."""

    name: str
    holds: Callable[[Any], bool]

    def count(self, draws: Draws) -> int:
        """How many of the draws lie in the set."""
        return sum(1 for draw in draws if self.holds(draw))


class EventSearch(Protocol):
    """Chooses events after seeing a share of the releases."""

    @property
    def share(self) -> float:
        """The part of the trials used for choosing, in [0, 1)."""

    def choose(self, first: Draws, second: Draws, *, delta: float) -> tuple[OutcomeEvent, ...]:
        """The events to test, from releases on the two inputs."""


@dataclass(frozen=True)
class GivenEvents:
    """Events fixed by hand; the whole sample tests them."""

    events: Mapping[str, Callable[[Any], bool]]
    share: float = 0.0

    def choose(self, first: Draws, second: Draws, *, delta: float) -> tuple[OutcomeEvent, ...]:
        """The given events, whatever was drawn."""
        del first, second, delta
        return tuple(OutcomeEvent(name, holds) for name, holds in self.events.items())


@dataclass(frozen=True)
class LearnedEvents:
    """For each direction the best single label and the best set of likeliest labels.

    Contract: ``label`` sorts outcomes into not too many classes; outcomes themselves if they
    are few (``label=outcome``), or bins of a number (``label=bins(edges)``).
    """

    label: Label
    share: float = 0.5

    def choose(self, first: Draws, second: Draws, *, delta: float) -> tuple[OutcomeEvent, ...]:
        """At most four events, those with the best pessimistic estimate of epsilon."""
        here, there = Counter(map(self.label, first)), Counter(map(self.label, second))
        found = dict.fromkeys([*_best(here, there, delta), *_best(there, here, delta)])
        return tuple(self._event(labels) for labels in found)

    def _event(self, labels: frozenset[Hashable]) -> OutcomeEvent:
        label, names = self.label, sorted(map(repr, labels))
        shown = names if len(names) <= 8 else [*names[:8], f"… {len(names)} in all"]
        return OutcomeEvent("{" + ", ".join(shown) + "}", lambda draw: label(draw) in labels)


def outcome(draw: Hashable) -> Hashable:
    """The label of an outcome that is its own class; all NaN are one outcome."""
    return "NaN" if draw != draw else draw  # noqa: PLR0124 - only NaN differs from itself


def bins(edges: Sequence[float]) -> Label:
    """Label a number by the interval between edges in which it lies, NaN apart.

    >>> [bins([0, 1])(number) for number in (-5.0, 0.5, 7.0)]
    [0, 1, 2]
    """
    cuts = sorted(edges)
    return lambda draw: "NaN" if math.isnan(draw) else bisect_left(cuts, draw)


def _best(
    likely: Counter[Hashable], unlikely: Counter[Hashable], delta: float
) -> list[frozenset[Hashable]]:
    """The best single label, and the best prefix of labels by decreasing likelihood ratio."""
    labels = list({**likely, **unlikely})
    if not labels:
        return []
    hits = np.array([likely[label] for label in labels], dtype=np.float64)
    others = np.array([unlikely[label] for label in labels], dtype=np.float64)
    order = np.argsort(-(hits + 1) / (others + 1), kind="stable")
    total = float(hits.sum())
    single = int(np.argmax(_estimates(hits, others, total, delta)))
    sums = _estimates(np.cumsum(hits[order]), np.cumsum(others[order]), total, delta)
    prefix = order[: int(np.argmax(sums)) + 1]
    return [frozenset([labels[single]]), frozenset(labels[i] for i in prefix)]


def _estimates(hits: Floats, others: Floats, total: float, delta: float) -> Floats:
    """A cautious epsilon per event: three standard deviations off, on both sides."""
    likely = hits - 3 * np.sqrt(hits + 1) - delta * total
    unlikely = others + 3 * np.sqrt(others + 1) + 3
    estimates: Floats = np.log(np.maximum(likely, 1e-9)) - np.log(unlikely)
    return estimates
