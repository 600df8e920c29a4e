"""The levels as they were measured, before anything was made to agree: kept beside the result.

They were paid for with the rest, and are without bias; whole counts that are not negative have one.

Source: 004b:A17, 004d:D21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Ints
from discreet.mechanisms.distributions.distribution import distribution_from_dict, distribution_of
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.synthetic.hierarchy.level_noise import LevelNoises
from discreet.synthetic.hierarchy.measured import Measured
from discreet.synthetic.hierarchy.tree import Tree

MOST_CELLS = 1 << 20
"""Cells of a level up to which its noisy counts are kept."""


@dataclass(frozen=True, eq=False)
class NoisyLevel:
    """The noisy counts of a level, a row for each node, and the law of the noise in each."""

    counts: Ints
    law: Distribution


NoisyLevels = tuple[NoisyLevel | None, ...]
"""From the whole down; None where a level was not measured, or has too many cells to be kept."""


def noisy_levels(tree: Tree, noises: LevelNoises, measured: Measured) -> NoisyLevels:
    """What was released of each level of at most 2**20 cells; which those are is public."""
    found: list[NoisyLevel | None] = []
    for level, noise in enumerate(noises):
        if noise is None or tree.nodes[level] * tree.detail > MOST_CELLS:
            found.append(None)
            continue
        counts = measured.above[level] if level < len(noises) - 1 else _leaves(measured)
        assert counts is not None
        found.append(NoisyLevel(counts, distribution_of(noise, step=1.0)))
    return tuple(found)


def _leaves(measured: Measured) -> Ints:
    return np.concatenate(list(measured.leaves.read_blocks()))


def levels_to_list(levels: NoisyLevels) -> list[object]:
    """For JSON; :func:`levels_from_list` reads it."""
    return [
        None if each is None else {"counts": packed(each.counts), "law": each.law.to_dict()}
        for each in levels
    ]


def levels_from_list(plain: object) -> NoisyLevels:
    """The levels as they were written; none before they were kept."""
    if plain is None:
        return ()
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise not_plain()
    return tuple(map(_level, plain))


def _level(plain: object) -> NoisyLevel | None:
    if plain is None:
        return None
    if not isinstance(plain, Mapping) or not isinstance(plain.get("law"), Mapping):
        raise not_plain()
    counts = unpacked(plain.get("counts"))
    if counts.ndim != 2:
        raise not_plain()
    return NoisyLevel(counts.astype(np.int64), distribution_from_dict(plain["law"]))
