"""The search for a minimiser ends, whatever rows say; sizes that would overflow are refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.core.errors import InvalidParameter
from discreet.learn.optimisers import gradient_sums, newton
from discreet.learn.optimisers.gradient_sums import DOUBLES, WIDEST
from discreet.learn.optimisers.newton import minimise

SMOOTH: list[Any] = [learn.LogisticLoss(), learn.HuberLoss(1.3), learn.SmoothHingeLoss(0.4)]
RNG = np.random.default_rng(19)
PRIVATE = learn.Privacy.from_spend_and_unit(dp.PureDP(epsilon=1), dp.Row())


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often all rows were read, in each way; more than a thousand times fails."""
    seen: list[int] = []
    for kind in (gradient_sums.DoubleSum, gradient_sums.WidestSum):
        usual = kind.of

        def counted(*given: Any, usual: Any = usual) -> Any:
            seen.append(1)
            assert len(seen) < 1000
            return usual(*given)

        monkeypatch.setattr(kind, "of", counted)
    return seen


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("label", [-1.0, -0.5, 0.0, 1e-3, 1.0])
def test_the_bend_is_the_derivative_of_the_slope(loss: Any, label: float) -> None:
    t = np.array([-3.1, -0.5, 0.2, 0.9, 1.05, 1.2, 2.5])
    y, step = np.full(7, label), 1e-6
    difference = (loss.slope(t + step, y) - loss.slope(t - step, y)) / (2 * step)
    assert loss.bend(t, y) == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize("ridge", [1e-3, 1e-7, 1e-14])
@pytest.mark.parametrize("labels", [(-1.0, 0.0, 0.0), (1.0, 0.5, 1e-300), (0.0, 0.0, 0.0)])
def test_labels_between_the_classes_do_not_slow_the_search(
    labels: tuple[float, ...], ridge: float, evaluations: list[int]
) -> None:
    """A bend that ignores the label makes steps too short, millions of them."""
    y, x = np.array(labels), np.ones((3, 4)) * (1 - 2.0**-53)
    for loss in (learn.LogisticLoss(), learn.SmoothHingeLoss(0.5)):
        evaluations.clear()
        minimise(loss, x, y, ridge=ridge, tilt=np.zeros(4))
        assert len(evaluations) <= 60


WALLED = {
    "flat beside steep": [[1e-8, 1e-8, 5e-324], [1.0, -1.0, 1e-8]],
    "all alike": (np.ones((40, 12)) * 10.0 ** -RNG.integers(0, 12, 12)).tolist(),
    "nearly alike": (RNG.uniform(-1, 1, (1, 12)) + RNG.normal(size=(40, 12)) * 1e-9).tolist(),
    "apart": RNG.choice([-1.0, 1.0], (10, 12)).tolist(),
}


@pytest.mark.parametrize("rows", WALLED)
@pytest.mark.parametrize("ridge", [1e-6, 1e-13])
@pytest.mark.parametrize("way", [DOUBLES, WIDEST], ids=["both", "widest"])
def test_coordinates_meet_the_wall_one_after_another_and_stay(
    rows: str, ridge: float, way: Any, evaluations: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wall is so stiff that a coordinate behind it by less than a double's step counts."""
    if way is WIDEST:
        monkeypatch.setattr(newton, "_DOUBLE_ROUNDS", 0)
    x = np.clip(WALLED[rows], -1, 1)
    size = x.shape[1]
    for loss, y in (
        (learn.LogisticLoss(), np.ones(len(x))),
        (learn.HuberLoss(0.5), np.full(len(x), 1e6)),
        (learn.HuberLoss(2e6), np.where(np.arange(len(x)) % 2 == 0, 1e6, -3e6)),
        (learn.SmoothHingeLoss(2.0), np.where(np.arange(len(x)) % 3 == 0, 1.0, -1.0)),
    ):
        evaluations.clear()
        found = minimise(loss, x, y, ridge=ridge * loss.lipschitz, tilt=np.zeros(size))
        assert abs(found).max() <= newton.RADIUS / np.sqrt(size) + 1
        assert len(evaluations) <= 300


def test_doubles_alone_do_as_where_the_widest_numbers_are_doubles(
    evaluations: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradient_sums.WidestSum, "unit", DOUBLES.unit)
    monkeypatch.setattr(np, "longdouble", np.float64)
    for loss in SMOOTH:
        x, y = RNG.uniform(-1, 1, (200, 5)), RNG.choice([-1.0, 0.0, 1.0, 1e9], 200)
        tilt = RNG.normal(size=5)
        found = minimise(loss, x, loss.targets(y), ridge=0.1, tilt=tilt)
        gradient = loss.slope(x @ found, loss.targets(y)) @ x + 0.1 * found + tilt
        assert np.linalg.norm(gradient) <= newton.certified_gradient(loss, 5)
        assert newton.certified_gradient(loss, 5) > 2.0**-62 * 2.0**28
    assert len(evaluations) <= 300


@pytest.mark.parametrize("optimiser", [learn.ObjectivePerturbation, learn.OutputPerturbation])
@pytest.mark.parametrize(
    ("loss", "ridge"),
    [
        (learn.HuberLoss(1e300), 1.0),
        (learn.HuberLoss(1e-300), 1.0),
        (learn.SmoothHingeLoss(1e-300), 1.0),
        (learn.LogisticLoss(), 1e300),
    ],
    ids=repr,
)
def test_sizes_that_would_overflow_are_refused_before_data(
    optimiser: Any, loss: Any, ridge: float
) -> None:
    with pytest.raises(InvalidParameter, match="minimiser_scale"):
        optimiser(loss=loss, rows=learn.Cube(2), ridge=ridge, privacy=PRIVATE)


def test_a_ridge_of_nothing_is_refused_where_no_other_is_taken() -> None:
    with pytest.raises(InvalidParameter, match="minimiser_scale"):
        learn.OutputPerturbation(
            loss=learn.LogisticLoss(), rows=learn.Cube(2), ridge=1e-300, privacy=PRIVATE
        )


def test_an_epsilon_of_a_million_buys_the_ridge_that_was_asked_for() -> None:
    rich = learn.Privacy.from_spend_and_unit(dp.PureDP(epsilon=10**6), dp.Row())
    made = learn.ObjectivePerturbation(
        loss=learn.LogisticLoss(), rows=learn.Ball(2), ridge=0.5, privacy=rich
    )
    assert made.strength == pytest.approx(0.5)
    assert np.isfinite(made.minimise(np.ones((5, 2)), np.ones(5))).all()


@pytest.mark.parametrize("far", [1e300, 0.0, 1e-320])
@pytest.mark.parametrize("loss", [*SMOOTH, learn.AbsoluteLoss()], ids=repr)
def test_candidates_whose_losses_no_number_tells_apart_are_refused_before_data(
    loss: Any, far: float
) -> None:
    """For some rows a division by their reach, or a square, would warn."""
    with pytest.raises(InvalidParameter, match=r"reach_unusual|interval_missing"):
        learn.ExponentialLine(loss=loss, low=-far, high=far, privacy=PRIVATE)
    with pytest.raises(InvalidParameter, match=r"reach_unusual|candidates_shape"):
        learn.ExponentialERM(
            loss=loss, rows=learn.Cube(1), candidates=np.array([[-far], [far]]), privacy=PRIVATE
        )
    made = learn.ExponentialLine(loss=loss, low=-(2.0**399), high=2.0**399, privacy=PRIVATE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.minimise(np.array([np.nan, 1.0, np.inf]), np.array([np.inf, 1e300, -1e308]))
