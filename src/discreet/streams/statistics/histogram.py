"""Histograms, quantiles and heavy hitters of all events so far.

A histogram counts each event under one of the declared keys. Quantiles count it in a tree over
public cut points: of each level only the left nodes are needed, since a rank is a sum of those.

Source: modern-data:Q3; 000b:B38 (heavy hitters).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability
from discreet.streams.contribution import EventContribution
from discreet.streams.statistics.statistic import real_values


@dataclass(frozen=True)
class Histogram:
    """Counts of events by declared keys. Events under other keys are left out.

    >>> Histogram(("a", "b")).increments(["a", "c", "a"]).tolist()
    [2, 0]
    """

    names: tuple[Hashable, ...]

    def __init__(self, names: Sequence[Hashable]) -> None:
        """Names are public, and all different."""
        if not len(names) or len(set(names)) != len(names):
            raise InvalidParameter(
                code="keys_not_declared",
                expectation="at least one key, and none twice",
                received=len(names),
                remedy="Declare every key that is to be counted.",
            )
        object.__setattr__(self, "names", tuple(names))

    @property
    def keys(self) -> int:
        """As many as were declared."""
        return len(self.names)

    @property
    def contribution(self) -> EventContribution:
        """Each event counts under one key."""
        return EventContribution.of()

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {name: place for place, name in enumerate(self.names)}

    def increments(self, values: Any) -> NDArray[np.int64]:
        """Exact counts of one tick."""
        places = [self._places[each] for each in values if each in self._places]
        return np.bincount(np.array(places, dtype=np.int64), minlength=self.keys)

    def answer(self, estimates: NDArray[Any]) -> dict[Hashable, float]:
        """Estimates by key; some may be below zero."""
        return dict(zip(self.names, estimates.tolist(), strict=True))

    def heavy_hitters(
        self, estimates: NDArray[Any], *, above: float, error: float
    ) -> dict[Hashable, float]:
        """Keys whose true count is above a public number, as far as ``error`` lets one say.

        With ``error`` of a counter at confidence 1 - beta/keys, no key below ``above`` is named,
        but with probability beta; and every key above ``above + 2 error`` is.
        """
        found = sorted(self.answer(estimates).items(), key=lambda pair: -pair[1])
        return {name: value for name, value in found if value - error > above}


@dataclass(frozen=True)
class Quantiles:
    """Ranks and quantiles of a number among public cut points.

    ``cuts`` are in order; a value counts in the first interval whose upper cut it does not exceed,
    and beyond the last cut in the last. As many as a power of two are best.
    """

    cuts: tuple[float, ...]

    def __init__(self, cuts: Sequence[float]) -> None:
        """Cut points are public, and rise."""
        found = tuple(float(cut) for cut in cuts)
        if len(found) < 2 or any(a >= b for a, b in pairwise(found)):
            raise InvalidParameter(
                code="cuts_do_not_rise",
                expectation="at least two cut points in rising order",
                received=len(found),
                remedy="Write Quantiles([0, 10, 20, 50, 100]).",
            )
        object.__setattr__(self, "cuts", found)

    @property
    def levels(self) -> int:
        """Levels of the tree over the cuts."""
        return (len(self.cuts) - 1).bit_length()

    @property
    def keys(self) -> int:
        """The left node that begins at each place of the tree, and the number of events."""
        return 1 << self.levels

    @property
    def contribution(self) -> EventContribution:
        """A left node of each level at most, and the number of events."""
        return EventContribution.of(keys=self.levels + 1)

    def increments(self, values: Any) -> NDArray[np.int64]:
        """Exact counts of one tick: key 0 is all events, key k the node that ends at place k."""
        bins = np.searchsorted(self.cuts, real_values(values), side="left")
        bins = np.minimum(bins, len(self.cuts) - 1)
        upto = np.concatenate(([0], np.cumsum(np.bincount(bins, minlength=self.keys))))
        found = np.empty(self.keys, dtype=np.int64)
        found[0] = upto[-1]
        places = np.arange(1, self.keys)
        found[1:] = upto[places] - upto[places & (places - 1)]
        return found

    def ranks(self, estimates: NDArray[Any]) -> Floats:
        """How many events are at or below each cut, made to rise; the last is their number."""
        upto = np.zeros(self.keys + 1)
        upto[1 : self.keys] = estimates[1:]
        upto[self.keys] = estimates[0]
        for level in reversed(range(self.levels)):
            upto[1 << level : self.keys : 2 << level] += upto[: self.keys : 2 << level]
        ranks = upto[1 : len(self.cuts) + 1]
        ranks[-1] = upto[-1]
        rising: Floats = np.maximum.accumulate(np.maximum(ranks, 0.0))
        return (rising + np.minimum.accumulate(np.append(ranks, np.inf)[::-1])[::-1][:-1]) / 2

    def answer(self, estimates: NDArray[Any]) -> Floats:
        """The ranks of all cuts."""
        return self.ranks(estimates)

    def quantile(self, estimates: NDArray[Any], q: float) -> float:
        """The first cut that a part ``q`` of the events does not exceed."""
        level, ranks = float(probability("q", q)), self.ranks(estimates)
        place = int(np.searchsorted(np.maximum.accumulate(ranks), level * ranks[-1]))
        return self.cuts[min(place, len(self.cuts) - 1)]
