"""Mechanisms that a word stands for where only text is possible: commands, and requests as JSON."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any

_ROUNDS = 10
"""Of MWEM where nobody says it."""


class MechanismWord(StrEnum):
    """The words, and what they stand for in order: accuracy, speed, others, baselines."""

    AIM = "aim"
    MST = "mst"
    PRIVBAYES = "privbayes"
    MWEM = "mwem"
    INDEPENDENT = "independent"
    FULL_HISTOGRAM = "full-histogram"


def word_of(make: object) -> MechanismWord | None:
    """The word that means what makes a mechanism; None where no word does.

    >>> from discreet import synthetic
    >>> word_of(synthetic.MST)
    <MechanismWord.MST: 'mst'>
    """
    for word in MechanismWord:
        meant = mechanism_of(word)
        if make == meant or (isinstance(meant, partial) and _alike(make, meant)):
            return word
    return None


def _alike(make: object, meant: partial[Any]) -> bool:
    return isinstance(make, partial) and (make.func, make.args, make.keywords) == (
        meant.func,
        meant.args,
        meant.keywords,
    )


def mechanism_of(word: MechanismWord) -> Callable[..., Any]:
    """What makes the mechanism that a word means."""
    from discreet import synthetic

    match word:
        case MechanismWord.AIM:
            return synthetic.AIM
        case MechanismWord.MST:
            return synthetic.MST
        case MechanismWord.PRIVBAYES:
            return synthetic.PrivBayes
        case MechanismWord.MWEM:
            return partial(synthetic.MWEMPGM, rounds=_ROUNDS)
        case MechanismWord.INDEPENDENT:
            return synthetic.IndependentMarginals
        case MechanismWord.FULL_HISTOGRAM:
            return synthetic.FullHistogram
