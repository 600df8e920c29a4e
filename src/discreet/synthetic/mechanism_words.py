"""Mechanisms that a word is enough for: on command lines, and in requests to a service."""

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
