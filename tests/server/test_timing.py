"""When answers leave: the law of the level, enumerated, and what it tells at most."""

import math
from fractions import Fraction

import pytest

from discreet.noise.randomness import Seeded
from discreet.server.timing import Quanta, law, leaving, level, most_levels

BITS = 9
RATIOS = [0.01, 0.2, 0.25, 0.2500001, 0.3, 0.5, 0.75, 1.0, 1.4142135, 2.0, 3.0, 4.0, 5.5, 100.0]


def enumerated(ratio: float, bits: int = BITS) -> dict[int, Fraction]:
    """Count the draws that lead to each level."""
    found: dict[int, Fraction] = {}
    for draw in range(2**bits):
        reached = level(ratio, draw, bits)
        found[reached] = found.get(reached, Fraction(0)) + Fraction(1, 2**bits)
    return found


def apart(first: dict[int, Fraction], second: dict[int, Fraction]) -> Fraction:
    """Total variation."""
    places = first.keys() | second.keys()
    nothing = Fraction(0)
    return sum((abs(first.get(k, nothing) - second.get(k, nothing)) for k in places), nothing) / 2


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_level_is_the_least_that_its_definition_asks_for(ratio: float) -> None:
    for draw in range(2**BITS):
        needed = ratio * 4.0 ** (draw / 2**BITS)
        found = level(ratio, draw, BITS)
        assert found >= 0
        assert 2.0**found >= needed * (1 - 1e-12)
        assert found == 0 or 2.0 ** (found - 1) < needed * (1 + 1e-12)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_law_counts_the_draws(ratio: float) -> None:
    stated, counted = law(ratio), enumerated(ratio)
    assert stated.keys() | counted.keys() <= set(range(64))
    for k in stated.keys() | counted.keys():
        assert float(counted.get(k, 0)) == pytest.approx(stated.get(k, 0), abs=1.01 / 2**BITS)


def test_whatever_is_quick_leaves_at_the_quantum() -> None:
    for ratio in (0.0, 1e-9, 0.1, 0.25):
        assert enumerated(ratio) == {0: 1}


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("longer", [1.001, 1.05, 1.25, 1.5, 2.0, 3.0])
def test_times_that_differ_by_a_factor_give_laws_that_differ_by_half_its_logarithm(
    ratio: float, longer: float
) -> None:
    difference = apart(enumerated(ratio), enumerated(ratio * longer))
    assert float(difference) <= math.log2(longer) / 2 + 2 / 2**BITS


def test_no_question_can_be_tuned_to_do_better_and_some_do_as_well() -> None:
    grid = [2.0 ** (place / 8) for place in range(-20, 20)]
    for longer in (1.05, 1.3):
        worst = max(float(apart(enumerated(t), enumerated(t * longer))) for t in grid)
        assert worst == pytest.approx(math.log2(longer) / 2, abs=4 / 2**BITS)


def test_the_twin_without_randomness_has_an_edge() -> None:
    def twin(ratio: float) -> int:
        return max(0, math.ceil(math.log2(ratio)))

    assert twin(0.999) != twin(1.001), "padding to powers of two alone tells the two apart"
    assert float(apart(enumerated(0.999), enumerated(1.001))) < 0.005


def test_an_answer_leaves_at_a_power_of_two_of_the_quantum_and_never_early() -> None:
    randomness = Seeded(3)
    seen = set()
    for took in [0.01, 0.3, 0.9, 1.7, 6.0] * 40:
        when = leaving(took, 1.0, randomness=randomness)
        assert when.after == 2.0**when.level
        assert when.after >= took
        assert when.overrun == (when.level > 0)
        seen.add(when.level)
    assert {0, 1, 2, 3} <= seen


def test_without_padding_answers_leave_at_once() -> None:
    assert leaving(0.37, 0.0).after == 0.37
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
    assert most_levels(1.0, 600.0) == 13
    assert most_levels(0.0, 600.0) == 1
    assert max(law(600.0)) == 12
