"""The winner of a race, exactly: known probabilities, extreme scores, and every threshold."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit import DiscreteLaw, accepts
from discreet.noise import Noiseless, Seeded, enclosure, race, winner
from discreet.noise.race import exact_gap, gaps
from tests.noise.oracle import BLUR, SUITE, Told, exp_minus, integer_given, told_integer

Scores: TypeAlias = NDArray[np.float64] | NDArray[np.int64]
HALF = Fraction(1, 2)
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def chances(scores: Scores, rate: Fraction) -> list[Fraction]:
    best = int(np.argmax(scores))
    weights = [exp_minus(exact_gap(scores, best, rate, i)) for i in range(len(scores))]
    return [weight / sum(weights) for weight in weights]


def test_the_book_s_probabilities(request: pytest.FixtureRequest) -> None:
    """000a:C7: scores 0, 1, 3 at rate one half."""
    scores = np.array([0, 1, 3])
    law = [float(p) for p in chances(scores, HALF)]
    assert [round(p, 5) for p in law] == [0.14024, 0.23122, 0.62853]
    sample = winner(scores, HALF, 100_000, Seeded(41))
    alpha = SUITE.alpha(request.node.nodeid)
    assert accepts(sample, DiscreteLaw.of(dict(enumerate(law))), alpha=alpha).passes
    for wrong_rate in (HALF * Fraction(4, 5), HALF * Fraction(5, 4)):
        wrong = DiscreteLaw.of(dict(enumerate(float(p) for p in chances(scores, wrong_rate))))
        assert not accepts(sample, wrong, alpha=alpha).passes


VECTORS: dict[str, tuple[Scores, Fraction]] = {
    "floats": (np.array([0.1, -0.7, 2.5, 2.5, 1.3]), Fraction(0.7)),
    "ties": (np.zeros(7, dtype=np.int64), Fraction(3)),
    "one": (np.array([5.0]), Fraction(3)),
    "best first": (np.array([9, 0, 8, 1]), HALF),
    "64-bit extremes": (np.array([LEAST, 0, MOST, MOST - 1]), Fraction(1, 3)),
    "64-bit extremes, slow": (np.array([LEAST, 0, MOST]), Fraction(1, 1 << 63)),
    "largest floats": (np.array([-1.7e308, 0.0, 1.7e308]), Fraction(1, 10**308)),
    "smallest floats": (np.array([0.0, 5e-324, 1e-310]), Fraction(10**310)),
    "vanishing rate": (np.array([0.0, 1e308]), Fraction(1, 10**330)),
    "hopeless": (np.array([0.0, 1e6, 1e6 + 1]), Fraction(1)),
}
CASES = pytest.mark.parametrize(("scores", "rate"), VECTORS.values(), ids=VECTORS.keys())


@CASES
def test_the_stated_law_is_drawn(
    scores: Scores, rate: Fraction, request: pytest.FixtureRequest
) -> None:
    law = DiscreteLaw.of(dict(enumerate(float(p) for p in chances(scores, rate))))
    sample = winner(scores, rate, 30_000, Seeded(42))
    assert sample.dtype == np.int64
    assert accepts(sample, law, alpha=SUITE.alpha(request.node.nodeid)).passes


@CASES
def test_exact_arithmetic_decides_as_double_precision_does(
    scores: Scores, rate: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = winner(scores, rate, 800, Seeded(43))
    monkeypatch.setattr(race, "_WEIGHT_ERROR", 1.0)
    assert (winner(scores, rate, 800, Seeded(43)) == fast).all()


@CASES
def test_words_near_every_threshold_are_decided_on_the_right_side(
    scores: Scores, rate: Fraction
) -> None:
    best = int(np.argmax(scores))
    below = [Fraction(0), *accumulate(chances(scores, rate))]
    for border in below:
        for word in {min(max(int(border * 2**64) + d, 0), 2**64 - 1) for d in range(-3, 4)}:
            source = Told([told_integer(1 << 63, 64)], seed=word & 0xFF)
            found = race._decide(scores, best, rate, word, source)
            whole, bits = word, 64
            for given in source.given:
                whole, bits = whole << 64 | integer_given(given, 64), bits + 64
            assert below[found] - BLUR <= Fraction(whole, 1 << bits)
            assert Fraction(whole + 1, 1 << bits) <= below[found + 1] + BLUR
            told = [word.to_bytes(8, "little"), told_integer(1 << 63, 64)]
            assert winner(scores, rate, 1, Told(told, seed=word & 0xFF)).tolist() == [found]


@pytest.mark.parametrize(
    ("scores", "least"), [(np.array([0.0, 1.0, 0.5]), 1), (np.array([1.0, 0.0]), 41 * 31)]
)
def test_decisions_are_right_whatever_the_width_of_the_enclosures(
    scores: Scores, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds a thousand units wide may ask for more bits, never give another winner."""

    def wide(x: Fraction, bits: int) -> tuple[int, int]:
        low, high = enclosure.exp_minus(x, bits)
        return max(low - 1000, 0), high + 1000

    monkeypatch.setattr(race, "exp_minus", wide)
    best = int(np.argmax(scores))
    for rate in (Fraction(k, 31) for k in range(least, least + 120)):
        below = [Fraction(0), *accumulate(chances(scores, rate))]
        for border in below[1:-1]:
            near = int(border * 2**64)
            for word in (near, min(near + 1, 2**64 - 1)):
                source = Told(seed=word & 0xFF)
                found = race._decide(scores, best, rate, word, source)
                whole, bits = word, 64
                for given in source.given:
                    whole, bits = whole << 64 | integer_given(given, 64), bits + 64
                assert below[found] - BLUR <= Fraction(whole, 1 << bits)
                assert Fraction(whole + 1, 1 << bits) <= below[found + 1] + BLUR


@CASES
def test_gaps_in_double_precision_are_as_close_as_claimed(scores: Scores, rate: Fraction) -> None:
    best = int(np.argmax(scores))
    for i, rough in enumerate(gaps(scores, best, rate).tolist()):
        truth = exact_gap(scores, best, rate, i)
        if truth >= 1 << 20:
            assert rough >= (1 - 2.0**-50) * 2**20
        else:
            assert abs(Fraction(rough) - truth) <= truth / 2**50 + Fraction(1, 1 << 1000)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.uint8, np.uint64, np.int32])
def test_narrow_numbers_are_taken_exactly(kind: type[np.generic]) -> None:
    scores = np.array([3, 100, 127]).astype(kind)
    assert gaps(scores, 2, Fraction(1)).tolist() == [124.0, 27.0, 0.0]
    uneven = (np.array([1, 9, 800]) / 7).astype(kind)
    exactly = [float(exact_gap(uneven, 2, Fraction(1), i)) for i in range(3)]
    assert gaps(uneven, 2, Fraction(1)).tolist() == exactly


@pytest.mark.parametrize("size", [1, 1023, 1024, 1025, 20_000])
def test_sums_of_weights_are_as_close_as_the_margin_assumes(size: int) -> None:
    rng = np.random.default_rng(44)
    scores = rng.normal(0, 3, size)
    best = int(np.argmax(scores))
    sums = race._cumulative(np.exp(-gaps(scores, best, HALF)))
    assert len(sums) == size
    assert (np.diff(sums) >= 0).all()
    exact = list(
        accumulate(
            enclosure.exp_minus(exact_gap(scores, best, HALF, i), 80)[0] for i in range(size)
        )
    )
    allowed = race._WEIGHT_ERROR / 4 * exact[-1] + 2 * size
    for i in range(0, size, max(1, size // 500)):
        assert abs(Fraction(sums[i]) * 2**80 - exact[i]) < allowed


def test_a_hundred_thousand_candidates(request: pytest.FixtureRequest) -> None:
    scores = np.arange(100_000) % 4
    sample = winner(scores, Fraction(1), 50_000, Seeded(45))
    assert ((sample >= 0) & (sample < 100_000)).all()
    weights = np.exp(np.arange(4.0))
    law = DiscreteLaw.of(dict(enumerate((weights / weights.sum()).tolist())))
    alpha = SUITE.alpha(request.node.nodeid) / 2
    assert accepts(sample % 4, law, alpha=alpha).passes
    assert accepts(
        sample // 12_500, DiscreteLaw.of(dict.fromkeys(range(8), 0.125)), alpha=alpha
    ).passes


@pytest.mark.parametrize("gap", [50, 800, 10**6])
def test_far_behind_never_wins(gap: int) -> None:
    assert (winner(np.array([0, gap]), Fraction(1), 10_000, Seeded(46)) == 1).all()
    assert (winner(np.array([gap, 0]), Fraction(1), 10_000, Seeded(46)) == 0).all()


def test_the_last_word_belongs_to_the_last_that_can_win() -> None:
    """A word of ones is decided by further bits, never by clipping to the last candidate."""
    scores = np.array([1000.0, 1000.0, 0.0])
    source = Told([b"\xff" * 8, b"\xff" * 7 + b"\x00"])
    assert winner(scores, Fraction(1), 1, source).tolist() == [1]
    assert len(source.given) == 2


def test_without_randomness_the_best_wins() -> None:
    assert winner(np.array([1, 7, 7]), HALF, 3, Noiseless()).tolist() == [1, 1, 1]


def test_no_winners_are_drawn_when_none_are_asked_for() -> None:
    assert winner(np.array([1.0, 2.0]), HALF, 0, Seeded(1)).shape == (0,)
