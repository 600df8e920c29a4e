"""What is read off counters: sums, averages, histograms, quantiles, vectors, windows."""

import itertools
import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet import streams
from discreet.core.errors import Exhausted, InvalidParameter
from discreet.mechanisms.scores import GENERAL, MONOTONE
from discreet.noise import Noiseless, Seeded
from discreet.streams.absorption import BudgetAbsorption, absorption_from_state
from discreet.streams.alarms import Alarms, alarms_from_state
from discreet.streams.resume import from_state
from discreet.streams.statistics.histogram import Histogram, Quantiles
from discreet.streams.statistics.statistic import Statistic, sums_within
from discreet.streams.statistics.totals import BoundedNumber, RunningAverage, RunningTotal
from discreet.streams.statistics.vectors import ClippedVectors
from discreet.streams.units import EventLevel, UserLevel, WEvent
from discreet.streams.window import SlidingWindow
from tests.streams.counters import NORMAL, PURE

COST = BoundedNumber(low=-2, high=10, step=0.25)
RNG = np.random.default_rng(5)


def counted(statistic: Statistic, ticks: list[object]) -> object:
    counter = streams.ReducedTree(
        horizon=len(ticks),
        spend=NORMAL,
        unit=EventLevel(),
        keys=statistic.keys,
        contribution=statistic.contribution,
        randomness=Noiseless(),
    ).open()
    for values in ticks:
        estimates = counter.step(statistic.increments(values))
    return statistic.answer(estimates)


def test_sums_and_averages_without_noise() -> None:
    ticks: list[object] = [[1.0, 2.0], [], [30.0, float("nan"), -5.0]]
    assert counted(RunningTotal(COST), ticks) == pytest.approx(1 + 2 + 10 - 2)
    assert counted(RunningAverage(COST), ticks) == pytest.approx((1 + 2 + 10 - 2) / 4)
    assert counted(RunningAverage(COST), [[], []]) == pytest.approx(4)  # nothing came: the middle


@pytest.mark.parametrize(
    "statistic",
    [
        RunningTotal(COST),
        RunningAverage(COST),
        Histogram(("a", "b")),
        Quantiles([0, 1, 2, 5, 7]),
        Quantiles(range(8)),
        ClippedVectors(dimension=3, clip=2),
    ],
    ids=repr,
)
def test_no_event_moves_more_than_its_contribution(statistic: Statistic) -> None:
    if isinstance(statistic, ClippedVectors):
        vectors = RNG.normal(0, 2, (300, 3)) * 10.0 ** RNG.integers(-3, 4, (300, 1))
        events = [np.asarray(vector) for vector in vectors]
    elif isinstance(statistic, Histogram):
        events = [["a"], ["b"], ["c"]]  # type: ignore[list-item]
    else:
        events = [
            np.array([x]) for x in (-math.inf, -9.0, -2, 0, 0.3, 1, 4.7, 6.9, 7, 10, math.inf)
        ]
    nothing = statistic.increments([])
    assert not nothing.any()
    worst = statistic.contribution
    for event in events:
        moved = statistic.increments(event).astype(object)
        assert sum(abs(m) for m in moved) <= worst.l1
        assert sum(m * m for m in moved) <= worst.l2_squared
        assert max(abs(m) for m in moved) <= worst.largest


def test_quantiles_are_ranks_of_public_cuts() -> None:
    values = RNG.integers(0, 100, 500).astype(float)
    cuts = [5, 10, 25, 50, 60, 75, 99]
    statistic = Quantiles(cuts)
    ranks = counted(statistic, [values[:200], values[200:]])
    assert ranks == pytest.approx([(values <= cut).sum() for cut in cuts])
    estimates = statistic.increments(values).astype(float)
    assert statistic.quantile(estimates, 0.5) == 50 or (values <= 50).mean() < 0.5
    with pytest.raises(InvalidParameter, match="cuts_do_not_rise"):
        Quantiles([1, 1])


def test_heavy_hitters_are_those_that_are_surely_heavy() -> None:
    histogram = Histogram(("a", "b", "c"))
    found = histogram.heavy_hitters(np.array([90.0, 210.0, 130.0]), above=100, error=25)
    assert found == {"b": 210.0, "c": 130.0}
    with pytest.raises(InvalidParameter, match="keys_not_declared"):
        Histogram(("a", "a"))


def test_vectors_are_clipped_and_their_noise_is_that_of_the_norm() -> None:
    sums = ClippedVectors(dimension=1000, clip=1, bits=16)
    tree = streams.BinaryTree(
        horizon=8,
        spend=NORMAL,
        unit=EventLevel(),
        keys=sums.keys,
        contribution=sums.contribution,
    )
    found = sums.answer(tree.open().step(sums.increments(np.ones((1, 1000)))))
    assert found.std() == pytest.approx(math.sqrt(3), rel=0.2)  # three levels, one deviation each
    assert found.mean() == pytest.approx(1000**-0.5, abs=0.35)
    root = streams.ToeplitzCounter(
        horizon=512, spend=NORMAL, unit=EventLevel(), keys=5, contribution=sums.contribution
    )
    root.open()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e308])
def test_no_coordinate_is_refused_or_moves_more_than_a_vector_may(odd: float) -> None:
    """A refusal because of one event would tell that it was there."""
    sums = streams.ClippedVectors(dimension=3, clip=1.0)
    plain = np.full((4, 3), 0.25)
    spoilt = np.concatenate([plain, [[odd, 0.5, -odd]]])
    moved = (sums.increments(spoilt) - sums.increments(plain)).astype(object)
    assert (moved**2).sum() <= sums.contribution.l2_squared


@pytest.mark.parametrize("window", [1, 2, 3, 5, 8, 24])
def test_windows_slide(window: int) -> None:
    ticks = RNG.integers(0, 9, (100, 2))
    mechanism = SlidingWindow(
        window=window, spend=PURE, unit=EventLevel(), keys=2, randomness=Noiseless()
    )
    totals = np.concatenate([np.zeros((1, 2), dtype=int), np.cumsum(ticks, axis=0)])
    wanted = [totals[t] - totals[max(0, t - window)] for t in range(1, 101)]
    counter = mechanism.open()
    first = counter.run(ticks[:37])
    again = from_state(json.loads(json.dumps(counter.state())), randomness=Noiseless())
    assert (np.concatenate([first, again.run(ticks[37:])]) == wanted).all()
    assert counter.memory() == mechanism.memory()
    worst = max(len(mechanism.blocks(t)) for t in range(1, 200))
    assert len(mechanism.blocks(mechanism.worst_tick())) == worst <= 2 * mechanism.height
    # Every block that a window uses was complete, and every tick is in one block of each length.
    for t in range(1, 100):
        assert all((number + 1) << level <= t for level, number in mechanism.blocks(t))


def test_the_variance_of_windows_does_not_grow() -> None:
    hour = SlidingWindow(window=12, spend=PURE, unit=EventLevel(), keys=40_000)
    found = hour.open().run(np.zeros((50, 40_000), dtype=np.int64)).var(axis=1)
    stated = [hour.variance(t) for t in range(1, 51)]
    assert np.abs(found / stated - 1).max() < 5.5 * math.sqrt(5 / 40_000)


def test_alarms_are_raised_and_used_up() -> None:
    monitor = Alarms(
        threshold=100,
        window=3,
        alarms=2,
        spend=dp.PureDP(epsilon=50),
        unit=EventLevel(),
    )
    live = monitor.open()
    # Answers end with the last alarm: at an epsilon of 50 noise of 50 is as good as impossible.
    assert live.run([10, 10, 10, 190, 0, 0]).tolist() == [False, False, False, True, True]
    assert (live.alarms_left, live.tick) == (0, 5)
    fresh = monitor.open()
    assert not fresh.run(np.zeros(500, dtype=np.int64)).any()
    assert fresh.run([500, 500]).all()
    with pytest.raises(Exhausted, match="alarms_used_up"):
        fresh.step(500)


@pytest.mark.parametrize(
    "spend",
    [PURE, dp.ApproxDP(epsilon=1, delta=1e-6), NORMAL],
    ids=["pure", "approximate", "concentrated"],
)
def test_alarms_keep_their_spend_and_say_their_error(
    spend: dp.PureDP | dp.ApproxDP | dp.ZCDP,
) -> None:
    unit = UserLevel("id", max_events=5, max_per_tick=2)
    monitor = Alarms(threshold=100, window=2, alarms=3, spend=spend, unit=unit)
    assert monitor.sensitivity == 4
    if isinstance(spend, dp.ZCDP):
        assert monitor.event.zcdp().rho <= spend.rho
    else:
        delta = getattr(spend, "delta", 0)
        assert monitor.event.epsilon(delta=delta) <= spend.epsilon * (1 + 1e-9)
    error = monitor.error(ticks=20, confidence=0.9)
    wrong = 0
    for seed in range(60):
        live = Alarms(
            threshold=100, window=1, alarms=3, spend=spend, unit=unit, randomness=Seeded(seed)
        ).open()
        wrong += bool(live.run(np.full(20, int(100 - error) - 1)).any())
    assert wrong <= 60 * 0.1 + 15  # far from the tail: the stated error is a bound


def test_a_resumed_monitor_has_the_same_hidden_threshold() -> None:
    monitor = Alarms(threshold=10, window=4, alarms=3, spend=PURE, unit=EventLevel())
    live = monitor.open()
    live.run([1, 2, 3])
    state = json.loads(json.dumps(live.state()))
    again = alarms_from_state(state)
    assert again.state() == state
    assert (again.alarms_left, again.tick, again.event) == (live.alarms_left, live.tick, live.event)
    with pytest.raises(InvalidParameter, match="stream_state_unreadable"):
        alarms_from_state({**state, "epsilon_each": "7"})


@pytest.mark.parametrize("ticks", [1, 2, 3, 4])
def test_no_window_spends_more_than_epsilon_whatever_is_published(ticks: int) -> None:
    """All decisions to publish or not over ten ticks, forced by what comes."""
    mechanism = BudgetAbsorption(
        epsilon=1, unit=WEvent(ticks=ticks, max_per_tick=1), keys=1, randomness=Noiseless()
    )
    for decisions in itertools.product([False, True], repeat=10):
        live, level = mechanism.open(), 0
        for change in decisions:
            level += 10_000 if change else 0
            live.step([level])
            assert live.spent <= 1
    assert live.spent > 0


def test_absorption_follows_changes_and_resumes() -> None:
    mechanism = BudgetAbsorption(epsilon=20, unit=WEvent(ticks=5, max_per_tick=1), keys=3)
    live = mechanism.open()
    seen = live.run(np.array([[1000, 0, 0]] * 10 + [[0, 1000, 0]] * 10))
    assert np.abs(seen[-1] - [0, 1000, 0]).max() < 40
    assert (seen[5] == seen[6]).all()  # repeated where nothing changed
    state = json.loads(json.dumps(live.state()))
    again = absorption_from_state(state)
    assert again.state() == state
    assert (again.last == live.last).all()
    assert again.spent == live.spent
    with pytest.raises(InvalidParameter, match="not_a_stream_unit"):
        BudgetAbsorption(epsilon=1, unit=EventLevel(), keys=1)  # type: ignore[arg-type]


def test_uniform_spending_is_noise_per_tick() -> None:
    unit = WEvent(ticks=10, max_per_tick=2)
    uniform = streams.NoisePerTick(horizon=10**6, spend=PURE, unit=unit)
    assert uniform.event.steps == 20  # type: ignore[attr-defined]


def test_plans_choose_by_error_and_memory() -> None:
    short = streams.plan(horizon=10, spend=PURE, unit=EventLevel())
    assert isinstance(short.best, streams.NoisePerTick)
    long = streams.plan(horizon=1 << 17, spend=PURE, unit=EventLevel(), keys=1000)
    assert isinstance(long.best, streams.ReducedTree)
    assert "too much memory" in str(long)
    normal = streams.plan(horizon=1000, spend=NORMAL, unit=EventLevel())
    assert isinstance(normal.best, streams.ToeplitzCounter)
    assert normal.best.bands is None
    tight = streams.plan(horizon=1000, spend=NORMAL, unit=EventLevel(), memory=2000)
    assert tight.best.buffers == 4  # type: ignore[attr-defined]
    endless = streams.plan(horizon=None, spend=PURE, unit=EventLevel())
    assert isinstance(endless.best, streams.DoublingTree)
    for choice in normal.choices:
        worst = choice.mechanism.worst_tick()
        all_ticks = max(choice.mechanism.variance(t) for t in range(1, 1001))
        assert choice.mechanism.variance(worst) == pytest.approx(all_ticks)
    with pytest.raises(InvalidParameter, match="memory_too_small"):
        streams.plan(horizon=1000, spend=NORMAL, unit=EventLevel(), memory=1)


def test_pictures_hold_a_bound_below_the_errors() -> None:
    pytest.importorskip("altair")
    for spend in (PURE, NORMAL):
        chosen = streams.plan(horizon=200, spend=spend, unit=EventLevel())
        chart = chosen.plot().to_dict()
        rows = chart["data"]["values"]
        below = {row["tick"]: row["error"] for row in rows if row["counter"] == "no counter below"}
        assert below
        worst: dict[str, float] = {}
        for row in rows:
            if row["counter"] != "no counter below":
                worst[row["counter"]] = max(worst.get(row["counter"], 0.0), row["error"])
        assert min(worst.values()) > max(below.values())
    points = streams.error_by_tick({"tree": chosen.best}, {"tree": [1.0] * 200})
    assert len(points.to_dict()["layer"]) == 2


def test_the_lower_bound_of_the_book() -> None:
    found = [streams.pure_counter_bound(horizon=2**e, epsilon=1) for e in (10, 20, 40)]
    assert found == [1.5, 3.0, 6.0]


def test_totals_of_windows_move_both_ways_and_are_not_called_monotone() -> None:
    """Within a window one tick may rise and another fall: the cheaper noise does not hold."""
    one_way = Alarms(threshold=10, window=1, alarms=1, spend=PURE, unit=EventLevel())
    both = Alarms(
        threshold=10, window=1, alarms=1, spend=PURE, unit=WEvent(ticks=1, max_per_tick=1)
    )
    assert one_way.mechanism.scores == MONOTONE
    assert both.mechanism.scores == GENERAL
    assert both.error(ticks=10, confidence=0.95) > one_way.error(ticks=10, confidence=0.95)


def test_sums_of_many_large_numbers_end_at_the_clamp_and_do_not_come_round() -> None:
    """One event more used to move the sum of 2**23 from one end of 64 bits to the other."""
    number = BoundedNumber(low=-(2**40), high=2**40, step=1)
    for end in (-(2.0**40), 2.0**40):
        for statistic in (RunningTotal(number), RunningAverage(number)):
            values = np.full(1 << 23, end)
            fewer, all_of_them = (statistic.increments(each) for each in (values[1:], values))
            assert np.abs(all_of_them - fewer).max() <= statistic.contribution.largest
            assert all_of_them[0] == math.copysign(2**61, end)
    vectors = ClippedVectors(dimension=1, clip=1, bits=44)
    rows = np.ones((1 << 19, 1))
    fewer, all_of_them = (vectors.increments(each) for each in (rows[1:], rows))
    assert abs(int(all_of_them[0] - fewer[0])) <= vectors.contribution.largest
    with pytest.raises(InvalidParameter, match="step_too_fine"):
        ClippedVectors(dimension=4, clip=1, bits=61)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_sums_in_halves_are_those_of_whole_numbers(size: int) -> None:
    large = RNG.integers(-(2**62), 2**62, (size, 50))
    large[:, :5] = [[2**61, -(2**61), 2**32, -1, 0]]
    exact_sums = large.astype(object).sum(axis=0)
    expected = [max(-(2**61), min(2**61, each)) for each in exact_sums]
    assert sums_within(large, 2**62).tolist() == expected


@pytest.mark.parametrize("clip", [1, 1e-300, 1e300])
def test_no_number_of_a_vector_makes_it_warn(clip: float) -> None:
    """Not even one whose norm is below all usual doubles."""
    vectors = ClippedVectors(clip=clip, dimension=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for odd in (5e-324, -1e-310, 1e-160, 1.7e308, np.inf, -np.inf, np.nan, 0.0):
            added = vectors.increments([[odd, 0.0], [odd, odd]])
            bound = 2 * int(vectors.contribution.largest)
            assert np.abs(added).max() <= bound
            assert np.isfinite(vectors.answer(added)).all()


@pytest.mark.parametrize("clip", [5e-324, 1e-320, 1e-310, Fraction(1, 10**400), 1, 1e300])
def test_no_clip_is_so_small_that_a_vector_is_longer(clip: float | Fraction) -> None:
    """Denormal clips have no room for fractions: each coordinate came out as a whole clip."""
    vectors = ClippedVectors(clip=clip, dimension=3)
    allowed = vectors.contribution.l2_squared
    for size in (5e-324, 1e-320, 1e-310, 1e-300, 1.0, 1e150):
        for row in ([1.0, 1.0, 1.0], [1.0, 0.5, -0.3], [-1.0, 1.0, 0.0]):
            moved = vectors.increments([[size * each for each in row]]).astype(object)
            assert sum(each**2 for each in moved.tolist()) <= allowed
    far = vectors.increments([[-np.inf] * 3]).astype(float)
    assert far == pytest.approx([-math.sqrt(float(allowed) / 3)] * 3, rel=1e-6)  # not nought
