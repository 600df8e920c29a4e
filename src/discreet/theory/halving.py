"""The halving learner: the majority of the concepts that were never wrong.

Source: 000a:G3; it is what the median updater generalises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import InvalidData, InvalidParameter


class Halving:
    """Concepts, a 0/1 row each; at most log2 of their number of mistakes if one is right.

    >>> learner = Halving([[0, 0], [0, 1], [1, 1]])
    >>> learner.predict(0), learner.predict(1)
    (False, True)
    """

    def __init__(self, concepts: ArrayLike) -> None:
        """Begin with all."""
        table = np.asarray(concepts).astype(bool)
        if table.ndim != 2 or 0 in table.shape:
            raise InvalidParameter(
                code="concepts_misshapen",
                expectation="a row of labels for each concept",
                received=table.shape,
                remedy="Pass a list of rows of equal length.",
            )
        self.consistent: NDArray[np.bool_] = table
        self.mistakes = 0

    def predict(self, example: int) -> bool:
        """What most of them say."""
        return bool(2 * self.consistent[:, example].sum() > len(self.consistent))

    def learn(self, example: int, label: object) -> None:
        """Keep those that agree with the label."""
        self.mistakes += self.predict(example) != bool(label)
        kept = self.consistent[self.consistent[:, example] == bool(label)]
        if not len(kept):
            raise InvalidData(
                code="no_concept_fits",
                expectation="labels from one of the concepts",
                remedy="Add the concepts that are missing.",
            )
        self.consistent = kept
