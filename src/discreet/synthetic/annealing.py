"""How AIM divides its spend into rounds: equal shares, that grow when a round tells nothing.

Source: modern-data:A1.
"""

from __future__ import annotations

from fractions import Fraction

MEASURING = Fraction(9, 10)
"""The part of a round's share that measures; the rest selects."""
_ROUNDS = 16
"""Rounds that a whole spend would last for, for each column, if none annealed."""


def first_share(columns: int) -> Fraction:
    """The share of the first round, which no later one falls below."""
    return Fraction(1, _ROUNDS * columns)


class AnnealedRounds:
    """The shares of rounds, one after the other; the last takes all that is left.

    >>> rounds = AnnealedRounds(columns=5, growth=4)
    >>> left, number = 1 - Fraction(9, 160), 0
    >>> while not rounds.finished:
    ...     left, number = left - rounds.next(left), number + 1
    >>> number, left
    (75, Fraction(0, 1))
    """

    def __init__(self, columns: int, growth: int) -> None:
        """``growth`` is how many times as much half the noise costs."""
        self._wanted = first_share(columns)
        self._growth = growth
        self.finished = False

    def next(self, left: Fraction) -> Fraction:
        """The share of the next round, where so much is left."""
        if left <= 2 * self._wanted:
            self.finished = True
            return left
        return self._wanted

    def anneal(self) -> None:
        """From the next round on, half the noise."""
        self._wanted *= self._growth
