"""The routine for zero-sum games: moves from the same past, and play that approaches the value."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import Seeded
from discreet.queries.analysts.equilibrium import Sampler, equilibrium
from discreet.queries.log_weights import LogWeights

# What the first player loses, in tenths; it is best to mix.
LOSSES = np.array([[0, 10], [10, 0]]) + np.array([[3, -3], [-4, 4]])


@dataclass
class Learner:
    """A sampler in a matrix game; ``table[mine, theirs]`` is its gain."""

    table: np.ndarray
    sampler: Sampler

    def move(self) -> np.ndarray:
        return self.sampler.move()

    def learn(self, move: np.ndarray) -> None:
        self.sampler.learn(self.table[:, move].sum(axis=1))


def learner(table: np.ndarray, rounds: int, seed: int) -> Learner:
    rate = Fraction(int(1000 / rounds**0.5), 1000) / 10
    return Learner(table, Sampler(LogWeights.even(2, rate), 1, Seeded(seed)))


def test_average_play_approaches_the_value_of_a_matrix_game() -> None:
    """Regrets and sampling errors of 4000 rounds stay below .1; seeded."""
    rounds = 4000
    first = learner(-LOSSES, rounds, 1)
    moves = np.concatenate(equilibrium(first, learner(LOSSES.T, rounds, 2), rounds=rounds))
    played = np.bincount(moves, minlength=2) / rounds
    worst = (played @ LOSSES).max() / 10
    a, b, c, d = LOSSES.ravel() / 10
    value = (a * d - b * c) / (a + d - b - c)
    assert value <= worst <= value + 0.1


@dataclass
class Recorder:
    """Writes down what it knew when it moved."""

    name: str
    known: list[str] = field(default_factory=list)
    seen: list[tuple[str, int]] = field(default_factory=list)

    def move(self) -> str:
        self.seen.append((self.name, len(self.known)))
        return self.name

    def learn(self, move: str) -> None:
        self.known.append(move)


def test_nobody_learns_of_this_rounds_move_before_moving() -> None:
    first, second = Recorder("first"), Recorder("second")
    assert equilibrium(first, second, rounds=3) == ["first"] * 3
    assert first.seen == [("first", 0), ("first", 1), ("first", 2)]
    assert second.seen == [("second", 0), ("second", 1), ("second", 2)]
    assert first.known == ["second"] * 3


def test_the_sampler_follows_exponential_weights() -> None:
    """Gains of 0 and 3 at rate ln 2, nearly: odds of 8; 20 000 draws, seeded."""
    rate = Fraction(693147, 1000000)
    sampler = Sampler(LogWeights(np.array([0, 3]), rate), 20_000, Seeded(5))
    assert sampler.move().mean() == pytest.approx(8 / 9, abs=0.01)
