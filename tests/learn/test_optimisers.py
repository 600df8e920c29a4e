"""Optimisers: oracles of the catalogue, claims that stand and twins that do not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import discreet as dp
from discreet import events, learn
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.arrays import Floats
from discreet.core.errors import Exhausted, InvalidData, InvalidParameter
from discreet.learn.hedge import printed_rate
from discreet.learn.losses import Loss
from discreet.learn.optimisers.frank_wolfe import suggested_steps
from discreet.learn.optimisers.gradient_descent import (
    clipped_sum,
    descent_rate,
    printed_multiplier,
)
from discreet.learn.optimisers.newton import minimise
from discreet.learn.optimisers.objective_perturbation import least_ridge
from discreet.learn.optimisers.selections import epsilon_of_each
from discreet.learn.statistical_queries import sufficient_rows
from discreet.noise import Noiseless, Seeded

ROW = learn.Privacy(dp.PureDP(epsilon=1), dp.Row())
APPROXIMATE = learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Row())
RNG = np.random.default_rng(2)
X = RNG.uniform(-1, 1, (3000, 2))
Y = np.where(X @ [2.0, -1.0] + RNG.logistic(size=3000) / 3 > 0, 1.0, -1.0)
LOSSES = (learn.LogisticLoss(), learn.HuberLoss(0.5), learn.SmoothHingeLoss(0.5))


def with_epsilon(epsilon: float, source: Any = None) -> learn.Privacy:
    return learn.Privacy.from_spend_and_unit(dp.PureDP(epsilon=epsilon), dp.Row(), source)


# -- losses -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [*LOSSES, learn.AbsoluteLoss()], ids=repr)
def test_losses_keep_their_facts(loss: Loss) -> None:
    t = np.linspace(-5, 5, 2001)
    for y in (-1.0, 1.0):
        labels = np.full_like(t, y)
        value, slope = loss.value(t, labels), loss.slope(t, labels)
        assert abs(slope).max() <= loss.lipschitz + 1e-12
        middle = (value[2:] - value[:-2]) / (t[2:] - t[:-2])
        smooth = abs(np.diff(slope, n=1)[1:]) < 0.1
        assert middle[smooth] == pytest.approx(slope[1:-1][smooth], abs=0.02)
        assert (np.diff(slope) >= -1e-12).all()  # convex
        if loss.curvature is not None:
            assert np.max(np.diff(slope) / np.diff(t)) <= loss.curvature + 1e-9
            assert loss.bend(t, labels).max() <= loss.curvature + 1e-12


# -- objective perturbation ---------------------------------------------------------------------


def test_printed_constants_of_objective_perturbation() -> None:
    assert least_ridge(0.25, 1) == pytest.approx(0.635374, abs=1e-6)
    assert math.gamma(11) / math.gamma(10) * 2 == 20  # E|b| = 2 p L / epsilon at p = 10
    made = learn.ObjectivePerturbation(
        loss=learn.LogisticLoss(), rows=learn.Ball(1), ridge=1e-9, privacy=ROW
    )
    # A quarter of epsilon for the determinant: (1 + λ/Δ) = exp(1/4).
    assert made.strength == pytest.approx(0.25 / math.expm1(0.25))


def test_a_loss_with_a_kink_is_refused() -> None:
    for optimiser in (learn.ObjectivePerturbation, learn.OutputPerturbation):
        with pytest.raises(InvalidParameter, match="loss_not_smooth"):
            optimiser(loss=learn.AbsoluteLoss(), rows=learn.Ball(1), ridge=1, privacy=ROW)


def test_with_a_kink_the_minimiser_is_the_median_of_the_data() -> None:
    """The twin without the refusal: with b alone the output is a record's value."""
    data = np.array([0.1, 0.35, 0.6])
    epsilon = 1.0
    scale = 2 / epsilon
    tilts = np.random.default_rng(5).laplace(0, scale, 4000)
    grid = np.sort(np.concatenate([data, np.linspace(0, 1, 11)]))
    losses = abs(grid[:, None] - data).sum(axis=1)
    hits = sum(grid[np.argmin(losses + tilt * grid)] == 0.35 for tilt in tilts)
    assert hits / 4000 > 1 - math.exp(-epsilon / 4) - 0.03


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_newton_certifies_its_gradient_and_its_distance(loss: Loss) -> None:
    tilt = np.array([3.0, -2.0])
    found = minimise(loss, X, Y, ridge=2.0, tilt=tilt)
    gradient = X.T @ loss.slope(X @ found, Y) + 2 * found + tilt
    assert np.linalg.norm(gradient) <= 1e-6
    there = found + np.array([1e-3, 0])
    gradient = X.T @ loss.slope(X @ there, Y) + 2 * there + tilt
    assert np.linalg.norm(gradient) / 2 >= 1e-3  # distance is at most gradient over ridge


def test_a_quadratic_has_its_closed_form() -> None:
    """Half squared distances: the minimiser is (Σ d - b) / (n + Δ)."""
    d = RNG.uniform(-1, 1, 50)
    tilt = np.array([4.0])
    found = minimise(learn.HuberLoss(1e6), np.ones((50, 1)), d, ridge=3.0, tilt=tilt)
    assert found[0] == pytest.approx((d.sum() - 4) / 53)


@pytest.mark.parametrize("rows", [learn.Cube(1), learn.Ball(1)], ids=repr)
@pytest.mark.parametrize("ridge", [1e-6, 3.0])
@pytest.mark.parametrize("loss", [learn.LogisticLoss(), learn.HuberLoss(1)], ids=repr)
def test_the_density_of_the_minimiser_moves_by_at_most_epsilon(
    rows: Any, ridge: float, loss: Loss
) -> None:
    """One dimension, by the exact density: b's, and the determinant. Huber's loss comes close."""
    made = learn.ObjectivePerturbation(loss=loss, rows=rows, ridge=ridge, privacy=ROW)
    strength, scale = made.strength, float(made._plan.scale)
    theta = np.linspace(-6, 6, 4001)

    def density(x: Floats, y: Floats) -> Floats:
        slope = (loss.slope(np.outer(theta, x), y) * x).sum(axis=1) + strength * theta
        bend = (loss.bend(np.outer(theta, x), y) * x**2).sum(axis=1) + strength
        found: Floats = np.exp(-abs(slope) / scale) / (2 * scale) * bend
        return found

    worst = 0.0
    others = (np.array([]), np.array([1.0, -1.0, 0.5]), np.array([1.0, 1.0, 1.0]))
    for rest, side in zip(others, (1.0, 1.0, -1.0), strict=True):
        labels = side * np.ones_like(rest)
        before = density(rest, labels)
        assert integrate.trapezoid(before, theta) <= 1.001
        for new in (1.0, -1.0, 0.3):
            after = density(np.append(rest, new), np.append(labels, 1.0))
            worst = max(worst, float(abs(np.log(after / before)).max()))
    assert worst <= 1 - 1 / 64 + 1e-9
    if isinstance(loss, learn.HuberLoss):
        assert worst > 0.97  # so that nothing is wasted, and a smaller bound would be wrong


def test_twice_the_gaussian_curve_holds_in_one_dimension() -> None:
    spend = dp.ApproxDP(epsilon=0.5, delta=1e-2)
    made = learn.ObjectivePerturbation(
        loss=learn.LogisticLoss(),
        rows=learn.Ball(1),
        ridge=4.0,
        privacy=learn.Privacy(spend, dp.Row()),
    )
    reading = made._make_plan_of_reading(spend)
    assert reading is not None
    assert reading.event == events.Approximate(epsilon=0.5, delta=1e-2)
    theta = np.linspace(-40, 40, 400001)
    step = theta[1] - theta[0]

    def density(x: float, rows: int) -> Any:
        slope = rows * made.loss.slope(theta * x, np.ones(1)) * x + reading.strength * theta
        bend = rows * made.loss.bend(theta * x, np.ones(1)) * x**2 + reading.strength
        return stats.norm.pdf(slope, scale=float(reading.scale)) * bend

    for rows in (0, 3):
        p, q = density(1.0, rows), density(1.0, rows + 1)
        for one, other in ((p, q), (q, p)):
            delta = np.maximum(one - math.exp(0.5 * 63 / 64) * other, 0).sum() * step
            assert delta <= 1e-2


def test_more_spend_brings_the_minimiser_nearer() -> None:
    true = minimise(learn.LogisticLoss(), X, Y, ridge=1.0, tilt=np.zeros(2))
    gaps = []
    for epsilon in (0.1, 50.0):
        made = learn.ObjectivePerturbation(
            loss=learn.LogisticLoss(),
            rows=learn.Cube(2),
            ridge=1.0,
            privacy=with_epsilon(epsilon, Seeded(3)),
        )
        gaps.append(float(np.linalg.norm(made.minimise(X, Y) - true)))
    assert gaps[0] > gaps[1]
    assert gaps[1] < 0.1


def test_only_spends_that_the_theorem_covers() -> None:
    with pytest.raises(InvalidParameter, match="objective_spend"):
        learn.ObjectivePerturbation(
            loss=learn.LogisticLoss(),
            rows=learn.Ball(2),
            ridge=1,
            privacy=learn.Privacy(
                dp.ApproxDP(epsilon=1, delta=1e-6, by=dp.ZCDP), dp.Person("id", max_rows=2)
            ),
        )


# -- output perturbation ------------------------------------------------------------------------


def test_a_row_moves_the_minimiser_by_at_most_the_sensitivity() -> None:
    made = learn.OutputPerturbation(
        loss=learn.LogisticLoss(), rows=learn.Cube(2), ridge=5.0, privacy=ROW
    )
    zeros = np.zeros(2)
    for gone in range(10):
        kept = np.arange(12) != gone
        one = minimise(made.loss, X[:12], Y[:12], ridge=5.0, tilt=zeros)
        other = minimise(made.loss, X[:12][kept], Y[:12][kept], ridge=5.0, tilt=zeros)
        assert np.linalg.norm(one - other) <= made.sensitivity
    assert made.event == events.Pure(epsilon=1)
    assert np.linalg.norm(made.minimise(X, Y)) < 50


# -- gradient descent ---------------------------------------------------------------------------


def test_printed_constants_of_gradient_descent() -> None:
    assert printed_multiplier(100, 1, 1e-5) == pytest.approx(50.02584, abs=1e-5)
    assert printed_multiplier(1000, 0.5, 1e-6) == pytest.approx(338.4141, abs=1e-4)
    event = events.Gaussian(printed_multiplier(100, 1, 1e-5)) * 100
    assert event.epsilon(delta=1e-5) == pytest.approx(0.725112, rel=1e-4)
    noise = math.sqrt(10) * printed_multiplier(100_000, 1, 1e-5)
    assert descent_rate(1, 1, 100_000, rows=1000, noise=noise) == pytest.approx(6.19866e-7)


def test_clipping_is_exact_short_and_idempotent() -> None:
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [np.nan, np.inf], [1e308, 1e308]])
    each = np.array([clipped_sum(row[None], 1.0).astype(float) for row in rows]) * 2.0**-30
    assert (np.linalg.norm(each, axis=1) <= 1).all()
    assert each[0] == pytest.approx([0.6, 0.8], abs=1e-8)
    assert each[1] == pytest.approx([0.3, 0.4], abs=1e-8)
    again = clipped_sum(each[:1], 1.0).astype(float) * 2.0**-30
    assert again == pytest.approx(each[0], abs=1e-8)
    order = RNG.permutation(len(X))
    assert (clipped_sum(X, 0.5) == clipped_sum(X[order], 0.5)).all()


@pytest.mark.parametrize("rate", [None, 0.1])
def test_descent_costs_its_spend_and_goes_down(rate: float | None) -> None:
    made = learn.GradientDescent(
        loss=learn.LogisticLoss(),
        steps=30,
        clip=2.0,
        within=learn.EuclideanBall(3),
        privacy=APPROXIMATE,
        rate=rate,
    )
    assert made.event.epsilon(delta=1e-5) <= 1.0000001
    found = made.minimise(X, Y, rate_of_descent=0.01)
    assert np.linalg.norm(found) <= 3
    value = learn.LogisticLoss().value(X @ found, Y).mean()
    assert value < 0.6 < learn.LogisticLoss().value(0 * Y, Y).mean()


def test_mirror_descent_stays_on_the_simplex() -> None:
    made = learn.GradientDescent(
        loss=learn.HuberLoss(1),
        steps=40,
        clip=2.0,
        within=learn.ProbabilitySimplex(),
        privacy=learn.Privacy(dp.ZCDP(rho=1), dp.Row()),
    )
    found = made.minimise(X, X @ [0.9, 0.1], rate_of_descent=0.01)
    assert found.sum() == pytest.approx(1)
    assert found[0] > 0.75


def test_a_sample_needs_rows_that_come_or_go() -> None:
    with pytest.raises(InvalidParameter, match="sampled_unit"):
        learn.GradientDescent(
            loss=learn.LogisticLoss(),
            steps=3,
            clip=1,
            within=learn.EuclideanBall(1),
            privacy=learn.Privacy(APPROXIMATE.spend, dp.Replace(dp.Row())),
            rate=0.1,
        )
    with pytest.raises(InvalidParameter, match="gaussian_spend"):
        learn.GradientDescent(
            loss=learn.LogisticLoss(),
            steps=3,
            clip=1,
            within=learn.EuclideanBall(1),
            privacy=ROW,
        )


# -- selections ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spend", [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.1), dp.ApproxDP(epsilon=1, delta=1e-6)], ids=repr
)
def test_selections_share_a_spend(spend: Any) -> None:
    event = events.Exponential(epsilon=epsilon_of_each(spend, 50)) * 50
    if isinstance(spend, dp.ZCDP):
        assert event.zcdp().rho <= 0.1
    else:
        assert event.epsilon(delta=float(getattr(spend, "delta", 0))) <= 1.0000001


def test_frank_wolfe_finds_the_sparse_answer_with_falling_steps() -> None:
    wide = RNG.uniform(-1, 1, (4000, 30))
    made = learn.FrankWolfe(steps=25, radius=1.0, privacy=with_epsilon(200, Noiseless()))
    found = made.minimise(wide, 0.8 * wide[:, 3] - 0.1 * wide[:, 7])
    assert found[3] == pytest.approx(0.8, abs=0.12)
    assert abs(found).sum() <= 1 + 1e-9
    assert (found != 0).sum() <= 25
    assert suggested_steps(1000, 1) == 159
    # The printed constant step of 1/T leaves about 1/e of the gap of a linear function.
    assert pytest.approx(0.3660, abs=1e-4) == (1 - 1 / 100) ** 100


def test_the_exponential_mechanism_on_a_grid_has_the_printed_excess() -> None:
    """C = [0, 1], loss θ: the law is a truncated exponential of rate εn/2 (004b:C2)."""

    @dataclass(frozen=True)
    class Line(learn.AbsoluteLoss):
        def value(self, t: Floats, y: Floats) -> Floats:
            return t + 0 * y

    grid = np.linspace(0, 1, 1001)[:, None]
    made = learn.ExponentialERM(
        loss=Line(), rows=learn.Ball(1), candidates=grid, privacy=with_epsilon(0.5, Seeded(4))
    )
    # Relative to the middle candidate a row's loss is within half of L‖C‖: half the printed ε
    # gives the printed rate εn/2 at ε = 1, that is an excess of 2.000 at n = 100.
    assert made.reach == pytest.approx(0.5)
    ones = np.ones((100, 1))
    drawn = [100 * float(made.minimise(ones, np.ones(100))[0]) for _ in range(400)]
    # Deviation 2, so the mean of 400 is within .55 but once in 1e7.
    assert np.mean(drawn) == pytest.approx(2.0, abs=0.55)
    with pytest.raises(InvalidParameter, match="candidates_shape"):
        learn.ExponentialERM(loss=Line(), rows=learn.Ball(1), candidates=grid[:, 0], privacy=ROW)


# -- experts ------------------------------------------------------------------------------------


def test_hedge_has_its_numbers_and_beats_the_printed_rate() -> None:
    made = learn.Hedge(experts=10, rounds=10_000, spend=dp.ApproxDP(epsilon=1, delta=1e-6))
    assert printed_rate(10_000, 1, 1e-6) == pytest.approx(4.756e-4, abs=1e-7)
    assert made.rate > printed_rate(10_000, 1, 1e-6)
    assert made.event.epsilon(delta=1e-6) <= 1.0000001
    eta = printed_rate(10_000, 1, 1e-6)
    assert eta + math.log(10) / (eta * 10_000) == pytest.approx(0.4846, abs=1e-4)


def test_hedge_without_privacy_to_speak_of_follows_the_best_expert() -> None:
    losses = RNG.uniform(0, 1, (600, 4))
    losses[:, 2] *= 0.2
    made = learn.Hedge(experts=4, rounds=600, spend=dp.PureDP(epsilon=600))
    chosen = list(made.choose(losses))
    assert len(chosen) == 600
    regret = losses[np.arange(600), chosen].mean() - losses[:, 2].mean()
    assert regret <= made.regret
    doubling = learn.DoublingHedge(experts=4, spend=dp.PureDP(epsilon=60), first=16)
    found = list(doubling.choose(losses))
    assert 600 <= len(found) <= 601
    with pytest.raises(InvalidData, match="losses_shape"):
        list(made.choose([np.zeros(3)]))


def test_the_linear_learner_finds_the_dominated_coordinate() -> None:
    rows = np.tile([0.5, -0.9, 0.1], (400, 1))
    learner = learn.LinearLearner(dimension=3, rows=400, spend=dp.PureDP(epsilon=100))
    found = learner.fit(rows)
    assert found.sum() == pytest.approx(1)
    assert found[1] > 0.8
    assert learner.event.epsilon(delta=0) == pytest.approx(100)
    with pytest.raises(InvalidData, match="rows_shape"):
        learner.fit(rows[:-1])


# -- statistical queries ------------------------------------------------------------------------


def test_statistical_queries_are_answered_up_to_their_number() -> None:
    oracle = learn.StatisticalQueries(X, 3, with_epsilon(20, Seeded(6)))
    answers = [oracle.answer(lambda rows: rows[:, 0] > 0) for _ in range(3)]
    assert answers == pytest.approx([(X[:, 0] > 0).mean()] * 3, abs=0.01)
    with pytest.raises(Exhausted, match="queries_spent"):
        oracle.answer(lambda rows: rows[:, 0])
    assert oracle.event.instead_of == events.Pure(epsilon=20)  # type: ignore[attr-defined]


def test_private_answers_do_not_let_an_analyst_overfit() -> None:
    """Random labels; features chosen by their correlation on the same rows (000b:B49)."""
    n = d = 300
    rng = np.random.default_rng(7)
    rows = np.where(rng.random((n, d + 1)) < 0.5, -1.0, 1.0)

    def accuracy(means: Floats) -> float:
        vote = rows[:, :d] @ np.sign(means - 0.5)
        return float((np.sign(vote) == rows[:, d]).mean())

    exact = np.array([(rows[:, j] == rows[:, d]).mean() for j in range(d)])
    privacy = learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Row(), Seeded(8))
    oracle = learn.StatisticalQueries(rows, d, privacy)

    def agree(j: int) -> Any:
        return lambda r: r[:, j] == r[:, d]

    noisy = np.array([oracle.answer(agree(j)) for j in range(d)])
    assert accuracy(exact) > 0.7
    assert accuracy(noisy) < 0.65


def test_the_learner_over_a_finite_class() -> None:
    assert sufficient_rows(1024, error=0.1, failure=0.05, epsilon=0.5) == 9051
    assert math.ceil(4 * math.log(2 * 1024 / 0.05) / (0.5 * 0.1)) == 850
    cuts = np.linspace(-1, 1, 21)

    def above(cut: float) -> Any:
        return lambda rows: rows[:, 0] > cut

    rules = tuple(above(cut) for cut in cuts)
    learner = learn.AgnosticLearner(hypotheses=rules, privacy=with_epsilon(2, Seeded(9)))
    chosen = learner.fit(X, X[:, 0] > 0.3)
    assert cuts[chosen] == pytest.approx(0.3, abs=0.11)
    assert learner.excess(confidence=0.95) < 20


def test_labels_and_hypotheses_of_another_shape_are_refused() -> None:
    column = learn.AgnosticLearner(hypotheses=(lambda x: x[:, :1] > 0,) * 2, privacy=ROW)
    with pytest.raises(InvalidData, match="labels_shape"):
        column.fit(X, Y)
    flat = learn.AgnosticLearner(hypotheses=(lambda x: x[:, 0] > 0,) * 2, privacy=ROW)
    with pytest.raises(InvalidData, match="labels_shape"):
        flat.fit(X, Y[:, None])


def test_one_odd_label_is_one_mistake() -> None:
    rules = (lambda x: np.zeros(len(x)), lambda x: np.ones(len(x)))
    learner = learn.AgnosticLearner(hypotheses=rules, privacy=with_epsilon(5))
    for odd in ("x", None, [1], np.array([1, 2])):
        assert learner.fit(X[:100], [1] * 99 + [odd]) == 1


# -- audits -------------------------------------------------------------------------------------


def audited(release: Any, few: Any, more: Any, claim: float, trials: int = 1500) -> Finding:
    return audit(
        repeated(release),
        few,
        more,
        epsilon=claim,
        delta=0,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=1 - 1e-6,
    )


def test_the_private_vertex_keeps_its_claim_and_the_printed_noise_does_not() -> None:
    """004b:C13 divides the noise by n for a sum: the twin at n = 20 has a twentieth of it."""
    few, more = np.zeros((0, 1)), np.ones((1, 1))

    def release(privacy: learn.Privacy) -> Any:
        made = learn.FrankWolfe(steps=1, radius=1.0, privacy=privacy)
        return lambda rows: bool(made.minimise(rows, np.ones(len(rows)))[0] > 0)

    assert audited(release(ROW), few, more, 1).passes
    assert not audited(release(with_epsilon(20)), few, more, 1).passes


def test_without_a_ridge_of_ones_own_the_spend_says_how_strong_it_is() -> None:
    """At a large epsilon the minimiser is that of the data; at none is there an error."""
    rows = RNG.uniform(-1, 1, (4000, 2))
    labels = (rows[:, 0] + RNG.logistic(size=4000) / 8 > 0).astype(int)

    def slope(epsilon: float, **given: float) -> float:
        model = learn.LogisticRegression(
            spend=dp.PureDP(epsilon=epsilon),
            unit=dp.Row(),
            bounds=(-1, 1),
            classes=[0, 1],
            **given,
        )
        return float(model.fit(rows, labels).coef_[0, 0])

    assert slope(1e3, C=0.01) < 5
    assert slope(1e3) == pytest.approx(8, rel=0.15)
    assert slope(1e9) == pytest.approx(slope(1e3), rel=0.01)


@pytest.mark.parametrize("spend", [dp.ZCDP(rho=10.0**-place) for place in range(4, 24, 2)])
@pytest.mark.parametrize("unit", [dp.Row(), dp.Replace(dp.Person("id", max_rows=1000))])
def test_noise_that_cannot_be_drawn_is_refused_before_rows_are_read(spend: Any, unit: Any) -> None:
    """Whatever was made also minimises: nothing is refused after it was paid for."""
    privacy = learn.Privacy.from_spend_and_unit(spend, unit).bounded
    loss, ball = learn.LogisticLoss(), learn.EuclideanBall(1)
    rows, labels = np.ones((3, 2)), np.array([0, 1, 1])
    given: dict[str, Any] = {"loss": loss, "clip": 1.0, "within": ball, "privacy": privacy}
    makers: dict[str, Any] = {
        "steps": lambda: learn.GradientDescent(steps=50, **given).minimise,
        "leader": lambda: (
            learn.FollowTheLeader(
                ridge=1.0,
                passes=learn.Epochs(epochs=1, batches=4),
                sums=learn.TreeAggregation(),
                dimension=2,
                **given,
            ).minimise
        ),
        "softmax": lambda: learn.SoftmaxDescent(classes=2, dimension=2, privacy=privacy).minimise,
    }
    codes: set[str] = set()
    for name, make in makers.items():
        try:
            minimise = make()
        except InvalidParameter as refused:
            codes.add(refused.code)
            continue
        more = {"rate_of_descent": 0.1} if name == "steps" else {}
        minimise(rows, labels if name == "softmax" else 2.0 * labels - 1, **more)
    assert codes <= {"scale_out_of_range"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("clip", [1e-160, 1e-300, 1e-310, 5e-324, Fraction(1, 3), 1e300])
def test_no_clip_is_so_small_that_a_row_is_longer(clip: Any) -> None:
    """Quotients overflowed: a row added -2**63 steps, and warnings told that there was one."""
    for gradient in ([1.0, 0.5], [2.0**200, 0.0], [np.inf, np.nan]):
        steps = clipped_sum(np.array([gradient]), clip).astype(float)
        assert np.linalg.norm(steps) <= 2.0**30
