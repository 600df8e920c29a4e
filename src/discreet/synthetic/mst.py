"""MST: a tree of the pairs of columns that depend on each other most.

A third of the spend measures every column; values too rare to be told apart are merged. A third
selects the tree: one pair after the other, by how far the pair is from independence, among those
that join what is not yet joined. A third measures the selected pairs.

Guarantee: the spend, whatever is selected: a filter holds it.

Source: modern-data:A2. Proof: ``proofs/synthetic.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from discreet.core.parameters import nonnegative
from discreet.queries.workload.cell_counts import Counted
from discreet.synthetic.adaptive_spend import AdaptiveSpend, whole_score
from discreet.synthetic.column_measurements import ColumnShares
from discreet.synthetic.fitting import ModelInProgress
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places
from discreet.synthetic.graphical.measurement import NoisyMarginal
from discreet.synthetic.graphical_mechanism import SETTLING, GraphicalMechanism
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.table_mechanism import too_few

_THIRD = Fraction(1, 3)


@dataclass(frozen=True, kw_only=True)
class MST(GraphicalMechanism):
    """A maximum spanning tree of pairs, found and measured with noise.

    >>> from discreet.core.guarantee import ZCDP
    >>> from discreet.queries import NoisyRecordCount, Universe, Workload
    >>> u = Universe.of(a=range(2), b=range(3), c=range(4))
    >>> mst = MST(workload=Workload.marginals(u, 2), spend=ZCDP(rho=0.1), size=NoisyRecordCount())
    >>> mst.event
    Concentrated(rho=0.1)

    Every pair of columns may become an edge, whatever the workload asks; with a ``target``, the
    tree is a star around it or not as the data have it, and pairs with the target count double. A
    value is merged with other rare ones where its noisy count is below ``merging`` deviations.

    Contract: at least two attributes. The number of records is estimated from noisy marginals where
    it is not public; nothing is spent for it.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Universe,
    zeros and all parameters are public.

    Guarantee: the event, at the spend, whatever is measured.

    Source: modern-data:A2. Proof: ``proofs/synthetic.md``.
    """

    merging: float = 3.0

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        nonnegative("merging", self.merging)
        super().__post_init__()
        if len(self._sizes) == 1:
            raise too_few(1, "a tree of pairs")
        self._require_pairs()

    @property
    def _steps(self) -> int:
        return 3 * len(self._sizes)

    @property
    def _least_share(self) -> Fraction:
        return _THIRD / len(self._sizes)

    @property
    def budget_split(self) -> dict[str, Fraction]:
        """What the spend pays for."""
        return dict.fromkeys(("columns", "selection", "marginals"), _THIRD)

    def run(self, counts: Counted) -> tuple[ModelInProgress, AdaptiveSpend]:
        done = self._columns_measured(
            counts, ColumnShares.fixed(_THIRD), kept=self._unmerged_places, merging=self.merging
        )
        edges = self._tree(done.spend, done.counts, done.model)
        share = _THIRD / max(1, len(edges))
        measured = []
        for pair in edges:
            noisy, variance = done.spend.measured(done.counts(pair), share)
            measured.append(NoisyMarginal(pair, noisy, variance))
        done.model.learn(*measured)
        done.model.settle(SETTLING)
        done.report.step(done.spend)
        return done.model, done.spend

    def _tree(
        self, spend: AdaptiveSpend, counts: MarginalCounts, model: ModelInProgress
    ) -> list[Places]:
        """Kruskal's algorithm with a private choice of each edge."""
        number = len(self._sizes)
        target = None if self.target is None else self.workload.universe.place(self.target)
        pairs = list(combinations(range(number), 2))
        weights = [2 if target in pair else 1 for pair in pairs]
        scores = [
            whole_score(counts(pair), model.estimate(pair), 0.0, weight)
            for pair, weight in zip(pairs, weights, strict=True)
        ]
        share = _THIRD / (number - 1)
        component = list(range(number))
        edges: list[Places] = []
        while len(edges) < number - 1:
            open_ones = [
                i
                for i, (a, b) in enumerate(pairs)
                if component[a] != component[b] and self._fits(model, edges, (a, b))
            ]
            if not open_ones:  # only where structural zeros make cliques that are too large
                break
            heaviest = max(weights[i] for i in open_ones)
            place = spend.selected([scores[i] for i in open_ones], share, heaviest)
            a, b = pairs[open_ones[place]]
            edges.append((a, b))
            old, new = component[b], component[a]
            component = [new if each == old else each for each in component]
        return edges

    def _fits(self, model: ModelInProgress, edges: list[Places], pair: Places) -> bool:
        """Whether a pair keeps the tree within its limit; a tree of pairs alone always does."""
        if not self._base:
            return True
        tree = JunctionTree.of(model.merged.sizes, [*self._base, *edges, pair])
        return tree.size <= self.max_size

    def _require_pairs(self) -> None:
        """Refuse columns whose largest tree of pairs, a star, is too large."""
        sizes = self._sizes
        largest = max(range(len(sizes)), key=sizes.__getitem__)
        star = [tuple(sorted((i, largest))) for i in range(len(sizes)) if i != largest]
        JunctionTree.of(sizes, star).require_within(self.max_size, self._names)
