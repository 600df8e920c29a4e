"""The strategy with the least expected error for a workload, among all that are known here.

The choice looks at workload, spend and universe alone, all of them public, so it costs nothing.

Source: 004b:A7 (products, unions of products, marginals), A22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.mechanisms.for_spend import Reading, is_laplace, least_error, readings
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.minimax_optimum import minimax_optimum
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import identity, total
from discreet.queries.matrix.union import gaussian_union, laplace_union
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.families import All
from discreet.queries.workload.workload import Product, Workload

Measuring = MatrixMechanism | MarginalMechanism

_MOST_ENTRIES = 1 << 18
"""Numbers in the rows of an attribute up to which their minimax strategy is searched for."""
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


def union_mechanism(
    workload: Workload,
    spend: Guarantee,
    size: RecordCount,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> MatrixMechanism:
    """The matrix mechanism with a strategy for each set of attributes, searched for each noise."""

    def build_mechanism(reading: Reading) -> MatrixMechanism:
        search = laplace_union if is_laplace(reading) else gaussian_union
        return MatrixMechanism(
            workload, spend, search(workload, size), size, records, randomness=randomness
        )

    return least_error(readings(spend), build_mechanism, lambda each: each.expected_error)


def minimax_mechanism(
    workload: Workload,
    spend: Guarantee,
    size: RecordCount,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> MatrixMechanism:
    """The matrix mechanism whose least exact answer is the most exact, among strategies known here.

    Those of least mean error, single values, and for Gaussian noise on one product of queries the
    optimum itself, attribute by attribute.
    """
    searched = MatrixMechanism(workload, spend, None, size, records, randomness=randomness)
    strategies = [searched.strategy, _single_values(workload)]
    if len(workload.products) == 1 and _few_entries(workload.products[0]):
        (product,) = workload.products
        factors = (
            total(family.size)
            if isinstance(family, All)
            else minimax_optimum(family.dense()).strategy
            for family in product.families
        )
        strategies.append(ProductStrategy.of(*factors))
    made = [replace(searched, strategy=strategy) for strategy in strategies]
    return min(made, key=lambda each: float(each.deviations(workload).max()))


def _single_values(workload: Workload) -> ProductStrategy:
    kept = {place for product in workload.products for place in product.kept_places}
    sizes = enumerate(workload.universe.shape)
    return ProductStrategy.of(
        *(identity(size) if place in kept else total(size) for place, size in sizes)
    )


def _few_entries(product: Product) -> bool:
    return all(family.queries * family.size <= _MOST_ENTRIES for family in product.families)


def _strategies(workload: Workload, spend: Guarantee) -> Iterator[Callable[..., Measuring]]:
    yield partial(MatrixMechanism, workload, spend)
    groups = len({product.kept_places for product in workload.products})
    if 1 < groups <= _MOST_GROUPS:
        # Searched where it is made: a refusal is one more strategy that does not fit.
        yield partial(union_mechanism, workload, spend)
    yield partial(MarginalMechanism, workload, spend)
