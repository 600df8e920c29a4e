"""Aggregates that are one of a public list of candidates, chosen by its rank.

They have no interval in the values; what is stated is how far off the rank may be.

Source: modern-data:Q2. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.mechanisms import quantiles
from discreet.mechanisms.quantiles.plan import (
    Way,
    concentrated_way,
    make_quantile_mechanism,
    pure_way,
    read_levels,
    rounds_of,
)
from discreet.relational.aggregates.aggregate import (
    Aggregate,
    NoisyValues,
    PlannedNoise,
    RankSelection,
)
from discreet.relational.aggregates.measures import Measure, Ranks
from discreet.release import ReleasedColumn
from discreet.release.preview import Expected


@dataclass(frozen=True)
class ChosenByRank(Aggregate):
    """The candidate at level ``q`` of the ranks."""

    ranks: Ranks
    q: float

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The histogram of ranks."""
        return (self.ranks,)

    @property
    def weights(self) -> tuple[float, ...]:
        """One."""
        return (1.0,)

    @property
    def together(self) -> Hashable:
        """What is equal for aggregates that one mechanism chooses together; itself if alone."""
        return self

    @property
    def level(self) -> Fraction:
        """The level, as it was written."""
        return Fraction(str(self.q))

    @abstractmethod
    def mechanism(self, **common: Any) -> RankSelection:
        """What chooses it alone."""

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The chosen candidates; how far off their ranks may be."""
        note = rank_note(noisy.selection_of(self), confidence)
        return ReleasedColumn.from_given_values(name, noisy.chosen(self), interval=None, note=note)

    def expected(self, name: str, planned: PlannedNoise, confidence: float) -> Expected:
        """What will be stated of the rank."""
        return Expected(name, None, (), rank_note(planned.selection_of(self), confidence))


def selection(
    group: Sequence[ChosenByRank], *, by: quantiles.RankChoice, **common: Any
) -> RankSelection:
    """The mechanism that chooses what is chosen together."""
    candidates = group[0].ranks.candidates
    if len(group) == 1:
        return group[0].mechanism(candidates=candidates, by=by, **common)
    levels = _levels(group)
    return make_quantile_mechanism(
        _way(levels, len(candidates), by), levels=levels, candidates=candidates, by=by, **common
    )


def rounds(group: Sequence[ChosenByRank], by: quantiles.RankChoice) -> int:
    """Into how many parts several levels of one column divide their epsilon."""
    if len(group) == 1:
        return 1
    levels = _levels(group)
    return rounds_of(_way(levels, len(group[0].ranks.candidates), by), levels)


def _way(levels: tuple[Fraction, ...], candidates: int, by: quantiles.RankChoice) -> Way:
    """The kind of mechanism of the least expected error, from public quantities alone.

    Values chosen in different ways err differently. The way is part of the event that is paid for,
    and with that of what makes two queries the same.
    """
    find = concentrated_way if by == quantiles.EXPONENTIAL else pure_way
    return find(levels, candidates)


def chosen_together(aggregates: Sequence[Aggregate]) -> tuple[tuple[ChosenByRank, ...], ...]:
    """The aggregates chosen by rank; several levels of one column are chosen together."""
    together: dict[object, list[ChosenByRank]] = {}
    for aggregate in aggregates:
        if isinstance(aggregate, ChosenByRank):
            together.setdefault(aggregate.together, []).append(aggregate)
    return tuple(tuple(sorted(group, key=lambda a: a.q)) for group in together.values())


def _levels(group: Sequence[ChosenByRank]) -> tuple[Fraction, ...]:
    return read_levels(each.level for each in group)


@lru_cache(maxsize=16)
def rank_note(chooser: RankSelection, confidence: float) -> str:
    """What is stated of a quantile instead of an interval: how far off its rank may be."""
    if isinstance(chooser, quantiles.Several):
        off, limit = chooser.rank_error(confidence=confidence, tied=1), ", where no rows are tied"
        if isinstance(chooser, quantiles.QuantileTree):
            limit = ""
    else:
        off, limit = chooser.rank_error(confidence=confidence), ""
    return (
        f"chosen among {len(chooser.candidates)} public candidates; with {confidence:.0%} "
        f"confidence its rank is within {off:g} rows of the one asked for{limit}"
    )
