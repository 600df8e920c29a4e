"""Fitted models minimise the weighted squared error over all distributions."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.core.errors import InvalidParameter
from discreet.synthetic.graphical.elimination import ModelMarginals
from discreet.synthetic.graphical.estimation import Estimator
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places
from discreet.synthetic.graphical.measurement import NoisyMarginal, distinct, noisy_total
from tests.synthetic.brute_force import Floats, joint, summed

THOROUGH = Estimator(slack=1e-4, iterations=5000, tolerance=1e-6)


def loss(law: Floats, measured: list[NoisyMarginal], total: float) -> float:
    return sum(
        float((((total * summed(law, m.places) - m.values) ** 2) / m.variance).sum() / 2)
        for m in measured
    )


def test_noiseless_ab_and_bc_give_the_product_of_their_conditionals() -> None:
    law = np.random.default_rng(1).dirichlet(np.ones(60)).reshape(3, 4, 5)
    ab, bc, b = summed(law, (0, 1)), summed(law, (1, 2)), summed(law, (1,))
    measured = [NoisyMarginal((0, 1), 1000 * ab, 0.0), NoisyMarginal((1, 2), 1000 * bc, 0.0)]
    tree = JunctionTree.of((3, 4, 5), [(0, 1), (1, 2)])
    found = THOROUGH.fit(tree, measured, 1000.0)
    fitted, _ = joint((3, 4, 5), found.potentials)
    wanted = ab[:, :, None] * bc[None, :, :] / b[None, :, None]
    np.testing.assert_allclose(fitted, wanted, atol=1e-6)
    np.testing.assert_allclose(
        ModelMarginals(found.model)((0, 2)), summed(wanted, (0, 2)), atol=1e-6
    )


def noisy_four(seed: int) -> tuple[tuple[int, int, int], list[NoisyMarginal]]:
    rng = np.random.default_rng(seed)
    sizes = (3, 4, 5)
    law = rng.dirichlet(np.full(60, 0.3)).reshape(sizes)
    sets: list[tuple[Places, float]] = [((0, 1), 20.0), ((1, 2), 5.0), ((0, 2), 10.0), ((1,), 2.0)]
    return sizes, [
        NoisyMarginal(s, 1000 * summed(law, s) + rng.normal(0, d, summed(law, s).shape), d**2)
        for s, d in sets
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_loss_is_that_of_the_best_distribution_over_all_cells(seed: int) -> None:
    """Against a general solver that knows nothing of trees, on 60 cells; negative counts too."""
    sizes, measured = noisy_four(seed)
    tree = JunctionTree.of(sizes, [m.places for m in measured])
    found, _ = joint(sizes, THOROUGH.fit(tree, measured, 1000.0).potentials)

    def objective(x: Any) -> tuple[float, Any]:
        law = np.asarray(x).reshape(sizes)
        slope = np.zeros(sizes)
        for m in measured:
            gap = (1000 * summed(law, m.places) - m.values) / m.variance * 1000
            slope += gap.reshape([n if i in m.places else 1 for i, n in enumerate(sizes)])
        return loss(law, measured, 1000.0), slope.ravel()

    one: Any = {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(60)}
    best = minimize(
        objective,
        np.full(60, 1 / 60),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * 60,
        constraints=one,
        options={"maxiter": 2000, "ftol": 1e-12},
    )
    assert loss(found, measured, 1000.0) <= best.fun * (1 + 1e-3) + 0.05


def test_measurements_weigh_by_the_inverse_of_their_variance_not_of_their_deviation() -> None:
    """Sums of 80 (deviation 1) and 100 (deviation 2): 84, where 1/deviation would give 86.667."""
    measured = [
        NoisyMarginal((0,), np.array([30.0, 50.0]), 1.0),
        NoisyMarginal((1,), np.array([60.0, 40.0]), 4.0),
    ]
    assert noisy_total(measured) == pytest.approx(84)
    twice = [
        NoisyMarginal((0,), np.array([80.0]), 1.0),
        NoisyMarginal((0,), np.array([100.0]), 4.0),
    ]
    (one,) = distinct(twice)
    assert one.values[0] == pytest.approx(84)
    assert one.variance == pytest.approx(0.8)


def test_the_total_is_the_mean_of_sums_by_inverse_variance_and_at_least_one() -> None:
    small, large = np.array([50.0, 50.0]), np.full(8, 12.5)
    pair = [NoisyMarginal((0,), small, 1.0), NoisyMarginal((1,), large, 1.0)]
    assert noisy_total(pair) == 100
    # Variance of the mean: 1 / (1/2 + 1/8) = 1.6; a sum that is off by 10 counts for 1.6 / 2.
    moved = [NoisyMarginal((0,), small + 5, 1.0), pair[1]]
    assert noisy_total(moved) == pytest.approx(100 + 10 * 1.6 / 2)
    assert noisy_total([NoisyMarginal((0,), np.array([-5.0, 1.0]), 1.0)]) == 1


def test_two_inconsistent_measurements_of_equal_noise_are_averaged() -> None:
    first, second = np.array([600.0, 400.0]), np.array([[300.0, 100.0], [300.0, 300.0]])
    measured = [NoisyMarginal((0,), first, 25.0), NoisyMarginal((0, 1), second, 12.5)]
    tree = JunctionTree.of((2, 2), [(0, 1)])
    found = THOROUGH.fit(tree, measured, 1000.0)
    # The pair's rows sum to 400 and 600 with variance 25, as the column has.
    np.testing.assert_allclose(ModelMarginals(found.model)((0,)), [0.5, 0.5], atol=1e-3)


def test_a_warm_start_ends_where_a_cold_one_does() -> None:
    sizes, measured = noisy_four(4)
    tree = JunctionTree.of(sizes, [m.places for m in measured])
    cold = THOROUGH.fit(tree, measured, 1000.0)
    before = THOROUGH.fit(tree, measured[:2], 1000.0)
    warm = THOROUGH.fit(tree, measured, 1000.0, start=before.potentials)
    for places in ((0, 1), (1, 2), (0, 2)):
        again, first = (ModelMarginals(each.model)(places) for each in (warm, cold))
        np.testing.assert_allclose(again, first, atol=5e-4)


def test_noise_may_differ_from_cell_to_cell() -> None:
    variance = np.array([1e-4, 1e4, 1e4])
    measured = [NoisyMarginal((0,), np.array([100.0, 700.0, 100.0]), variance)]
    found = THOROUGH.fit(JunctionTree.of((3,), [(0,)]), measured, 1000.0)
    probabilities = found.model.within((0,))
    assert probabilities is not None
    np.testing.assert_allclose(probabilities, [0.1, 0.75, 0.15], atol=2e-3)


@pytest.mark.parametrize(
    "given", [{"slack": 0}, {"slack": float("nan")}, {"iterations": 0}, {"tolerance": -1}], ids=str
)
def test_an_estimator_that_cannot_fit_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        Estimator(**given)  # type: ignore[arg-type]
