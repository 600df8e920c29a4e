"""Scale: the interquartile range on the logarithmic scale, tested in two discretisations."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import BrokenTwin, DiscreteLaw, accepts, check_pair
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Approximate
from discreet.mechanisms.robust import NO_ANSWER, NoAnswer, NoisyTest, Scale, base_for
from discreet.mechanisms.robust.quartiles import Bin, Quartiles, border
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.robust import laws

BASES = [2.0, 1.5]


def quartiles(rows: laws.Rows, width: int) -> Quartiles:
    return Quartiles(np.array(rows, dtype=np.int64), width)


class TestBins:
    @pytest.mark.parametrize("base", [2.0, 1.2, 1 + 1 / math.log(500), 7.0])
    @pytest.mark.parametrize("shift", [0, 1])
    def test_every_range_lies_in_its_bin_and_bins_follow_each_other(
        self, base: float, shift: int
    ) -> None:
        places = [quartiles((0, 0, r, r), 10**6).bin(base, shift) for r in range(300)]
        assert places[0] == Bin(0, 1, None)
        for r, place in enumerate(places):
            assert place.least <= r < place.beyond
            if place.halves is not None:
                assert place.halves % 2 == shift
                assert place.halves / 2 - 1e-9 <= math.log(r) / math.log(base) + 1e-9

    def test_powers_of_two_and_the_bins_half_way_between_them(self) -> None:
        assert quartiles((0, 0, 5, 5), 9).bin(2.0, 0) == Bin(4, 8, 4)
        assert quartiles((0, 0, 5, 5), 9).bin(2.0, 1) == Bin(3, 6, 3)
        assert border(2.0, 5) == math.ceil(2**2.5)

    def test_quartiles_are_the_places_n_over_4_and_3n_over_4_rounded_up(self) -> None:
        assert [quartiles((0,) * n, 1).ranks for n in range(1, 9)] == [
            (1, 1), (1, 2), (1, 3), (1, 3), (2, 4), (2, 5), (2, 6), (2, 6),
        ]  # fmt: skip


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize(
    ("size", "width"), [(1, 8), (2, 9), (3, 9), (4, 8), (5, 8), (6, 5), (7, 4)]
)
def test_moves_are_the_fewest_exchanged_rows_that_leave_the_bin(
    size: int, width: int, shift: int
) -> None:
    """A_0 against breadth-first search over every table, in both discretisations."""
    near = {x: laws.replaced(x, width) for x in laws.tables(size, width)}
    for base in BASES:
        inside = defaultdict(set)
        for x in near:
            inside[quartiles(x, width).bin(base, shift)].add(x)
        for place, members in inside.items():
            steps = dict.fromkeys(set(near) - members, 0)
            ring = set(steps)
            while ring:
                ring = {y for x in ring for y in near[x]} - set(steps)
                steps |= dict.fromkeys(ring, max(steps.values()) + 1)
            for x in members:
                assert quartiles(x, width).moves_out_of(place) == steps.get(x, size + 1)


def one_way(test: NoisyTest, share: float, base: float, shift: int, width: int):  # type: ignore[no-untyped-def] # noqa: ANN201
    """The exact law of one discretisation's answer, on coarse cells of the logarithm."""
    edges = [x / 4 - 3 for x in range(40)]

    def law(x: laws.Rows) -> laws.Law:
        rows = quartiles(x, width)
        yes = test.pass_probability(rows.moves_out_of(rows.bin(base, shift)))
        if rows.range == 0:
            return {laws.NO_ANSWER: 1 - yes, "zero": yes}
        cells = laws.laplace_cells(math.log(rows.range) / math.log(base), 1 / share, edges)
        return {laws.NO_ANSWER: 1 - yes, **{i: yes * p for i, p in enumerate(cells)}}

    return law


class TestPrivacy:
    @pytest.mark.parametrize("shift", [0, 1])
    @pytest.mark.parametrize("base", BASES)
    def test_each_discretisation_is_within_half_of_the_price(self, base: float, shift: int) -> None:
        scale = Scale(bounds=(0, 1), base=base, epsilon=4, delta=0.2)
        pairs = laws.replace_pairs(4, 8) + laws.replace_pairs(5, 5)
        law = one_way(scale.test, 1.0, base, shift, 8)
        assert laws.worst(law, pairs, epsilon=2, delta=0.1).passes

    def test_the_threshold_is_one_plus_ln_one_over_delta_over_epsilon(self) -> None:
        scale = Scale(bounds=(0, 1), base=2, epsilon=2, delta=1e-6)
        assert float(scale.test.threshold) == pytest.approx(1 + math.log(1e6) / 0.5)
        assert scale.test.pass_probability(1) == pytest.approx(5e-7, rel=1e-5)
        assert scale.test.pass_probability(1) <= 5e-7

    def test_the_printed_threshold_is_refuted_exactly(self) -> None:
        """x has range zero and y has not: only x can give the answer 0, and both tests may pass.

        At epsilon .5 per part and delta 1e-6 the printed ln(1/delta) lets 5e-4 pass, not 5e-7.
        """
        epsilon, delta = 0.5, 1e-6
        x, y = (0, 0, 0, 1), (0, 0, 1, 1)
        assert (quartiles(x, 8).range, quartiles(y, 8).range) == (0, 1)

        def law(test: NoisyTest) -> laws.Excess:
            def both(rows: laws.Rows) -> laws.Law:
                once = test.pass_probability(quartiles(rows, 8).moves_out_of(
                    quartiles(rows, 8).bin(2.0, 0)))  # fmt: skip
                twice = 1 - (1 - once) ** 2
                answer = "zero" if quartiles(rows, 8).range == 0 else "other"
                return {laws.NO_ANSWER: 1 - twice, answer: twice}

            return laws.worst(both, [(x, y)], epsilon=4 * epsilon, delta=delta)

        sound = Scale(bounds=(0, 8), base=2, epsilon=4 * epsilon, delta=delta).test
        printed = NoisyTest(epsilon=epsilon, threshold=1 + math.log(1 / delta))
        assert printed.pass_probability(1) == pytest.approx(delta**epsilon / 2, rel=1e-5)
        assert printed.pass_probability(1) == pytest.approx(5e-4, rel=1e-5)
        check_pair(
            BrokenTwin("scale", sound=sound, broken=printed, why="the threshold lacks 1/epsilon"),
            law,
        )
        assert law(sound).delta == pytest.approx(delta, rel=1e-4)

    def test_the_price_is_the_total(self) -> None:
        scale = Scale(bounds=(0, 8), base=2, epsilon=1, delta=1e-6)
        assert scale.event == Approximate(epsilon=1, delta=1e-6)
        assert isinstance(scale.release([1, 2, 3]), NoAnswer)
        assert scale.event == Approximate(epsilon=1, delta=1e-6)
        assert scale.test.epsilon == Fraction(1, 4)


class TestAnswers:
    def test_the_median_answer_is_the_range_itself(self) -> None:
        rows = np.random.default_rng(5).normal(500, 40, size=4000)
        low, high = np.sort(rows)[[999, 2999]]
        scale = Scale(bounds=(0, 1000), base=2, epsilon=4, delta=1e-6, randomness=Seeded(31))
        answers = [scale.release(rows) for _ in range(1000)]
        kept = [a for a in answers if not isinstance(a, NoAnswer)]
        assert len(kept) > 900
        above = [answer > high - low for answer in kept]
        law = DiscreteLaw.of({True: 0.5, False: 0.5})
        assert accepts(above, law, alpha=1e-9).passes
        factor = scale.error(confidence=0.9)
        assert factor == pytest.approx(2 ** math.log(10))
        misses = sum(abs(math.log(a / (high - low))) > math.log(factor) for a in kept)
        assert misses / len(kept) < 0.17

    def test_equal_rows_give_zero_or_no_answer(self) -> None:
        scale = Scale(bounds=(0, 10), base=2, epsilon=1, delta=0.01, randomness=Seeded(32))
        few, many = [scale.release([7] * 40) for _ in range(300)], scale.release([7] * 4000)
        assert set(few) == {0.0, NO_ANSWER}
        assert many == 0

    def test_without_noise_the_answer_is_exact_up_to_the_lattice(self) -> None:
        scale = Scale(bounds=(0, 1000), base=base_for(801), epsilon=4, delta=1e-3,
                      randomness=Noiseless())  # fmt: skip
        assert scale.release(np.linspace(300, 700, 801)) == pytest.approx(200, rel=1e-9)

    def test_answers_stay_within_the_range_of_the_bounds(self) -> None:
        scale = Scale(bounds=(0, 10), base=2, epsilon=0.05, delta=0.5, randomness=Seeded(33))
        answers = [scale.release(list(range(11)) * 200) for _ in range(300)]
        assert all(a is NO_ANSWER or 0 < float(a) <= 10.0001 for a in answers)  # type: ignore[arg-type]

    def test_moves_needed_pass_as_often_as_asked(self) -> None:
        scale = Scale(bounds=(0, 1), base=2, epsilon=1, delta=1e-6)
        needed = scale.moves_needed(confidence=0.9)
        assert scale.test.pass_probability(needed - 1) < 0.9 <= scale.test.pass_probability(needed)

    def test_missing_rows_count_as_the_lower_bound(self) -> None:
        scale = Scale(bounds=(5, 10), base=2, epsilon=4, delta=0.1, randomness=Noiseless())
        assert scale.release([None, math.nan, "x"] * 100) == 0

    @pytest.mark.parametrize("base", [1, 1.001, 0.5, 2**21])
    def test_bases_near_one_and_beyond_all_use_are_refused(self, base: float) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            Scale(bounds=(0, 1), base=base, epsilon=1, delta=0.1)
        assert refusal.value.code == "base_out_of_range"

    def test_the_books_base(self) -> None:
        assert base_for(1000) == 1 + 1 / math.log(1000)


@pytest.mark.parametrize(("found", "answer"), [(1000, 2), (1, 1), (3, 2)])
def test_a_logarithm_is_forced_into_the_bin_whatever_floating_point_made_of_it(
    found: int, answer: int
) -> None:
    """Bins decide how far neighbours can be apart, so no logarithm may stand outside its own."""

    class Elsewhere(Quartiles):
        @property
        def range(self) -> int:
            return found

        def bin(self, base: float, shift: int) -> Bin:
            del base, shift
            return Bin(1, 2, 0)

        def moves_out_of(self, place: Bin) -> int:
            del place
            return 1000

    mechanism = Scale(bounds=(0, 1000), base=2, epsilon=1, delta=1e-6, randomness=Noiseless())
    rows = Elsewhere(np.zeros(8, dtype=np.int64), 1 << 40)
    released = mechanism._one_way(rows, 0)
    assert not isinstance(released, NoAnswer)
    assert float(released) == pytest.approx(answer, rel=1e-6)
