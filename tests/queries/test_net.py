"""The net mechanism and SmallDB: laws by enumeration."""

from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidData, InvalidParameter
from discreet.queries.net import NetMechanism, small_databases, small_db
from discreet.queries.online.iterative_construction import IterativeConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.lp_synthesis import game_value
from discreet.queries.workload.families import Listed, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

THREE = Universe.of(x=range(3))

FOUR = Workload.of(THREE, {"x": Listed([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])})


def exchanges(cells: int, records: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All pairs of tables that differ in one record."""
    tables = (small_databases(cells, records) * records).round().astype(int)
    return [(x, y) for x, y in product(tables, repeat=2) if np.abs(x - y).sum() == 2]


def test_small_db_is_private_by_enumeration() -> None:
    """000a:F2: |X| = 3, |Q| = 4, alpha = .5: 28 candidates."""
    mechanism = small_db(FOUR, error=0.5, epsilon=1, size=PublicCount(3))
    assert mechanism.net.shape == (28, 3)
    worst = 0.0
    for x, y in exchanges(3, 3):
        ratio = np.abs(np.log(mechanism.distribution(x) / mechanism.distribution(y))).max()
        worst = max(worst, float(ratio))
    assert 0.4 < worst <= 1 + 1e-12
    assert mechanism.event.epsilon(delta=0) == 1


def test_a_net_of_all_small_databases_is_small_db() -> None:
    """000a:G1."""
    counts = np.array([3, 2, 1])
    net = NetMechanism(FOUR, small_databases(3, 6), 2, PublicCount(6))
    db = small_db(FOUR, error=0.5, epsilon=2, size=PublicCount(6))
    assert net.distribution(counts) == pytest.approx(db.distribution(counts))
    errors = [max(abs(FOUR.answers(6 * row) - FOUR.answers(counts))) for row in net.net]
    odds = np.exp(-np.array(errors))
    assert net.distribution(counts) == pytest.approx(odds / odds.sum())


def test_the_net_of_the_book_s_toy_is_private() -> None:
    """004b:A11: |X| = 4, n = 3."""
    line = Workload.of(Universe.of(x=range(4)), {"x": Ranges(4)})
    mechanism = NetMechanism(line, small_databases(4, 3), 1, PublicCount(3))
    for x, y in exchanges(4, 3):
        assert (
            np.abs(np.log(mechanism.distribution(x) / mechanism.distribution(y))).max() <= 1 + 1e-12
        )


def test_samples_of_the_net_follow_its_law() -> None:
    """2000 releases; every frequency within 6 sigma: false alarms below 1e-7."""
    mechanism = small_db(FOUR, error=0.5, epsilon=3, size=PublicCount(6))
    counts = np.array([3, 2, 1])
    law = mechanism.distribution(counts)
    seen = np.zeros(len(law))
    for _ in range(2000):
        released = mechanism.release(counts).counts / 6
        seen[int(np.abs(mechanism.net - released).sum(axis=1).argmin())] += 1
    assert (np.abs(seen / 2000 - law) <= 6 * np.sqrt(law / 2000) + 1e-3).all()


def test_twin_with_half_the_noise_is_caught_by_the_law() -> None:
    honest = small_db(FOUR, error=0.5, epsilon=1, size=PublicCount(3))
    twin = small_db(FOUR, error=0.5, epsilon=4, size=PublicCount(3))
    lost = max(
        float(np.abs(np.log(twin.distribution(x) / twin.distribution(y))).max())
        for x, y in exchanges(3, 3)
    )
    assert lost > float(honest.epsilon)


LINE = Workload.of(Universe.of(x=range(6)), {"x": Ranges(6)})


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="net_too_large"):
        small_databases(100, 100)
    with pytest.raises(InvalidParameter, match="net_misshapen"):
        NetMechanism(FOUR, np.ones((2, 5)) / 5, 1, PublicCount(3))
    with pytest.raises(InvalidParameter, match="updater_misfit"):
        IterativeConstruction(
            LINE, MultiplicativeUpdater(7, 0.1), dp.PureDP(epsilon=1), PublicCount(10)
        )
    with pytest.raises(InvalidData, match="records_differ"):
        small_db(FOUR, error=0.5, epsilon=1, size=PublicCount(3)).release(np.array([1, 1, 2]))
    wide = Workload.marginals(Universe.of(a=range(512), b=range(512)), 2)
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        game_value(wide, np.zeros(wide.queries))
