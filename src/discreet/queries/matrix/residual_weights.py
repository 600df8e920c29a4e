"""How precisely to measure the residuals of a workload's marginals.

A workload needs the residual A with gain g_A: its weighted total squared error is Σ g_A v_A with
v_A the variance of the residual. A product with Gram matrices G_i on its kept axes T adds to every
A ⊆ T, times its squared weight, ∏_{i in A} tr(G_i P_i) ∏_{i in T - A} 1ᵀG_i1 / n_i².

Gaussian noise measures residuals themselves. One record moves residual A by c_A = ∏_A (1 - 1/n_i),
squared; by Cauchy–Schwarz Σ g_A / p_A is least under Σ c_A p_A = 1 at p_A ∝ √(g_A / c_A), where it
is (Σ √(g_A c_A))². No other linear measurement under Gaussian noise of one record's L2 norm does
better for marginals, whose optimum may be taken symmetric under relabelling of values.

Laplace noise measures tables by whole axes, those of two values contrasted or not: every record
moves each by one. Their error Σ g_A / Σ_t T_At w_t² under Σ w_t = 1 is not convex; a multiplicative
descent from several starts finds weights, in one step where each residual is told by one table:
w_t ∝ (g_t / T_t)^{1/3}.

Source: 004b:A7 (marginal strategies), checked against explicit optima in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.queries.matrix.marginal_strategy import MarginalStrategy, MeasuredTable
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.families import Each, QueryFamily
from discreet.queries.workload.workload import Places, Workload, subsets

MOST_AXES = 12
"""A marginal over d axes has 2**d residuals."""
_BITS = 30
"""Places of weights: measurements of 2**31 records fit 61 bits."""
_LEAST = 1e-4
"""The share of the spend that residuals which no query needs have together."""
_ROUNDS = 300
_FEW_AXES = 8
_FEW_CELLS = 1 << 16


def gains(workload: Workload) -> dict[Places, float]:
    """What a unit of variance of each residual adds to the workload's weighted total error."""
    known: dict[QueryFamily, tuple[float, float]] = {}
    found: dict[Places, float] = {}
    for product in workload.products:
        if len(product.kept_places) > MOST_AXES:
            raise InvalidParameter(
                code="marginal_too_wide",
                expectation=f"marginals of at most {MOST_AXES} attributes",
                received=len(product.kept_places),
                remedy="Ask for marginals of fewer attributes, or use MatrixMechanism.",
            )
        families = {place: product.families[place] for place in product.kept_places}
        for family in families.values():
            if family not in known:
                known[family] = _parts(family)
        for residual in subsets(product.kept_places):
            gain = product.weight**2
            for place, family in families.items():
                gain *= known[family][0 if place in residual else 1]
            found[residual] = found.get(residual, 0.0) + gain
    return found


def _parts(family: QueryFamily) -> tuple[float, float]:
    """The trace of the centred Gram matrix, and the mean of its entries."""
    size = family.size
    if isinstance(family, Each):
        return float(size - 1), 1 / size
    gram = family.gram()
    mean = float(gram.sum()) / size**2
    return max(float(np.trace(gram)) - mean * size, 0.0), mean


def residual_strategy(workload: Workload, size: RecordCount) -> MarginalStrategy:
    """The best precisions for Gaussian noise, in closed form."""
    shape, needed = workload.universe.shape, gains(workload)
    tables, shares = [], []
    for residual in _measurable(needed, shape, size):
        table = _table(residual, shape, frozenset(residual))
        tables.append(table)
        precision = next(iter(table.residual_precisions.values()))
        # At unit weight: the cost is l2_squared, the variance 1 / precision.
        shares.append(math.sqrt(needed[residual] * table.l2_squared / precision))
    spent = np.array(shares)
    spent = np.maximum(spent, _LEAST * spent.sum() / len(spent))
    costs = np.array([float(table.l2_squared) for table in tables])
    return _rounded(tables, np.sqrt(spent / spent.sum() / costs))


def table_strategy(workload: Workload, size: RecordCount) -> MarginalStrategy:
    """Weights of tables for Laplace noise, by descent."""
    shape, needed = workload.universe.shape, gains(workload)
    sets = _measurable(needed, shape, size)
    tables = _candidates(sets, shape)
    row_of = {places: row for row, places in enumerate(sets)}
    entries = [
        (row_of[residual], column, precision)
        for column, table in enumerate(tables)
        for residual, precision in table.residual_precisions.items()
        if residual in row_of
    ]
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    telling = csr_array((values, (rows, columns)), shape=(len(sets), len(tables)))
    wanted = np.array([needed[places] for places in sets])
    wanted = np.maximum(wanted, _LEAST**3 * wanted.max())
    order = np.array([len(table.places) for table in tables])
    bare = np.array([not table.contrasted for table in tables])
    starts = (
        np.ones(len(order)),
        np.where(order == order.max(), 1.0, 0.01),
        4.0**order,
        np.where(bare & (order > 0) & bare.any(), 1e-3, 1.0),
    )
    best = min((_descended(telling, wanted, start) for start in starts), key=lambda pair: pair[0])
    return _pruned(tables, best[1], set(sets))


def _candidates(sets: list[Places], shape: tuple[int, ...]) -> list[MeasuredTable]:
    """Tables by the wanted sets; by all sets, where there are few attributes."""
    axes = tuple(sorted({place for places in sets for place in places}))
    more = subsets(axes) if len(axes) <= _FEW_AXES else ()
    small = [places for places in more if math.prod(shape[p] for p in places) <= _FEW_CELLS]
    tables = {}
    for places in (*sets, *small):
        pairs = frozenset(place for place in places if shape[place] == 2)
        for contrasted in (pairs, frozenset[int]()):
            tables[places, contrasted] = _table(places, shape, contrasted)
    return list(tables.values())


def _descended(telling: csr_array, wanted: Floats, start: Floats) -> tuple[float, Floats]:
    """Weights that add up to one, and their error: each times the cube root of its slope."""
    weights = start / start.sum()
    best = math.inf, weights
    for _ in range(_ROUNDS):
        precision = telling @ weights**2
        error = float((wanted / precision).sum())
        if error < best[0]:
            converged, best = error > best[0] * (1 - 1e-9), (error, weights)
            if converged:
                break
        slope = weights * (telling.T @ (wanted / precision**2))
        weights = weights * np.cbrt(slope / slope.max())
        weights = np.maximum(weights / weights.sum(), 1e-12)
    return best


def _pruned(tables: list[MeasuredTable], weights: Floats, needed: set[Places]) -> MarginalStrategy:
    """Without the tables of negligible weight, unless they alone tell a residual."""
    missing, kept = set(needed), []
    for column in np.argsort(-weights):
        told = set(tables[column].residual_precisions)
        if weights[column] > _LEAST * weights.max() or told & missing:
            kept.append(int(column))
            missing -= told
    kept.sort()
    return _rounded([tables[column] for column in kept], weights[kept] / weights[kept].sum())


def _rounded(tables: list[MeasuredTable], weights: Iterable[float]) -> MarginalStrategy:
    """Whole weights, none of them zero."""
    return MarginalStrategy(
        tuple(
            replace(table, weight=max(1, round(weight * 2**_BITS)))
            for table, weight in zip(tables, weights, strict=True)
        )
    )


def _measurable(
    needed: Mapping[Places, float], shape: tuple[int, ...], size: RecordCount
) -> list[Places]:
    """Residuals that are not known beforehand.

    Those of an axis of one value are zero; the total is public where records are exchanged.
    """
    found = [
        places
        for places in sorted(needed, key=lambda places: (len(places), places))
        if all(shape[place] > 1 for place in places)
        and (places or not isinstance(size, PublicCount))
    ]
    if not any(needed[places] > 0 for places in found):
        raise InvalidParameter(
            code="workload_public",
            expectation="queries whose answers are not known beforehand",
            received=len(needed),
            remedy="Nothing needs to be measured: the number of records is public.",
        )
    return found


def _table(places: Places, shape: tuple[int, ...], contrasted: frozenset[int]) -> MeasuredTable:
    return MeasuredTable(places, tuple(shape[place] for place in places), contrasted, 1)
