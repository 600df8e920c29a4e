"""Statistical queries, a learner over finite classes, and a holdout that may be used again.

A statistical query asks for the mean of a function of a row with values within [0, 1]. Answers to
queries that depend on earlier answers hold for the population too, because they are private.

Source: 000b:B31, B32, B49. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import Bools, Floats
from discreet.core.errors import Exhausted, InvalidData
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE
from discreet.learn.cells import as_numbers, one_by_one
from discreet.learn.exact_sums import sums
from discreet.learn.optimisers.selections import epsilon_of_each
from discreet.learn.privacy import Privacy
from discreet.mechanisms.exponential import Exponential

_COUNT = Fraction(1, 20)


@dataclass
class StatisticalQueries:
    """Answers at most ``queries`` statistical queries over rows, each chosen after the last.

    Assumptions: ``queries``, spend and unit are chosen without the data. A query maps an array of
    rows to one number within [0, 1] for each row, a function of that row alone; numbers beyond are
    clamped, and what is no number counts as one half.

    Guarantee: all answers together cost ``event``, which the spend covers; the number of rows is
    bought with a twentieth of it. As a holdout: what is found on other rows may be checked here
    again and again, at most ``queries`` times.

    Source: 000b:B32, B49. Proof: ``proofs/optimisers.md``.
    """

    rows: Any
    queries: int
    privacy: Privacy
    people: Any = None
    asked: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Buy the number of rows."""
        count("queries", self.queries)
        _ = self.noise
        self._kept = self.privacy.choose_rows_to_keep(len(self.rows), self.people)
        total = np.array([int(self._kept.sum()) << BITS], dtype=object)
        noisy = float(self.noise.release(0, total, bits=BITS)[0])
        self.number = max(noisy, 1.0)

    @cached_property
    def noise(self) -> BoundedNoise:
        """A group for the number of rows, and one for each query."""
        share = (1 - _COUNT) / self.queries
        each = (SumGroup(1, share),) * self.queries
        return BoundedNoise(self.privacy, (SumGroup(1, _COUNT), *each))

    @property
    def event(self) -> Event:
        """What all answers cost, whether they are asked for or not."""
        return self.noise.event

    @property
    def queries_left(self) -> int:
        """Queries that may still be asked."""
        return self.queries - self.asked

    def deviation(self) -> float:
        """The standard deviation of an answer's noise, at the noisy number of rows."""
        return self.noise.deviation(1) / 2 / self.number

    def answer(self, query: Callable[[Any], Any]) -> float:
        """The noisy mean of a query, clamped to [0, 1]."""
        if not self.queries_left:
            raise Exhausted(
                code="queries_spent",
                expectation=f"at most {self.queries} queries",
                remedy="Declare more queries before the first; each costs its share.",
            )
        self.asked += 1
        found = query(self.rows)
        values = as_numbers(found if isinstance(found, np.ndarray) else one_by_one(found))
        if values.shape != (len(self.rows),):
            raise InvalidData(
                code="query_shape",
                expectation="one number for each row",
                received=values.shape,
                remedy="Let the query map an array of rows to an array as long.",
            )
        # Centred at one half, a row adds at most one half either way: twice that is a unit.
        bounded = np.nan_to_num(np.clip(values, 0, 1), nan=0.5)
        steps = np.rint((2 * bounded - 1) * ONE)[:, None]
        total = sums(steps, np.where(self._kept, 0, -1), 1)[0]
        noisy = float(self.noise.release(self.asked, total, bits=BITS)[0])
        return min(max((noisy / self.number + 1) / 2, 0.0), 1.0)


def sufficient_rows(hypotheses: int, *, error: float, failure: float, epsilon: float) -> int:
    """Rows that suffice for the learner over a finite class.

    >>> sufficient_rows(1024, error=0.1, failure=0.05, epsilon=0.5)
    9051
    """
    sample = 8 * math.log(4 * hypotheses / failure) / error**2
    private = 4 * math.log(2 * hypotheses / failure) / (epsilon * error)
    return math.ceil(max(sample, private))


@dataclass(frozen=True, kw_only=True)
class AgnosticLearner:
    """Chooses one of finitely many hypotheses, the likelier the fewer mistakes it makes.

    Assumptions: hypotheses, spend and unit are chosen without the data; a hypothesis
    maps rows to labels, each a function of its row.

    Guarantee: ``fit`` costs ``event``, which the spend covers. With probability 1 - β the mistakes
    are within ``excess(confidence=1 - β)`` of the fewest.

    Source: 000b:B31. Proof: ``proofs/optimisers.md``.
    """

    hypotheses: tuple[Callable[[Any], Any], ...]
    privacy: Privacy

    @cached_property
    def _choice(self) -> Exponential:
        spend: Guarantee = self.privacy.spend
        return Exponential(
            epsilon=epsilon_of_each(spend, 1),
            sensitivity=self.privacy.rows_that_differ,
            randomness=self.privacy.randomness,
        )

    @property
    def event(self) -> Event:
        """What one choice costs."""
        return self._choice.event

    def excess(self, *, confidence: float) -> float:
        """By how many mistakes the chosen hypothesis is at most worse than the best."""
        return self._choice.error(confidence=confidence, candidates=len(self.hypotheses))

    def fit(self, rows: Any, labels: Any, people: Any = None) -> int:
        """The place of the chosen hypothesis."""
        kept = self.privacy.choose_rows_to_keep(len(rows), people)
        labels = _one_each(labels, len(rows))
        mistakes: Floats = np.array(
            [
                int(np.sum(_differ(_one_each(h(rows), len(rows)), labels) & kept))
                for h in self.hypotheses
            ]
        )
        return self._choice.release(-mistakes.astype(np.int64))


def _one_each(labels: Any, rows: int) -> Any:
    """One label for each row, refused by shape alone."""
    array = labels if hasattr(labels, "dtype") else one_by_one(labels)
    array = np.asarray(array)
    if array.shape != (rows,):
        raise InvalidData(
            code="labels_shape",
            expectation="one label for each row, in one dimension",
            received=array.shape,
            remedy="Let labels and hypotheses give arrays as long as the rows, as h(x)[:, 0].",
        )
    return array


def _differ(one: Any, other: Any) -> Bools:
    """Where labels are not the same; labels that cannot be compared are not."""
    if "O" not in one.dtype.kind + other.dtype.kind:
        differ: Bools = one != other
        return differ
    pairs = zip(one.tolist(), other.tolist(), strict=True)
    return np.array([not _same(a, b) for a, b in pairs], dtype=np.bool_)


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # whatever an object does when it is compared
        return False
