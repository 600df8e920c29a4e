"""Two classifiers: one trained on synthetic rows and tested on real ones, one to tell them apart.

Source: 004d:D7 (a classifier that tells real rows from synthetic ones).
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM, Source
from discreet.noise.sampling import permutation
from discreet.synthetic.encoding.encoded_column import Codes

_TESTED = 0.3
_MOST_ROWS = 20_000
"""Rows that a classifier learns from; more change little."""


@dataclass(frozen=True)
class ClassifierScores:
    """Shares of real test rows whose target was predicted.

    Attributes:
        target: The column that is predicted.
        synthetic: After training on synthetic rows.
        real: After training on other real rows; what could be had at best.
        majority: By always saying the most frequent value; what could be had at least.
    """

    target: str
    synthetic: float
    real: float
    majority: float


@dataclass(frozen=True, eq=False)
class RealSplit:
    """Real rows to train on and others to test on."""

    trained: Codes
    tested: Codes

    @classmethod
    def of(cls, codes: Codes, randomness: Source = SYSTEM) -> RealSplit:
        """Three in ten rows are for testing."""
        order = permutation(len(codes), randomness)
        tested = round(_TESTED * len(codes))
        return cls(codes[order[tested:]], codes[order[:tested]])


def can_learn() -> bool:
    """Whether scikit-learn is installed; without it nothing is told apart."""
    return importlib.util.find_spec("sklearn") is not None


def classifier_scores(
    name: str, place: int, split: RealSplit, synthetic: Codes, randomness: Source = SYSTEM
) -> ClassifierScores:
    """Accuracies of a classifier of one column by all others."""
    target = split.tested[:, place]
    most = np.bincount(split.trained[:, place]).argmax() if len(split.trained) else 0
    return ClassifierScores(
        target=name,
        synthetic=_accuracy(_few(synthetic, randomness), split.tested, place),
        real=_accuracy(_few(split.trained, randomness), split.tested, place),
        majority=float((target == most).mean()) if len(target) else 0.0,
    )


def discriminator_auc(real: Codes, synthetic: Codes, randomness: Source = SYSTEM) -> float:
    """How well a classifier tells real rows from synthetic ones: .5 not at all, 1 always.

    The area under its curve on rows that it did not learn from, as many of either kind.
    """
    rows = min(len(real), len(synthetic), _MOST_ROWS)
    if rows < 10:
        return float("nan")
    both = np.concatenate(
        [each[permutation(len(each), randomness)[:rows]] for each in (real, synthetic)]
    )
    kind = np.repeat([0, 1], rows)
    order = permutation(len(both), randomness)
    half = len(order) // 2
    model = _model().fit(both[order[:half]], kind[order[:half]])
    likely = model.predict_proba(both[order[half:]])[:, 1]
    auc = _learn("sklearn.metrics").roc_auc_score(kind[order[half:]], likely)
    return float(auc)


def _accuracy(trained: Codes, tested: Codes, place: int) -> float:
    if not len(trained) or not len(tested):
        return 0.0
    others = [column for column in range(tested.shape[1]) if column != place]
    kinds = np.unique(trained[:, place])
    if len(kinds) == 1:
        return float((tested[:, place] == kinds[0]).mean())
    model = _model().fit(trained[:, others], trained[:, place])
    guessed: NDArray[np.int64] = model.predict(tested[:, others])
    return float((guessed == tested[:, place]).mean())


def _few(codes: Codes, randomness: Source) -> Codes:
    return codes[permutation(len(codes), randomness)[:_MOST_ROWS]]


def _model() -> Any:
    ensemble = _learn("sklearn.ensemble")
    return ensemble.HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=0
    )


def _learn(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_learn",
            expectation="scikit-learn, which trains classifiers",
            received=module,
            remedy="pip install 'discreet[learn]', or leave classifiers out: target=None.",
        ) from None
