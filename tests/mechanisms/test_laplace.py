"""The Laplace mechanism: its law, its exact loss on whole numbers, and its worked numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet import events
from discreet.audit import (
    BrokenTwin,
    ContinuousLaw,
    DiscreteLaw,
    Finding,
    GivenEvents,
    LearnedEvents,
    audit,
    bins,
    check_pair,
    min_epsilon,
    three_sided,
)
from discreet.audit.testers import scaled
from discreet.mechanisms import Laplace
from discreet.mechanisms.grid import LIMIT
from discreet.noise import Seeded
from tests.mechanisms.laws import ATOL, laplace_density, rounded_laplace, windowed

Floats = NDArray[np.float64]


def cdf(scale: float) -> ContinuousLaw:
    return ContinuousLaw(lambda x: np.where(x < 0, np.exp(x / scale), 2 - np.exp(-x / scale)) / 2)


def test_real_releases_follow_the_law_and_no_other(source: Seeded, alpha: float) -> None:
    mechanism = Laplace(epsilon=0.5, sensitivity=3, randomness=source)
    law = cdf(6)
    judged = three_sided(
        lambda n: mechanism.release(np.full(n, 41.25)) - 41.25,
        law,
        [scaled(law, 0.8), scaled(law, 1.25)],
        alpha=alpha,
    )
    assert judged.passes, judged


def test_whole_releases_follow_the_rounded_law_and_no_other(source: Seeded, alpha: float) -> None:
    mechanism = Laplace(epsilon=0.5, sensitivity=1, randomness=source)

    def law(scale: float) -> DiscreteLaw:
        return DiscreteLaw.on_integers(rounded_laplace(scale)[0], low=-60, high=60)

    judged = three_sided(
        lambda n: mechanism.release(np.full(n, 17)) - 17, law(2), [law(1.6), law(2.5)], alpha=alpha
    )
    assert judged.passes, judged


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3])
@pytest.mark.parametrize(("sensitivity", "moved"), [(1, 1), (0.3, 1), (2, 2), (2.5, 2), (7, 7)])
def test_on_whole_numbers_the_loss_is_at_most_epsilon_and_attains_it(
    epsilon: float, sensitivity: float, moved: int
) -> None:
    # Sensitivities are rounded up to whole steps, so 2.5 has room to spare for moves of 2.
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    scale = mechanism.scale(kind=int)
    assert scale == pytest.approx(math.ceil(sensitivity) / epsilon)
    law, reach = rounded_laplace(scale), math.ceil(30 * scale)
    here, there = (windowed(law, centre, -reach, reach) for centre in (0, moved))
    expected = epsilon * moved / math.ceil(sensitivity)
    assert min_epsilon(here, there) == pytest.approx(expected, abs=ATOL)
    assert min_epsilon(here, there) <= epsilon + ATOL


def test_half_the_scale_is_refuted_by_enumeration() -> None:
    law = rounded_laplace(0.5)
    here, there = windowed(law, 0, -30, 30), windowed(law, 1, -30, 30)
    assert min_epsilon(here, there) == pytest.approx(2, abs=ATOL)


def test_a_histogram_costs_twice_as_much_to_replace_as_to_remove() -> None:
    # boosting-and-analysts:L1, 000a:A10: one row moves one cell by add/remove and two cells by
    # replacement.
    law = rounded_laplace(Laplace(epsilon=1, sensitivity=1).scale(kind=int))
    cell = [windowed(law, centre, -40, 40) for centre in (0, 1)]
    pair = {(a, b): p * q for a, p in cell[0].items() for b, q in cell[1].items()}
    swapped = {(a, b): p * q for a, p in cell[1].items() for b, q in cell[0].items()}
    assert min_epsilon(*cell) == pytest.approx(1, abs=ATOL)
    assert min_epsilon(pair, swapped) == pytest.approx(2, abs=ATOL)


def test_half_the_scale_is_refuted_by_the_auditor(source: Seeded, alpha: float) -> None:
    twin = BrokenTwin(
        "Laplace",
        Laplace(epsilon=1, sensitivity=1, randomness=source),
        Laplace(epsilon=2, sensitivity=1, randomness=source),
        why="half the scale",
    )

    def auditor(mechanism: Laplace) -> Finding:
        return audit(
            lambda x, n: mechanism.release(np.full(n, x)),
            0.0,
            1.0,
            epsilon=1,
            delta=0,
            events=LearnedEvents(bins([k / 4 for k in range(-16, 21)])),
            trials=20_000,
            confidence=1 - alpha,
        )

    check_pair(twin, auditor)


def finer_than_doubles_near_one(x: float) -> bool:
    """Between 1/100 and 1/4 and not a multiple of 2**-53, as no 1 + y with y < -1/2 can be."""
    return 0.01 < x < 0.25 and x * 2.0**53 != np.floor(x * 2.0**53)


def test_naive_floating_point_noise_is_refuted_by_its_last_bits(
    source: Seeded, alpha: float
) -> None:
    rng = np.random.default_rng(5)
    sound = Laplace(epsilon=1, sensitivity=1, randomness=source)
    twin = BrokenTwin(
        "floating point",
        lambda x, n: sound.release(np.full(n, x)),
        lambda x, n: x + rng.laplace(0, 1, n),
        why="noise near -1 added to 1 has fewer bits than noise near 0",
    )
    check_pair(
        twin,
        lambda mechanism: audit(
            mechanism,
            0.0,
            1.0,
            epsilon=1,
            delta=0,
            events=GivenEvents({"last bits": finer_than_doubles_near_one}),
            trials=20_000,
            confidence=1 - alpha,
        ),
    )


def test_a_grid_that_follows_the_data_is_refuted(source: Seeded, alpha: float) -> None:
    sound = Laplace(epsilon=1, sensitivity=1, randomness=source)

    def follows(x: float, n: int) -> Floats:
        step = 2.0 ** (math.frexp(x)[1] - 8)
        noisy: Floats = np.rint(sound.release(np.full(n, x)) / step) * step
        return noisy

    twin = BrokenTwin(
        "grid", lambda x, n: sound.release(np.full(n, x)), follows, why="2.1 has a coarser grid"
    )
    check_pair(
        twin,
        lambda mechanism: audit(
            mechanism,
            1.9,
            2.1,
            epsilon=1,
            delta=0,
            events=GivenEvents({"between coarse steps": lambda x: (x * 64) % 1 != 0}),
            trials=5_000,
            confidence=1 - alpha,
        ),
    )


@given(x=st.floats(-50, 50), y=st.floats(0, 1), scale=st.floats(0.1, 10))
def test_the_log_density_ratio_is_at_most_epsilon_everywhere(
    x: float, y: float, scale: float
) -> None:
    # 000a:C2, 004a:B3: equality outside the interval between the two centres.
    loss = math.log(laplace_density(x, scale) / laplace_density(x - y, scale))
    assert abs(loss) <= y / scale + ATOL
    if not 0 < x < y:
        assert abs(loss) == pytest.approx(y / scale, abs=ATOL)


def test_the_first_names_example() -> None:
    # 000a:C3: k = 10**4 names, beta = .05, epsilon = 1.
    mechanism = Laplace(epsilon=1, sensitivity=1)
    assert mechanism.error(confidence=0.95, size=10**4) == pytest.approx(12.181, abs=5e-4)
    union = math.log(10**4 / 0.05)
    assert union == pytest.approx(12.206, abs=5e-4)
    assert mechanism.error(confidence=0.95, size=10**4) < union
    # Inverse: the epsilon that reaches the same error.
    again = Laplace.for_error(12.181, confidence=0.95, sensitivity=1, size=10**4)
    assert float(again.epsilon) == pytest.approx(1, abs=1e-4)


def test_the_private_mean_of_ages() -> None:
    # 004a:B4: ages 0-100, n = 10**4 public: sensitivity .01.
    wide = Laplace(epsilon=0.5, sensitivity=0.01)
    assert wide.scale() == pytest.approx(0.02, rel=1e-5)
    assert wide.error(confidence=0.95) == pytest.approx(0.0599, abs=5e-5)
    narrow = Laplace(epsilon=1, sensitivity=0.01)
    assert narrow.error(confidence=0.95) == pytest.approx(0.02996, abs=5e-6)


def test_accuracy_and_budget_solve_each_other() -> None:
    # 004d:F24.
    assert Laplace(epsilon=1, sensitivity=1).error(confidence=0.95) == pytest.approx(
        2.9957, abs=5e-5
    )
    answer = Laplace.for_error(5, confidence=0.95, sensitivity=1)
    assert float(answer.epsilon) == pytest.approx(0.5991, abs=5e-5)


def test_a_histogram_has_noise_two_at_half_an_epsilon(source: Seeded) -> None:
    # 004a:B5, 000a:C4: total epsilon whatever the number of cells; mean absolute error 1/epsilon.
    mechanism = Laplace(epsilon=0.5, sensitivity=1, randomness=source)
    assert Laplace(epsilon=0.5, sensitivity=1).event == events.Laplace(epsilon=0.5)
    noise = mechanism.release(np.zeros(200_000))
    assert np.abs(noise).mean() == pytest.approx(2, abs=0.03)
    assert noise.var() == pytest.approx(8, abs=0.25)
    # Counts stay whole; clamping at zero is free and biases empty cells upward.
    counts = np.maximum(mechanism.release(np.zeros(200_000, dtype=np.int64)), 0)
    assert counts.dtype == np.int64
    assert counts.min() == 0
    assert counts.mean() > 0.5


def test_counts_and_their_sensitivities() -> None:
    # 000a:C4, A10: one count, disjoint cells, m arbitrary counts; replace-one doubles a histogram.
    for m in (1, 5, 100):
        assert Laplace(epsilon=0.5, sensitivity=m).scale(kind=int) == 2 * m


def test_laplace_or_gauss_for_many_counts() -> None:
    # 000a:C11, delta = 1e-5: the classic Gaussian deviation is the smaller from m = 12 on.
    delta = 1e-5
    classic = math.sqrt(2 * math.log(1.25 / delta))

    def wins(m: int) -> bool:
        laplace = math.sqrt(2) * Laplace(epsilon=1, sensitivity=m).scale(kind=int)
        return math.sqrt(m) * classic < laplace

    assert [m for m in range(1, 40) if wins(m)] == list(range(12, 40))
    assert math.log(1.25 / delta) == pytest.approx(11.736, abs=1e-3)


@pytest.mark.parametrize("value", [0, 1, -7, 2**53 + 1, LIMIT, -LIMIT, 2**62, -(2**63), 10**40])
def test_whole_numbers_are_exact_up_to_the_limit(value: int) -> None:
    # At this epsilon noise is zero but for a chance of exp(-500).
    silent = Laplace(epsilon=1000, sensitivity=1)
    assert silent.release(value) == max(-LIMIT, min(LIMIT, value))


def test_sensitivity_may_be_a_fraction_and_the_scale_is_exact() -> None:
    mechanism = Laplace(epsilon=Fraction(1, 3), sensitivity=Fraction(2))
    assert mechanism._scale_in_steps(0, 1, int) == 6
    assert mechanism.event.epsilon(delta=0) >= Fraction(1, 3)
