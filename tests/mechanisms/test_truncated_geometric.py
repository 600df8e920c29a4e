"""Geometric noise on counts, and the truncated geometric mechanism of medical cohorts."""

import math
from collections.abc import Hashable

import numpy as np
import pytest

from discreet import events
from discreet.audit import DiscreteLaw, min_epsilon, three_sided
from discreet.core.errors import InvalidParameter
from discreet.mechanisms import DiscreteLaplace, Laplace, TruncatedGeometric
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.laws import ATOL, discrete_laplace, windowed


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1, 4])
@pytest.mark.parametrize(("sensitivity", "moved"), [(1, 1), (0.2, 1), (3, 3), (2.5, 2)])
def test_the_loss_is_at_most_epsilon_and_attains_it(
    epsilon: float, sensitivity: float, moved: int
) -> None:
    # 004a:B5: a = exp(-epsilon / sensitivity).
    mechanism = DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity)
    steps = math.ceil(sensitivity)
    assert mechanism.event == events.DiscreteLaplace(epsilon=epsilon, steps=steps)
    law = discrete_laplace(mechanism.scale(kind=int))
    reach = math.ceil(30 * steps / epsilon)
    here, there = (windowed(law, centre, -reach, reach) for centre in (0, moved))
    assert min_epsilon(here, there) == pytest.approx(epsilon * moved / steps, abs=ATOL)
    broken = discrete_laplace(mechanism.scale(kind=int) / 2)
    here, there = (windowed(broken, centre, -reach, reach) for centre in (0, moved))
    assert min_epsilon(here, there) > epsilon * 1.1, "half the scale is refuted"


def test_releases_follow_the_law_and_no_other(source: Seeded, alpha: float) -> None:
    mechanism = DiscreteLaplace(epsilon=0.5, sensitivity=1, randomness=source)

    def law(scale: float) -> DiscreteLaw:
        return DiscreteLaw.on_integers(discrete_laplace(scale)[0], low=-60, high=60)

    judged = three_sided(
        lambda n: mechanism.release(np.full(n, 100)) - 100,
        law(2),
        [law(1.6), law(2.5)],
        alpha=alpha,
    )
    assert judged.passes, judged


def test_it_is_a_little_more_accurate_on_counts_than_rounded_laplace() -> None:
    for epsilon in (0.1, 0.5, 1, 2):
        for confidence in (0.5, 0.9, 0.95, 0.999):
            geometric = DiscreteLaplace(epsilon=epsilon, sensitivity=1)
            rounded = Laplace(epsilon=epsilon, sensitivity=1)
            assert geometric.error(confidence=confidence) <= rounded.error(
                confidence=confidence, kind=int
            )


def test_its_price_under_composition_is_its_own() -> None:
    # Contract, "Numbers": never that of the continuous law.
    event = DiscreteLaplace(epsilon=0.1, sensitivity=1).event
    assert event != Laplace(epsilon=0.1, sensitivity=1).event
    assert (event * 1000).epsilon(delta=1e-6) >= 19.344


class TestTruncatedGeometric:
    EPSILON, SIZE = 0.5, 20

    @property
    def mechanism(self) -> TruncatedGeometric:
        return TruncatedGeometric(epsilon=self.EPSILON, size=self.SIZE)

    def test_the_noise_of_the_book_at_a_twentieth(self) -> None:
        # 004c:9-1: E|Y| and the standard deviation at epsilon = .05.
        a = math.exp(-0.05)
        mass, _ = discrete_laplace(DiscreteLaplace(epsilon=0.05, sensitivity=1).scale(kind=int))
        values = range(-3000, 3001)
        absolute = math.fsum(abs(y) * mass(y) for y in values)
        assert absolute == pytest.approx(2 * a / (1 - a * a))
        assert absolute == pytest.approx(19.9917, abs=5e-5)
        deviation = math.sqrt(math.fsum(y * y * mass(y) for y in values))
        assert deviation == pytest.approx(28.2813, abs=5e-5)

    def test_rows_are_laws_and_the_worst_adjacent_ratio_is_exactly_e_to_epsilon(self) -> None:
        law = self.mechanism.distribution()
        assert np.allclose(law.sum(axis=1), 1, atol=1e-14)
        worst = max(min_epsilon(law[c], law[c + 1]) for c in range(self.SIZE))
        assert worst == pytest.approx(self.EPSILON, abs=1e-12)
        assert math.exp(worst) == pytest.approx(1.648721, abs=5e-7)

    @pytest.mark.parametrize("size", [1, 2, 20])
    def test_the_table_is_the_law_of_clamped_noise(self, size: int) -> None:
        law = TruncatedGeometric(epsilon=0.5, size=size).distribution()
        for count in range(size + 1):
            spread = windowed(discrete_laplace(2), count, 0, size)
            assert law[count] == pytest.approx(list(spread.values()), abs=1e-14)

    def test_releases_follow_the_table_and_stay_inside(self, source: Seeded, alpha: float) -> None:
        mechanism = TruncatedGeometric(epsilon=0.5, size=20, randomness=source)

        def law(epsilon: float) -> DiscreteLaw:
            row = TruncatedGeometric(epsilon=epsilon, size=20).distribution()[3]
            return DiscreteLaw.of(dict(enumerate(row.tolist())))

        judged = three_sided(
            lambda n: mechanism.release(np.full(n, 3)),
            law(0.5),
            [law(0.5 / 0.8), law(0.5 / 1.25)],
            alpha=alpha,
        )
        assert judged.passes, judged

    def test_the_printed_form_is_a_broken_twin(self) -> None:
        # Equation 9.1 clamps the noise to [0, n] before adding it: never below the truth.
        # It also prints a = 1/epsilon, which is no law for epsilon <= 1; this is its best reading.
        def printed(count: int) -> dict[Hashable, float]:
            noise = windowed(discrete_laplace(1 / self.EPSILON), 0, 0, self.SIZE)
            return {count + y: p for y, p in zip(range(self.SIZE + 1), noise.values(), strict=True)}

        assert min_epsilon(printed(3), printed(4)) == math.inf
        assert 1 / self.EPSILON >= 1, "sum of alpha**|y| diverges"

    def test_answers_of_least_expected_loss(self) -> None:
        # 004c:9-1, a = exp(-.5), n = 20, absolute loss.
        mechanism = self.mechanism
        absolute = mechanism.estimator([1] * 21, lambda c, y: abs(c - y))
        assert absolute == [1, *range(1, 20), 19]
        geometric = mechanism.estimator([0.7**c for c in range(21)], lambda c, y: abs(c - y))
        assert geometric == [0, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 14, 15, 15, 16]

    def test_the_printed_signed_loss_says_zero_whatever_happens(self) -> None:
        assert self.mechanism.estimator([1] * 21, lambda c, y: y - c) == [0] * 21

    @pytest.mark.parametrize(
        "prior", [[1] * 20, [-1] + [1] * 20, [0] * 21, [math.nan] * 21, [math.inf] * 21]
    )
    def test_a_prior_that_is_none_is_refused(self, prior: list[float]) -> None:
        with pytest.raises(InvalidParameter, match="prior_of_wrong_shape"):
            self.mechanism.estimator(prior, lambda c, y: abs(c - y))

    def test_kinds_and_price(self) -> None:
        mechanism = self.mechanism
        assert mechanism.event == DiscreteLaplace(epsilon=0.5, sensitivity=1).event
        assert type(mechanism.release(3)) is int
        assert mechanism.release([3, 4]).dtype == np.int64
        assert TruncatedGeometric(epsilon=1, size=10**30).release(5) >= 0
        silent = TruncatedGeometric(epsilon=1, size=20, randomness=Noiseless())
        assert silent.release([-5, 7, 90]).tolist() == [0, 7, 20]
        assert isinstance(silent.event, events.Unprotected)
        assert mechanism.error(confidence=0.95) == 6
        assert TruncatedGeometric(epsilon=0.001, size=20).error(confidence=0.95) == 20
