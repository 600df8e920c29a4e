"""Subsample and aggregate, numbers and votes."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.audit import ContinuousLaw, DiscreteLaw, accepts, three_sided
from discreet.audit.testers import l1, measure, replace_neighbours
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Laplace as LaplaceEvent
from discreet.core.events.mechanisms import NoisyMax as NoisyMaxEvent
from discreet.mechanisms.robust import (
    Aggregator,
    Elected,
    Mean,
    Median,
    SubsampleAggregate,
    SubsampleVote,
    Trimmed,
    VoteByExponential,
    VoteByNoisyMax,
    Winsorized,
)
from discreet.mechanisms.robust.blocks import FAILED, apply, split
from discreet.noise import Noiseless, Seeded
from discreet.noise.randomness import Source
from tests.mechanisms.robust import laws

AGGREGATORS = {
    Mean(): Fraction(1, 6),
    Trimmed(Fraction(1, 6)): Fraction(1, 4),
    Winsorized(Fraction(1, 6)): Fraction(1, 3),
    Median(): Fraction(1),
}


def average(aggregator: Aggregator, values: Sequence[int]) -> Fraction:
    return Fraction(aggregator.total(sorted(values)), aggregator.divisor(len(values)))


def _value(aggregator: Aggregator, values: tuple[int, ...]) -> float:
    return float(average(aggregator, values))


class TestAggregators:
    @pytest.mark.parametrize(("aggregator", "sensitivity"), AGGREGATORS.items())
    def test_six_values_in_the_unit_interval_have_exactly_the_stated_sensitivity(
        self, aggregator: Aggregator, sensitivity: Fraction
    ) -> None:
        """m = 6, k = 1, w = 1: 1/6, 1/4, 1/3 and 1, by brute force; values in half steps."""
        assert aggregator.sensitivity(6, 1) == sensitivity
        report = measure(
            lambda values: float(average(aggregator, values) / 2),
            universe=[0, 1, 2],
            sizes=[6],
            neighbours=replace_neighbours,
            distance=l1,
        )
        assert report.worst == pytest.approx(float(sensitivity), rel=1e-12)

    @pytest.mark.parametrize("size", range(1, 6))
    @pytest.mark.parametrize("alpha", [0, 0.2, 0.25, 0.4, 0.49])
    def test_other_sizes_and_shares_stay_within_their_sensitivity(
        self, size: int, alpha: float
    ) -> None:
        for aggregator in (Trimmed(alpha), Winsorized(alpha), Mean(), Median()):
            report = measure(
                partial(_value, aggregator),
                universe=[0, 1, 3],
                sizes=[size],
                neighbours=replace_neighbours,
                distance=l1,
            )
            assert report.within(aggregator.sensitivity(size, 3))

    def test_a_winsorized_mean_priced_like_a_mean_is_caught(self) -> None:
        report = measure(
            lambda values: float(average(Winsorized(Fraction(1, 6)), values)),
            universe=[0, 1],
            sizes=[6],
            neighbours=replace_neighbours,
            distance=l1,
        )
        assert not report.within(Mean().sensitivity(6, 1))
        assert not report.within(Trimmed(Fraction(1, 6)).sensitivity(6, 1))

    def test_a_winsorized_mean_of_which_one_value_is_left_moves_like_a_median(self) -> None:
        """The printed (k + 1) w/m is then too small: 2/3 here, where the truth is 1."""
        assert Winsorized(0.4).sensitivity(3, 1) == 1
        assert average(Winsorized(0.4), [0, 0, 1]) == 0
        assert average(Winsorized(0.4), [0, 1, 1]) == 1

    def test_shares_written_as_floats_mean_the_fraction_they_stand_for(self) -> None:
        assert Trimmed(0.3).count_cut_values(10) == 3
        assert Trimmed(1 / 6).count_cut_values(6) == 1
        assert Trimmed(0).count_cut_values(6) == 0

    def test_they_average_as_their_names_say(self) -> None:
        values = [0, 1, 2, 3, 100]
        assert average(Mean(), values) == Fraction(106, 5)
        assert average(Trimmed(0.2), values) == 2
        assert average(Winsorized(0.2), values) == Fraction(1 + 1 + 2 + 3 + 3, 5)
        assert average(Median(), values) == 2
        assert average(Median(), [1, 2, 3, 4]) == 2

    def test_cutting_everything_is_refused(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            Trimmed(0.5)
        assert refusal.value.code == "nothing_left"


class TestBlocks:
    def test_every_row_is_in_one_block_and_order_is_kept(self) -> None:
        for rows in (list(range(100)), np.arange(100)):
            parts = split(rows, 7, Seeded(1))
            assert len(parts) == 7
            assert sorted(row for part in parts for row in part) == list(range(100))
            assert all(list(part) == sorted(part) for part in parts)

    def test_independent_labels_leave_all_blocks_but_one_alone(self) -> None:
        """Coupling by labels: adding, removing or replacing a row touches one block."""
        for labels in product(range(3), repeat=4):
            whole = assigned("abcd", labels)
            for i in range(4):
                fewer = assigned("abcd"[:i] + "abcd"[i + 1 :], labels[:i] + labels[i + 1 :])
                other = assigned("abcd"[:i] + "z" + "abcd"[i + 1 :], labels)
                assert changed(whole, fewer) == 1
                assert changed(whole, other) == 1

    def test_shuffling_and_cutting_into_chunks_can_alter_two_blocks(self) -> None:
        """The broken way: any matching of the two partitions, the best order included."""
        chunks = ["ab", "cd", "ef"]
        without_a = ["bc", "de", "f"]
        assert changed(chunks, without_a) > 1

    def test_labels_are_uniform(self) -> None:
        source = Seeded(3)
        labels = [i for i, part in enumerate(split([0] * 20000, 5, source)) for _ in part]
        order = np.random.default_rng(1).permutation(labels)
        law = DiscreteLaw.of(dict.fromkeys(range(5), Fraction(1, 5)))
        assert accepts(order, law, alpha=1e-9).passes

    def test_a_function_that_raises_is_silent(self) -> None:
        assert apply(lambda block: 1 // len(block), [[1], [], [2]]) == [1, FAILED, 1]


def assigned(rows: str, labels: tuple[int, ...]) -> list[str]:
    parts = ["", "", ""]
    for row, label in zip(rows, labels, strict=True):
        parts[label] += row
    return parts


def changed(one: list[str], other: list[str]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def numeric(source: Source, **changes: Any) -> SubsampleAggregate:
    return SubsampleAggregate(
        **{
            "function": lambda block: 3,
            "blocks": 10,
            "bounds": (0, 8),
            "aggregator": Mean(),
            "epsilon": 2,
            "randomness": source,
            **changes,
        }
    )


class TestNumbers:
    def test_a_constant_function_is_released_with_exactly_the_aggregators_noise(self) -> None:
        """Scale w/m epsilon = 8/20 around 3; clamping to the bounds is then hardly ever seen."""
        mechanism = numeric(Seeded(5))

        def law(scale: float) -> ContinuousLaw:
            return ContinuousLaw(
                lambda x: np.array([laws.laplace_below((v - 3) / scale) for v in x])
            )

        result = three_sided(
            lambda size: np.array([mechanism.release([1, 2, 3]) for _ in range(size)]),
            law(0.4),
            [law(0.32), law(0.5)],
            alpha=1e-9,
        )
        assert result.passes

    @pytest.mark.parametrize("aggregator", AGGREGATORS)
    def test_without_noise_the_aggregate_of_the_blocks_is_returned(
        self, aggregator: Aggregator
    ) -> None:
        mechanism = numeric(Noiseless(), aggregator=aggregator, blocks=6, function=len)
        # Without randomness all rows fall into the first block.
        expected = average(aggregator, [5, 0, 0, 0, 0, 0])
        assert mechanism.release("abcde") == pytest.approx(float(expected), abs=1e-8)

    @pytest.mark.parametrize(
        "strange", [None, math.nan, "text", 1j, [1, 2], object(), 1 << 5000, -math.inf]
    )
    def test_strange_results_are_clamped_or_become_the_lower_bound(self, strange: object) -> None:
        mechanism = numeric(Noiseless(), function=lambda block: strange, bounds=(-2, 8))
        expected = 8 if strange == 1 << 5000 else -2
        assert mechanism.release([1]) == pytest.approx(expected, abs=1e-8)

    def test_a_raising_function_gives_the_lower_bound_and_no_exception(self) -> None:
        mechanism = numeric(Noiseless(), function=lambda block: 1 // 0, bounds=(1, 2))
        assert mechanism.release(["secret"]) == 1

    def test_the_price_is_that_of_laplace_noise(self) -> None:
        assert numeric(Seeded(1)).event.instead_of == LaplaceEvent(epsilon=2)  # type: ignore[attr-defined]

    def test_the_error_covers_the_noise(self) -> None:
        mechanism = numeric(Seeded(6), aggregator=Trimmed(0.1))
        bound = mechanism.error(confidence=0.9)
        assert bound == pytest.approx(math.log(10) * 8 / 8 / 2, rel=1e-6)
        misses = sum(abs(mechanism.release([1]) - 3) > bound for _ in range(2000))
        assert 110 < misses < 300

    def test_answers_stay_within_the_bounds(self) -> None:
        mechanism = numeric(Seeded(7), epsilon=0.01)
        assert all(0 <= mechanism.release([1]) <= 8 for _ in range(200))


def vote(source: Source, **changes: Any) -> SubsampleVote:
    return SubsampleVote(
        **{
            "function": lambda block: "b",
            "options": ("a", "b", "c"),
            "blocks": 4,
            "epsilon": 1,
            "randomness": source,
            **changes,
        }
    )


class TestVotes:
    @pytest.mark.parametrize("selection", [VoteByNoisyMax(), VoteByExponential()])
    def test_unanimous_votes_fail_as_rarely_as_stated(
        self, selection: VoteByNoisyMax | VoteByExponential
    ) -> None:
        mechanism = vote(Seeded(8), selection=selection)
        wrong = sum(mechanism.release([1, 2, 3]).winner != "b" for _ in range(4000)) / 4000
        bound = mechanism.failure_if_unanimous()
        assert wrong < bound + 0.05

    def test_the_exponential_mechanism_is_right_exactly_as_often_as_the_formula_says(self) -> None:
        mechanism = vote(Seeded(9), selection=VoteByExponential())
        right = 1 / (1 + 2 * math.exp(-1 * 4 / 2))
        assert 1 - mechanism.failure_if_unanimous() == pytest.approx(right)
        law = DiscreteLaw.of({"b": right, "a": (1 - right) / 2, "c": (1 - right) / 2})
        winners = [mechanism.release([1]).winner for _ in range(5000)]
        assert accepts(winners, law, alpha=1e-9).passes

    def test_the_noisy_max_bound_is_exact_for_two_options(self) -> None:
        """P(L1 - L2 > b) = (1 + eb/4) exp(-eb/2) / 2 for two Laplace variables of scale 2/e."""
        mechanism = vote(Seeded(10), options=("a", "b"))
        wrong = 0.5 * (1 + 1 * 4 / 4) * math.exp(-1 * 4 / 2)
        assert mechanism.failure_if_unanimous() == pytest.approx(wrong)
        law = DiscreteLaw.of({"a": wrong, "b": 1 - wrong})
        assert accepts([mechanism.release([1]).winner for _ in range(4000)], law, alpha=1e-9).passes

    def test_failures_for_many_options_add_up(self) -> None:
        assert VoteByNoisyMax().failure(1, votes=20, options=10) == pytest.approx(
            9 * 0.5 * (1 + 20 / 4) * math.exp(-10)
        )

    def test_popularity_is_paid_for_separately(self) -> None:
        mechanism = vote(Seeded(1), popularity_epsilon=0.5)
        plain = SubsampleVote(
            function=len, options=("a",), blocks=2, epsilon=1, popularity_epsilon=0.5
        )
        assert plain.event == NoisyMaxEvent(epsilon=1) + LaplaceEvent(epsilon=0.5)
        assert plain.event.epsilon(delta=0) == 1.5
        assert isinstance(mechanism.release([1]).popularity, int)
        assert vote(Seeded(1)).release([1]).popularity is None

    def test_without_noise_the_first_of_the_most_voted_wins(self) -> None:
        assert vote(Noiseless()).release([1, 2]) == Elected("b")

    @pytest.mark.parametrize("strange", [None, "d", np.arange(3), math.nan])
    def test_a_vote_for_anything_else_is_a_vote_for_the_first(self, strange: object) -> None:
        assert vote(Noiseless(), function=lambda block: strange).release([1]) == Elected("a")

    def test_votes_on_neighbours_are_private_and_halved_noise_is_caught(self) -> None:
        """Every partition of tiny tables, with the exponential mechanism's exact law."""

        def law(rate: float) -> laws.Excess:
            return laws.worst(
                lambda rows: elected(rows, rate), [("ab", "abb"), ("", "a"), ("ab", "aa")],
                epsilon=1, delta=0,
            )  # fmt: skip

        assert law(1 / 2).passes
        assert not law(1).passes

    def test_options_must_be_distinct(self) -> None:
        with pytest.raises(InvalidParameter):
            vote(Seeded(1), options=("a", "a"))


def elected(rows: str, rate: float) -> laws.Law:
    """The law of the winner among a and b with three blocks: the larger letter in each votes."""
    law: laws.Law = Counter()  # type: ignore[assignment]
    for labels in product(range(3), repeat=len(rows)):
        votes = Counter(max(part, default="a") for part in assigned(rows, labels))
        weights = {option: math.exp(rate * votes[option]) for option in "ab"}
        for option, weight in weights.items():
            law[option] += weight / sum(weights.values()) / 3 ** len(rows)
    return dict(law)
