"""AIM: measure, again and again, the marginal that the model gets most wrong and that is worth it.

A tenth of the spend measures every column, up to a third where noise is large beside the number of
records. Values that are too rare to be told apart are merged. Then each round selects a marginal by
its weighted error beyond what noise would leave, measures it, and fits the model to everything
measured. When a measurement told no more than its noise, later rounds get half the noise.

Guarantee: the spend, whatever is selected and however the rounds anneal: a filter holds it.

Source: modern-data:A1, A2. Errata: the reference implementation weights measurements by
1/deviation. Changes to the printed algorithm: columns take a tenth of the spend, not 9/160, and
more where records are few; rare values are merged; several marginals may be selected from the same
scores where there are many columns. Proof: ``proofs/synthetic.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.parameters import Number, exact, nonnegative, probability
from discreet.queries.workload.cell_counts import Counted
from discreet.synthetic.adaptive_spend import AdaptiveSpend, mean_error, whole_score
from discreet.synthetic.annealing import MEASURING, AnnealedRounds, first_share
from discreet.synthetic.column_measurements import LEAST_MORE, ColumnShares
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical.junction_tree import Places
from discreet.synthetic.graphical.measurement import NoisyMarginal
from discreet.synthetic.graphical_mechanism import SETTLING, GraphicalMechanism
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.workload_marginals import candidates, workload_marginals

_MOST_FOR_COLUMNS = Fraction(1, 3)
_COLUMN_ERROR = 0.02
"""The part of all records that noise may move, in the mean column, before columns get more."""


@dataclass(frozen=True, kw_only=True)
class AIM(GraphicalMechanism):
    """An adaptive and iterative mechanism for a workload of marginals.

    >>> from discreet.core.guarantee import ZCDP
    >>> from discreet.queries import NoisyRecordCount, Universe, Workload
    >>> u = Universe.of(a=range(2), b=range(3), c=range(4))
    >>> aim = AIM(workload=Workload.marginals(u, 2), spend=ZCDP(rho=1), size=NoisyRecordCount())
    >>> aim.event
    Concentrated(rho=1)

    ``columns`` is the share of the spend that measures every column by itself, and up to a third
    where noise moves more than a fiftieth of all records to other values of the mean column. A
    value is merged with other rare ones where its noisy count is below ``merging`` deviations. With
    a ``target``, marginals that contain it count four times; a selection's sensitivity is that of
    the heaviest.

    Contract: ``release`` counts marginals only, those of the workload and their parts. The number
    of records is estimated from noisy marginals where it is not public; nothing is spent for it.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Workload,
    universe, zeros and all parameters are public.

    Guarantee: the event, at the spend, whatever is measured.

    Source: modern-data:A1. Proof: ``proofs/synthetic.md``.
    """

    columns: Number = Fraction(1, 10)
    merging: float = 3.0

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        nonnegative("merging", self.merging)
        probability("columns", self.columns)
        super().__post_init__()
        _ = self._candidates

    @property
    def _least_share(self) -> Fraction:
        number = len(self._sizes)
        again = exact(self.columns) * LEAST_MORE / number
        return min(again, first_share(number) * min(MEASURING, 1 - MEASURING))

    @cached_property
    def _candidates(self) -> dict[Places, int]:
        target = None if self.target is None else self.workload.universe.place(self.target)
        return candidates(workload_marginals(self.workload, None), target=target)

    @property
    def _batch(self) -> int:
        """Marginals that are selected from the same scores; more where there are many columns."""
        return max(1, len(self._sizes) // 8)

    @property
    def budget_split(self) -> dict[str, Fraction]:
        """What the spend pays for where columns need no more; the rounds share what is left.

        This is the plan. What was spent in fact depends on what came out: a release says it.
        """
        columns = exact(self.columns)
        rest = 1 - columns
        return {
            "columns": columns,
            "selection": rest * (1 - MEASURING),
            "marginals": rest * MEASURING,
        }

    @property
    def most_for_columns(self) -> Fraction:
        """What columns take of the spend where noise is large beside the number of records."""
        return max(exact(self.columns), _MOST_FOR_COLUMNS)

    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        shares = ColumnShares(exact(self.columns), self.most_for_columns, _COLUMN_ERROR)
        done = self._columns_measured(
            counts, shares, kept=self._unmerged_places, merging=self.merging
        )
        rounds = AnnealedRounds(len(self._sizes), self.terms.growth)
        while not rounds.finished:
            self._round(done.spend, rounds, done.counts, done.model)
            done.report.step(done.spend)
        done.model.settle(SETTLING)
        return done.model, done.spend

    def _round(
        self,
        spend: AdaptiveSpend,
        rounds: AnnealedRounds,
        counts: MarginalCounts,
        model: ModelInProgress,
    ) -> None:
        """Select and measure a batch, fit, and anneal where it told no more than noise would."""
        share = rounds.next(spend.share_left)
        limit = self.max_size * float(1 - spend.share_left + share)
        sizes = model.merged.sizes
        fitting = [
            each
            for each in self._candidates
            if math.prod(sizes[place] for place in each) <= self.max_size
            and model.fits(each, limit)
        ]
        noise = mean_error(self.terms.noise(share * MEASURING))
        before, scores = {}, {}
        for each in fitting:
            before[each] = model.estimate(each)
            allowance = noise * before[each].size
            weight = self._candidates[each]
            scores[each] = whole_score(counts(each), before[each], allowance, weight)
        learnt: list[NoisyMarginal] = []
        offered = list(scores)
        while offered and len(learnt) < self._batch:
            if learnt:
                if rounds.finished:
                    break
                share = rounds.next(spend.share_left)
            heaviest = max(self._candidates[each] for each in offered)
            place = spend.selected(
                [scores[each] for each in offered], share * (1 - MEASURING), heaviest
            )
            chosen = offered[place]
            del scores[chosen]
            noisy, variance = spend.measured(counts(chosen), share * MEASURING)
            learnt.append(NoisyMarginal(chosen, noisy, variance))
            beside = model.with_more(each.places for each in learnt)
            offered = [each for each in scores if beside.with_one_more(each) <= limit]
        model.learn(*learnt)
        told = [
            np.abs(model.estimate(each.places) - before[each.places]).sum()
            > noise * each.values.size
            for each in learnt
        ]
        if sum(told) * 2 < len(told) or not any(told):
            rounds.anneal()
