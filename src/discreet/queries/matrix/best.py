"""The strategy with the least expected error for a workload, among all that are known here.

The choice looks at workload, spend and universe alone, all of them public, so it costs nothing.

Source: 004b:A7 (products, unions of products, marginals), A22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee, PureDP
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.union import gaussian_union, laplace_union
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.workload import Workload

Measuring = MatrixMechanism | MarginalMechanism

_MOST_GROUPS = 64
"""Groups of products up to which each is given a search of its own."""


def best_strategy(
    workload: Workload,
    spend: Guarantee,
    size: RecordCount | None = None,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> Measuring:
    """The mechanism with the best strategy: one product, a union of products, or residuals.

    Refused only if every strategy is, with the reason of the last one.
    """
    known = NoisyRecordCount() if size is None else size
    made: list[Measuring] = []
    refused: InvalidParameter | None = None
    for make in _strategies(workload, spend):
        try:
            made.append(make(size=known, records=records, randomness=randomness))
        except InvalidParameter as error:
            refused = error
    if not made:
        assert refused is not None
        raise refused
    return min(made, key=lambda mechanism: mechanism.expected_error)


def _strategies(workload: Workload, spend: Guarantee) -> Iterator[Callable[..., Measuring]]:
    yield partial(MatrixMechanism, workload, spend)
    groups = len({product.kept for product in workload.products})
    if 1 < groups <= _MOST_GROUPS:
        search = laplace_union if isinstance(spend, PureDP) else gaussian_union
        # Searched here, where a refusal is one more strategy that does not fit.
        yield lambda **given: MatrixMechanism(workload, spend, search(workload), **given)
    yield partial(MarginalMechanism, workload, spend)
