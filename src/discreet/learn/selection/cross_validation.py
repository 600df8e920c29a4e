"""A score of an estimator before it is fitted to everything, and splits: both by coins of units.

Source: modern-learn:1; contract, "Units and neighbours". Proof: ``proofs/selection_by_runs.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier

from discreet.core.arrays import Bools
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.learn.estimators.base import (
    PrivateEstimator,
    features_of,
    read_numbers,
    read_target,
)
from discreet.learn.privacy import Privacy, identifiers
from discreet.learn.selection.folds import SHARE, Holdout, KFold, Split
from discreet.learn.selection.runs import Runs, event_of_run
from discreet.learn.selection.scores import Accuracy, Score, SquaredError
from discreet.mechanisms.additive import mark_unprotected_event


@dataclass(frozen=True)
class CrossValidated:
    """A mean score over folds, with what it cost."""

    score: float
    event: Event
    guarantee: Guarantee


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    spend: Guarantee,
    unit: Any,
    people: Any = None,
    split: Split = KFold(),  # noqa: B008  # it is frozen
    scoring: Score | None = None,
    randomness: Any = None,
) -> CrossValidated:
    """How well the estimator predicts rows that it was not fitted to, over all folds.

    Guarantee: the score costs ``event``, which the spend covers: fits and scores together. Models
    of the folds are thrown away. The estimator's own spend is not used: a fold's fit has its
    share of this one.

    Source: modern-learn:1. Proof: ``proofs/selection_by_runs.md``.
    """
    if not isinstance(estimator, PrivateEstimator) or not isinstance(spend, PureDP | ZCDP):
        raise InvalidParameter(
            code="cross_validation_spend",
            expectation="an estimator of discreet.learn, and a spend in PureDP or ZCDP",
            received=type(spend).__name__,
            remedy="Write spend=dp.PureDP(epsilon=1).",
        )
    privacy = Privacy.from_spend_and_unit(spend, unit, randomness)
    rows = read_numbers(X, features_of(estimator.bounds))
    kept = privacy.choose_rows_to_keep(len(rows), people)
    whose = None if people is None else identifiers(people, len(rows))
    runs = Runs(privacy, split, (rows, read_target(y, len(rows)), whose), kept)
    score = scoring or (Accuracy() if is_classifier(estimator) else SquaredError())
    _, found = runs.run(estimator, score)
    event = mark_unprotected_event(event_of_run(spend), privacy.randomness)
    return CrossValidated(found.mean, event, privacy.guarantee)


def train_test_split(
    rows: int,
    *,
    unit: Any,
    people: Any = None,
    share: Any = SHARE,
    randomness: Any = None,
) -> tuple[Bools, Bools]:
    """Which of so many rows to fit to and which to keep for a test, by coins of units.

    Guarantee: each unit is on one side, so a fit on one and a score on the other cost, together,
    the larger of both.

    >>> from discreet.core.unit import Row
    >>> fit, test = train_test_split(1000, unit=Row())
    >>> bool((fit ^ test).all())
    True

    Source: contract, "Units and neighbours". Proof: ``proofs/selection_by_runs.md``.
    """
    privacy = Privacy.from_spend_and_unit(
        PureDP(epsilon=1), unit, randomness
    )  # only coins are drawn
    privacy.choose_rows_to_keep(
        rows, people
    )  # refuses people where none are protected, and the reverse
    only = Holdout(share).rounds(privacy, rows, people)[0]
    return only.fitted, only.scored
