"""Few of many features are found exactly where they stand out, and one row moves scores by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.errors import InvalidParameter
from discreet.noise.randomness import Noiseless, Seeded

HADAMARD = np.array([[1.0]])
for _ in range(10):
    HADAMARD = np.block([[HADAMARD, HADAMARD], [HADAMARD, -HADAMARD]])
"""1024 rows of features that are orthogonal."""
SPENDS = [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.1), dp.ApproxDP(epsilon=1, delta=1e-6)]


def made(size: int, spend: Any = SPENDS[0], **given: Any) -> learn.SupportSelection:
    privacy = learn.Privacy.from_spend_and_unit(
        spend, given.pop("unit", dp.Row()), given.pop("randomness", None)
    )
    return learn.SupportSelection(size=size, privacy=privacy)


def test_a_strong_signal_on_orthogonal_features_is_found_exactly() -> None:
    """004b:C15: eighteen times, each wrong with probability at most 1e-9 by the bound."""
    rng = np.random.default_rng(1)
    x = HADAMARD[:, 1:201]
    found = 0
    for spend in SPENDS:
        choosing = made(3, spend)
        least = choosing.lead(features=200, confidence=1 - 1e-9)
        assert least / 1024 < 0.33  # each of three coefficients may be a third
        for _ in range(6):
            support = rng.choice(200, 3, replace=False)
            y = x[:, support] @ (rng.choice([-1, 1], 3) / 3)
            assert set(choosing.select(x, y)) == set(support.tolist())
            found += 1
    assert found == 18


def test_the_lead_is_a_bound_and_not_far_from_what_is_needed() -> None:
    """At a lead for 80 %, at least that; 400 runs, five deviations, false alarm 3e-7."""
    choosing = made(2, randomness=Seeded(3))
    rows = 200
    lead = choosing.lead(features=40, confidence=0.8)
    x = np.zeros((rows, 40))
    x[: int(np.ceil(lead)), :2] = 1
    right = sum(set(choosing.select(x, np.ones(rows))) == {0, 1} for _ in range(400)) / 400
    assert right > 0.8 - 5 * np.sqrt(0.16 / 400)
    x[int(np.ceil(lead / 2)) :] = 0
    right = sum(set(choosing.select(x, np.ones(rows))) == {0, 1} for _ in range(400)) / 400
    assert right < 0.8
    assert choosing.lead(features=2, confidence=0.9) == 0


def test_scores_are_sums_of_clamped_products_and_a_row_moves_them_by_one() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(0, 2, (50, 6)), rng.normal(0, 2, 50)
    x[3, 2], y[7] = np.nan, np.nan
    exact = made(6, randomness=Noiseless()).select(x, y)
    inside, aim = np.nan_to_num(np.clip(x, -1, 1)), np.nan_to_num(np.clip(y, -1, 1))
    scores = np.abs(aim @ inside)
    assert exact == np.argsort(-scores).tolist()
    huge = np.vstack([inside, np.full((1, 6), 1e300) * [1, -1, 1, -1, 1, -1]])
    moved = np.abs(np.append(aim, 1) @ np.clip(huge, -1, 1))
    assert np.abs(moved - scores).max() <= 1 + 1e-9
    again = made(6, randomness=Noiseless()).select(huge, np.append(aim, 1e300))
    assert again == np.argsort(-moved).tolist()


@pytest.mark.parametrize("spend", SPENDS)
def test_all_choices_together_cost_the_spend(spend: Any) -> None:
    event = made(5, spend).event
    match spend:
        case dp.ZCDP():
            assert 0.099 < float(event.zcdp().rho) <= 0.1 + 1e-12
        case _:
            paid = event.epsilon(delta=float(getattr(spend, "delta", 0)))
            assert 0.99 < paid <= 1 + 1e-9


def test_a_person_s_rows_count_together() -> None:
    person = dp.Person("id", max_rows=4)
    one, many = made(2), made(2, unit=person)
    assert many.lead(features=9, confidence=0.9) == 4 * one.lead(features=9, confidence=0.9)
    exact = made(1, unit=person, spend=dp.PureDP(epsilon=1e6))
    x = np.zeros((40, 2))
    x[:30, 0] = 1  # thirty rows of one person, of which four count
    x[30:, 1] = 1
    assert exact.select(x, np.ones(40), people=np.array([0] * 30 + list(range(1, 11)))) == [1]


def test_more_features_than_there_are_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="parameter_out_of_range"):
        made(3).select(np.ones((4, 2)), np.ones(4))
    with pytest.raises(InvalidParameter, match="not_a_count"):
        made(0)
