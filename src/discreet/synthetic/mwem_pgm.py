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
from discreet.synthetic.columns import measure_columns
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical.graphical_model import GraphicalModel
from discreet.synthetic.graphical.junction_tree import JunctionTree
from discreet.synthetic.graphical.measurement import NoisyMarginal
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.synthesiser import StepReport, Synthesiser

_COLUMNS = Fraction(1, 10)
_SELECTING = Fraction(1, 5)
_SETTLING = 200
"""Steps of the last fit; as many for few rows as for many."""


@dataclass(frozen=True, kw_only=True)
class MWEMPGM(Synthesiser):
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
        smallest = min(self._asked, key=lambda each: math.prod(self._sizes[p] for p in each))
        tree = JunctionTree.of(self._sizes, [*self._base, smallest])
        tree.require_within(self.max_size, self._names)

    @property
    def _steps(self) -> int:
        return self.rounds

    def release(self, counts: Counted) -> GraphicalModel:
        """Run all rounds and fit."""
        model, _ = self.run(counts)
        return model.released(self.workload.universe, self.event)

    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        """All rounds: the model, and the events that ran. For audits; ``release`` is for use."""
        spend = AdaptiveSpend(self.terms)
        exactly = MarginalCounts(counts, self.workload.universe)
        report = StepReport(self.progress)
        everything = set(range(len(self._sizes)))
        first = measure_columns(
            spend, _COLUMNS, exactly, self._sizes, kept=everything, threshold=0.0
        )
        model = ModelInProgress(exactly.merged, self._base, self.size, self.estimator)
        model.learn(*first)
        share = (1 - _COLUMNS) / self.rounds
        noise = mean_error(self.terms.noise(share * (1 - _SELECTING)))
        for _ in range(self.rounds):
            offered = [each for each in self._asked if model.fits(each, self.max_size)]
            estimates = [model.estimate(each) for each in offered]
            scores = [
                whole_score(exactly(each), estimate, noise * estimate.size, 1)
                for each, estimate in zip(offered, estimates, strict=True)
            ]
            chosen = offered[spend.selected(scores, share * _SELECTING, 1)]
            noisy, variance = spend.measured(exactly(chosen), share * (1 - _SELECTING))
            model.learn(NoisyMarginal(chosen, noisy, variance))
            report.step(spend)
        model.settle(_SETTLING)
        return model, spend
