"""When answers leave: the law of the level, enumerated, and what it tells at most."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from discreet.noise.randomness import Seeded
from discreet.server.timing import (
    STEP,
    Quanta,
    law,
    leaving,
    level,
    most_auc,
    most_bits,
    most_levels,
)

BITS = 9
RATIOS = [0.01, 0.125, 0.1250001, 0.2, 0.3, 0.5, 0.75, 1.0, 1.4142135, 2.0, 4.0, 5.5, 8.0, 100.0]
STEPS = [2, 4, 8, 64]


def enumerated(ratio: float, bits: int = BITS, step: int = STEP) -> dict[int, Fraction]:
    """Count the draws that lead to each level."""
    found: dict[int, Fraction] = {}
    for draw in range(2**bits):
        reached = level(ratio, draw, bits, step=step)
        found[reached] = found.get(reached, Fraction(0)) + Fraction(1, 2**bits)
    return found


def apart(first: dict[int, Fraction], second: dict[int, Fraction]) -> Fraction:
    """Total variation."""
    places = first.keys() | second.keys()
    nothing = Fraction(0)
    return sum((abs(first.get(k, nothing) - second.get(k, nothing)) for k in places), nothing) / 2


def best_auc(first: dict[int, Fraction], second: dict[int, Fraction]) -> float:
    """Of the best of all scores, monotone or not: levels in the order of their likelihood ratio."""
    places = first.keys() | second.keys()
    nothing = Fraction(0)

    def suspicion(k: int) -> float:
        alone = first.get(k, nothing)
        return math.inf if alone == 0 else float(second.get(k, nothing) / alone)

    below, found = nothing, nothing
    for k in sorted(places, key=suspicion):
        found += second.get(k, nothing) * (below + first.get(k, nothing) / 2)
        below += first.get(k, nothing)
    return float(found)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_level_is_the_least_that_its_definition_asks_for(ratio: float, step: int) -> None:
    for draw in range(2**BITS):
        needed = ratio * step ** (draw / 2**BITS)
        found = level(ratio, draw, BITS, step=step)
        assert found >= 0
        assert float(step) ** found >= needed * (1 - 1e-12)
        assert found == 0 or float(step) ** (found - 1) < needed * (1 + 1e-12)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_law_counts_the_draws(ratio: float, step: int) -> None:
    stated, counted = law(ratio, step=step), enumerated(ratio, step=step)
    assert stated.keys() | counted.keys() <= set(range(64))
    for k in stated.keys() | counted.keys():
        assert float(counted.get(k, 0)) == pytest.approx(stated.get(k, 0), abs=1.01 / 2**BITS)


@pytest.mark.parametrize("step", STEPS)
def test_whatever_is_quick_leaves_at_the_quantum(step: int) -> None:
    for ratio in (0.0, 1e-9, 0.5 / step, 1 / step):
        assert enumerated(ratio, step=step) == {0: 1}
        assert law(ratio, step=step) == {0: 1.0}


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("longer", [1.001, 1.05, 1.17, 1.5, 2.0, 3.0])
def test_times_that_differ_by_a_factor_give_laws_that_differ_by_its_logarithm(
    ratio: float, longer: float
) -> None:
    for step in (STEP, 4):
        first = enumerated(ratio, step=step)
        second = enumerated(ratio * longer, step=step)
        assert float(apart(first, second)) <= math.log(longer, step) + 2 / 2**BITS
        assert best_auc(first, second) <= most_auc(longer, step=step) + 2 / 2**BITS


def test_no_question_can_be_tuned_to_do_better_and_some_do_as_well() -> None:
    grid = [2.0 ** (place / 8) for place in range(-30, 30)]
    for longer in (1.05, 1.17, 1.3):
        pairs = [(enumerated(t), enumerated(t * longer)) for t in grid]
        worst = max(float(apart(*pair)) for pair in pairs)
        assert worst == pytest.approx(math.log(longer, STEP), abs=4 / 2**BITS)
        best = max(best_auc(*pair) for pair in pairs)
        assert best == pytest.approx(most_auc(longer), abs=4 / 2**BITS)


def test_the_usual_step_holds_a_person_with_a_quarter_of_the_rows_to_the_target() -> None:
    assert most_auc(1.17) < 0.538
    assert most_auc(1.23) <= 0.55 < most_auc(1.17, step=4)


def test_a_threshold_does_no_better_where_times_vary() -> None:
    """Times of both tables vary alike, here by a factor of up to 30 around; all pairs are taken."""
    chance = random.Random(5)
    longer = 1.17
    times = [2.0 ** chance.uniform(-4, 1) for _ in range(40)]
    firsts = [law(t) for t in times]
    seconds = [law(t * longer) for t in times]
    total = 0.0
    for first, second in itertools.product(firsts, seconds):
        for (a, p), (b, q) in itertools.product(first.items(), second.items()):
            total += p * q * ((b > a) + (a == b) / 2)
    assert 0.5 < total / len(times) ** 2 <= most_auc(longer) + 1e-12


def test_levels_closer_to_each_other_than_what_is_drawn_tell_more() -> None:
    """The twin that draws v over a factor of eight, and leaves at powers of two."""

    def twin(ratio: float) -> dict[int, Fraction]:
        found: dict[int, Fraction] = {}
        for draw in range(2**BITS):
            reached = max(0, math.ceil(math.log2(ratio) + 3 * draw / 2**BITS))
            found[reached] = found.get(reached, Fraction(0)) + Fraction(1, 2**BITS)
        return found

    assert best_auc(twin(0.5), twin(0.5 * 1.17)) > 0.56
    assert most_auc(1.17) < 0.55


def test_the_twin_without_randomness_has_an_edge() -> None:
    def twin(ratio: float) -> int:
        return max(0, math.ceil(math.log2(ratio)))

    assert twin(0.999) != twin(1.001), "padding to powers of two alone tells the two apart"
    assert float(apart(enumerated(0.999), enumerated(1.001))) < 0.005


def test_an_answer_leaves_at_a_power_of_two_of_the_quantum_and_never_early() -> None:
    randomness = Seeded(3)
    seen = set()
    for took in [0.01, 0.3, 0.9, 1.7, 6.0] * 40:
        when = leaving(took, 1.0, step=2, randomness=randomness)
        assert when.after == 2.0**when.level
        assert when.later(1.0).after == 1 + when.after
        assert when.later(1.0, 3).level == when.level
        assert when.after >= took
        assert when.overrun == (when.level > 0)
        seen.add(when.level)
    assert {0, 1, 2, 3} <= seen


def test_what_the_front_adds_moves_no_level_and_is_nobodys_overrun() -> None:
    """Whatever it adds: whole quanta, never early, and the work's own level as if it were alone."""
    for seed in range(40):
        for took, waited in itertools.product((0.01, 0.1, 0.5, 0.9, 3.0), (0.0, 1e-3, 0.4, 27.0)):
            alone = leaving(took, 1.0, randomness=Seeded(seed))
            when = leaving(took, 1.0, waited=waited, randomness=Seeded(seed))
            assert (when.level, when.overrun) == (alone.level, alone.overrun)
            assert when.after >= max(took + waited, alone.after)
            assert (when.after - alone.after) % 1 == 0
    assert not leaving(0.1, 1.0, waited=51.0).overrun


def test_a_front_that_is_late_by_less_than_a_third_of_the_quantum_is_not_noticed() -> None:
    for seed in range(200):
        assert leaving(0.125, 1.0, waited=0.43, randomness=Seeded(seed)).after == 1.0


def test_the_quanta_that_the_front_adds_have_no_edge() -> None:
    """Two works that end a hundredth of a quantum apart, while the front was late by F or until E.

    The shares of answers that leave later differ by the stated at most, wherever the front stands:
    the twin without a random threshold tells them apart for certain. False alarm below 1e-6: each
    share of 1000 draws is off by more than .1 with a chance below 2 exp(-2 * 1000 * .01) = 5e-9.
    """
    draws, apart = 1000, 0.01

    def share(took: float, waited: float, edge: float) -> float:
        found = [
            leaving(took, 1.0, waited=waited, randomness=Seeded(seed)).after > edge
            for seed in range(draws)
        ]
        return sum(found) / draws

    places = [(0.1, f, edge) for f in (0.5, 0.7, 0.9, 1.3, 1.89, 1.9) for edge in (1, 2, 3)]
    tried = 0
    for took, waited, edge in places:
        before = share(took, waited, edge)
        for then in (waited, waited - apart):  # constant lateness; blocked until one moment
            assert abs(share(took + apart, then, edge) - before) <= 0.1 + apart / waited
            tried += 0 < before < 1
    assert tried >= 8, "hardly any place was near an edge"


def test_lateness_in_proportion_to_the_work_has_no_edge_either() -> None:
    """Others' load makes each second of work wait for so many: longer work waits longer.

    The shares differ by at most what ``proofs/timing.md`` says under 5c; false alarm as above.
    """
    draws, longer, tried = 1000, 0.05, 0

    def share(took: float, load: float, edge: float) -> float:
        found = [
            leaving(took, 1.0, waited=load * took, randomness=Seeded(seed)).after > edge
            for seed in range(draws)
        ]
        return sum(found) / draws

    for took, load, edge in itertools.product(
        (0.05, 0.1, 0.115), (6.0, 9.0, 14.0, 20.0), (1, 2, 3)
    ):
        before, more = share(took, load, edge), longer * took
        bound = more * (1 + 2 * load) / (load * (took + more))
        assert bound <= 16 / 7 * longer / (1 + longer)
        assert abs(share(took + more, load, edge) - before) <= 0.1 + bound
        tried += 0 < before < 1
    assert tried >= 8, "hardly any place was near an edge"


def test_without_padding_answers_leave_at_once() -> None:
    assert leaving(0.37, 0.0).after == 0.37
    assert leaving(0.25, 0.0, waited=0.5).after == 0.75
    assert not leaving(99.0, 0.0).overrun


def test_the_quantum_of_several_tables_is_the_largest() -> None:
    quanta = Quanta({"visits": 0.5, "patients": 2.0, "weather": 0.0})
    assert quanta.of(["visits"]) == 0.5
    assert quanta.of(["visits", "patients"]) == 2.0
    assert quanta.of(["weather"]) == 0.0
    assert quanta.of([]) == quanta.of(["nothing"]) == 2.0
    assert not quanta.alike
    assert Quanta({"a": 1.0, "b": 1.0}).alike


def test_there_are_few_levels() -> None:
    assert most_levels(1.0, 600.0) == 6
    assert most_levels(1.0, 600.0, step=2) == 12
    assert most_levels(0.0, 600.0) == 1
    assert max(law(600.0)) == 5


def test_the_bits_count_the_patterns_of_levels() -> None:
    for answers, late, levels in ((4, 2, 3), (5, 0, 6), (3, 3, 2), (2, 7, 4)):
        patterns = [
            each
            for each in itertools.product(range(levels), repeat=answers)
            if sum(k > 0 for k in each) <= late
        ]
        assert 2 ** most_bits(answers, overruns=late, levels=levels) == pytest.approx(len(patterns))
