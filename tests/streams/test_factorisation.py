"""Factorisations have the errors of the literature, and whole numbers where privacy rests."""

import itertools
import math

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.streams.contribution import EventContribution
from discreet.streams.factorisation.banded import banded_coefficients
from discreet.streams.factorisation.dense import OptimalCounter
from discreet.streams.factorisation.optimum import ErrorObjective, optimum, spectral_bound
from discreet.streams.factorisation.participation import participation_norm
from discreet.streams.factorisation.series import (
    inverse,
    multiply,
    multiply_exactly,
    square_root,
)
from discreet.streams.factorisation.toeplitz import ToeplitzCounter, square_root_error
from discreet.streams.resume import from_state, mechanism_from
from discreet.streams.tree import BinaryTree
from discreet.streams.units import EventLevel
from tests.streams.counters import NORMAL


@pytest.mark.parametrize(
    ("horizon", "largest", "mean"),
    [
        (64, 2.38885, 2.22968),
        (256, 2.83105, 2.66878),
        (1024, 3.27255, 3.10979),
        (4096, 3.71388, 3.55129),
        (16384, 4.15517, 3.99288),
    ],
)
def test_the_square_root_errs_as_in_the_catalogue(
    horizon: int, largest: float, mean: float
) -> None:
    counter = ToeplitzCounter(horizon=horizon, spend=NORMAL, unit=EventLevel())
    squares = np.cumsum(counter.errors**2) * counter.noise.distribution.std**2
    assert math.sqrt(squares[-1]) == pytest.approx(largest, abs=6e-6)
    assert math.sqrt(squares.mean()) == pytest.approx(mean, abs=6e-6)
    assert square_root_error(horizon) == pytest.approx(largest, abs=6e-6)
    asymptote = (math.log(horizon) + 0.5772156649 + math.log(16)) / math.pi
    assert largest == pytest.approx(asymptote, abs=1e-2)


@pytest.mark.parametrize(
    ("horizon", "largest", "mean"),
    [
        (16, 1.7045, 1.6894),
        (64, 2.1114, 2.0999),
        pytest.param(256, 2.5328, 2.5244, marks=pytest.mark.slow),
    ],
)
def test_optima_are_those_of_the_catalogue(horizon: int, largest: float, mean: float) -> None:
    for objective, error in ((ErrorObjective.LARGEST, largest), (ErrorObjective.MEAN, mean)):
        found = optimum(horizon, objective)
        assert found.bound <= found.error <= found.bound * 1.0001
        assert found.error == pytest.approx(error, rel=1.2e-4)
        assert spectral_bound(horizon) <= found.bound + 1e-9
        assert np.triu(found.strategy, 1) == pytest.approx(0)
        counter = OptimalCounter(
            horizon=horizon, spend=NORMAL, unit=EventLevel(), objective=objective
        )
        squares = [counter.variance(t) for t in range(1, horizon + 1)]
        worst = max(squares) if objective is ErrorObjective.LARGEST else sum(squares) / horizon
        assert math.sqrt(worst) == pytest.approx(found.error, rel=1e-5)


def test_factorisation_beats_the_tree_by_the_known_factor() -> None:
    horizon = 1 << 14
    tree = BinaryTree(horizon=horizon, levels=15, spend=NORMAL, unit=EventLevel())
    best = ToeplitzCounter(horizon=horizon, spend=NORMAL, unit=EventLevel())
    ratio = math.sqrt(tree.variance(horizon - 1) / best.variance(horizon))
    assert ratio == pytest.approx(14.4914 / 4.15517, rel=0.01)  # 3.49, as the catalogue has it


@pytest.mark.parametrize("objective", ErrorObjective)
@pytest.mark.parametrize(("horizon", "bands"), [(64, 3), (256, 16), (256, 200)])
def test_bands_are_better_than_the_square_root_cut_short(
    horizon: int, bands: int, objective: ErrorObjective
) -> None:
    def error(c: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        squares = np.cumsum(np.cumsum(inverse(c, horizon)) ** 2) * np.sum(c**2)
        return float(squares[-1] if objective is ErrorObjective.LARGEST else squares.mean())

    found = np.array(banded_coefficients(horizon, bands, objective))
    assert (np.diff(found) <= 0).all()
    assert found[-1] >= 0
    assert error(found) < error(square_root(bands))
    moved = [error(found * (1 + 1e-3 * np.cos(k * np.arange(bands)))) for k in range(1, 6)]
    assert error(found) <= min(moved) * (1 + 1e-6)  # a minimum, as far as five directions tell


def test_products_of_whole_numbers_are_exact() -> None:
    rng = np.random.default_rng(1)
    series = rng.integers(0, 2**24, 3000)
    rows = rng.integers(-(10**6), 10**6, (3000, 2))
    found = multiply_exactly(series, rows)
    for t in (0, 1, 1234, 2999):
        direct = sum(int(series[j]) * rows[t - j].astype(object) for j in range(t + 1))
        assert (found[t] == direct).all()
    few = multiply_exactly(series[:5], rows[:20])
    assert (few == multiply_exactly(series[:5], rows)[:20]).all()


def test_the_inverse_series_undoes_a_series() -> None:
    c = square_root(1000)
    assert multiply(c, inverse(c, 1000), 1000) == pytest.approx(np.eye(1, 1000)[0], abs=1e-12)
    assert multiply(c, c, 1000) == pytest.approx(np.ones(1000), abs=1e-12)


def test_another_factorisation_is_not_resumed() -> None:
    counter = OptimalCounter(horizon=16, spend=NORMAL, unit=EventLevel()).open()
    state = counter.state()
    state["mechanism"]["shape"]["digest"] = "0" * 64
    with pytest.raises(InvalidParameter, match="stream_of_another_strategy"):
        from_state(state)


def test_noise_is_that_of_the_opening_even_if_calibration_were_to_change() -> None:
    state = ToeplitzCounter(horizon=16, spend=NORMAL, unit=EventLevel()).open().state()
    plain = state["mechanism"]
    plain["noise"] = {**plain["noise"], "multiplier": "7/2"}
    assert float(mechanism_from(plain).noise.event.noise_multiplier) == 3.5  # type: ignore[attr-defined]


def test_events_that_do_not_fit_64_bits_are_refused() -> None:
    counter = ToeplitzCounter(
        horizon=64,
        spend=NORMAL,
        unit=EventLevel(),
        contribution=EventContribution.of(bound=1 << 40),
    )
    with pytest.raises(InvalidParameter, match="contribution_too_large"):
        counter.open()


@pytest.mark.parametrize("kind", [ToeplitzCounter, OptimalCounter])
def test_horizons_without_room_are_refused(
    kind: type[ToeplitzCounter] | type[OptimalCounter],
) -> None:
    with pytest.raises(InvalidParameter, match="horizon_too_long"):
        kind(horizon=1 << 23, spend=NORMAL, unit=EventLevel())


@pytest.mark.parametrize(
    ("uses", "apart", "root", "cut"),
    [(4, 256, 4.38783, 3.36515), (16, 64, 13.9008, 6.18236), (64, 16, 51.9860, 11.1538)],
)
def test_several_participations_move_as_far_as_in_the_catalogue(
    uses: int, apart: int, root: float, cut: float
) -> None:
    given = {"horizon": 1024, "participations": uses, "separation": apart}
    assert participation_norm(square_root(1024), **given) == pytest.approx(root, rel=1e-5)
    assert participation_norm(square_root(apart), **given) == pytest.approx(cut, rel=1e-5)


def test_no_set_of_uses_is_worse_than_the_first_ones() -> None:
    horizon, apart, uses = 12, 3, 3
    for c in (square_root(horizon), square_root(4), np.ones(horizon)):
        full = np.pad(c, (0, horizon))
        matrix = np.array([np.concatenate([np.zeros(i), full])[:horizon] for i in range(horizon)])
        worst = max(
            float(np.linalg.norm(matrix[list(ticks)].sum(axis=0)))
            for many in range(1, uses + 1)
            for ticks in itertools.combinations(range(horizon), many)
            if all(b - a >= apart for a, b in itertools.pairwise(ticks))
        )
        claimed = participation_norm(c, horizon=horizon, participations=uses, separation=apart)
        assert claimed == pytest.approx(worst)
    with pytest.raises(InvalidParameter, match="coefficients_rise"):
        participation_norm(np.array([1.0, 2.0]), horizon=4, participations=1, separation=1)
