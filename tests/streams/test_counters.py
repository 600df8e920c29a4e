"""Counters count, err as they say, and are held to their horizon."""

import json
import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.errors import Exhausted, InvalidData, InvalidParameter
from discreet.noise import Noiseless, Seeded
from discreet.streams.baselines import NoisePerPrefix, NoisePerTick
from discreet.streams.contribution import EventContribution
from discreet.streams.counter import Counter
from discreet.streams.doubling import DoublingTree
from discreet.streams.resume import from_state
from discreet.streams.tails import laplace_sum_tail, sum_half_width
from discreet.streams.tree import BinaryTree, ReducedTree
from discreet.streams.units import EventLevel, UserLevel
from tests.streams.counters import KINDS, NORMAL, PURE, made

MANY = 60_000
"""Keys whose noise is drawn at once. A variance of so many draws is off by five deviations, which
is sqrt(5 / MANY) for Laplace noise, with probability below 1e-6."""
OFF = 5 * math.sqrt(5 / MANY)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("horizon", [1, 2, 3, 5, 8, 13, 64, 100])
def test_without_noise_totals_are_exact_however_ticks_come(name: str, horizon: int) -> None:
    ticks = np.random.default_rng(horizon).integers(0, 9, (horizon, 2))
    mechanism = made(name, horizon, keys=2, randomness=Noiseless())
    totals = np.cumsum(ticks, axis=0)
    assert np.allclose(mechanism.open().run(ticks), totals, atol=1e-6)
    one = mechanism.open()
    assert np.allclose([one.step(tick) for tick in ticks], totals, atol=1e-6)
    cut = mechanism.open()
    parts = [cut.run(part) for part in np.split(ticks, [horizon // 5, horizon // 2])]
    assert np.allclose(np.concatenate(parts), totals, atol=1e-6)
    assert cut.tick == horizon
    assert np.allclose(cut.last, totals[-1], atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("spend", [PURE, NORMAL], ids=["pure", "normal"])
def test_measured_variances_are_the_stated_ones(name: str, spend: dp.PureDP) -> None:
    horizon = 11
    mechanism = made(name, horizon, keys=MANY, spend=spend)
    nothing = np.zeros((horizon, MANY), dtype=np.int64)
    stated = np.array([mechanism.variance(t) for t in range(1, horizon + 1)])
    counter = mechanism.open()
    several = np.concatenate([counter.run(nothing[:4]), [counter.step(row) for row in nothing[4:]]])
    assert np.abs(several.var(axis=1) / stated - 1).max() < OFF
    assert np.abs(several.mean(axis=1) / np.sqrt(stated)).max() < 5.5 / math.sqrt(MANY)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_stated_errors_hold_and_are_not_wide(name: str, confidence: float) -> None:
    mechanism = made(name, 11, keys=MANY, spend=PURE)
    errors = np.abs(mechanism.open().run(np.zeros((11, MANY), dtype=np.int64)))
    for t in (1, 7, 11):
        width = mechanism.error(t, confidence=confidence)
        inside = float(np.mean(errors[t - 1] <= width))
        off = 5.5 * math.sqrt(confidence * (1 - confidence) / MANY)
        assert inside >= confidence - off
        assert np.quantile(errors[t - 1], min(confidence + 0.04, 0.99)) * 1.4 + 1 > width


def test_the_variances_of_the_book() -> None:
    # On a grid so fine that Laplace noise is as good as continuous: 18 for each node.
    fine = EventContribution.of(bound=1 << 30)
    tree = BinaryTree(horizon=8, spend=PURE, unit=EventLevel(), contribution=fine)
    variances = [tree.variance(t) / 4.0**30 for t in range(1, 9)]
    assert np.allclose(variances, [18, 18, 36, 18, 36, 36, 54, 36], rtol=1e-12)
    whole = BinaryTree(horizon=8, spend=PURE, unit=EventLevel())
    one = 2 * math.exp(-1 / 3) / (1 - math.exp(-1 / 3)) ** 2  # of discrete Laplace noise
    assert np.allclose(
        [whole.variance(t) for t in range(1, 9)], np.array([1, 1, 2, 1, 2, 2, 3, 2]) * one
    )
    tick = NoisePerTick(horizon=8, spend=PURE, unit=EventLevel(), contribution=fine)
    prefix = NoisePerPrefix(horizon=8, spend=PURE, unit=EventLevel(), contribution=fine)
    assert np.allclose([tick.variance(t) / 4.0**30 for t in (1, 8)], [2, 16], rtol=1e-12)
    assert np.allclose([prefix.variance(t) / 4.0**30 for t in (1, 8)], [128, 128], rtol=1e-12)


@pytest.mark.parametrize(("horizon", "worst"), [(64, 5.1545), (256, 6.5736), (1024, 7.9895)])
def test_variance_reduction_is_that_of_the_catalogue(horizon: int, worst: float) -> None:
    levels = horizon.bit_length()  # with the root, as there
    one = EventContribution.of(bound=1 << 20)
    tree = ReducedTree(
        horizon=horizon, levels=levels, spend=NORMAL, unit=EventLevel(), contribution=one
    )
    plain = BinaryTree(
        horizon=horizon, levels=levels, spend=NORMAL, unit=EventLevel(), contribution=one
    )
    found = math.sqrt(max(tree.variance(t) for t in range(1, horizon + 1))) / 2**20
    assert found == pytest.approx(worst, abs=1e-4)
    squares = sum(many * c * c for c, many in tree.terms(horizon - 1))
    assert squares * tree.noise.distribution.std**2 == pytest.approx(tree.variance(horizon - 1))
    assert math.sqrt(plain.variance(horizon - 1)) / 2**20 == pytest.approx(
        math.sqrt(levels * (levels - 1)), rel=1e-9
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_resumed_counter_is_the_same_counter(name: str) -> None:
    mechanism = made(name, 40, keys=3, unit=UserLevel("id", max_events=3, max_per_tick=2))
    counter = mechanism.open()
    counter.run(np.ones((13, 3), dtype=np.int64))
    text = json.dumps(counter.state())
    again = from_state(json.loads(text))
    assert isinstance(again, Counter)
    assert json.dumps(again.state()) == text
    assert (again.last == counter.last).all()
    assert (again.tick, again.event, again.memory()) == (13, counter.event, counter.memory())
    assert again.mechanism.noise == mechanism.noise  # type: ignore[attr-defined]
    again.run(np.ones((27 if name != "doubling" else 500, 3), dtype=np.int64))


@pytest.mark.parametrize("name", KINDS)
def test_runs_cut_by_crashes_have_the_same_law(name: str) -> None:
    """Where a crash falls changes no draw: seeded alike, cut and whole runs agree in distribution.

    Covariances of cut runs are those of whole ones, each entry within six deviations: below 1e-6.
    """
    horizon, keys = 9, 20_000
    mechanism = made(name, horizon, keys=keys, randomness=Seeded(3))
    zeros = np.zeros((horizon, keys), dtype=np.int64)
    whole = np.cov(mechanism.open().run(zeros))
    cuts = np.random.default_rng(1).integers(0, 2, horizon)
    counter, seen = mechanism.open(), []
    for row, crash in zip(zeros, cuts, strict=True):
        seen.append(counter.step(row))
        if crash:
            counter = from_state(counter.state(), randomness=mechanism.randomness)
            assert (counter.last == seen[-1]).all()
    found = np.cov(np.array(seen))
    scale = np.sqrt(np.outer(np.diag(whole), np.diag(whole)))
    assert np.abs(found - whole).max() < 6 * np.sqrt(2 * 2 / keys) * scale.max()


def test_a_horizon_ends() -> None:
    counter = made("tree", 4).open()
    counter.run([1, 2, 3])
    with pytest.raises(Exhausted, match="horizon_reached"):
        counter.run([1, 2])
    counter.step(1)
    with pytest.raises(Exhausted, match="horizon_reached"):
        counter.step(1)
    assert DoublingTree(spend=PURE, unit=EventLevel()).open().horizon is None


@pytest.mark.parametrize("bad", [[1.5, 2.0], [[1, 2, 3]], ["a", "b"], [[[1], [2]]]])
def test_increments_that_do_not_fit_are_refused_and_not_shown(bad: object) -> None:
    counter = made("tree", 8, keys=2).open()
    with pytest.raises(InvalidData, match="increments_do_not_fit") as caught:
        counter.run(bad)
    assert "1.5" not in str(caught.value)
    assert counter.tick == 0


@pytest.mark.parametrize("t", [0, 9, 1.5])
def test_errors_are_those_of_ticks_within_the_horizon(t: float) -> None:
    with pytest.raises(InvalidParameter):
        made("tree", 8).error(t, confidence=0.95)  # type: ignore[arg-type]


def test_states_that_were_cut_short_are_refused() -> None:
    state = made("tree", 8).open().state()
    cut = {**state, "live": {**state["live"], "sums": {**state["live"]["sums"], "data": "AAAA"}}}
    for bad in (cut, {**state, "form": "other"}, {**state, "mechanism": {"kind": "other"}}, {}):
        with pytest.raises(InvalidParameter, match="stream_state_unreadable"):
            from_state(bad)


def test_counters_are_not_copied() -> None:
    import pickle

    with pytest.raises(Exhausted, match="session_not_copied"):
        pickle.dumps(made("tree", 8).open())


def test_noise_that_is_not_private_is_marked() -> None:
    event = made("tree", 8, randomness=Seeded(1)).event
    assert event.kind == "Unprotected"


@pytest.mark.parametrize("name", KINDS)
def test_increments_beyond_all_bounds_do_not_wrap_around(name: str) -> None:
    counter = made(name, 8, randomness=Noiseless()).open()
    far = np.full((8, 1), 2**62)
    found = counter.run(far)
    assert (np.diff(found, axis=0) >= 0).all()
    assert (found > 0).all()


def test_memory_is_logarithmic_in_the_horizon() -> None:
    held = [BinaryTree(horizon=2**k, spend=PURE, unit=EventLevel()).open().memory() for k in (4, 8)]
    assert held == [8 * 9, 8 * 17]
    for name in KINDS:
        mechanism = made(name, 16, keys=3)
        counter = mechanism.open()
        assert counter.memory() <= mechanism.memory()


def test_the_lemma_on_sums_of_laplace_variables() -> None:
    assert laplace_sum_tail([10.0] * 10, confidence=0.95) == pytest.approx(171.8, abs=0.05)
    each = laplace_sum_tail([10.0] * 10, confidence=1 - 0.05 / 1024)
    assert each == pytest.approx(300.4, abs=0.1)
    exact = sum_half_width(
        [(1.0, 10)], made("tree", 1024, spend=PURE).noise.distribution, confidence=0.95
    )
    assert exact < 171.8
