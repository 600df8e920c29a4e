"""Runs for analysts whose answers fail: who gets one, what it costs, what others can tell."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Nothing
from discreet.noise import Noiseless
from discreet.queries.analysts.analyst_runs import FreshAnswers, PrivateWeights
from discreet.queries.analysts.failing_analysts import (
    AnalystRuns,
    FailingAnalysts,
    delta_with_overflow,
)
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.universe import Universe

UNIVERSE = Universe.of(x=range(4))
SHAPE = RoundShape(UNIVERSE, 3, 2)
COUNTS = np.array([400, 300, 200, 100])
EVEN = HistogramSynopsis(UNIVERSE, np.full(4, 250.0), Nothing())
FIRST, SECOND, ALL, HALF = [255, 0, 0, 0], [0, 255, 0, 0], [255] * 4, [51, 0, 204, 0]
QUERIES = QuerySet(SHAPE, np.array([FIRST, ALL, ALL, SECOND, HALF, FIRST], dtype=np.uint8))
"""Largest errors .15, .05 and .15."""


def made(**others: object) -> FailingAnalysts:
    given: dict[str, object] = {
        "shape": SHAPE, "size": PublicCount(1000), "runs": 3, "threshold": 0.1, "bits": 0.1,
        "each": 0.5,
    }  # fmt: skip
    return FailingAnalysts(**{**given, **others})  # type: ignore[arg-type]


# Who gets a run ----------------------------------------------------------------------------------


def test_whoever_has_an_answer_that_is_far_off_gets_all_answered_anew() -> None:
    one, two, three = made(randomness=Noiseless()).release(COUNTS, QUERIES, EVEN)
    assert one.answers == pytest.approx([0.4, 1.0], abs=1e-5)
    assert one.corrected.all()
    assert two.answers == pytest.approx([1.0, 0.25])
    assert not two.corrected.any()
    assert three.answers == pytest.approx([0.2 * 0.4 + 0.8 * 0.2, 0.4], abs=1e-5)
    assert [each.exhausted for each in (one, two, three)] == [False] * 3


def test_runs_go_by_the_public_order_and_who_comes_too_late_is_told() -> None:
    one, two, three = made(runs=1, randomness=Noiseless()).release(COUNTS, QUERIES, EVEN)
    assert one.corrected.all()
    assert not one.exhausted
    assert not two.corrected.any()
    assert not two.exhausted
    assert three.answers == pytest.approx([0.25, 0.25])
    assert three.exhausted


def test_with_noise_runs_are_close_for_a_large_rho() -> None:
    """Noise of about a thousandth: .05 is fifty deviations away."""
    one, _, three = made(bits=50, each=2).release(COUNTS, QUERIES, EVEN)
    assert one.answers == pytest.approx([0.4, 1.0], abs=0.05)
    assert three.answers == pytest.approx([0.24, 0.4], abs=0.05)


# What it costs -----------------------------------------------------------------------------------


def test_all_bits_and_all_runs_are_paid_whether_used_or_not() -> None:
    for runs in (1, 3):
        price = float(made(runs=runs).event.zcdp().rho)
        assert price == pytest.approx(0.1 + runs * 0.5, rel=1e-3)


def test_no_replaced_record_moves_a_largest_difference_by_more_than_it_is_charged_for() -> None:
    """All data of three records in three cells, all neighbours, in levels."""
    shape = RoundShape(Universe.of(x=range(3)), 2, 2)
    rows = np.array([[255, 0, 0], [0, 99, 255], [17, 255, 0], [255, 255, 0]], dtype=np.uint8)
    queries, guess = QuerySet(shape, rows), np.array([1.2, 0.3, 1.5])

    def largest(records: tuple[int, ...]) -> np.ndarray:
        table = np.bincount(records, minlength=3)
        public = np.rint(queries.means(guess) * 3 * 255).astype(np.int64)
        return np.asarray(np.abs(queries.sums(table) - public).reshape(2, 2).max(axis=1))

    moved = 0
    for rest in product(range(3), repeat=2):
        for old, new in product(range(3), repeat=2):
            moved = max(moved, int(np.abs(largest((*rest, old)) - largest((*rest, new))).max()))
    assert moved == 255
    failing = made(shape=shape, size=PublicCount(3), runs=1)
    assert float(failing.noise.sensitivity) >= math.sqrt(2) * 255


def test_the_price_of_a_run_does_not_depend_on_what_is_asked() -> None:
    shape = RoundShape(UNIVERSE, 2, 40)
    run = PrivateWeights(shape, PublicCount(1000), 0.002)
    assert 1 < run.rounds < 40
    whole = 255 * np.random.default_rng(1).integers(0, 2, (40, 4)).astype(np.uint8)
    for rows in (whole, np.zeros_like(whole), np.full_like(whole, 100)):
        assert run._mechanism(rows).event == run.event
    assert float(run.event.zcdp().rho) <= 0.002


def test_the_run_with_the_smaller_error_is_taken() -> None:
    """Fresh noise for few queries, multiplicative weights for very many."""
    few, many = (RoundShape(UNIVERSE, 2, most) for most in (10, 10_000))
    assert isinstance(made(shape=few, runs=1).run, FreshAnswers)
    size = PublicCount(10_000)
    chosen = made(shape=many, runs=1, each=0.005, size=size).run
    assert isinstance(chosen, PrivateWeights)
    assert chosen.error < FreshAnswers(many, size, 0.005).error
    rows = 255 * np.random.default_rng(2).integers(0, 2, (10_000, 4)).astype(np.uint8)
    found = chosen.answers(10 * COUNTS, rows)
    # Measured .01 on such data; noise of 264 measurements has a deviation of .003 each.
    assert np.abs(found - rows / 255 @ (COUNTS / 1000)).max() < min(chosen.error, 0.1)


# What others can tell ----------------------------------------------------------------------------


def test_noise_exceeds_the_margin_as_rarely_as_it_says() -> None:
    """The exact law of the noise: all of three analysts within the margin but for beta."""
    failing = made()
    scale = failing.noise.scale(size=3, kind=int)
    steps = np.arange(-int(20 * scale), int(20 * scale) + 1)
    law = np.exp(-(steps.astype(float) ** 2) / (2 * scale**2))
    law /= law.sum()
    for beta in (0.05, 1e-3, 1e-6):
        margin = failing.margin(beta=beta) * 1000 * 255
        beyond = law[steps > margin - 0.5].sum()  # half a step for the rounded estimate
        assert 0.7 * beta / 3 < beyond <= beta / 3


def test_the_delta_with_an_overflow_holds_for_any_two_worlds() -> None:
    """Random laws of which that much moves, as badly as it can; hockey-stick divergences."""
    rng = np.random.default_rng(8)
    tightest = 0.0
    for _ in range(300):
        first, second = rng.dirichlet(np.full(5, 2.0), 2)
        chance, epsilon = rng.uniform(0.01, 0.1), rng.uniform(0, 2)
        worse = first > math.exp(epsilon) * second
        delta = (first - math.exp(epsilon) * second)[worse].sum()
        into, out = (_moved(first, ~worse, worse, chance), _moved(second, worse, ~worse, chance))
        told = np.maximum(into - math.exp(epsilon) * out, 0).sum()
        bound = delta_with_overflow(epsilon=epsilon, delta=delta, chance=chance)
        assert told <= bound
        tightest = max(tightest, told / bound)
    assert tightest > 0.999


def _moved(law: np.ndarray, source: np.ndarray, target: np.ndarray, chance: float) -> np.ndarray:
    """The law with so much of its mass, or all there is, taken from one set into another."""
    if not (source.any() and target.any()):
        return law
    much = min(chance, law[source].sum())
    found = law.copy()
    found[source] *= 1 - much / law[source].sum()
    found[target] += much * law[target] / law[target].sum()
    return found


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"size": NoisyRecordCount()}, "game_needs_replacement"),
        ({"runs": 0}, "not_a_count"),
        ({"runs": 4}, "runs_too_many"),
        ({"threshold": 0}, "not_positive"),
        ({"each": -1}, "not_positive"),
        ({"bits": 0}, "not_positive"),
    ],
)
def test_refusals(change: dict[str, object], code: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        replace(made(), **change)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_queries_of_another_shape_are_refused() -> None:
    other = QuerySet(RoundShape(UNIVERSE, 2, 3), QUERIES.rows)
    with pytest.raises(InvalidParameter, match="query_set_misfit"):
        made().release(COUNTS, other, EVEN)
    with pytest.raises(InvalidParameter, match="not_a_count"):
        AnalystRuns(0)
