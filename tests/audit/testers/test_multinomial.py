from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.audit.testers.multinomial import divergence, miss, tail, threshold


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


@pytest.mark.parametrize(("draws", "masses"), [(200, (0.5, 0.5)), (60, (0.9, 0.1))])
@pytest.mark.parametrize("extra", [(), (0.02,)])
def test_the_tail_bound_holds_for_every_outcome_of_small_samples(
    draws: int, masses: tuple[float, ...], extra: tuple[float, ...]
) -> None:
    p = np.array(masses + extra) / (sum(masses) + sum(extra))
    counts = np.array(list(compositions(draws, len(p))))
    logs = gammaln(draws + 1) - gammaln(counts + 1).sum(axis=1) + (counts * np.log(p)).sum(axis=1)
    statistics = np.array([divergence(row, p) for row in counts])
    order = np.argsort(-statistics)
    reached = np.cumsum(np.exp(logs)[order])
    for statistic, probability in zip(statistics[order], reached, strict=True):
        assert probability <= tail(statistic, cells=len(p)) * (1 + 1e-9)


def test_the_threshold_inverts_the_tail() -> None:
    assert tail(threshold(1e-9, cells=20), cells=20) == pytest.approx(1e-9)
    assert threshold(1e-9, cells=1) == np.inf


def test_one_draw_from_an_impossible_cell_is_proof() -> None:
    assert divergence(np.array([10**6, 1]), np.array([1.0, 0.0])) == np.inf
    assert tail(np.inf, cells=2) == 0


def test_the_miss_bound_holds_for_a_coin_by_enumeration() -> None:
    fair, bent, draws, alpha = np.array([0.5, 0.5]), np.array([0.6, 0.4]), 1000, 1e-3
    heads = np.arange(draws + 1)
    logs = gammaln(draws + 1) - gammaln(heads + 1) - gammaln(draws - heads + 1)
    chance = np.exp(logs + draws * np.log(0.5))
    passing = [
        tail(divergence(np.array([h, draws - h]), bent), cells=2) > alpha for h in heads.tolist()
    ]
    exact = float(chance[passing].sum())
    assert exact <= miss(fair, bent, size=draws, alpha=alpha) < 1


def test_equal_laws_are_always_missed() -> None:
    fair = np.array([0.5, 0.5])
    assert miss(fair, fair, size=10**6, alpha=1e-3) == 1
