"""Black-box audits of whole transcripts, and of transcripts with a look at the memory.

A true claim is refuted with probability at most 1e-6 in each audit; every twin has a mistake that
streams are prone to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import BrokenTwin, Finding, LearnedEvents, audit, check_pair, repeated
from discreet.streams import (
    BinaryTree,
    BufferedToeplitzCounter,
    EventLevel,
    ItemLevel,
    PanPrivateCounter,
    PresentItems,
    ReducedTree,
    from_state,
)
from discreet.streams.counter import ContinualCounter
from discreet.streams.live_tree import LiveTree
from discreet.streams.node_noise import LaplaceNoise, NodeNoise
from discreet.streams.pan_private.checkpoints import NO_CHECKPOINT
from discreet.streams.pan_private.counter import LivePanPrivateCounter
from discreet.streams.stored import array_from_dict

SPEND = dp.PureDP(epsilon=2)
NOTHING, ONE = [0, 0, 0, 0], [0, 1, 0, 0]

Release = Callable[[NDArray[np.int64]], tuple[int, ...]]


def audited(release: Release, trials: int = 3000) -> Finding:
    return audit(
        repeated(release),
        np.array(NOTHING),
        np.array(ONE),
        epsilon=2,
        delta=0,
        events=LearnedEvents(lambda seen: tuple(max(-2, min(2, each)) for each in seen)),
        trials=trials,
        confidence=1 - 1e-6,
    )


def transcript(mechanism: ContinualCounter) -> Release:
    """All outputs of four ticks, each as its distance from the one before."""

    def release(ticks: NDArray[np.int64]) -> tuple[int, ...]:
        seen = mechanism.open().run(ticks)[:, 0]
        return tuple(np.diff(np.rint(seen).astype(int), prepend=0).tolist())

    return release


class ReusedNoise(LiveTree):
    """Draws one noise, and uses it for every node."""

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        mechanism = self._mechanism
        one = int(mechanism.noise.draw(1, mechanism.randomness)[0])
        totals = np.cumsum(rows, axis=0)
        nodes = [mechanism.nodes(t) for t in range(1, len(rows) + 1)]  # type: ignore[attr-defined]
        return np.asarray(totals + one * np.array(nodes)[:, None])


@dataclass(frozen=True, kw_only=True)
class Reusing(BinaryTree):
    """The twin's description."""

    def open(self) -> LiveTree:
        return ReusedNoise(self)


@dataclass(frozen=True, kw_only=True)
class LevelsForgotten(ReducedTree):
    """Divides the sensitivity by the levels, and once more, as if nodes shared their noise."""

    @cached_property
    def noise(self) -> NodeNoise:
        return LaplaceNoise(8 * Fraction(2), 2)


@dataclass(frozen=True, kw_only=True)
class CoarserUnit(BufferedToeplitzCounter):
    """Takes measurements for multiples of 2**-22, where they are of 2**-24, and forgets buffers."""

    @cached_property
    def noise(self) -> NodeNoise:
        return LaplaceNoise(Fraction(2), 1 << 22)


class Unlimited(PresentItems):
    """Forgets how often an item has changed."""

    def _apply_item_change(self, name: str | int, by: int) -> int:
        found = super()._apply_item_change(name, by)
        self._items[name].flips = 0
        return found


def present(kind: type[PresentItems]) -> Release:
    """The number of present items while one comes and goes at every tick, or none does."""
    unit = ItemLevel("id", max_flips=1)
    counter = BinaryTree(horizon=4, levels=1, spend=SPEND, unit=unit)

    def release(ticks: NDArray[np.int64]) -> tuple[int, ...]:
        items, who = kind(unit), ["a"] * int(ticks.sum())
        steps = [items.tick(who, ()) if tick % 2 == 0 else items.tick((), who) for tick in range(4)]
        return transcript(counter)(np.array(steps))

    return release


TREE = BinaryTree(horizon=4, spend=SPEND, unit=EventLevel())
TWINS = [
    BrokenTwin(
        "tree, reused noise",
        transcript(TREE),
        transcript(Reusing(horizon=4, spend=SPEND, unit=EventLevel())),
        "differences of prefixes cancel a noise that is used twice",
    ),
    BrokenTwin(
        "reduced tree, levels forgotten",
        transcript(ReducedTree(horizon=4, spend=SPEND, unit=EventLevel())),
        transcript(LevelsForgotten(horizon=4, spend=SPEND, unit=EventLevel())),
        "an event is in one node of every level",
    ),
    BrokenTwin(
        "buffers, a coarser unit",
        transcript(BufferedToeplitzCounter(horizon=4, buffers=2, spend=SPEND, unit=EventLevel())),
        transcript(CoarserUnit(horizon=4, buffers=2, spend=SPEND, unit=EventLevel())),
        "an event moves its own measurement by 2**24, and later ones too",
    ),
    BrokenTwin(
        "present items, changes without a limit",
        present(PresentItems),
        present(Unlimited),
        "an item that comes and goes at every tick moves every tick",
    ),
]


@pytest.mark.audit
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_transcripts_keep_their_price_and_those_of_twins_do_not(twin: BrokenTwin[Release]) -> None:
    check_pair(twin, audited)


def crashed(*, redraw: bool) -> Release:
    """A stream that crashes after its second tick forty times, and tells its output each time."""

    def release(ticks: NDArray[np.int64]) -> tuple[int, ...]:
        counter = TREE.open()
        counter.step(ticks[0])
        before = counter.state()
        counter.step(ticks[1])
        state, seen = counter.state(), []
        for _ in range(40):
            if redraw:  # the tick is counted again, from the state before it
                seen.append(int(from_state(before).step(ticks[1])[0]))
            else:
                seen.append(int(from_state(state).last[0]))
        return (round(float(np.mean(seen))),)

    return release


@pytest.mark.audit
def test_resuming_reads_noise_again_and_a_twin_that_redraws_is_caught() -> None:
    twin = BrokenTwin(
        "resume",
        crashed(redraw=False),
        crashed(redraw=True),
        "every crash buys another draw, and their mean is the truth",
    )
    check_pair(twin, lambda release: audited(release, 800))


def seized(kind: type[LivePanPrivateCounter], when: int) -> Release:
    """All outputs, and the memory after some ticks."""
    mechanism = PanPrivateCounter(
        horizon=4, epsilon=2, unit=EventLevel(), checkpoints=NO_CHECKPOINT
    )

    def release(ticks: NDArray[np.int64]) -> tuple[int, ...]:
        live = kind(mechanism)
        outputs = live.run(ticks[:when])[:, 0].tolist()
        memory = live._memory()
        noise = array_from_dict(memory["noise"], (2, 1))[:, 0]
        counter = int(array_from_dict(memory["counter"], (1,))[0])
        after = int(live.step(ticks[when])[0])
        # What an intruder would compute: the next output less all that he knows of it.
        return (after - counter - int(noise.sum()), outputs[-1] - counter)

    return release


class DrawnEarly(LivePanPrivateCounter):
    """Draws the noise of the next intervals as soon as the last ones end."""

    def _erase(self) -> None:
        self._begin_again()

    def _begin(self) -> None:
        if not self._tick:
            super()._begin()

    def _begin_again(self) -> None:
        LivePanPrivateCounter._begin(self)


@pytest.mark.audit
def test_memory_and_transcript_together_keep_the_pan_private_price() -> None:
    twin = BrokenTwin(
        "pan-private counter",
        seized(LivePanPrivateCounter, 1),
        seized(DrawnEarly, 1),
        "noise that is in the memory before its event hides nothing",
    )
    check_pair(twin, audited)


@pytest.mark.audit
def test_one_look_at_the_plain_tree_tells_the_event() -> None:
    def release(ticks: NDArray[np.int64]) -> tuple[int, ...]:
        live = TREE.open()
        live.run(ticks[:2])
        sums = array_from_dict(live.state()["live"]["sums"], (2, 1))
        return (int(sums[1, 0]),)

    assert not audited(release, 800).passes
