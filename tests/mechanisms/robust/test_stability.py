"""Values released exactly where they are stable: A_dist, the mode, and consensus of blocks."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.audit import BrokenTwin, DiscreteLaw, accepts, check_pair
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Approximate
from discreet.mechanisms.robust import (
    NO_ANSWER,
    BlockConsensus,
    NoisyTest,
    SampledConsensus,
    StableMode,
    StableValue,
    subsampling_stability,
)
from discreet.mechanisms.robust.ballots import canonical, lead
from discreet.mechanisms.robust.resampling import number_of_runs, sampling_rate
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.robust import laws

EPSILON, DELTA = 1.0, 0.1


class TestAnyValue:
    def test_the_pass_probability_is_that_of_the_paper(self) -> None:
        """½ δ exp(εd) up to τ = ln(1/δ)/ε, then 1 - ½ exp(-ε(d - τ)); at d = 0 it is δ/2."""
        test = StableValue(value=max, distance=len, epsilon=1, delta=1e-6).test
        tau = math.log(1e6)
        assert test.pass_probability(0) == pytest.approx(1e-6 / 2, rel=1e-5)
        assert test.pass_probability(13) == pytest.approx(1e-6 / 2 * math.exp(13), rel=1e-5)
        assert test.pass_probability(20) == pytest.approx(1 - math.exp(tau - 20) / 2, rel=1e-5)

    def test_stable_values_come_out_exactly_and_as_often_as_stated(self) -> None:
        mechanism = StableValue(
            value=max, distance=len, epsilon=1, delta=0.1, randomness=Seeded(41)
        )
        yes = mechanism.test.pass_probability(3)
        law = DiscreteLaw.of({3: yes, NO_ANSWER: 1 - yes})
        assert accepts([mechanism.release([1, 2, 3]) for _ in range(4000)], law, alpha=1e-9).passes

    def test_proposition_7_2_says_when_it_answers(self) -> None:
        """d of (ln(1/δ) + ln(1/β))/ε suffices; the exact need is a little less."""
        mechanism = StableValue(value=max, distance=len, epsilon=1, delta=1e-6)
        enough = math.ceil(math.log(1e6) + math.log(20))
        assert enough == 17 == mechanism.distance_needed(confidence=0.95)
        assert mechanism.test.pass_probability(enough) >= 0.95

    @pytest.mark.parametrize("distance", [None, math.nan, -5, "x"])
    def test_strange_distances_count_as_unstable(self, distance: object) -> None:
        mechanism = StableValue(
            value=max, distance=lambda rows: distance, epsilon=1, delta=0.1, randomness=Noiseless()
        )
        assert mechanism.release([1]) is NO_ANSWER

    def test_a_raising_value_is_no_answer(self) -> None:
        mechanism = StableValue(
            value=max, distance=lambda rows: 99, epsilon=1, delta=0.1, randomness=Noiseless()
        )
        assert mechanism.release([]) is NO_ANSWER
        assert mechanism.release([4]) == 4

    def test_the_price_does_not_depend_on_the_outcome(self) -> None:
        mechanism = StableMode(epsilon=1, delta=1e-6)
        assert mechanism.release([]) is NO_ANSWER
        assert mechanism.release(["a"] * 500) == "a"
        assert mechanism.event == Approximate(epsilon=1, delta=1e-6)

    def test_zero_delta_is_refused(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            StableMode(epsilon=1, delta=0)
        assert refusal.value.code == "delta_not_positive"


def add_remove_pairs(letters: str, most: int) -> list[tuple[str, str]]:
    """Every sorted word of up to ``most`` letters, with each word that has one letter more."""
    words = ["".join(w) for n in range(most) for w in product(letters, repeat=n)]
    words = [w for w in words if list(w) == sorted(w)]
    return [(w, "".join(sorted(w + new))) for w in words for new in letters]


class TestMode:
    def test_all_pairs_of_small_tables_are_within_the_price_and_the_bare_gap_is_not(self) -> None:
        """Twin: distance c1 - c2, which is one even where a single row changes the mode."""
        test = StableMode(epsilon=EPSILON, delta=DELTA).test

        def auditor(spare: int) -> laws.Excess:
            def law(word: str) -> laws.Law:
                first = lead(word)
                if not first.any_votes:
                    return {laws.NO_ANSWER: 1.0}
                yes = test.pass_probability(max(0, first.gap - spare))
                return {laws.NO_ANSWER: 1 - yes, first.winner: yes}

            return laws.worst(law, add_remove_pairs("abc", 7), epsilon=EPSILON, delta=DELTA / 2)

        check_pair(BrokenTwin("mode", sound=1, broken=0, why="distance too large by one"), auditor)

    def test_under_replace_the_same_distance_would_not_be_private(self) -> None:
        test = StableMode(epsilon=EPSILON, delta=DELTA).test

        def law(word: str) -> laws.Law:
            yes = test.pass_probability(max(0, lead(word).gap - 1))
            return {laws.NO_ANSWER: 1 - yes, lead(word).winner: yes}

        pairs = [("a" * n + "b", "a" * (n + 1)) for n in range(2, 6)]
        assert not laws.worst(law, pairs, epsilon=EPSILON, delta=DELTA / 2).passes

    def test_a_clear_mode_is_released_and_a_close_race_is_not(self) -> None:
        mechanism = StableMode(epsilon=1, delta=1e-6, randomness=Noiseless())
        assert mechanism.release(["x"] * 30 + ["y"] * 10) == "x"
        assert mechanism.release(["x"] * 30 + ["y"] * 29) is NO_ANSWER
        assert mechanism.lead_needed(confidence=0.95) == 18

    def test_the_last_row_of_the_lead_does_not_count(self) -> None:
        """The lead less one is how many rows keep the mode: of a lead of one, none do."""
        mode = StableMode(epsilon=1, delta=1e-6, randomness=Noiseless())
        enough = math.floor(mode.test.threshold) + 2
        assert mode.release(["a"] * enough) == "a"
        assert mode.release(["a"] * (enough - 1)) is NO_ANSWER
        assert mode.release(["a"] * (enough + 4) + ["b"] * 5) is NO_ANSWER
        assert mode.release(["a"] * (enough + 5) + ["b"] * 5) == "a"

    def test_missing_and_strange_rows_do_not_count(self) -> None:
        strange = [None, math.nan, [1], {2}, object()] * 10
        mechanism = StableMode(epsilon=1, delta=1e-6, randomness=Noiseless())
        assert mechanism.release([*strange, *["x"] * 20]) == "x"
        assert mechanism.release(strange) is NO_ANSWER

    def test_equal_values_of_different_looks_are_different_or_made_alike(self) -> None:
        """Otherwise the released one would tell which row came first."""
        assert lead([1, 1.0, True]).gap == 0
        assert str(lead([-0.0, -0.0]).winner) == "0.0"
        assert lead([(1, "a"), (1, "a"), (True, "a")]).winner == (1, "a")
        assert lead([frozenset("ab"), frozenset("ba")]).gap == 2
        assert canonical(np.int64(3)) == canonical(3)
        assert canonical(np.str_("a")) == canonical("a")
        assert canonical((1, None)) is None
        assert canonical(np.longdouble(1)) is None


def consensus_law(test: NoisyTest, blocks: int, rows: str) -> laws.Law:
    """Every partition of the rows: the largest letter of each block votes; empty ones abstain."""
    law: Counter[Any] = Counter()
    share = blocks ** -len(rows)
    for labels in product(range(blocks), repeat=len(rows)):
        parts = [""] * blocks
        for row, label in zip(rows, labels, strict=True):
            parts[label] += row
        first = lead(max(part) for part in parts if part)
        yes = test.pass_probability(first.gap) if first.any_votes else 0.0
        law[first.winner] += share * yes
        law[laws.NO_ANSWER] += share * (1 - yes)
    return dict(law)


class TestBlocks:
    @pytest.mark.parametrize("blocks", [2, 3, 4])
    def test_all_partitions_of_small_tables_are_within_the_price(self, blocks: int) -> None:
        """Add, remove and replace; the twin takes the lead less one, unhalved."""
        pairs = [*add_remove_pairs("ab", 5), *replaced_words("ab", 4)]

        def auditor(test: NoisyTest) -> laws.Excess:
            return laws.worst(
                lambda rows: consensus_law(test, blocks, rows),
                pairs,
                epsilon=EPSILON,
                delta=DELTA / 2,
            )

        sound = BlockConsensus(function=max, blocks=blocks, epsilon=EPSILON, delta=DELTA).test
        unhalved = NoisyTest.with_false_pass(epsilon=EPSILON, chance=DELTA / 2, limit=1)
        assert auditor(sound).passes
        if blocks > 2:
            check_pair(
                BrokenTwin(
                    "consensus", sound=sound, broken=unhalved, why="a vote moves, so 2 change"
                ),
                auditor,
            )

    @pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5])
    def test_one_vote_moves_the_lead_by_two_and_the_winner_only_where_it_is_at_most_two(
        self, blocks: int
    ) -> None:
        """The two facts of the proof, over all votes for three options or abstentions."""
        for votes in product([None, "a", "b", "c"], repeat=blocks):
            for i, new in product(range(blocks), [None, "a", "b", "c"]):
                other = (*votes[:i], new, *votes[i + 1 :])
                one, two = lead(votes), lead(other)
                assert abs(one.gap - two.gap) <= 2
                if one.winner != two.winner:
                    assert max(one.gap, two.gap) <= 2

    def test_thirty_six_votes_suffice(self) -> None:
        """2 (1 + (ln(1/δ) + ln(1/β))/ε) at ε = 1, δ = 1e-6, β = .05; 35 is the exact need."""
        consensus = BlockConsensus(function=max, blocks=99, epsilon=1, delta=1e-6)
        enough = math.ceil(2 * (1 + math.log(1e6) + math.log(20)))
        assert enough == 36
        assert consensus.test.pass_probability(36) >= 0.95
        assert consensus.lead_needed(confidence=0.95) == 35

    def test_what_blocks_agree_on_is_released_exactly_from_a_range_never_declared(self) -> None:
        rows = np.random.default_rng(6).normal(70, 5, 5000)
        consensus = BlockConsensus(
            function=lambda block: f"about {round(np.mean(block), -1):.0f}",
            blocks=50,
            epsilon=1,
            delta=1e-6,
            randomness=Seeded(42),
        )
        assert {consensus.release(rows) for _ in range(5)} == {"about 70"}

    def test_disagreement_gives_no_answer(self) -> None:
        consensus = BlockConsensus(
            function=sum, blocks=50, epsilon=1, delta=1e-6, randomness=Seeded(43)
        )
        assert consensus.release(range(1000)) is NO_ANSWER

    def test_blocks_that_raise_abstain(self) -> None:
        consensus = BlockConsensus(
            function=lambda block: 1 // 0, blocks=9, epsilon=1, delta=0.4, randomness=Seeded(44)
        )
        assert {consensus.release([1, 2]) for _ in range(300)} == {NO_ANSWER}


def replaced_words(letters: str, most: int) -> Iterator[tuple[str, str]]:
    for size in range(1, most + 1):
        for word in product(letters, repeat=size):
            for i, new in product(range(size), letters):
                other = (*word[:i], new, *word[i + 1 :])
                if word < other:
                    yield "".join(word), "".join(other)


class TestSubsamples:
    def test_the_constants_of_the_theorem(self) -> None:
        assert float(sampling_rate(1, 1e-6)) == pytest.approx(0.001131, abs=5e-7)
        assert number_of_runs(1, 1e-6, 10**5) == pytest.approx(1.98e7, rel=1e-3)

    def test_unanimous_votes_are_at_distance_one_over_4q_less_one(self) -> None:
        mechanism = cheap(size=100)
        moved = mechanism.test.sensitivity
        d = mechanism.runs / moved - 1
        assert float(d) == pytest.approx(float(1 / (4 * mechanism.rate) - 1))

    def test_the_worst_case_that_the_proof_allows(self) -> None:
        assert float(1 / (16 * sampling_rate(1, 1e-6)) - 1) == pytest.approx(54.26, abs=5e-3)

    def test_its_cost_is_refused_before_any_data_is_seen(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            SampledConsensus(function=max, size=10**5, epsilon=1, delta=1e-6)
        assert refusal.value.code == "too_many_runs"
        assert "BlockConsensus" in refusal.value.remedy

    def test_a_row_in_too_many_subsamples_is_as_rare_as_the_proof_needs(self) -> None:
        """Chernoff: P(Bin(m, q) > 2mq) ≤ exp(-mq/3), and that is at most δ/2."""
        for epsilon, delta, size in [(1, 1e-6, 10**5), (20, 0.01, 100), (1000, 0.4, 2)]:
            rate, runs = sampling_rate(epsilon, delta), number_of_runs(epsilon, delta, size)
            assert math.exp(-runs * float(rate) / 3) <= delta / 2

    def test_a_stable_function_is_answered_exactly(self) -> None:
        rows = ["a"] * 95 + ["b"] * 5
        mechanism = cheap(size=100)
        assert mechanism.release(rows) == "a"
        assert mechanism.release(np.array(rows)) == "a"

    def test_an_unstable_one_is_not(self) -> None:
        mechanism = cheap(size=100)
        assert mechanism.release(["a", "b"] * 50) is NO_ANSWER

    def test_a_crowded_row_gives_no_answer(self) -> None:
        """Without randomness every coin shows heads, so each row is in every subsample."""
        mechanism = cheap(size=100, randomness=Noiseless())
        assert mechanism.release(["a"] * 100) is NO_ANSWER

    def test_the_owner_can_look_at_subsampling_stability(self) -> None:
        rows = ["a"] * 95 + ["b"] * 5
        share = subsampling_stability(mode, rows, rate=0.3, runs=200, source=Seeded(46))
        assert share > 0.95
        assert subsampling_stability(len, rows, rate=0.3, runs=200, source=Seeded(46)) < 0.1


def mode(rows: Any) -> str:
    return str(Counter(list(rows)).most_common(1)[0][0])


def cheap(**changes: Any) -> SampledConsensus:
    """So large an epsilon and delta that few runs are needed."""
    return SampledConsensus(
        **{"function": mode, "epsilon": 24, "delta": 0.01, "randomness": Seeded(45), **changes}
    )
