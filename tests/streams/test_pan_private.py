"""State and output together hide what came; the plain tree does not, and broken twins do not.

Laws of small streams are computed, not sampled: a counter's state and outputs are linear in its
draws, so neighbours can be told apart by at most the cost of shifting draws.
"""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.core.errors import Exhausted, InvalidData, InvalidParameter
from discreet.noise import Noiseless
from discreet.streams import BinaryTree, EventLevel, UserLevel
from discreet.streams.contribution import EventContribution
from discreet.streams.pan_private import counter as counters
from discreet.streams.pan_private import cropped_counts
from discreet.streams.pan_private.checkpoints import NO_CHECKPOINT, ONE_CHECKPOINT, Checkpoints
from discreet.streams.pan_private.counter import LivePanPrivateCounter, PanPrivateCounter
from discreet.streams.pan_private.cropped_counts import (
    CroppedCounts,
    cropped_mean,
    density,
    heavy_hitter_fraction,
    incidence,
)
from discreet.streams.stored import array_from_dict
from tests.streams.counters import PURE

MANY = 60_000


def made(horizon: int = 8, keys: int = 1, *, allowed: int = 0) -> PanPrivateCounter:
    return PanPrivateCounter(
        horizon=horizon,
        epsilon=1,
        unit=EventLevel(),
        keys=keys,
        checkpoints=Checkpoints(allowed),
    )


def test_the_variance_of_the_book() -> None:
    fine = PanPrivateCounter(
        horizon=8,
        epsilon=1,
        unit=EventLevel(),
        checkpoints=NO_CHECKPOINT,
        contribution=EventContribution.of(bound=1 << 30),
    )
    assert fine.variance(5) / 4.0**30 == pytest.approx(128, rel=1e-12)
    # Measured at every tick, within five deviations of a variance of so many draws.
    found = made(keys=MANY).open().run(np.zeros((8, MANY), dtype=np.int64)).var(axis=1)
    assert np.abs(found / made().variance() - 1).max() < 5.5 * math.sqrt(4 / MANY)


@pytest.mark.parametrize("horizon", [1, 2, 3, 5, 8, 11])
def test_without_noise_totals_are_exact(horizon: int) -> None:
    ticks = np.arange(2 * horizon).reshape((horizon, 2))
    counter = PanPrivateCounter(
        horizon=horizon,
        epsilon=1,
        unit=UserLevel("id", max_events=3),
        keys=2,
        checkpoints=NO_CHECKPOINT,
        randomness=Noiseless(),
    ).open()
    assert (counter.run(ticks) == np.cumsum(ticks, axis=0)).all()
    with pytest.raises(Exhausted, match="horizon_reached"):
        counter.step([0, 0])


def linear(horizon: int, kind: type[LivePanPrivateCounter]) -> tuple[NDArray[np.int64], ...]:
    """All outputs, and the state after each tick, as rows of coefficients of the draws.

    Draws are told apart by running the stream once for each with that draw equal to one.
    """
    runs = []
    total = _count_draws(horizon, kind)
    for chosen in range(total):
        outputs, states = _run(horizon, kind, chosen, None)
        runs.append(np.concatenate([outputs, states.reshape(-1)]))
    matrix = np.array(runs).T
    return matrix[:horizon], matrix[horizon:].reshape((horizon + 1, -1, total))


def _count_draws(horizon: int, kind: type[LivePanPrivateCounter]) -> int:
    drawn = [0]
    _watched(horizon, kind, drawn, None, None)
    return drawn[0]


def _run(
    horizon: int, kind: type[LivePanPrivateCounter], chosen: int | None, event: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return _watched(horizon, kind, [0], chosen, event)


def _watched(
    horizon: int,
    kind: type[LivePanPrivateCounter],
    drawn: list[int],
    chosen: int | None,
    event: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    mechanism = made(horizon)

    def draw(size: int) -> NDArray[np.int64]:
        places = np.arange(drawn[0], drawn[0] + size)
        drawn[0] += size
        return np.asarray(places == chosen, dtype=np.int64)

    object.__setattr__(mechanism, "draw", draw)
    live = kind(mechanism)
    outputs, states = [], [_seen(live)]
    for tick in range(horizon):
        outputs.append(live.step([int(tick == event)])[0])
        states.append(_seen(live))
    return np.array(outputs), np.array(states)


def _seen(live: LivePanPrivateCounter) -> NDArray[np.int64]:
    """What an intruder finds between two ticks."""
    state = live._memory()
    noise = array_from_dict(state["noise"], (live.mechanism.levels, 1))
    log = live.log.reshape(-1) if isinstance(live, NeverErased) else np.zeros(0, dtype=np.int64)
    return np.concatenate([array_from_dict(state["counter"], (1,)), noise[:, 0], log])


def cheapest_shift(view: NDArray[np.int64], moved: NDArray[np.int64]) -> float:
    """The least total shift of draws that moves a view as an event does: infinite if none.

    Times epsilon over the number of draws in an output, it is the privacy loss of the view.
    """
    from scipy.optimize import linprog

    size = view.shape[1]
    found = linprog(
        np.ones(2 * size),
        A_eq=np.concatenate([view, -view], axis=1),
        b_eq=moved,
        bounds=(0, None),
    )
    return math.inf if found.fun is None else float(found.fun)


def worst_loss(horizon: int, kind: type[LivePanPrivateCounter]) -> float:
    """The largest epsilon over all events and all moments of one intrusion."""
    outputs, states = linear(horizon, kind)
    still, at_rest = _run(horizon, kind, None, None)
    worst = 0.0
    for event in range(horizon):
        told, memory = _run(horizon, kind, None, event)
        for when in range(horizon + 1):
            view = np.concatenate([outputs, states[when]])
            moved = np.concatenate([told - still, memory[when] - at_rest[when]])
            worst = max(worst, cheapest_shift(view, moved))
    return worst / made(horizon).draws


class NeverErased(LivePanPrivateCounter):
    """A twin that writes down the noise of every interval, instead of erasing it."""

    def __init__(self, mechanism: PanPrivateCounter, tick: int = 0, written: int = 0) -> None:
        super().__init__(mechanism, tick, written)
        self.log = np.zeros((mechanism.horizon, mechanism.levels), dtype=np.int64)

    def _begin(self) -> None:
        super()._begin()
        self.log[self._tick] = self._noise[:, 0]


class DrawnEarly(LivePanPrivateCounter):
    """A twin that draws the noise of the next intervals as soon as the last ones end."""

    def __init__(self, mechanism: PanPrivateCounter, tick: int = 0, written: int = 0) -> None:
        super().__init__(mechanism, tick, written)
        super()._begin()

    def _begin(self) -> None:
        """It is there already."""

    def _erase(self) -> None:
        super()._begin()


class Reused(LivePanPrivateCounter):
    """A twin that draws noise once, and uses it again for every interval of a level."""

    def _begin(self) -> None:
        if not self._tick:
            super()._begin()

    def _erase(self) -> None:
        """Keep it for the next interval."""


@pytest.mark.parametrize("horizon", [1, 2, 4, 5, 8])
def test_one_intrusion_and_all_outputs_cost_epsilon(horizon: int) -> None:
    assert worst_loss(horizon, LivePanPrivateCounter) <= 1 + 1e-9


@pytest.mark.parametrize("twin", [NeverErased, DrawnEarly, Reused])
def test_broken_twins_are_caught(twin: type[LivePanPrivateCounter]) -> None:
    assert worst_loss(8, twin) > 1.2


def test_erased_noise_is_in_no_state() -> None:
    live = made(16, allowed=1).open()
    live.run(np.zeros((8, 1), dtype=np.int64))
    state = live.state()
    noise = array_from_dict(state["noise"], (4, 1))[:, 0]
    assert not noise.any()  # tick 8 ended one interval of every length
    outputs = {"last", "outputs", "estimates", "prefixes"}
    assert not outputs & set(state)


def test_the_plain_tree_falls_to_one_look() -> None:
    """The attack of the book: read a node's noisy sum so far, subtract, and wait for its output.

    Whoever reads the state at tick t and knows what came before has x at t + 1 in every output of
    a node that holds both ticks. Our tree draws noise when a node is complete, so its exact sums
    are in the state: one look is enough, at every tick.
    """
    hits = 0
    for secret in (0, 1):
        for seed in range(20):
            live = BinaryTree(horizon=8, spend=PURE, unit=EventLevel()).open()
            live.run([1, 0, 1, 1, secret])
            state = live.state()["live"]
            sums = array_from_dict(state["sums"], (3, 1))[:, 0]
            active = [sums[level] for level in range(3) if 5 >> level & 1]
            guess = int(sum(active)) - 3  # exactly what came, less what is known
            hits += guess == secret
            del seed
    assert hits == 40


def test_checkpoints_are_intrusions() -> None:
    never = made().open()
    with pytest.raises(Exhausted, match="checkpoint_not_covered"):
        never.state()
    assert "no state is ever written" in never.statement
    once = made(allowed=1).open()
    once.run(np.ones((3, 1), dtype=np.int64))
    assert "can be done once" in once.statement
    state = json.loads(json.dumps(once.state()))
    assert "no other is" in once.statement
    with pytest.raises(Exhausted, match="checkpoint_not_covered"):
        once.state()
    again = counters.from_checkpoint(state)
    assert (again.tick, again.event) == (3, once.event)
    assert _seen(again).tolist() == _seen(once).tolist()
    with pytest.raises(Exhausted, match="checkpoint_not_covered"):
        again.state()
    again.run(np.ones((5, 1), dtype=np.int64))
    with pytest.raises(InvalidParameter, match="checkpoints_not_covered"):
        Checkpoints(2)


# -- cropped counts -----------------------------------------------------------------------------


def laws(mechanism: CroppedCounts, arrivals: int) -> list[list[Fraction]]:
    """The exact law of a state after 0, 1, ... arrivals, from the description in words."""
    most, r = mechanism.most, Fraction(1, 2 * mechanism.most)
    law = [r] * most + [Fraction(1, 2)]
    law[0] += mechanism.eta
    law[most] -= mechanism.eta
    redrawn = [Fraction(most + 1, 2 * most), *([r] * (most - 1)), Fraction(0)]
    found = [law]
    for _ in range(arrivals):
        moved = [each / (most + 1) for each in redrawn]
        for state, chance in enumerate(found[-1]):
            moved[min(state + 1, most)] += chance * Fraction(most, most + 1)
        found.append(moved)
    return found


def cropped(most: int, epsilon: float = 1.0, universe: int = MANY) -> CroppedCounts:
    return CroppedCounts(
        universe=universe,
        most=most,
        epsilon_state=epsilon,
        epsilon_output=1,
        checkpoints=ONE_CHECKPOINT,
    )


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_states_have_nearly_one_law_whatever_came(most: int, epsilon: float) -> None:
    mechanism = cropped(most, epsilon)
    found = laws(mechanism, most + 3)
    worst = max(
        p / q for a, b in itertools.permutations(found, 2) for p, q in zip(a, b, strict=True)
    )
    assert epsilon * 0.99 < math.log(worst) <= epsilon
    assert found[most] == found[most + 3]  # further arrivals change nothing
    for arrivals in range(most):
        rise = found[arrivals][arrivals] - Fraction(1, 2 * most)
        assert float(rise) == pytest.approx(mechanism.signal(arrivals))


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("arrivals", [0, 1, 2, 5])
def test_states_are_drawn_from_those_laws(most: int, arrivals: int) -> None:
    mechanism = cropped(most)
    live = mechanism.open()
    for _ in range(arrivals):
        live.arrive(np.arange(MANY))
    seen = np.bincount(live._states, minlength=most + 1) / MANY
    law = np.array([float(p) for p in laws(mechanism, arrivals)[arrivals]])
    assert np.abs(seen - law).max() < 5.5 * 0.5 / math.sqrt(MANY)


def test_the_printed_density_estimator_is_refuted() -> None:
    # With the book's bias epsilon, the state's loss is -ln(1 - 2 epsilon), not epsilon.
    assert math.log(0.5 / (0.5 - 0.1)) == pytest.approx(0.223, abs=1e-3)
    bias = float(cropped(1, 0.1).eta)
    assert bias == pytest.approx(0.5 * (1 - math.exp(-0.1)))
    assert math.log(0.5 / (0.5 - bias)) <= 0.1 + 1e-12


def test_frequencies_are_estimated() -> None:
    size = 200_000
    mechanism = cropped(3, 2.0, size)
    live = mechanism.open()
    live.arrive(np.repeat(np.arange(100_000), 2))
    live.arrive(np.repeat(np.arange(100_000, 120_000), 7))
    live.arrive(np.arange(120_000, 160_000))
    truth = [0.2, 0.2, 0.5, 0.1]
    state = json.loads(json.dumps(live.state()))
    again = cropped_counts.from_checkpoint(state)
    assert again._states.tolist() == live._states.tolist()
    assert again.memory() == live.memory() == mechanism.memory() == size
    found = live.frequencies()
    for arrivals in range(3):
        assert abs(found[arrivals] - truth[arrivals]) < mechanism.error(arrivals, confidence=0.97)
    assert density(found) == pytest.approx(1 - found[0])
    assert incidence(found, 2) == found[2]
    assert heavy_hitter_fraction(found) == pytest.approx(1 - found[:3].sum())
    assert cropped_mean(found) == pytest.approx(found[1] + 2 * found[2] + 3 * found[3])
    with pytest.raises(Exhausted, match="stream_has_answered"):
        live.frequencies()
    with pytest.raises(InvalidData, match="incidence_beyond_cut"):
        incidence(found, 3)


def test_elements_outside_the_universe_are_refused_and_not_shown() -> None:
    with pytest.raises(InvalidData, match="element_outside_universe") as caught:
        cropped(1, universe=10).open().arrive([3, 77])
    assert "77" not in str(caught.value)


def test_the_price_is_state_and_output_together() -> None:
    assert cropped(2, 0.5).event.epsilon(delta=0) == pytest.approx(1.5)
