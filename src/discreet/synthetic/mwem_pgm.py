"""MWEM with a graphical model in place of a weight for every cell, so that universes may be large.

A fixed number of rounds with equal shares; each selects the asked marginal with the largest error
beyond its noise, measures it, and fits the model to everything measured.

Source: 004b:A14, A15; modern-data:A1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.parameters import count
from discreet.queries.workload.cell_counts import Counted
from discreet.synthetic.adaptive_spend import AdaptiveSpend, mean_error, whole_score
from discreet.synthetic.column_measurements import ColumnShares
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical.junction_tree import JunctionTree
from discreet.synthetic.graphical.measurement import NoisyMarginal
from discreet.synthetic.graphical_mechanism import SETTLING, GraphicalMechanism

_COLUMNS = Fraction(1, 10)
_SELECTING = Fraction(1, 5)


@dataclass(frozen=True, kw_only=True)
class MWEMPGM(GraphicalMechanism):
    """``rounds`` rounds of selecting and measuring one of the workload's own marginals.

    Contract: at least one of the workload's marginals fits ``max_size`` by itself.

    Assumptions: as for :class:`~discreet.synthetic.aim.AIM`.

    Guarantee: the event, at the spend, whatever is measured.

    Source: 004b:A15; modern-data:A1. Proof: ``proofs/synthetic.md``.
    """

    rounds: int

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        object.__setattr__(self, "rounds", count("rounds", self.rounds))
        super().__post_init__()
        smallest = min(
            self._marginal_weights, key=lambda each: math.prod(self._sizes[p] for p in each)
        )
        tree = JunctionTree.of(self._sizes, [*self._base, smallest])
        tree.require_within(self.max_size, self._names)

    @property
    def _steps(self) -> int:
        return self.rounds

    @property
    def _least_share(self) -> Fraction:
        each = (1 - _COLUMNS) / self.rounds
        return min(_COLUMNS / len(self._sizes), each * min(_SELECTING, 1 - _SELECTING))

    @property
    def budget_split(self) -> dict[str, Fraction]:
        """What the spend pays for; all rounds alike."""
        rest = 1 - _COLUMNS
        return {
            "columns": _COLUMNS,
            "selection": rest * _SELECTING,
            "marginals": rest * (1 - _SELECTING),
        }

    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        everything = set(range(len(self._sizes)))
        done = self._columns_measured(
            counts, ColumnShares.fixed(_COLUMNS), kept=everything, merging=0.0
        )
        spend, exactly, model = done.spend, done.counts, done.model
        share = (1 - _COLUMNS) / self.rounds
        noise = mean_error(self.terms.noise(share * (1 - _SELECTING)))
        for _ in range(self.rounds):
            offered = [each for each in self._marginal_weights if model.fits(each, self.max_size)]
            estimates = [model.estimate(each) for each in offered]
            scores = [
                whole_score(exactly(each), estimate, noise * estimate.size, 1)
                for each, estimate in zip(offered, estimates, strict=True)
            ]
            chosen = offered[spend.selected(scores, share * _SELECTING, 1)]
            noisy, variance = spend.measured(exactly(chosen), share * (1 - _SELECTING))
            model.learn(NoisyMarginal(chosen, noisy, variance))
            done.report.step(spend)
        model.settle(SETTLING)
        return model, spend
