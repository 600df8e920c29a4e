"""Database-update algorithms: hypotheses that learn from queries they get wrong.

A hypothesis answers queries by means over the universe. It is updated with a query f on which it
is wrong by more than alpha, and with a value v within alpha of the truth; ``most_updates`` bounds
how often that can happen. The bound, not privacy, rests on these two conditions;
:class:`Watched` checks them where the truth is at hand.

Source: 000a:G2, F4, G6, G7. Errata: 000a:G6 (the error must be *strictly* above alpha, or the
median may delete the net's own member), 000a:G7 (the bound needs a public bound on the data's
squares).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.parameters import count, positive, probability
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.linear_query import LinearQuery, Region
from discreet.queries.workload.workload import Workload


class Hypothesis(ABC):
    """A public stand-in for the data."""

    @abstractmethod
    def answer(self, query: LinearQuery) -> float:
        """The query's mean, as far as is known."""

    @abstractmethod
    def answers(self, workload: Workload) -> Floats:
        """The means of all queries of a workload."""

    @abstractmethod
    def update(self, query: LinearQuery, value: float) -> None:
        """Learn that the mean is near ``value``; in place."""

    @property
    @abstractmethod
    def databases(self) -> Floats:
        """Shares of the cells, a row for each database: means are the upper medians of theirs."""


class Updater(ABC):
    """Makes hypotheses, and knows how often they can be wrong by more than ``error``."""

    error: float

    @property
    @abstractmethod
    def universe_size(self) -> int:
        """How many cells queries must have."""

    @abstractmethod
    def begin(self) -> Hypothesis:
        """The first hypothesis, from public knowledge."""

    @property
    @abstractmethod
    def most_updates(self) -> int:
        """No sequence of updates is longer."""


@dataclass(frozen=True, eq=False)
class MedianUpdater(Updater):
    """The median of a net of databases: at most log2 of their number of updates.

    ``net`` has a row for each database, a distribution over cells. Some row must answer every
    query within ``error`` of the truth.

    Assumptions: the net is public; updates are by released values.

    Guarantee: no more than ``most_updates`` where values are within ``error`` of the truth; privacy
    rests on none of it.

    Source: 000a:G6.
    """

    net: Floats
    error: float

    def __post_init__(self) -> None:
        """Refuse an empty net."""
        probability("error", self.error)
        if self.net.ndim != 2 or 0 in self.net.shape:
            raise InvalidParameter(
                code="net_misshapen",
                expectation="one row of probabilities for each database of the net",
                received=self.net.shape,
                remedy="Build it with small_databases(cells, rows).",
            )

    @property
    def universe_size(self) -> int:
        """The number of columns."""
        return int(self.net.shape[1])

    def begin(self) -> MedianHypothesis:
        return MedianHypothesis(self.net)

    @property
    def most_updates(self) -> int:
        """Each update at least halves the net."""
        return max(1, math.floor(math.log2(len(self.net))))


class MedianHypothesis(Hypothesis):
    """The databases that are still possible."""

    def __init__(self, net: Floats) -> None:
        """Begin with all."""
        self.net = net

    def answer(self, query: LinearQuery) -> float:
        """The upper median of their answers: the answer of one of them."""
        return float(np.sort(self._answers(query))[len(self.net) // 2])

    def answers(self, workload: Workload) -> Floats:
        """The upper medians."""
        return upper_medians(workload, self.net)

    @property
    def databases(self) -> Floats:
        """All that are still possible."""
        return self.net

    def update(self, query: LinearQuery, value: float) -> None:
        """Delete those at least as high as the median if it is too high, else as low."""
        answers = self._answers(query)
        middle = np.sort(answers)[len(answers) // 2]
        kept = self.net[answers < middle] if value < middle else self.net[answers > middle]
        if not len(kept):
            raise InvalidData(
                code="net_exhausted",
                expectation="a net with a member near the data, and updates on wrong answers only",
                remedy="Use a finer net, or a larger error.",
            )
        self.net = kept

    def _answers(self, query: LinearQuery) -> Floats:
        return np.asarray(self.net @ query.dense())


def upper_medians(workload: Workload, databases: Floats) -> Floats:
    """The upper median of what the databases answer, for each query."""
    table = np.sort([shared_answers(workload, row) for row in databases], axis=0)
    return np.asarray(table[len(databases) // 2])


@dataclass(frozen=True)
class PerceptronUpdater(Updater):
    """Steps of alpha n / |X| along the query: good where the universe is full of records.

    ``squares`` is a public bound on the sum of squared counts, such as ``records`` where no cell
    can hold more than one. At most squares |X| / (alpha n)**2 updates.

    Assumptions: ``squares`` is public; updates are by released values.

    Guarantee: no more than ``most_updates`` where values are within ``error`` of the truth; privacy
    rests on none of it.

    Source: 000a:G7.
    """

    cells: int
    error: float
    records: int
    squares: float

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        object.__setattr__(self, "cells", count("cells", self.cells))
        probability("error", self.error)
        object.__setattr__(self, "records", count("records", self.records))
        positive("squares", self.squares)

    @property
    def universe_size(self) -> int:
        """The number of cells."""
        return self.cells

    def begin(self) -> PerceptronHypothesis:
        """Nothing: the zero table."""
        far = self.error * self.records / self.cells
        return PerceptronHypothesis(np.zeros(self.cells), self.records, far)

    @property
    def most_updates(self) -> int:
        """The squared distance at the start over what each update takes from it."""
        return max(1, math.floor(self.squares * self.cells / (self.error * self.records) ** 2))


@dataclass(frozen=True, eq=False)
class PerceptronHypothesis(Hypothesis):
    """Estimated counts, of any sign."""

    counts: Floats
    records: int
    step: float

    def answer(self, query: LinearQuery) -> float:
        return query.answer(self.counts) / self.records

    def answers(self, workload: Workload) -> Floats:
        return shared_answers(workload, self.counts) / self.records

    @property
    def databases(self) -> Floats:
        """The one; its shares may be negative."""
        return self.counts[None, :] / self.records

    def update(self, query: LinearQuery, value: float) -> None:
        """Along the query, up or down."""
        signed = -self.step if value < self.answer(query) else self.step
        if isinstance(query, Region):
            self.counts.reshape(query.shape)[query.box] += signed
        else:
            self.counts[...] += signed * query.dense()


class Watched(Hypothesis):
    """A hypothesis with the truth beside it, for tests and for the owner of the data.

    Contract: refuses an update unless the hypothesis is wrong by strictly more than ``error`` and
    the value is within ``error`` of the truth, and refuses one more than ``most_updates``.

    Assumptions: the truth is at hand: never beside a release.

    Guarantee: none to anybody: it is for tests and for the owner.

    Source: 000a:G2.
    """

    def __init__(self, updater: Updater, data: Floats) -> None:
        """Begin; ``data`` is the true distribution."""
        self.inner = updater.begin()
        self.updates = 0
        self._updater = updater
        self._data = np.asarray(data, dtype=np.float64)

    def answer(self, query: LinearQuery) -> float:
        """That of the hypothesis."""
        return self.inner.answer(query)

    def answers(self, workload: Workload) -> Floats:
        """Those of the hypothesis."""
        return self.inner.answers(workload)

    @property
    def databases(self) -> Floats:
        """Those of the hypothesis."""
        return self.inner.databases

    def update(self, query: LinearQuery, value: float) -> None:
        """Check, then update."""
        truth, error = query.answer(self._data), self._updater.error
        if not abs(truth - self.answer(query)) > error or not abs(value - truth) < error:
            raise InvalidData(
                code="update_unneeded",
                expectation="an update where the answer is wrong by more than the error, with a "
                "value that is not",
                remedy="Update only after a comparison has said so; check the noise.",
            )
        if self.updates == self._updater.most_updates:
            raise InvalidData(
                code="updates_exceeded",
                expectation=f"at most {self._updater.most_updates} updates",
                remedy="The updater breaks its bound; do not use it.",
            )
        self.inner.update(query, value)
        self.updates += 1
