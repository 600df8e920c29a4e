"""Which rows are fitted to and which are scored on: by coins of their own, never by their place.

A split by the place of rows, such as every fifth, moves everybody behind a row that goes. Here each
unit draws its fold by a coin of its own, all its rows with it. So neighbours differ in one
fold, whichever it is, and what reads other folds does not see the difference.

Source: contract, "Units and neighbours" (each unit in at most one part). Proof:
``proofs/selection_by_runs.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Bools, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, probability
from discreet.learn.privacy import Privacy, identifiers
from discreet.noise import bernoulli, uniform_integers

SHARE = Fraction(1, 5)
"""The share of units that is held out, unless told otherwise."""
SCORE = Fraction(1, 5)
"""The share of a run's spend that scoring takes, where the same rows are fitted to as well."""


@dataclass(frozen=True)
class FitAndScore:
    """One fit and its scores: which rows are fitted to, and which others are scored on."""

    fitted: Bools
    scored: Bools

    def __post_init__(self) -> None:
        """Refuse scores on rows that were fitted to."""
        if (self.fitted & self.scored).any():
            raise InvalidParameter(
                code="training_score",
                expectation="rows to score on that were not fitted to",
                remedy="Use Holdout or KFold, which keep them apart.",
            )


@dataclass(frozen=True)
class Holdout:
    """About a ``share`` of all units is scored on, the others are fitted to.

    Each unit is on one side, so that the fit and the score may both cost what a run may.

    >>> from discreet.core.guarantee import PureDP
    >>> Holdout(0.25).spends(PureDP(epsilon=1))
    (PureDP(unit=None, epsilon=1), PureDP(unit=None, epsilon=1))
    """

    share: Number = SHARE

    def __post_init__(self) -> None:
        """Refuse a share that leaves one side empty."""
        probability("share", self.share)

    def spends(self, run: PureDP | ZCDP) -> tuple[Guarantee, Guarantee]:
        """What the fit may cost, and the score."""
        return run, run

    def rounds(self, privacy: Privacy, rows: int, people: Any) -> list[FitAndScore]:
        """The only one."""
        scored = _of_units(
            privacy, rows, people, lambda n: bernoulli(self.share, n, privacy.randomness)
        ).astype(np.bool_)
        return [FitAndScore(~scored, scored)]


@dataclass(frozen=True)
class KFold:
    """Every fold is scored on once, by a fit to all others.

    A unit is in all fits but one, and in one score: a run's spend is shared among them.

    >>> from discreet.core.guarantee import PureDP
    >>> KFold(5).spends(PureDP(epsilon=1))
    (PureDP(unit=None, epsilon=Fraction(1, 5)), PureDP(unit=None, epsilon=Fraction(1, 5)))
    """

    folds: int = 5

    def __post_init__(self) -> None:
        """Refuse fewer than two folds."""
        count("folds", self.folds, least=2)

    def spends(self, run: PureDP | ZCDP) -> tuple[Guarantee, Guarantee]:
        """What each fit may cost, and each score."""
        return _part(run, (1 - SCORE) / (self.folds - 1)), _part(run, SCORE)

    def rounds(self, privacy: Privacy, rows: int, people: Any) -> list[FitAndScore]:
        """One for each fold."""
        place = _of_units(
            privacy,
            rows,
            people,
            lambda n: uniform_integers(self.folds, n, privacy.randomness),
        )
        return [FitAndScore(place != fold, place == fold) for fold in range(self.folds)]


Split = Holdout | KFold


def _of_units(privacy: Privacy, rows: int, people: Any, drawn: Any) -> Ints:
    """What was drawn for the unit of each row: for itself, or for its person."""
    if people is None:
        alone: Ints = np.asarray(drawn(rows), dtype=np.int64)
        return alone
    numbers = identifiers(people, rows)
    coins = np.asarray(drawn(int(numbers.max(initial=-1)) + 2), dtype=np.int64)
    of_each: Ints = coins[numbers]  # rows without an identifier share the last; they count nowhere
    return of_each


def _part(run: PureDP | ZCDP, share: Fraction) -> Guarantee:
    match run:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=exact(epsilon) * share)
        case ZCDP(rho=rho):
            return ZCDP(rho=exact(rho) * share)
