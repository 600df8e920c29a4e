"""The projection onto laws that give no group more than 1/s: P = min{1, c W}, with sum s.

It keeps the range of log-ratios: where weights of two worlds differ within hi - lo, so do the
projected laws (element caps), or they are mixtures with common weights of pairs that do (group
caps); either way one draw is (hi - lo)-DP and (hi - lo)**2 / 8-zCDP. A group whose weights are
replaced shifts the law by 1/s in total variation at most.

Scores are logarithms of weights, up to a constant. Those of one call are shifted so that the
largest is zero and cut at -700, which keeps ranges too.

Source: analysts-verified:H3. Proof: ``proofs/analysts-projection.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.log_weights import centred, log_sums

_DOUBT = 2.0**-46
_LEAST = -700.0


@dataclass(frozen=True, eq=False)
class Capped:
    """A projected law over groups: who is at the cap, and the scores of all.

    A group at the cap has probability 1/s. The others share the rest in proportion to exp(score).
    """

    scores: Floats
    full: NDArray[np.bool_]
    s: int

    @property
    def masses(self) -> Floats:
        """The projection: numbers of at most one with sum s."""
        masses = np.ones(self.scores.size)
        free = ~self.full
        if free.any():
            weights = np.exp(self.scores[free])
            masses[free] = (self.s - int(self.full.sum())) * (weights / weights.sum())
        return masses


def capped(logs: Floats, s: int) -> Capped:
    """The projection of weights exp(logs), one for each group.

    Contract: a few passes over the groups. Numerics: exactly the projection of weights that differ
    from exp(scores) by a factor of at most 1 + s 2**-45.
    """
    groups = logs.size
    if count("s", s) > groups:
        raise InvalidParameter(
            code="cap_unreachable",
            expectation=f"a cap of at least 1/{groups}, as there are {groups} groups",
            received=s,
            remedy="Choose a smaller s, or a release that does not depend on the queries.",
        )
    scores = np.maximum(centred(logs), _LEAST)
    full = np.zeros(groups, dtype=np.bool_)
    if s == groups:
        return Capped(scores, ~full, s)
    weights = np.exp(scores)
    while True:
        held = int(full.sum())
        scale = (s - held) / weights[~full].sum()
        # In doubt a group is at the cap, so that no other can exceed it by rounding.
        found = np.flatnonzero(~full & (scale * weights >= 1 - _DOUBT))
        if not found.size:
            return Capped(scores, full, s)
        room = s - 1 - held
        if found.size > room:
            # All but the last s-th have the cap: something must be left for the rest.
            full[found[np.argsort(-weights[found], kind="stable")[:room]]] = True
            return Capped(scores, full, s)
        full[found] = True


def group_capped(logs: Floats, width: int, s: int) -> Floats:
    """The projection by group caps: each group's mass, shared within it by weight; sum s."""
    summed = log_sums(logs, width)
    inside = np.exp(logs.reshape(-1, width) - summed[:, None])
    return np.asarray((capped(summed, s).masses[:, None] * inside).ravel())


def pair_logs(tilts: Floats) -> Floats:
    """Logarithms of the weights of pairs {q, not q} of weights exp(tilt) and exp(-tilt)."""
    size = np.abs(tilts)
    return np.asarray(size + np.log1p(np.exp(-2 * size)))


def range_slack(*, reach: float, width: int, s: int) -> float:
    """What rounding can add to the range of log-weights between two worlds.

    ``reach`` bounds twice any tilt, ``width`` is the number of queries of a group.
    """
    return (math.fabs(reach) + width + s + 1) * 2.0**-43
