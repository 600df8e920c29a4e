"""Neighbouring cuts taken together: blocks of ranks, fine near those wanted and coarse elsewhere.

Lists of cuts are first proposed by their blocks, at the least cost that any list in them has. How
ranks are divided into blocks decides how often a proposal is kept, and nothing else.

Proof: ``proofs/joint_quantiles.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.mechanisms.quantiles.cuts import Cuts

_MARGIN = 20.0


@dataclass(frozen=True)
class RankBlocks:
    """Blocks in ascending order: the cuts of ranks ``low`` to ``high``. Private.

    ``first`` is the first place of each, ``many`` how many places it has: at least one.
    """

    low: Ints
    high: Ints
    first: Ints
    many: Ints

    @classmethod
    def of(cls, cuts: Cuts, wanted: Floats, rate: float) -> RankBlocks:
        """For cuts wanted at these ranks, where a rank off costs ``rate`` log-odds."""
        low = _borders(cuts, wanted, rate)
        high = np.append(low[1:] - 1, cuts.rows)
        first = np.where(low > 0, cuts.of_rows(np.maximum(low, 1)), 0) if cuts.rows else low
        many = np.diff(first, append=cuts.places)
        some = many > 0
        return cls(low[some], high[some], first[some], many[some])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.low)


def _borders(cuts: Cuts, wanted: Floats, rate: float) -> Ints:
    """Where blocks begin: in steps that lose one log-odd over a whole list, growing outward."""
    rows, levels = cuts.rows, len(wanted)
    # Beyond this far even all places there weigh little against a single one at the rank wanted.
    reach = (levels * math.log(cuts.places) + _MARGIN) / (2 * rate)
    step, spread, at = max(1.0, 1 / (levels * rate)), 4 * math.sqrt(levels), 0.0
    steps = [at]
    while at < rows:
        at += step * (1 + at * rate / spread) if at < reach else at
        steps.append(at)
    both = np.concatenate((-np.array(steps[::-1]), steps))
    borders = np.rint(np.add.outer(wanted, both).reshape(-1)).clip(0, rows).astype(np.int64)
    return np.unique(np.append(borders, 0))
