"""What selection mechanisms may assume about scores, and how scores are read."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.mechanisms.grid import as_array, clamped, is_whole


class Scores(Enum):
    """How scores move between neighbouring data sets.

    ``GENERAL``: each by at most the sensitivity, in either direction. ``MONOTONE``: each by at
    most the sensitivity and all in the same direction, as counts do under add/remove; selection
    then needs half the noise. Under replace-one, counts are not monotone.
    """

    GENERAL = 2
    MONOTONE = 1

    @property
    def identity_name(self) -> str:
        """The name in ledgers, fixed for ever, whatever the member is called here."""
        return {Scores.GENERAL: "GENERAL", Scores.MONOTONE: "MONOTONE"}[self]


GENERAL = Scores.GENERAL
MONOTONE = Scores.MONOTONE


def check_scores(scores: object) -> None:
    """Refuse anything but a member of :class:`Scores`."""
    if not isinstance(scores, Scores):
        raise InvalidParameter(
            code="not_scores",
            expectation="scores to be GENERAL or MONOTONE",
            received=type(scores).__name__,
            remedy="Pass discreet.mechanisms.MONOTONE only where all scores move in one direction.",
        )


def read_scores(scores: Any) -> NDArray[np.float64] | NDArray[np.int64]:
    """A vector of finite scores, exactly: as integers, clamped at ±2**61, or as floats."""
    array = as_array(scores)
    if array.ndim != 1:
        raise InvalidData(
            code="scores_not_a_vector",
            expectation="one score for each candidate, in a one-dimensional array",
            received=array.ndim,
            remedy="Score a public, fixed list of candidates.",
        )
    if is_whole(array):
        return clamped(array)
    if not np.isfinite(array).all():
        raise InvalidData(
            code="not_finite_input",
            expectation="finite scores",
            remedy="Clamp scores to declared bounds before selecting.",
        )
    return array.astype(np.float64)
