"""Every column by itself, all of them independent: the baseline that dependence must beat.

Source: 004b:A14 (the model without edges).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.queries.workload.cell_counts import Counted
from discreet.synthetic.adaptive_spend import AdaptiveSpend
from discreet.synthetic.column_measurements import ColumnShares
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical_mechanism import GraphicalMechanism


@dataclass(frozen=True, kw_only=True)
class IndependentMarginals(GraphicalMechanism):
    """Measures columns alone, each for an equal part of the spend.

    Contract: the workload says only which universe it is.

    Assumptions: as for :class:`~discreet.synthetic.aim.AIM`.

    Guarantee: the event, at the spend.

    Source: 004b:A14. Proof: ``proofs/synthetic.md``.
    """

    @property
    def _steps(self) -> int:
        return len(self._sizes)

    @property
    def budget_split(self) -> dict[str, Fraction]:
        """What the spend pays for."""
        return {"columns": Fraction(1)}

    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        everything = set(range(len(self._sizes)))
        done = self._columns_measured(counts, ColumnShares.fixed(1), kept=everything, merging=0.0)
        return done.model, done.spend
