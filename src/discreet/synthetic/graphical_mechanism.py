"""What mechanisms share that leave a graphical model: columns first, then steps of their own.

Source: modern-data:A1, A2. Proof: ``proofs/synthetic.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

from discreet.queries.workload.cell_counts import Counted
from discreet.synthetic.adaptive_spend import AdaptiveSpend
from discreet.synthetic.column_measurements import ColumnShares, measure_columns
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical.graphical_model import GraphicalModel
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.progress import StepReport
from discreet.synthetic.table_mechanism import TableMechanism

SETTLING = 200
"""Steps of the last fit; as many for few rows as for many."""


@dataclass(frozen=True, eq=False)
class FitInProgress:
    """A release under way: what was spent, exact counts, the model of what was measured."""

    spend: AdaptiveSpend
    counts: MarginalCounts
    report: StepReport
    model: ModelInProgress


class GraphicalMechanism(TableMechanism, ABC):
    """A mechanism whose release is the model that :meth:`run` ends with."""

    def release(self, counts: Counted) -> GraphicalModel:
        """Run all steps and fit."""
        model, spend = self.run(counts)
        return model.released(self.workload.universe, self.event, dict(spend.split))

    @abstractmethod
    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        """All steps: the model, and the events that ran. For audits; ``release`` is for use."""

    def _columns_measured(
        self, counts: Counted, shares: ColumnShares, *, kept: Collection[int], merging: float
    ) -> FitInProgress:
        """Measure every column for its shares of the spend, merge rare values, and fit."""
        spend = AdaptiveSpend(self.terms)
        exactly = MarginalCounts(counts, self.workload.universe)
        report = StepReport(self.progress)
        first = measure_columns(spend, shares, exactly, self._sizes, kept=kept, threshold=merging)
        model = ModelInProgress(exactly.merged, self._base, self.size, self.estimator)
        model.learn(*first)
        report.step(spend)
        return FitInProgress(spend, exactly, report, model)
