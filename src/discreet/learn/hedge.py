"""Private multiplicative weights: an expert in every round, chosen by its losses so far.

Each round chooses an expert with probability proportional to exp(-η times its losses so far), which
is the exponential mechanism. A neighbour replaces the whole loss vector of one round. Where
the number of rounds is not known, horizons double and begin anew: a loss vector is in one of them,
so all together cost what one does.

Source: 000b:B33, B34. Errata: printed ln k belongs outside the root; for losses that span two,
as in the linear learner, the cost doubles, so losses are rescaled here. Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidData
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count
from discreet.learn.cells import as_numbers, is_array, one_by_one, rows_of_numbers
from discreet.learn.optimisers.selections import epsilon_of_each
from discreet.mechanisms.exponential import Exponential
from discreet.noise import SYSTEM, Source

_STEPS = 2.0**30


def printed_rate(rounds: int, epsilon: float, delta: float) -> float:
    """The learning rate of the printed theorem: ε / sqrt(32 T ln(1/δ)).

    >>> round(printed_rate(10_000, 1, 1e-6), 7)
    0.0004756
    """
    return epsilon / math.sqrt(32 * rounds * math.log(1 / delta))


@dataclass(frozen=True, kw_only=True)
class Hedge:
    """``rounds`` choices among ``experts``, each before the round's losses are known.

    Assumptions: numbers of rounds and experts, and the spend, are chosen without the data.
    Neighbours differ in the whole loss vector of one round, which is replaced.

    Guarantee: all choices together cost ``event``, which the spend covers. Expected regret for
    each round is at most η + ln k / (η T) with η = ``rate``.

    Source: 000b:B33. Proof: ``proofs/optimisers.md``.

    Numerics: losses are rounded to 2**-30.
    """

    experts: int
    rounds: int
    spend: Guarantee
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        count("experts", self.experts, least=2)
        count("rounds", self.rounds)
        _ = self._choice

    @cached_property
    def _choice(self) -> Exponential:
        return Exponential(
            epsilon=epsilon_of_each(self.spend, self.rounds),
            sensitivity=int(_STEPS),
            randomness=self.randomness,
        )

    @property
    def rate(self) -> float:
        """η: half the epsilon of a round."""
        return float(self._choice.epsilon) / 2

    @property
    def event(self) -> Event:
        """What all rounds cost."""
        return self._choice.event * self.rounds

    @property
    def regret(self) -> float:
        """The bound on the expected regret of a round."""
        return self.rate + math.log(self.experts) / (self.rate * self.rounds)

    def choose(self, losses: Iterable[Floats]) -> Iterator[int]:
        """An expert for each round; a round's losses are read after its expert was given."""
        so_far = np.zeros(self.experts, dtype=np.int64)
        given = iter(losses)
        for _ in range(self.rounds):
            yield self._choice.release(-so_far)
            try:
                so_far += in_steps(next(given), self.experts)
            except StopIteration:
                return

    @property
    def epsilon_each(self) -> Number:
        """What one round costs."""
        return self._choice.epsilon


def in_steps(losses: Floats, experts: int) -> Ints:
    """Losses within [0, 1] as whole steps; NaN counts as one half."""
    array = as_numbers(np.asarray(losses) if is_array(losses) else one_by_one(losses))
    if array.shape != (experts,):
        raise InvalidData(
            code="losses_shape",
            expectation="one loss for each expert",
            received=array.shape,
            remedy="Pass a list of losses, one for each expert.",
        )
    bounded = np.nan_to_num(np.clip(array, 0, 1), nan=0.5)
    return np.rint(bounded * _STEPS).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class DoublingHedge:
    """Hedge for an unknown number of rounds: horizons of ``first``, twice that, and so on.

    Assumptions: as for :class:`Hedge`. Guarantee: each loss vector is seen in one horizon
    only; so all of them, however many, keep ``guarantee``: each costs no more than the spend.

    Source: 000b:B33 (footnote on unknown horizons). Proof: ``proofs/optimisers.md``.
    """

    experts: int
    spend: Guarantee
    first: int = 64
    randomness: Source = SYSTEM

    def horizon(self, place: int) -> Hedge:
        """The choices of one horizon."""
        rounds = self.first << place
        given = {"spend": self.spend, "randomness": self.randomness}
        return Hedge(experts=self.experts, rounds=rounds, **given)  # type: ignore[arg-type]

    @property
    def guarantee(self) -> Guarantee:
        """What all horizons together keep: each loss vector is in one."""
        return self.spend

    def choose(self, losses: Iterable[Floats]) -> Iterator[int]:
        """An expert for each round, for as long as there are losses."""
        given = iter(losses)
        place = 0
        while True:
            hedge = self.horizon(place)
            so_far = 0
            for chosen in hedge.choose(given):
                yield chosen
                so_far += 1
            if so_far < hedge.rounds:
                return
            place += 1


@dataclass(frozen=True, kw_only=True)
class LinearLearner:
    """A point of the simplex with small inner products with rows within [-1, 1].

    Assumptions: spend and dimension are chosen without the data; the number of rows is public,
    and neighbours replace one row. Guarantee: ``fit`` costs ``event``, which the spend covers.

    Source: 000b:B34. Proof: ``proofs/optimisers.md``.
    """

    dimension: int
    rows: int
    spend: Guarantee
    randomness: Source = SYSTEM

    @cached_property
    def hedge(self) -> Hedge:
        """The choices, one for each row."""
        return Hedge(
            experts=self.dimension,
            rounds=self.rows,
            spend=self.spend,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What a fit costs."""
        return self.hedge.event

    def fit(self, x: Floats) -> Floats:
        """The shares of the chosen coordinates, in one pass."""
        array = rows_of_numbers(x, self.dimension)
        if array.shape != (self.rows, self.dimension):
            raise InvalidData(
                code="rows_shape",
                expectation=f"{self.rows} rows of {self.dimension} numbers, as declared",
                remedy="Declare the public shape of the data.",
            )
        losses = ((1 + np.clip(row, -1, 1)) / 2 for row in array)
        chosen = list(self.hedge.choose(losses))
        shares: Floats = np.bincount(chosen, minlength=self.dimension) / len(chosen)
        return shares
