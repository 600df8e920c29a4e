"""Mechanisms that a word is enough for: on command lines, and in requests to a service."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any


class MechanismWord(StrEnum):
    """The words, and what they stand for in order: accuracy, speed, a baseline."""

    AIM = "aim"
    MST = "mst"
    INDEPENDENT = "independent"


def mechanism_of(word: MechanismWord) -> Callable[..., Any]:
    """What makes the mechanism that a word means."""
    from discreet import synthetic

    match word:
        case MechanismWord.AIM:
            return synthetic.AIM
        case MechanismWord.MST:
            return synthetic.MST
        case MechanismWord.INDEPENDENT:
            return synthetic.IndependentMarginals
