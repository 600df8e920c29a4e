"""A conversation taken up again goes on with the threshold that was kept, and with its count."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.mechanisms import AboveThreshold, NumericSparse, Sparse
from discreet.mechanisms.sparse_vector.hidden import HiddenThreshold, Rounds

EVERY: list[Any] = [
    AboveThreshold(epsilon=1, threshold=10, sensitivity=1),
    Sparse(epsilon_each=1, cutoff=3, threshold=10, sensitivity=1),
    NumericSparse(epsilon=1, cutoff=3, threshold=10, sensitivity=1),
]
IDS = [type(mechanism).__name__ for mechanism in EVERY]


@pytest.mark.parametrize("mechanism", EVERY, ids=IDS)
def test_the_kept_threshold_is_the_one_compared_with(mechanism: Any) -> None:
    for steps in (-(10**6), 0, 17, 10**9):
        again = mechanism.open(Rounds(hidden=HiddenThreshold(steps)))
        assert again.hidden().steps == steps
    kept = mechanism.open().hidden()
    assert mechanism.open(Rounds(hidden=kept)).hidden().steps == kept.steps


@pytest.mark.parametrize("mechanism", EVERY, ids=IDS)
def test_without_a_kept_threshold_every_conversation_draws_its_own(mechanism: Any) -> None:
    """Noise of 2**30 steps and more: two of twenty agree with a chance below one in a million."""
    drawn = {mechanism.open().hidden().steps for _ in range(20)}
    assert len(drawn) == 20


@pytest.mark.parametrize("mechanism", EVERY[1:], ids=IDS[1:])
def test_answers_already_given_are_counted(mechanism: Any) -> None:
    assert [mechanism.open(Rounds(yeses=n)).positive_answers_left for n in range(5)] == [
        3,
        2,
        1,
        0,
        0,
    ]
    assert mechanism.open(Rounds(yeses=3)).hidden() is None


def test_a_very_high_kept_threshold_says_no_and_a_very_low_one_yes() -> None:
    mechanism = EVERY[0]
    far = 1 << 50
    assert not mechanism.open(Rounds(hidden=HiddenThreshold(far))).ask(10)
    assert mechanism.open(Rounds(hidden=HiddenThreshold(-far))).ask(10)
