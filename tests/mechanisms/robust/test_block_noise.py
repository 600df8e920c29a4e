"""Rows keep the block they drew; noise covers how far a block moves an aggregate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms.robust import Mean, Median, SubsampleAggregate, Trimmed, Winsorized
from discreet.mechanisms.robust.blocks import split
from discreet.noise import Seeded, uniform_integers


@pytest.mark.parametrize("kind", [list, np.array])
def test_every_row_goes_to_the_block_it_drew_whatever_the_others_drew(kind: Any) -> None:
    rows = kind(range(60))
    labels = uniform_integers(7, 60, Seeded(4)).tolist()
    blocks = split(rows, 7, Seeded(4))
    for row, label in enumerate(labels):
        assert row in [int(member) for member in blocks[label]]
    assert sorted(labels) != labels


@pytest.mark.parametrize("aggregator", [Mean(), Trimmed(0.25), Winsorized(0.25), Median()])
@pytest.mark.parametrize("blocks", [2, 8, 9])
def test_the_noise_of_a_total_is_that_of_the_widths_one_block_moves_it_by(
    aggregator: Any, blocks: int
) -> None:
    mechanism = SubsampleAggregate(
        function=max, blocks=blocks, bounds=(0, 10), aggregator=aggregator, epsilon=0.5
    )
    lattice = mechanism._lattice()
    rng = np.random.default_rng(3)
    most = 0
    for _ in range(300):
        values = rng.choice([0, lattice.width // 2, lattice.width], size=blocks).tolist()
        for other in (0, lattice.width):
            moved = sorted([other, *values[1:]])
            change = aggregator.total(moved) - aggregator.total(sorted(values))
            most = max(most, abs(change))
    assert mechanism._scale(lattice) >= Fraction(most) / Fraction(1, 2)
    assert most > 0
