"""Runs of a search: each draws its candidate, fits, and scores; what one run may cost.

The best of a random number of runs costs more than one run and far less than all of them. What the
search may cost is given, and the spend of a run follows from the law of their number.

Source: modern-learn:1 (Papernot, Steinke 2022). Proof: ``proofs/selection_by_runs.md``,
``proofs/tuning.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.core.arrays import Bools
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Concentrated, Pure
from discreet.core.events.tuned import StoppingLaw, TruncatedNegativeBinomial, Tuned
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact
from discreet.learn.privacy import Privacy
from discreet.learn.selection.folds import FitAndScore, Split
from discreet.learn.selection.scores import NoisyScore, Score, noisy_score


def stopping_law(runs: Number, eta: Number) -> TruncatedNegativeBinomial:
    """The law of the number of runs with so many of them expected."""
    from discreet.accounting.tuning import stopping_gamma  # loads all accountants

    return TruncatedNegativeBinomial(eta=eta, gamma=stopping_gamma(eta=eta, runs=runs))


def chance_of_trying(candidates: int, law: StoppingLaw) -> float:
    """How likely a given one of so many candidates is among those that runs draw.

    >>> round(chance_of_trying(5, stopping_law(50, 0)), 2)
    0.72
    """
    from discreet.accounting.tuning import generating_function

    return 1 - float(generating_function(law, np.array([1 - 1 / candidates]))[0])


def event_of_run(run: PureDP | ZCDP) -> Event:
    """A run known only to keep its spend."""
    return Pure(epsilon=run.epsilon) if isinstance(run, PureDP) else Concentrated(run.rho)


def spend_of_run(spend: Guarantee, law: StoppingLaw) -> PureDP | ZCDP:
    """The most that one run may cost so that the best of them costs no more than ``spend``.

    Pure runs for PureDP and ApproxDP; concentrated ones for ApproxDP(…, by=ZCDP).

    >>> spend_of_run(PureDP(epsilon=1), stopping_law(10, 0))
    PureDP(unit=None, epsilon=Fraction(1, 2))
    """
    match spend:
        case PureDP(epsilon=epsilon) if isinstance(law, TruncatedNegativeBinomial):
            return PureDP(epsilon=exact(epsilon) / (2 + exact(law.eta)))
        case ApproxDP(epsilon=epsilon, delta=delta, by=by) if delta > 0:
            from discreet.accounting import calibrate

            limits = {"epsilon": float(epsilon), "delta": float(delta)}
            if by is ZCDP:
                return ZCDP(rho=calibrate(_tuned(ZCDP, law), start=1e-3, **limits))
            least = spend_of_run(PureDP(epsilon=epsilon), law)
            assert isinstance(least, PureDP)
            start = float(least.epsilon) * (1 - 1e-9)
            return PureDP(epsilon=calibrate(_tuned(PureDP, law), start=start, **limits))
    raise InvalidParameter(
        code="search_spend",
        expectation="a spend in PureDP, or in ApproxDP with a delta above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=1); the best of several runs has no other price.",
    )


def _tuned(kind: type[PureDP] | type[ZCDP], law: StoppingLaw) -> Callable[[float], Event]:
    if kind is PureDP:
        return lambda epsilon: Tuned(Pure(epsilon=epsilon), law)
    return lambda rho: Tuned(Concentrated(rho), law)


class Runs:
    """What all runs of a search share: rows, folds and the privacy of a fit and of a score."""

    def __init__(
        self, privacy: Privacy, split: Split, data: tuple[Any, Any, Any], counted: Bools
    ) -> None:
        """``data`` are rows, targets and whose they are; the spend of ``privacy`` is a run's."""
        assert isinstance(privacy.spend, PureDP | ZCDP)
        self._x, self._y, self._people = data
        self._counted = counted
        self._rounds = split.rounds(privacy, len(self._x), self._people)
        fit, score = split.spends(privacy.spend)
        self._fit = replace(privacy, spend=fit)
        self._score = replace(privacy, spend=score)

    def run(self, estimator: Any, score: Score) -> tuple[Any, NoisyScore]:
        """Fit and score in every round; the last model, and all scores added up."""
        total, model = NoisyScore(0.0, 0.0), estimator
        for each in self._rounds:
            model = self._fitted(estimator, each)
            found, _ = self._scored(model, each, score)
            total = NoisyScore(total.good + found.good, total.bad + found.bad)
        return model, total

    def _fitted(self, estimator: Any, each: FitAndScore) -> Any:
        from sklearn.base import clone

        model = clone(estimator).set_params(
            spend=self._fit.spend, unit=self._fit.unit, randomness=self._fit.randomness
        )
        x, y, people = self._part(each.fitted & self._counted)
        return model.fit(x, y) if people is None else model.fit(x, y, people=people)

    def _part(self, chosen: Bools) -> tuple[Any, Any, Any]:
        """Rows, targets and people; one row that counts nowhere where none was chosen."""
        people = None if self._people is None else self._people[chosen]
        if chosen.any():
            return self._x[chosen], self._y[chosen], people
        blank = np.full((1, self._x.shape[1]), np.nan)
        return blank, [None], None if people is None else [None]

    def _scored(self, model: Any, each: FitAndScore, score: Score) -> tuple[NoisyScore, Event]:
        where = each.scored & self._counted
        if not where.any():
            x, y, _ = self._part(where)
            return noisy_score(score, model, (x, y), np.zeros(1, dtype=np.bool_), self._score)
        x, y = self._x[where], self._y[where]
        return noisy_score(score, model, (x, y), np.ones(len(x), dtype=np.bool_), self._score)
