"""The halving learner."""

from itertools import product

import numpy as np
import pytest

from discreet.errors import InvalidData, InvalidParameter
from discreet.theory.halving import Halving


def test_halving_makes_at_most_log_mistakes() -> None:
    """000a:G3: 16 concepts, at most 4."""
    concepts = np.array(list(product((0, 1), repeat=4)))
    for right in concepts:
        learner = Halving(concepts)
        for example, label in enumerate(right):
            learner.learn(example, label)
        assert learner.mistakes <= 4
    with pytest.raises(InvalidData, match="no_concept_fits"):
        Halving([[0], [0]]).learn(0, 1)
    with pytest.raises(InvalidParameter, match="concepts_misshapen"):
        Halving([])
