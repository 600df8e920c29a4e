"""Every column by itself, all of them independent: the baseline that dependence must beat.

Source: 004b:A14 (the model without edges).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.queries.workload.cell_counts import Counted
from discreet.synthetic.adaptive_spend import AdaptiveSpend
from discreet.synthetic.columns import measure_columns
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical.graphical_model import GraphicalModel
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.synthesiser import Synthesiser


@dataclass(frozen=True, kw_only=True)
class IndependentMarginals(Synthesiser):
    """Measures columns alone, each for an equal part of the spend.

    Contract: the workload says only which universe it is.

    Assumptions: as for :class:`~discreet.synthetic.aim.AIM`.

    Guarantee: the event, at the spend.

    Source: 004b:A14. Proof: ``proofs/synthetic.md``.
    """

    @property
    def _steps(self) -> int:
        return len(self._sizes)

    def release(self, counts: Counted) -> GraphicalModel:
        """Measure every column and fit."""
        model, _ = self.run(counts)
        return model.released(self.workload.universe, self.event)

    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        """The model, and the events that ran. For audits; ``release`` is for use."""
        spend = AdaptiveSpend(self.terms)
        exactly = MarginalCounts(counts, self.workload.universe)
        everything = set(range(len(self._sizes)))
        first = measure_columns(
            spend, Fraction(1), exactly, self._sizes, kept=everything, threshold=0.0
        )
        model = ModelInProgress(exactly.merged, self._base, self.size, self.estimator)
        model.learn(*first)
        return model, spend
