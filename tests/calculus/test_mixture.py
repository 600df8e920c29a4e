"""Mixtures by public weights: as private as the worst part, by enumeration and every accountant."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import calculus as t
from discreet import events
from discreet.accounting import (
    APPROX,
    APPROXIMATELY_CONCENTRATED,
    GAUSSIAN,
    PURE,
    RENYI,
    WORST_PART,
    ZERO_CONCENTRATED,
    filter_for,
)
from discreet.audit import BrokenTwin, check_pair, min_delta
from discreet.core.arrays import Floats
from discreet.core.errors import DiscreetError, NotPrivate, Unpriced
from discreet.core.events.event import Event, from_json
from discreet.core.events.one_of import OneOf, one_of
from discreet.core.guarantee import PureDP
from discreet.core.measurement import Measurement
from discreet.mechanisms import DiscreteGaussian, Laplace
from discreet.noise import Seeded, weighted_choice

ROWS = t.Space(t.Rows(t.Integers()), t.AddRemove())
COUNT = t.count_rows(ROWS)
FINE = COUNT >> Laplace(epsilon=1, sensitivity=1)
COARSE = COUNT >> Laplace(epsilon=Fraction(1, 4), sensitivity=1)
EPSILONS = (0.0, 0.1, 0.3, 0.7, 1.0, 2.0)


def drawn(source: Seeded) -> Callable[[tuple[Fraction, ...]], int]:
    return lambda weights: weighted_choice(weights, source)


def law_of(shares: tuple[Fraction, ...], laws: list[Floats]) -> Floats:
    """What the mixture releases, which part it was included."""
    return np.concatenate([float(share) * law for share, law in zip(shares, laws, strict=True)])


class TestMixture:
    def test_it_costs_as_much_as_its_worst_part(self) -> None:
        mixed = t.mixture([1, 3], [FINE, COARSE], draw=weighted_choice)
        assert mixed.event(1) == OneOf((FINE.event(1), COARSE.event(1)))
        assert mixed.event(2).epsilon(delta=0) == 2
        assert t.mixture([1, 1], [FINE, FINE], draw=weighted_choice).event(1) == FINE.event(1)

    def test_parts_are_drawn_by_their_weights_at_every_release(self) -> None:
        parts = [FINE.then(lambda _: "fine"), COARSE.then(lambda _: "coarse")]
        mixed = t.mixture([0.25, 0.75], parts, draw=drawn(Seeded(4)))
        told = Counter(mixed.release((1, 2, 3)) for _ in range(2000))
        # Seven deviations of 19 draws.
        assert abs(told["fine"] - 500) < 136

    def test_weights_are_told_in_proportion(self) -> None:
        seen: list[tuple[Fraction, ...]] = []

        def first(weights: tuple[Fraction, ...]) -> int:
            seen.append(weights)
            return 0

        t.mixture([2, 1, 1], [FINE, COARSE, COARSE], draw=first).release((1,))
        assert seen == [(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))]

    @pytest.mark.parametrize(
        ("weights", "parts", "code"),
        [
            ([], [], "weights_do_not_fit"),
            ([1], [FINE, COARSE], "weights_do_not_fit"),
            ([1, 0], [FINE, COARSE], "not_positive"),
            ([1, -1], [FINE, COARSE], "not_positive"),
            ([1, math.inf], [FINE, COARSE], "not_finite"),
            (
                [1, 1],
                [FINE, Laplace(epsilon=1, sensitivity=1).over(COUNT.output)],
                "metric_mismatch",
            ),
        ],
    )
    def test_refused(self, weights: Any, parts: Any, code: str) -> None:
        with pytest.raises(DiscreetError) as refusal:
            t.mixture(weights, parts, draw=weighted_choice)
        assert refusal.value.code == code

    @settings(max_examples=10)
    @given(
        st.lists(st.integers(1, 20), min_size=2, max_size=3),
        st.lists(st.floats(0.05, 3), min_size=3, max_size=3),
        st.integers(0, 2**32 - 1),
    )
    def test_no_finite_mixture_loses_more_than_is_claimed(
        self, weights: list[int], losses: list[float], seed: int
    ) -> None:
        """Random tables of four outcomes, each within exp(±epsilon) of the other but for delta."""
        rng = np.random.default_rng(seed)
        here, there, parts = [], [], []
        for loss in losses[: len(weights)]:
            p = rng.dirichlet(np.ones(4))
            q = p * np.exp(rng.uniform(-loss, loss, size=4))
            q /= q.sum()
            slack = max(min_delta(p, q, epsilon=loss), min_delta(q, p, epsilon=loss))
            here.append(p)
            there.append(q)
            parts.append(events.Approximate(epsilon=loss, delta=min(slack + 1e-12, 0.999)))
        shares = tuple(Fraction(weight, sum(weights)) for weight in weights)
        claim = one_of(tuple(parts))
        one, other = law_of(shares, here), law_of(shares, there)
        for epsilon in EPSILONS:
            found = max(
                min_delta(one, other, epsilon=epsilon), min_delta(other, one, epsilon=epsilon)
            )
            assert found <= claim.delta(epsilon=epsilon) + 1e-9

    def test_choosing_by_the_data_is_refuted(self) -> None:
        """The twin makes the fine measurement of long tables and the coarse one of short ones."""
        response = {
            "fine": np.array([math.e, 1]) / (1 + math.e),
            "coarse": np.array([math.exp(0.25), 1]) / (1 + math.exp(0.25)),
        }
        claimed = OneOf((events.Pure(epsilon=1), events.Pure(epsilon=0.25)))

        class Found:
            def __init__(self, share: Callable[[int], float]) -> None:
                laws = []
                for rows in (3, 4):
                    fine, coarse = (table[:: 1 if rows % 2 else -1] for table in response.values())
                    weight = share(rows)
                    laws.append(np.concatenate([weight * fine, (1 - weight) * coarse]))
                self.passes = all(
                    max(
                        min_delta(laws[0], laws[1], epsilon=e),
                        min_delta(laws[1], laws[0], epsilon=e),
                    )
                    <= claimed.delta(epsilon=e) + 1e-12
                    for e in EPSILONS
                )

        sound: Callable[[int], float] = lambda rows: 0.5  # noqa: E731
        broken: Callable[[int], float] = lambda rows: 0.9 if rows > 3 else 0.1  # noqa: E731
        check_pair(BrokenTwin("mixture", sound, broken, why="weights follow the data"), Found)

    def test_the_price_of_the_average_is_refuted(self) -> None:
        """Half the time at epsilon 1 and half at 0 is not one half: which it was is seen."""

        class Found:
            def __init__(self, epsilon: float) -> None:
                p = np.array([math.e, 1]) / (1 + math.e)
                one = np.concatenate([p / 2, [0.25, 0.25]])
                other = np.concatenate([p[::-1] / 2, [0.25, 0.25]])
                claim = events.Pure(epsilon=epsilon)
                self.passes = all(
                    min_delta(one, other, epsilon=e) <= claim.delta(epsilon=e) + 1e-12
                    for e in EPSILONS
                )

        check_pair(BrokenTwin("mixture", 1.0, 0.5, why="epsilons averaged"), Found)


class TestEvent:
    PARTS = (
        events.Laplace(epsilon=1),
        events.Gaussian(1.5),
        events.Approximate(epsilon=0.5, delta=1e-3),
    )

    def test_it_is_a_value_and_survives_json(self) -> None:
        event = OneOf((events.Laplace(epsilon=1), events.Gaussian(1.5)))
        assert from_json(event.to_json()) == event
        assert OneOf([events.Nothing()]).parts == (events.Nothing(),)  # type: ignore[arg-type]
        with pytest.raises(DiscreetError, match="nothing_to_choose"):
            OneOf(())
        with pytest.raises(DiscreetError, match="relation_mismatch"):
            OneOf(
                (
                    events.Laplace(epsilon=1).subsample(rate=0.1),
                    events.Laplace(epsilon=1).subsample(size=2, of=9),
                )
            )

    def test_nothing_and_equals_are_left_out(self) -> None:
        one = events.Laplace(epsilon=1)
        assert one_of((one, events.Nothing(), one)) == one
        assert one_of((events.Nothing(), events.Nothing())) == events.Nothing()

    @pytest.mark.parametrize("times", [1, 2, 30])
    def test_no_accountant_says_less_than_of_any_part(self, times: int) -> None:
        """Also of many such choices: the worst part every time is one of the possibilities."""
        chosen: Event = OneOf(self.PARTS[:2]) * times
        for accountant in (
            APPROX,
            ZERO_CONCENTRATED,
            APPROXIMATELY_CONCENTRATED,
            RENYI,
            GAUSSIAN,
        ):
            for part in self.PARTS[:2]:
                for delta in (1e-6, 1e-3):
                    assert accountant.epsilon(chosen, delta) >= accountant.epsilon(
                        part * times, delta
                    ) * (1 - 1e-9)

    def test_the_best_price_is_the_worst_of_the_best(self) -> None:
        event = OneOf(self.PARTS)
        for delta in (1e-6, 1e-2):
            worst = max(part.epsilon(delta=delta) for part in self.PARTS)
            assert event.epsilon(delta=delta) == worst
        for epsilon in (0.2, 1.0):
            worst = max(part.delta(epsilon=epsilon) for part in self.PARTS)
            assert event.delta(epsilon=epsilon) == worst
        orders = [1.5, 4.0, 64.0]
        two = OneOf(self.PARTS[:2])
        assert two.rdp(orders=orders).tolist() == pytest.approx(
            np.maximum(*(part.rdp(orders=orders) for part in self.PARTS[:2])).tolist()
        )
        assert two.zcdp().rho == max(part.zcdp().rho for part in self.PARTS[:2])

    def test_pure_parts_are_pure(self) -> None:
        event = OneOf((events.Laplace(epsilon=1), events.Pure(epsilon=2)))
        assert PURE.price(event * 3) == 6
        assert PURE.epsilon(event, 0) == 2
        budget = filter_for(PureDP(epsilon=5))
        budget.record(event)
        budget.record(event)
        assert not budget.admits(event)

    def test_what_no_accountant_prices_stays_unpriced(self) -> None:
        with pytest.raises(Unpriced):
            PURE.price(OneOf(self.PARTS))
        with pytest.raises(Unpriced):
            WORST_PART.epsilon(events.Laplace(epsilon=1), 0)
        with pytest.raises(NotPrivate):
            OneOf((Laplace(epsilon=1, sensitivity=1, randomness=Seeded(1)).event,)).epsilon(delta=0)

    def test_sampled_choices_are_priced_by_renyi(self) -> None:
        event = OneOf(self.PARTS[:2]).subsample(rate=0.01)
        for part in self.PARTS[:2]:
            assert (
                event.epsilon(delta=1e-6) >= RENYI.epsilon(part.subsample(rate=0.01), 1e-6) * 0.999
            )


class TestErrors:
    def test_a_pipeline_knows_the_error_of_its_noise(self) -> None:
        noise = Laplace(epsilon=0.5, sensitivity=1)
        pipeline = t.filter_rows(ROWS, lambda row: row > 0) >> COUNT >> noise
        assert pipeline.error(confidence=0.95) == noise.error(confidence=0.95, kind=int)
        assert pipeline.interval(100, confidence=0.95) == (94, 106)
        histogram = t.histogram(ROWS, (1, 2, 3), metric=t.L2())
        many = histogram >> DiscreteGaussian(rho=0.5, sensitivity=1)
        assert many.error(confidence=0.9) == DiscreteGaussian(rho=0.5, sensitivity=1).error(
            confidence=0.9, size=3
        )
        low, high = many.interval(np.array([5, 6, 7]), confidence=0.9)
        assert low.dtype.kind == high.dtype.kind == "i"
        assert ((high - low) == 2 * many.error(confidence=0.9)).all()

    def test_arbitrary_functions_drop_it_and_affine_ones_keep_it(self) -> None:
        for unknown in (FINE.then(abs), FINE.then(lambda value: value)):
            with pytest.raises(DiscreetError, match="error_not_known"):
                unknown.error(confidence=0.9)
            with pytest.raises(DiscreetError, match="error_not_known"):
                unknown.interval(3, confidence=0.9)
        halves = FINE.scaled(-0.5, shift=3)
        assert halves.error(confidence=0.9) == FINE.error(confidence=0.9) / 2
        assert halves.event(1) == FINE.event(1)
        silent = COUNT >> Laplace(epsilon=1, sensitivity=1, randomness=Seeded(3))
        again = COUNT >> Laplace(epsilon=1, sensitivity=1, randomness=Seeded(3))
        assert silent.scaled(2, shift=1).release((1, 2)) == 2 * again.release((1, 2)) + 1
        with pytest.raises(DiscreetError, match="error_not_known"):
            t.mixture([1, 1], [FINE, COARSE], draw=weighted_choice).error(confidence=0.9)

    @pytest.mark.parametrize("confidence", [0, 1, 1.5, math.nan])
    def test_no_confidence_out_of_range(self, confidence: float) -> None:
        with pytest.raises(DiscreetError):
            FINE.error(confidence=confidence)

    def test_several_at_once_hold_together(self) -> None:
        """By the exact laws: each alone at the stated confidence would fail too often."""

        class Holds:
            def __init__(self, each: Callable[[Any], tuple[float, float]]) -> None:
                widths = each(t.both(FINE, COARSE))
                chances = [
                    1 - math.exp(-(width + 0.5) * epsilon)  # rounded Laplace noise
                    for width, epsilon in zip(widths, (1, 0.25), strict=True)
                ]
                self.passes = math.prod(chances) >= 0.7

        def joint(two: Measurement[Any, Any]) -> tuple[float, float]:
            found: tuple[float, float] = two.error(confidence=0.7)
            return found

        def alone(two: Measurement[Any, Any]) -> tuple[float, float]:
            return FINE.error(confidence=0.7), COARSE.error(confidence=0.7)

        check_pair(BrokenTwin("both", joint, alone, why="each at the confidence of all"), Holds)

    def test_intervals_have_the_form_of_the_answer(self) -> None:
        two = t.both(FINE, COARSE)
        low, high = two.interval((10, 20), confidence=0.9)
        assert [h - mid for h, mid in zip(high, (10, 20), strict=True)] == list(
            two.error(confidence=0.9)
        )
        assert [mid - w for w, mid in zip(low, (10, 20), strict=True)] == list(
            two.error(confidence=0.9)
        )
        parts = t.for_each_part(FINE, ("a", "b"))
        widths = parts.error(confidence=0.9)
        assert set(widths) == {"a", "b"}
        assert widths["a"] == two.error(confidence=0.9)[0]
        low, high = parts.interval({"a": 1, "b": 2}, confidence=0.9)
        assert (low["b"], high["b"]) == (2 - widths["b"], 2 + widths["b"])
        assert FINE.interval([1, 2], confidence=0.5)[0] == [0, 1]
        mixed = t.both(FINE, COARSE.then(abs))
        with pytest.raises(DiscreetError, match="error_not_known"):
            mixed.error(confidence=0.9)
