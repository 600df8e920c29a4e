from dataclasses import dataclass

import pytest

from discreet.audit import BrokenTwin, check_pair


@dataclass(frozen=True)
class Opinion:
    passes: bool


def at_most_one(value: int) -> Opinion:
    return Opinion(value <= 1)


def test_a_separating_auditor_is_accepted() -> None:
    check_pair(BrokenTwin("noise", sound=1, broken=2, why="too large"), at_most_one)


def test_an_auditor_that_refutes_the_sound_one_is_blamed() -> None:
    with pytest.raises(AssertionError, match="noise: the auditor refuted the sound subject"):
        check_pair(BrokenTwin("noise", sound=2, broken=3, why="too large"), at_most_one)


def test_an_auditor_that_misses_the_broken_one_is_blamed_with_the_reason() -> None:
    with pytest.raises(AssertionError, match=r"missed the broken twin \(too large\)"):
        check_pair(BrokenTwin("noise", sound=0, broken=1, why="too large"), at_most_one)
