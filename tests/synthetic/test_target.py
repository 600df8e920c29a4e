"""A rare column that is to be predicted: naming it as the target must not make its model worse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import discreet as dp
from discreet.core.arrays import Floats, Ints
from discreet.core.unit import Row
from discreet.queries import NoisyRecordCount, Universe, Workload
from discreet.queries.workload.coded_records import CodedRecords
from discreet.synthetic.aim import AIM

COLUMNS, ROWS, RARE = 39, 20_000, 0.06
SIZES = [*((2, 3, 4, 6, 8, 10)[place % 6] for place in range(COLUMNS - 1)), 2]
UNIVERSE = Universe.of(**{f"c{place}": range(size) for place, size in enumerate(SIZES)})


def rare_rows(numbers: np.random.Generator, rows: int) -> Ints:
    """Chains of five columns, and a last one that few rows have and that pairs of others tell."""
    found: list[Ints] = []
    for place, size in enumerate(SIZES[:-1]):
        own = numbers.integers(0, size, rows)
        if place % 5:
            follows = found[-1] * size // SIZES[place - 1]
            own = np.where(numbers.random(rows) < 0.7, follows, own)
        found.append(own)
    high = [column >= size / 2 for column, size in zip(found, SIZES, strict=False)]
    score = 1.6 * (high[2] & high[7]) + 1.4 * (high[4] ^ high[9]) + 0.8 * (found[1] == 0)
    score = 2.2 * (score + 1.2 * ((found[12] % 2 == 1) & high[17]) + 1.5 * (high[11] & high[3]))
    low, up = -50.0, 50.0
    for _ in range(60):
        middle = (low + up) / 2
        chance = 1 / (1 + np.exp(-score - middle))
        low, up = (middle, up) if chance.mean() < RARE else (low, middle)
    return np.stack([*found, (numbers.random(rows) < chance).astype(np.int64)], axis=1)


def scores(train: Ints, test: Ints) -> Floats:
    """The share of test rows that a classifier of ``train`` gets right, and its area."""
    made = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    made.fit(train[:, :-1], train[:, -1])
    right = (made.predict(test[:, :-1]) == test[:, -1]).mean()
    chances = made.predict_proba(test[:, :-1])[:, -1]
    return np.array([right, roc_auc_score(test[:, -1], chances)])


@pytest.mark.slow
def test_a_target_is_predicted_at_least_as_well_as_without_naming_it() -> None:
    """Accuracy .942 and area .872 with the target, .939 and .853 without, in the mean of tables.

    One model's area has a deviation of about .010 and its accuracy of .002, so the gains of three
    have .008 and .0017: a false alarm of the bounds below is rarer than one in 500. With marginals
    of the target alone, accuracy was .027 less on a table of twenty columns.
    """
    gains = np.zeros(2)
    for seed in (1, 2, 3):
        rows = rare_rows(np.random.default_rng(seed), 2 * ROWS)
        counts = CodedRecords(UNIVERSE, rows[:ROWS], Row())
        for target, sign in ((None, -1), (f"c{COLUMNS - 1}", 1)):
            aim = AIM(
                workload=Workload.marginals(UNIVERSE, 2),
                spend=dp.ApproxDP(epsilon=1, delta=1e-6),
                size=NoisyRecordCount(),
                target=target,
            )
            sampled = np.asarray(aim.release(counts).sample(ROWS))
            gains += sign / 3 * scores(sampled, rows[ROWS:])
    assert (gains >= [-0.002, -0.005]).all(), gains
