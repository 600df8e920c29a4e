"""Thresholds that publish counts: exact hockey-sticks, calibration, prices, and broken twins."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from discreet import events
from discreet.accounting import APPROX, APPROXIMATELY_CONCENTRATED, gaussian_delta
from discreet.accounting.key_selection import (
    Calibrated,
    alone,
    bound_showing_chance,
    calibrated,
    concentrated,
    threshold_delta,
)
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.mechanisms.key_selection import (
    ConcentratedThreshold,
    GaussianThreshold,
    GeometricThreshold,
    OptimalSelection,
    plan_counts,
    plan_names,
)
from discreet.mechanisms.key_selection.geometric import truncated_geometric, truncation
from discreet.noise import Noiseless, Seeded


def published(epsilon: float, k: int, people: int) -> dict[int | None, float]:
    """The law of what the truncated geometric rule publishes; None for nothing."""
    weights = {x: math.exp(-epsilon * abs(x)) for x in range(-k, k + 1)}
    total = sum(weights.values())
    law: dict[int | None, float] = {None: 0.0}
    for x, weight in weights.items():
        value = people + x if people + x > k and people > 0 else None
        law[value] = law.get(value, 0.0) + weight / total
    return law


def hockey_stick(p: dict[int | None, float], q: dict[int | None, float], epsilon: float) -> float:
    return math.fsum(max(p[y] - math.exp(epsilon) * q.get(y, 0.0), 0.0) for y in p)


def worst(epsilon: float, k: int) -> float:
    laws = [published(epsilon, k, n) for n in range(3 * k + 4)]
    return max(
        hockey_stick(a, b, epsilon)
        for one, other in itertools.pairwise(laws)
        for a, b in ((one, other), (other, one))
    )


class TestGeometric:
    @pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.3, 1e-3), (2, 1e-6), (0.1, 0.05)])
    def test_names_and_counts_cost_delta_and_a_smaller_bound_more(
        self, epsilon: float, delta: float
    ) -> None:
        k = GeometricThreshold(epsilon=epsilon, delta=delta).bound
        assert worst(epsilon, k) <= delta * (1 + 1e-9)
        if k > 1:
            assert worst(epsilon, k - 1) > delta, "a smaller bound is a broken twin"

    def test_worked_numbers(self) -> None:
        rule = GeometricThreshold(epsilon=1, delta=1e-5)
        assert rule.bound == 11
        assert rule.keep_probability(11) == pytest.approx(0.268939, abs=1e-6)
        assert rule.keep_probability(12) == pytest.approx(0.731061, abs=1e-6)
        assert worst(1, 10) == pytest.approx(2.098e-5, rel=1e-3)
        for people in range(30):
            law = published(1, 11, people)
            assert rule.keep_probability(people) == pytest.approx(1 - law[None], abs=1e-12)

    def test_the_bound_is_decided_exactly_where_a_logarithm_would_round_up(self) -> None:
        """P(X = 11) a hair below delta: a ceiling of floats may say 12, and loses a person."""
        a = math.exp(-1)
        at = a**11 * (1 - a) / (1 + a - 2 * a**12)
        assert truncation(Fraction(1), Fraction(at * (1 + 1e-15))) == 11
        assert truncation(Fraction(1), Fraction(at * (1 - 1e-15))) == 12
        equal = GeometricThreshold(epsilon=1, delta=at * (1 + 1e-15))
        best = OptimalSelection(epsilon=1, delta=at * (1 + 1e-15))
        for people in range(25):
            assert equal.keep_probability(people) == pytest.approx(
                best.keep_probability(people), abs=1e-12
            ), "there it is the optimal rule itself"

    def test_the_optimal_rule_is_nowhere_below(self) -> None:
        for epsilon, delta in itertools.product((0.2, 1, 3), (1e-8, 1e-3)):
            here = GeometricThreshold(epsilon=epsilon, delta=delta)
            best = OptimalSelection(epsilon=epsilon, delta=delta)
            for people in range(2 * here.bound + 3):
                assert here.keep_probability(people) <= best.keep_probability(people) + 1e-12

    def test_noise_has_the_truncated_law(self, alpha: float, source: Seeded) -> None:
        noise = truncated_geometric(Fraction(2), 3, 200_000, source)
        assert set(noise.tolist()) == set(range(-3, 4))
        weights = np.exp(-np.abs(np.arange(-3, 4)) / 2)
        for value, chance in zip(range(-3, 4), weights / weights.sum(), strict=True):
            low, high = binom.interval(1 - alpha / 7, 200_000, chance)
            assert low <= int((noise == value).sum()) <= high

    def test_published_counts_are_the_noisy_ones(self, source: Seeded) -> None:
        rule = GeometricThreshold(epsilon=1, delta=1e-5, min_people=5, randomness=source)
        people = np.repeat(np.arange(40), 50)
        kept = rule.release(people)
        assert kept.counts is not None
        assert (np.abs(kept.counts - np.maximum(people, 4))[kept.chosen] <= rule.bound).all()
        assert (kept.counts[kept.chosen] > rule.bound + 4).all()
        assert not kept.chosen[people < 5].any()
        still = GeometricThreshold(epsilon=1, delta=1e-5, randomness=Noiseless())
        assert still.release(np.array([0, 11, 12])).chosen.tolist() == [False, False, True]


class TestGaussian:
    @pytest.mark.parametrize(
        ("groups", "half"), [(1, 16.911), (2, 24.305), (3, 30.104), (5, 39.469), (10, 57.078)]
    )
    def test_worked_thresholds_rounded_up_to_whole_counts(self, groups: int, half: float) -> None:
        found = GaussianThreshold(epsilon=1, delta=1e-5, groups=groups).people_for(0.5)
        assert half <= found <= half + 1.6

    @pytest.mark.parametrize("swaps", [1, 2])
    @pytest.mark.parametrize("groups", [1, 2, 7, 100])
    def test_the_price_is_kept_and_hardly_less_noise_would_do(
        self, groups: int, swaps: int
    ) -> None:
        made = calibrated(Fraction(1), Fraction(1, 10**5), groups, swaps)
        assert threshold_delta(made.sigma, made.threshold, groups, swaps, 1) <= 1e-5
        assert threshold_delta(made.sigma, made.threshold - 1, groups, swaps, 1) > 1e-5
        less = made.sigma * 0.9
        assert threshold_delta(less, 10**6, groups, swaps, 1) > 1e-5, "less noise: a broken twin"

    def test_delta_bounds_the_exact_hockey_stick_of_two_groups(self) -> None:
        """A person alone in one key and one of many in another: both directions, integrated."""
        sigma, threshold, epsilon = 1.5, 4, 0.8
        p = float(ndtr(-(threshold - 1.5) / sigma))
        claimed = threshold_delta(sigma, threshold, 2, 1, epsilon)
        # The shared key's noise as a histogram of the rounded law far above the threshold.
        grid = np.arange(-60, 61)
        near, far = (
            ndtr((grid - m + 0.5) / sigma) - ndtr((grid - m - 0.5) / sigma) for m in (0, 1)
        )
        grow = math.exp(epsilon)
        there = p + np.maximum((1 - p) * far - grow * near, 0).sum()
        back = np.maximum(near - grow * (1 - p) * far, 0).sum()
        assert max(there, back) <= claimed
        both = gaussian_delta(sigma / math.sqrt(2), epsilon)
        twice = bound_showing_chance(p, 2)
        assert claimed == pytest.approx(
            max(both, twice, p + (1 - p) * gaussian_delta(sigma, epsilon))
        )

    def test_half_of_delta_for_each_is_never_better(self) -> None:
        """The catalogue's split form, for comparison: its threshold lies above the tuned one."""
        for groups in (1, 3, 10):
            sigma = calibrated_half(groups)
            tail = -math.expm1(math.log1p(-5e-6) / groups)
            split = 1 + sigma * -ndtri(tail)
            tuned = GaussianThreshold(epsilon=1, delta=1e-5, groups=groups).noise
            assert tuned.threshold - 0.5 < split

    def test_forgetting_that_several_keys_may_be_nobody_elses_is_a_broken_twin(self) -> None:
        """A threshold for one key alone at delta shows a person of ten keys ten times as often."""
        made = calibrated(Fraction(1), Fraction(1, 10**5), 1, 1)
        wide = Calibrated(made.sigma * math.sqrt(10), 0)
        threshold = math.ceil(1.5 + wide.sigma * -ndtri(1e-5))
        assert alone(wide.sigma, threshold) <= 1e-5
        assert threshold_delta(wide.sigma, threshold, 10, 1, 1) > 5e-5


def calibrated_half(groups: int) -> float:
    from discreet.accounting import gaussian_multiplier

    return gaussian_multiplier(1, 5e-6) * math.sqrt(groups)


class TestConcentrated:
    @pytest.mark.parametrize(
        ("rho", "groups", "real"),
        [
            (0.5, 1, 5.26489),
            (0.5, 10, 16.03164),
            (0.5, 100, 52.99337),
            (0.1, 1, 10.53659),
            (0.1, 10, 34.61178),
            (0.1, 100, 117.26070),
        ],
    )
    def test_worked_thresholds(self, rho: float, groups: int, real: float) -> None:
        made = ConcentratedThreshold(rho=rho, delta=1e-5, groups=groups).noise
        assert made.sigma == pytest.approx(math.sqrt(groups / (2 * rho)))
        assert made.threshold == math.ceil(real + 0.5)
        assert bound_showing_chance(alone(made.sigma, made.threshold), groups) <= 1e-5

    def test_replace_changes_twice_the_counts_but_shows_no_more_keys(self) -> None:
        one = concentrated(Fraction(1, 10), Fraction(1, 10**5), 4, 1)
        two = concentrated(Fraction(1, 10), Fraction(1, 10**5), 4, 2)
        assert two.sigma == pytest.approx(one.sigma * math.sqrt(2))
        assert bound_showing_chance(alone(two.sigma, two.threshold), 4) <= 1e-5


class TestPrices:
    def test_every_event_states_its_price_and_comes_back_from_json(self) -> None:
        for kind in (events.KeySelection, events.GeometricThreshold, events.GaussianThreshold):
            event = kind(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6), groups=3, swaps=1)
            assert events.from_json(event.to_json()) == event
            sums = APPROX.price(event)
            assert (sums.epsilon, sums.delta) == (Fraction(1, 2), Fraction(1, 10**6))
            assert event.epsilon(delta=1.1e-6) == pytest.approx(0.5)
            with pytest.raises(Unpriced):
                event.zcdp()

    def test_concentrated_prices_set_delta_apart(self) -> None:
        event = events.ConcentratedThreshold(rho=0.1, delta=1e-6, groups=3, swaps=1)
        apart = APPROXIMATELY_CONCENTRATED.price(event * 2)
        assert (apart.rho, apart.delta) == (2 * Fraction(0.1), 2 * Fraction(1e-6))
        split = events.KeySelection(epsilon=1, delta=1e-6, groups=4, swaps=1)
        assert APPROXIMATELY_CONCENTRATED.price(split).rho == Fraction(1, 8)
        normal = events.GaussianThreshold(epsilon=1, delta=1e-6, groups=4, swaps=1)
        found = APPROXIMATELY_CONCENTRATED.price(normal)
        made = calibrated(Fraction(1), Fraction(1e-6), 4, 1)
        assert found.rho == 4 / (2 * Fraction(made.sigma) ** 2)
        assert 0 < found.delta <= Fraction(1e-6)

    def test_marked_in_test_mode(self) -> None:
        rule = GaussianThreshold(epsilon=1, delta=1e-5, groups=3, randomness=Seeded(1))
        assert isinstance(rule.event, events.Unprotected)


class TestPlan:
    def test_the_optimal_rule_for_few_groups_and_normal_noise_for_many(self) -> None:
        kinds = [
            (
                type(plan_names(epsilon=1, delta=1e-5, groups=g)),
                type(plan_counts(epsilon=1, delta=1e-5, groups=g)),
            )
            for g in (1, 2, 3, 10, 100)
        ]
        few = (OptimalSelection, GeometricThreshold)
        assert kinds == [few, few, *[(GaussianThreshold, GaussianThreshold)] * 3]

    def test_a_rule_out_of_reach_gives_way_to_one_that_is_not(self) -> None:
        assert isinstance(plan_names(epsilon=1e-4, delta=1e-9, groups=30), GaussianThreshold)
        with pytest.raises(InvalidParameter):
            plan_names(epsilon=1e-9, delta=1e-12, groups=1)

    def test_laws_of_releases(self, alpha: float, source: Seeded) -> None:
        rule = GaussianThreshold(epsilon=2, delta=1e-3, groups=3, randomness=source)
        for people in (1, 5, 12, 20):
            named = int(rule.release(np.full(100_000, people)).chosen.sum())
            low, high = binom.interval(1 - alpha / 4, 100_000, rule.keep_probability(people))
            assert low <= named <= high
