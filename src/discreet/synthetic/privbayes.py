"""PrivBayes: a Bayesian network chosen attribute by attribute, then measured with noise.

Source: 004b:A13 (Zhang and others, PrivBayes, 2017). Proof: ``proofs/privbayes.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, positive, probability
from discreet.mechanisms import Exponential
from discreet.mechanisms.for_spend import (
    WholeNoise,
    additive_readings,
    deviation,
    epsilon_for,
    least_error,
    noise_for,
    share_of,
)
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import MOST, PublicCount, RecordCount, bought_count, require_size
from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.universe import LARGEST
from discreet.queries.workload.workload import Workload
from discreet.synthetic.bayesian_network import BayesianNetwork
from discreet.synthetic.conditional import Conditional
from discreet.synthetic.conditional_network import ConditionalNetwork
from discreet.synthetic.drawable import require_drawable
from discreet.synthetic.mutual_information import (
    added,
    exchanged,
    exchanged_binary,
    in_steps,
    score,
)
from discreet.synthetic.table_fit import FitsTables

if TYPE_CHECKING:
    from discreet.synthetic.synthetic_release import SyntheticRelease

Choice = tuple[int, tuple[int, ...]]
"""An attribute and its parents, by their places."""
_PAIR = 2
_CANDIDATES = 20_000
_REACH = 2
"""The public end of scores, beside the noisy number of records."""


@dataclass(frozen=True)
class PrivBayes(FitsTables):
    """Chooses each attribute's parents by mutual information, then measures what it needs.

    Fewer parents are tried where there would be more than 20 000 ways to choose them. The first
    attribute of the universe is the root. Each step chooses, by the exponential
    mechanism, one more attribute and at most ``degree`` parents among those before it; then a
    table of each attribute with its parents is measured, and laws given the parents follow.
    Tables whose cells would hold fewer than ``useful`` times their noise on average are no
    candidates. ``selection`` is the part of the spend that chooses. The workload says over which
    universe; its queries do not matter.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe, of fewer than 2**32 records. All parameters are public.

    Guarantee: the composition of all choices and measurements, and of the number of records where
    it is bought, at the spend.

    Source: 004b:A13. Proof: ``proofs/privbayes.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    degree: int = 3
    selection: Number = Fraction(3, 10)
    useful: Number = 4
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        for name in ("degree", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        probability("selection", self.selection)
        positive("useful", self.useful)
        pairs = sorted(self.workload.universe.shape)[-2:]
        if math.prod(pairs) > LARGEST:
            raise InvalidParameter(
                code="universe_too_large",
                expectation=f"at most {LARGEST} cells in a table of two attributes",
                received=math.prod(pairs),
                remedy="Use coarser bins, or leave out an attribute.",
            )
        choosing = self.selector(1) if self._choices else None
        require_drawable(self.noise, self._counting, choosing)
        _ = self.event

    @property
    def _starting_places(self) -> tuple[int, ...]:
        """The attributes that others may depend on from the beginning."""
        return (0,)

    @property
    def _tables(self) -> int:
        """Tables that are measured: one for each attribute but the root, which is in the first."""
        return max(len(self.workload.universe.shape) - len(self._starting_places), 1)

    @property
    def _choices(self) -> int:
        """Steps that choose: none where there is one way to go on."""
        return self._tables if len(self.workload.universe.shape) > _PAIR else 0

    @property
    def _most_parents(self) -> int:
        """The degree, as far as all ways to choose parents can be looked at."""
        attributes = len(self.workload.universe.shape)
        fit = [
            size
            for size in range(1, self.degree + 1)
            if attributes * math.comb(attributes - 1, size) <= _CANDIDATES
        ]
        return max(fit, default=1)

    @property
    def _choosing(self) -> Fraction:
        return exact(self.selection) if self._choices else Fraction(0)

    @property
    def budget_split(self) -> dict[str, Fraction]:
        """What the spend pays for; the number of records is one of the measurements."""
        return {"selection": self._choosing, "marginals": 1 - self._choosing}

    @cached_property
    def _additive_spend(self) -> PureDP | ZCDP:
        """The spend as it adds up: in the definition that measures with less noise."""
        given = additive_readings(self.spend)
        return least_error(given, lambda paid: paid, lambda paid: deviation(self._noise(paid)))

    def _noise(self, paid: PureDP | ZCDP) -> WholeNoise:
        share = (1 - self.size.share) * (1 - self._choosing) / self._tables
        moved = self.size.changed_cells
        return noise_for(
            share_of(paid, share),
            l1=moved * self.records,
            l2=sqrt_above(Fraction(moved * self.records**2)),
            randomness=self.randomness,
        )

    @cached_property
    def noise(self) -> WholeNoise:
        """What measures each table."""
        return self._noise(self._additive_spend)

    @cached_property
    def _counting(self) -> WholeNoise | None:
        return bought_count(self.size, self._additive_spend, self.records, self.randomness)

    @cached_property
    def _epsilon(self) -> Number:
        """What one choice costs."""
        share = (1 - self.size.share) * self._choosing / self._choices
        return epsilon_for(
            share_of(self._additive_spend, share),
            lambda e: Exponential(epsilon=e, sensitivity=1).event,
        )

    def selector(self, moved: int) -> Exponential:
        """What chooses where scores move by at most so many steps."""
        return Exponential(epsilon=self._epsilon, sensitivity=moved, randomness=self.randomness)

    @property
    def event(self) -> Event:
        """What one release costs."""
        parts = [self.noise.event * self._tables]
        if self._choices:
            parts.insert(0, self.selector(1).event * self._choices)
        if self._counting:
            parts.insert(0, self._counting.event)
        return compose(tuple(parts)) if len(parts) > 1 else parts[0]

    def release(self, counts: Counted) -> BayesianNetwork:
        """Choose the network and measure its tables."""
        run = _Run(self, counts)
        order: list[Choice] = run.chosen() or [(0, ())]
        found = run.measured(order)
        if order[0][1]:
            # The table of the second attribute holds the root as well.
            law, (_, parents) = run.laws[0], order[0]
            found.insert(0, Conditional(parents[0], (), _law(law.sum(axis=1))))
        return BayesianNetwork(self.workload.universe, run.total, tuple(found), self.event)


@dataclass(frozen=True)
class ConditionalPrivBayes(PrivBayes):
    """The same for attributes that depend on others which are ``given``, and on each other.

    Nothing is learnt of the law of the given attributes: rows are made for given values.

    Assumptions: as for :class:`PrivBayes`.

    Guarantee: as for :class:`PrivBayes`.

    Source: 004b:A13. Proof: ``proofs/privbayes.md``.
    """

    given: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse to begin with nothing, or with everything, as well."""
        object.__setattr__(self, "given", tuple(self.given))
        names = self.workload.universe.names
        if not self.given or not set(self.given) < set(names):
            raise InvalidParameter(
                code="given_attributes",
                expectation="some of the attributes as given, and others that depend on them",
                received=self.given,
                remedy=f"Name some of {list(names)}, not all.",
            )
        super().__post_init__()

    @property
    def _starting_places(self) -> tuple[int, ...]:
        return tuple(sorted(map(self.workload.universe.place, self.given)))

    def fit(self, table: Any, *, person: str | None = None) -> SyntheticRelease:
        """Refused: there is no table without values that are given."""
        raise InvalidParameter(
            code="not_a_synthesiser",
            expectation="a mechanism that leaves a model of whole rows",
            received=type(self).__name__,
            remedy="Use PrivBayes, or SeveralTables for rows that depend on their owner.",
        )

    def release(self, counts: Counted) -> ConditionalNetwork:  # type: ignore[override]
        """Choose what depends on what, and measure the tables."""
        run = _Run(self, counts)
        found = tuple(run.measured(run.chosen()))
        return ConditionalNetwork(self.workload.universe, self._starting_places, found, self.event)


class _Run:
    """One release: counts are read here and nowhere else."""

    def __init__(self, plan: PrivBayes, counts: Counted) -> None:
        self._plan, self._counts = plan, counts
        self._universe = plan.workload.universe
        self._known: dict[tuple[int, ...], NDArray[np.int64]] = {}
        self.total = self._number()
        self.laws: list[Floats] = []
        spread = float(plan.useful) * deviation(plan.noise)
        self._most = min(max(self.total / spread, 1.0), float(LARGEST))

    def _number(self) -> float:
        """The number of records: public, or bought."""
        plan = self._plan
        if isinstance(plan.size, PublicCount):
            return float(plan.size.records)
        assert plan._counting is not None
        noisy = int(plan._counting.release(np.array([self._table((0,)).sum()]))[0])
        return float(min(max(noisy, 1), MOST))

    def chosen(self) -> list[Choice]:
        """All other attributes in order, with their parents."""
        inside, found = list(self._plan._starting_places), list[Choice]()
        while len(inside) < len(self._universe.shape):
            candidates = list(self._candidates(inside))
            place, parents = candidates[self._choice(candidates)]
            found.append((place, parents))
            inside.append(place)
        return found

    def measured(self, order: list[Choice]) -> list[Conditional]:
        """The law of each attribute given its parents, from a noisy table."""
        found = []
        for place, parents in order:
            exactly = self._table((*parents, place))
            noisy = self._plan.noise.release(exactly.ravel()).reshape(exactly.shape)
            self.laws.append(np.maximum(noisy.astype(np.float64), 0.0))
            found.append(Conditional(place, parents, _law(self.laws[-1])))
        return found

    def _choice(self, candidates: list[Choice]) -> int:
        plan = self._plan
        if not plan._choices:
            return 0
        reach = None if isinstance(plan.size, PublicCount) else _REACH * int(self.total)
        scores = [score(self._table((place, *parents)), reach) for place, parents in candidates]
        return plan.selector(self._bound_score_sensitivity(candidates, reach)).release(
            np.array(scores)
        )

    def _bound_score_sensitivity(self, candidates: list[Choice], reach: int | None) -> int:
        """How far any score moves, in steps."""
        plan, shape = self._plan, self._universe.shape
        if reach is not None:
            return in_steps(added(reach), plan.records)
        assert isinstance(plan.size, PublicCount)
        two = all(
            min(shape[place], math.prod(shape[p] for p in parents)) <= 2
            for place, parents in candidates
        )
        bound = exchanged_binary if two else exchanged
        return in_steps(bound(plan.size.records), plan.records)

    def _candidates(self, inside: list[int]) -> Iterator[Choice]:
        """Attributes that are left, each with every largest set of parents that is useful.

        The second attribute has the root as its only parent. An attribute for which no parent is
        useful has any one of the smallest, so that there is always something to choose.
        """
        shape, most = self._universe.shape, self._plan._most_parents
        for place in range(len(shape)):
            if place in inside:
                continue
            room = self._most / shape[place]
            fit = [
                frozenset(chosen)
                for size in range(1, min(most, len(inside)) + 1)
                for chosen in combinations(inside, size)
                if math.prod(shape[each] for each in chosen) <= room
            ]
            if not fit:
                least = min(shape[each] for each in inside)
                fit = [frozenset({each}) for each in inside if shape[each] == least]
            for each in fit:
                if not any(each < other for other in fit):
                    yield place, tuple(sorted(each))

    def _table(self, places: tuple[int, ...]) -> NDArray[np.int64]:
        """Exact counts by some attributes, each set of them counted once."""
        key = tuple(sorted(places))
        if key not in self._known:
            names = [self._universe.names[place] for place in key]
            self._known[key] = marginal_counts(self._counts, self._universe, names)
        return np.transpose(self._known[key], [key.index(place) for place in places])


def _law(table: Floats) -> Floats:
    """Along the last axis, what adds up to one; where nothing is known, what holds on average."""
    sums = table.sum(axis=-1, keepdims=True)
    overall = table.reshape(-1, table.shape[-1]).sum(axis=0)
    whole = overall.sum()
    usual = overall / whole if whole > 0 else np.full(len(overall), 1 / len(overall))
    return np.asarray(np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), usual))
