"""Two classifiers: one trained on synthetic rows and tested on real ones, one to tell them apart.

Source: 004d:D7 (a classifier that tells real rows from synthetic ones); 004c:9-8 (whether one that
learnt from synthetic rows uses the columns that one of real rows uses).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM, Source
from discreet.noise.sampling import permutation
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes

_TESTED = 0.3
_MOST_ROWS = 20_000
"""Rows that a classifier learns from; more change little."""
_SHUFFLES = 5


@dataclass(frozen=True)
class ClassifierScores:
    """Shares of real test rows whose target was predicted.

    Attributes:
        target: The column that is predicted.
        synthetic: After training on synthetic rows.
        real: After training on other real rows; what could be had at best.
        majority: By always saying the most frequent value; what could be had at least.
        importances: For each other column how far shuffling it among the test rows moves what is
            predicted (total variation), after training on real and on synthetic rows.
        agreement: Spearman's rank correlation of the two; None where there is one other column.
    """

    target: str
    synthetic: float
    real: float
    majority: float
    importances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    agreement: float | None = None


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
    name: str,
    names: Sequence[str],
    split: RealSplit,
    synthetic: Codes,
    randomness: Source = SYSTEM,
) -> ClassifierScores:
    """Accuracies of a classifier of one column by all others, and which of them it uses."""
    place = names.index(name)
    target = split.tested[:, place]
    most = np.bincount(split.trained[:, place]).argmax() if len(split.trained) else 0
    both = [_Classifier.of(_few(each, randomness), place) for each in (split.trained, synthetic)]
    right = [each.accuracy(split.tested) for each in both]
    moved = _moved_chances(both, split.tested, place, randomness)
    found = {names[at]: pair for at, pair in moved.items()}
    return ClassifierScores(
        target=name,
        synthetic=right[1],
        real=right[0],
        majority=float((target == most).mean()) if len(target) else 0.0,
        importances=found,
        agreement=rank_agreement(*zip(*found.values(), strict=True)) if len(found) > 1 else None,
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


def rank_agreement(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation; nought where either never varies.

    >>> rank_agreement([0.1, 0.2, 0.9], [3, 5, 6])
    1.0
    """
    ranks = [rankdata(np.round(each, 12)) for each in (one, other)]
    away = [each - each.mean() for each in ranks]
    spread = float(np.sqrt((away[0] @ away[0]) * (away[1] @ away[1])))
    return float(np.clip(away[0] @ away[1] / spread, -1, 1)) if spread else 0.0


@dataclass(frozen=True, eq=False)
class _Classifier:
    """Predicts one column by the others; one value for ever where it saw no other."""

    place: int
    model: Any
    always: int = 0

    @classmethod
    def of(cls, trained: Codes, place: int) -> _Classifier:
        kinds = np.unique(trained[:, place])
        if len(kinds) < 2:
            return cls(place, None, int(kinds[0]) if len(kinds) else OUTSIDE)
        return cls(place, _model().fit(np.delete(trained, place, axis=1), trained[:, place]))

    def accuracy(self, tested: Codes) -> float:
        """The share of rows whose target it predicts."""
        if not len(tested):
            return 0.0
        target = tested[:, self.place]
        if self.model is None:
            return float((target == self.always).mean())
        guessed: NDArray[np.int64] = self.model.predict(np.delete(tested, self.place, axis=1))
        return float((guessed == target).mean())

    def chances(self, tested: Codes) -> Floats:
        """What it predicts of each row: the chance of each value that it knows."""
        if self.model is None or not len(tested):
            return np.ones((len(tested), 1))
        found: Floats = self.model.predict_proba(np.delete(tested, self.place, axis=1))
        return found


def _moved_chances(
    both: Sequence[_Classifier], tested: Codes, place: int, randomness: Source
) -> dict[int, tuple[float, float]]:
    """How far shuffling each column moves what two predict, by the same shuffles."""
    rows = _few(tested, randomness)
    before = [each.chances(rows) for each in both]
    found = {}
    for column in range(rows.shape[1]):
        if column == place:
            continue
        moved = np.zeros(2)
        for _ in range(_SHUFFLES):
            shuffled = rows.copy()
            shuffled[:, column] = rows[permutation(len(rows), randomness), column]
            moved += [
                float(np.abs(each.chances(shuffled) - own).sum()) / 2
                for each, own in zip(both, before, strict=True)
            ]
        real, synthetic = moved / (_SHUFFLES * max(1, len(rows)))
        found[column] = (float(real), float(synthetic))
    return found


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
