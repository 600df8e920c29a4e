"""Certified minimisers, targets that are not believed, and whose rows optimisers read."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.learn.losses import admitted
from discreet.learn.optimisers import gradient_sums, newton
from discreet.learn.optimisers.gradient_sums import DOUBLES, WIDEST, rounding
from discreet.learn.optimisers.newton import certified_gradient, minimise
from discreet.learn.row_products import predictions, predictions_of_each, row_sums

APPROXIMATE = learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Row())
RNG = np.random.default_rng(2)
X = RNG.uniform(-1, 1, (3000, 2))
Y = np.where(X @ [2.0, -1.0] + RNG.logistic(size=3000) / 3 > 0, 1.0, -1.0)


def with_epsilon(epsilon: float) -> learn.Privacy:
    return learn.Privacy.from_spend_and_unit(dp.PureDP(epsilon=epsilon), dp.Row())


@pytest.mark.parametrize("optimiser", [learn.ObjectivePerturbation, learn.OutputPerturbation])
def test_a_target_out_of_its_domain_moves_no_more_than_a_row_may(optimiser: Any) -> None:
    x, y = np.ones((200, 1)), np.ones(200)
    made = optimiser(
        loss=learn.LogisticLoss(), rows=learn.Ball(1), ridge=20.0, privacy=with_epsilon(1e3)
    )
    usual = float(made.minimise(x, y)[0])
    for bad in (np.nan, np.inf, -np.inf, -1e4, 1e300):
        found = float(made.minimise(x, np.append(y[1:], bad))[0])
        assert abs(found - usual) <= 2 / 20  # a row exchanged


def test_the_gradient_is_certified_beside_what_doubles_lose() -> None:
    """Parts of both signs: doubles drift, the certificate does not."""
    n = 60_000
    x = np.ones((n, 2))
    x[:, 0] = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    y = np.where(np.arange(n) % 10 < 3, 1.0, -1.0)
    loss = learn.LogisticLoss()
    tilt = np.array([1e3, -3e2])
    found = minimise(loss, x, y, ridge=1.0, tilt=tilt)
    slopes = loss.slope((x.astype(np.longdouble) @ found), y)
    for column in range(2):
        parts = (slopes * x[:, column]).astype(float).tolist()
        ends = [float(found[column]), float(tilt[column])]
        assert abs(math.fsum(parts + ends)) <= certified_gradient(loss, 2) + 1e-10


def test_no_point_is_returned_without_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first rounds in doubles are none at all, the same point is found."""
    tilt = np.array([3.0, -2.0])
    usual = minimise(learn.SmoothHingeLoss(0.1), X, Y, ridge=2.0, tilt=tilt)
    monkeypatch.setattr(newton, "_DOUBLE_ROUNDS", 0)
    found = minimise(learn.SmoothHingeLoss(0.1), X, Y, ridge=2.0, tilt=tilt)
    assert np.linalg.norm((found - usual).astype(float)) <= 1e-6


@pytest.mark.parametrize("way", [DOUBLES, WIDEST])
def test_rounding_enters_the_certificate(way: Any) -> None:
    loss = learn.LogisticLoss()

    def of(rows: float) -> float:
        return rounding(way, loss, 3, rows=rows, rows_length=0)

    assert of(2e6) == pytest.approx(2 * of(1e6))
    assert of(1e6) > 1e6 * way.lost(loss)
    farthest = rounding(WIDEST, loss, 3, rows=2.0**28, rows_length=2.0**36)
    assert certified_gradient(loss, 3) >= farthest


@pytest.mark.parametrize("rows", [1, 127, 128, 129, 5_000])
@pytest.mark.parametrize("length", [0.1, 3.0, 200.0])
def test_each_way_of_adding_keeps_its_bound_of_rounding(rows: int, length: float) -> None:
    """The truth comes from fractions: Huber's slopes are sums and products of what is given."""
    loss = learn.HuberLoss(0.7)
    x, y = RNG.uniform(-1, 1, (rows, 3)), RNG.normal(size=rows) * length
    theta = RNG.normal(size=3) * length
    exact = [Fraction(0)] * 3
    for row, target in zip(x.tolist(), y.tolist(), strict=True):
        apart = sum(Fraction(a) * Fraction(b) for a, b in zip(row, theta.tolist(), strict=True))
        slope = min(max(apart - Fraction(target), -Fraction(0.7)), Fraction(0.7))
        exact = [done + slope * Fraction(each) for done, each in zip(exact, row, strict=True)]
    for way, at in ((DOUBLES, theta), (WIDEST, theta.astype(np.longdouble))):
        found = way.of(loss, x, y, at)
        halves = [(float(each), float(each - float(each))) for each in found]
        gaps = [
            float(Fraction(a) + Fraction(b) - c) for (a, b), c in zip(halves, exact, strict=True)
        ]
        far = rows * float(np.linalg.norm(theta))
        assert math.hypot(*gaps) <= rounding(way, loss, 3, rows=rows, rows_length=far)


def test_where_doubles_cannot_certify_the_widest_arithmetic_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks so long that even a gradient of zero would be in doubt; the points agree."""
    loss, tilt = learn.LogisticLoss(), np.array([3.0, -2.0])
    usual = minimise(loss, X, Y, ridge=2.0, tilt=tilt)
    assert usual.dtype == np.float64
    monkeypatch.setattr(gradient_sums, "_BLOCK", 1 << 40)
    problem = newton._Problem(loss, X, Y, 2.0, tilt)
    assert not problem.certified(DOUBLES, usual, np.zeros(2))
    closer = minimise(loss, X, Y, ridge=2.0, tilt=tilt)
    assert closer.dtype == np.longdouble
    assert np.linalg.norm((closer - usual).astype(float)) <= 1e-6


def test_a_part_of_the_rows_says_where_to_begin_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every eighth row is of another kind than the rest."""
    x, y = X.copy(), Y.copy()
    x[::8], y[::8] = [1.0, 0.0], -1.0
    tilt = np.array([3.0, -2.0])
    usual = minimise(learn.LogisticLoss(), x, y, ridge=2.0, tilt=tilt)
    monkeypatch.setattr(newton, "_FEW", 100)
    found = minimise(learn.LogisticLoss(), x, y, ridge=2.0, tilt=tilt)
    assert np.linalg.norm((found - usual).astype(float)) <= 2e-6
    assert (found != usual).any()


ROWS = {
    "one": (np.ones((1, 2)), np.ones(1)),
    "none": (np.zeros((0, 2)), np.zeros(0)),
    "equal": (np.ones((2000, 2)), np.ones(2000)),
    "opposed": (np.ones((2000, 2)), np.repeat([1.0, -1.0], 1000)),
    "far": (np.ones((2000, 2)), np.full(2000, 1e300)),
    "one far": (np.ones((1, 2)), np.full(1, 1e300)),
    "wild": (X[:2000], RNG.normal(size=2000) * 1e6),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("ridge", [1.0, 1e-3, 1e-13])
@pytest.mark.parametrize(
    "loss",
    [
        learn.LogisticLoss(),
        learn.HuberLoss(1.0),
        learn.HuberLoss(1e-6),
        learn.HuberLoss(100.0),
        learn.SmoothHingeLoss(1e-6),
    ],
    ids=repr,
)
def test_the_search_ends_for_all_rows(
    loss: Any, ridge: float, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the wall, twenty thousand targets of 1e300 lead to where nothing can be certified."""
    evaluations = 0
    widest = gradient_sums.WidestSum.of

    def counted(*given: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        assert evaluations < 50
        return widest(*given)

    monkeypatch.setattr(gradient_sums.WidestSum, "of", counted)
    x, y = admitted(loss, *ROWS[rows])
    found = minimise(loss, x, y, ridge=ridge, tilt=np.array([0.5, -0.25]))
    assert np.linalg.norm(found.astype(float)) <= newton.RADIUS + 6


def test_a_wall_far_out_is_not_felt_within() -> None:
    """Half squared distances: the minimiser is (Σ d - b) / (n + Δ), as without a wall."""
    far = minimise(
        learn.HuberLoss(1e4), np.ones((50, 1)), np.full(50, 200.0), ridge=3.0, tilt=np.zeros(1)
    )
    assert far[0] == pytest.approx(50 * 200 / 53)


def test_more_rows_than_can_be_certified_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "ROWS", 100.0)
    with pytest.raises(InvalidData, match="too_many_rows"):
        minimise(learn.LogisticLoss(), X, Y, ridge=1.0, tilt=np.zeros(2))


def test_a_objective_spend_small_to_compute_with_is_refused_before_data() -> None:
    with pytest.raises(InvalidParameter, match="objective_spend_small"):
        learn.ObjectivePerturbation(
            loss=learn.LogisticLoss(), rows=learn.Cube(3), ridge=1, privacy=with_epsilon(1e-15)
        )


def test_a_ridge_too_small_for_its_linear_term_is_refused_before_data() -> None:
    made = learn.ObjectivePerturbation(
        loss=learn.LogisticLoss(), rows=learn.Cube(3), ridge=1e-9, privacy=with_epsilon(200)
    )
    with pytest.raises(InvalidParameter, match="objective_ridge_small"):
        made.minimise(X[:0], Y[:0])


# -- whose rows they are ------------------------------------------------------------------------

PERSON = learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Person("id", max_rows=1))
FOR_PEOPLE = (
    lambda privacy: learn.GradientDescent(
        loss=learn.LogisticLoss(), steps=2, clip=1, within=learn.EuclideanBall(1), privacy=privacy
    ),
    lambda privacy: learn.FrankWolfe(steps=2, radius=1.0, privacy=privacy),
    lambda privacy: learn.ExponentialERM(
        loss=learn.LogisticLoss(),
        rows=learn.Ball(2),
        candidates=np.eye(2),
        privacy=privacy,
    ),
    lambda privacy: learn.ObjectivePerturbation(
        loss=learn.LogisticLoss(), rows=learn.Ball(2), ridge=1, privacy=privacy
    ),
    lambda privacy: learn.OutputPerturbation(
        loss=learn.LogisticLoss(), rows=learn.Ball(2), ridge=1, privacy=privacy
    ),
)


@pytest.mark.parametrize("made", FOR_PEOPLE)
def test_optimisers_for_people_ask_whose_rows_they_are(made: Any) -> None:
    rest = {"rate_of_descent": 0.1} if made is FOR_PEOPLE[0] else {}
    with pytest.raises(InvalidData, match="people_missing"):
        made(PERSON).minimise(X[:50], Y[:50], **rest)
    assert made(PERSON).minimise(X[:50], Y[:50], people=["a"] * 50, **rest).shape == (2,)
    with pytest.raises(InvalidParameter, match="people_without_person"):
        made(APPROXIMATE).minimise(X[:50], Y[:50], people=["a"] * 50, **rest)


def test_many_rows_of_one_person_count_once() -> None:
    privacy = learn.Privacy(dp.PureDP(epsilon=1e4), dp.Person("id", max_rows=1))
    made = learn.OutputPerturbation(
        loss=learn.LogisticLoss(), rows=learn.Ball(1), ridge=1.0, privacy=privacy
    )
    many = made.minimise(np.ones((5000, 1)), np.ones(5000), people=["a"] * 5000)
    once = made.minimise(np.ones((1, 1)), np.ones(1), people=["a"])
    assert many == pytest.approx(once, abs=1e-2)


def test_products_of_a_row_depend_on_that_row_alone() -> None:
    for size in (3, 7, 16, 40):
        x, thetas = RNG.normal(size=(301, size)), RNG.normal(size=(60, size))
        for given in (x, np.asfortranarray(x)):
            alone = predictions_of_each(given[5:6], thetas)
            assert (predictions_of_each(given, thetas)[5] == alone[0]).all()
            assert predictions(given, thetas[0])[5] == predictions(given[5:6], thetas[0])[0]
            assert row_sums(given)[5] == row_sums(given[5:6])[0]
        assert predictions_of_each(x, thetas) == pytest.approx(x @ thetas.T)
        assert predictions(x, thetas[0]) == pytest.approx(x @ thetas[0])
