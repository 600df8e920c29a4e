"""A counter that needs no horizon: trees of twice the length, one after another.

Epoch j takes the ticks 2**j to 2**(j+1) - 1 with a tree of its own, whose root joins the total when
it ends. A tick lies in one epoch, so one event pays one tree, at its full spend; a person's events
in several epochs pay shares that add up to the spend. The price is fixed although nobody knows how
long the stream will be.

Source: 000b:B40 (footnote on unknown T: doubling horizons; here the epochs' spends need no split,
since they hold different ticks). Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Pure
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.linear import half_width
from discreet.streams.contribution import StreamSensitivity
from discreet.streams.counter import LONGEST, ContinualCounter, LiveCounter, largest_increment
from discreet.streams.live_tree import LiveTree
from discreet.streams.node_noise import LaplaceNoise, NodeNoise, NormalNoise, noise_of_one_law
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part
from discreet.streams.tree import BinaryTree


@dataclass(frozen=True, kw_only=True)
class DoublingTree(ContinualCounter):
    """Binary trees of doubling lengths, for a stream whose end is unknown.

    Contract: as for :class:`~discreet.streams.tree.BinaryTree`; up to 2**40 ticks. A pure spend
    buys Laplace noise, every other one normal noise, in all epochs alike.

    Guarantee: the spend, for the whole stream, however long it becomes.

    >>> from discreet.core.guarantee import PureDP
    >>> from discreet.streams.units import EventLevel
    >>> DoublingTree(spend=PureDP(epsilon=1), unit=EventLevel()).event
    Pure(epsilon=1)

    Source: 000b:B40. Proof: ``proofs/streams.md``.

    Numerics: exact integers throughout.
    """

    kind: ClassVar[str] = "doubling/1"

    horizon: int = LONGEST

    @cached_property
    def noise(self) -> NodeNoise:
        """The noise of the first epoch, which is one tick; later ones follow by their height."""
        return noise_of_one_law(self.spend, self.sensitivity())

    @property
    def event(self) -> Event:
        """What the whole stream costs, however long it becomes."""
        if isinstance(self.noise, LaplaceNoise):
            return mark_unprotected_event(Pure(epsilon=self.noise.epsilon), self.randomness)
        return mark_unprotected_event(self.noise.event, self.randomness)

    def sensitivity(self) -> StreamSensitivity:
        """That of the first epoch."""
        return self._epoch_sensitivity(0)

    def _epoch_sensitivity(self, epoch: int) -> StreamSensitivity:
        events, at_once = self.unit.events, self.unit.per_tick
        squares = sum(events * min(events, at_once << level) for level in range(epoch + 1))
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * (epoch + 1),
            Fraction(self.contribution.l2_squared) * squares,
        )

    def epoch_noise(self, epoch: int) -> NodeNoise:
        """The noise of every node of an epoch's tree."""
        if isinstance(self.noise, LaplaceNoise):
            return LaplaceNoise(self.noise.epsilon, self.noise.l1 * (epoch + 1))
        return NormalNoise(self.noise.multiplier, self._epoch_sensitivity(epoch).l2_squared)

    def epoch_tree(self, epoch: int) -> BinaryTree:
        """The tree of an epoch: 2**epoch ticks, with its root."""
        tree = BinaryTree(
            horizon=1 << epoch,
            levels=epoch + 1,
            spend=self.spend,
            unit=self.unit,
            keys=self.keys,
            contribution=self.contribution,
            randomness=self.randomness,
        )
        tree.__dict__["noise"] = self.epoch_noise(epoch)
        return tree

    def _laws(self, t: int) -> list[Distribution]:
        """The laws of all draws in the error at tick ``t``."""
        epoch = self.require_tick(t).bit_length() - 1
        inside = t - (1 << epoch) + 1
        roots = [self.epoch_noise(each).distribution for each in range(epoch)]
        return roots + [self.epoch_noise(epoch).distribution] * inside.bit_count()

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        """In deviations of the first epoch's draws."""
        unit = self.noise.distribution.std
        return [(law.std / unit, 1) for law in self._laws(t)]

    def error(self, t: int, *, confidence: float) -> float:
        return half_width([(1.0, law) for law in self._laws(t)], confidence=confidence)

    def memory(self) -> int:
        return 8 * self.keys * (2 * self.horizon.bit_length() + 3)

    def open(self) -> LiveDoubling:
        return LiveDoubling(self)


class LiveDoubling(LiveCounter):
    """A live :class:`DoublingTree`."""

    _mechanism: DoublingTree

    def __init__(self, mechanism: DoublingTree, tick: int = 0) -> None:
        """Start with the epoch of one tick."""
        super().__init__(mechanism, tick)
        self._before = np.zeros(mechanism.keys, dtype=np.int64)
        self._last = np.zeros(mechanism.keys, dtype=np.int64)
        self._tree = self._epoch(0)

    def _epoch(self, epoch: int) -> LiveTree:
        return LiveTree(self._mechanism.epoch_tree(epoch))

    @property
    def horizon(self) -> int | None:
        """The last tick; there is none."""
        return None

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys at this moment."""
        return self._tree.memory() + self._before.nbytes + self._last.nbytes

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        most = largest_increment(self._mechanism.horizon)
        rows = np.clip(rows, -most, most)
        found = np.empty(rows.shape, dtype=np.int64)
        start = 0
        while start < len(rows):
            left = (1 << (self._tree_epoch() + 1)) - 1 - self._tick
            stop = min(len(rows), start + left)
            found[start:stop] = self._before + self._tree.run(rows[start:stop])
            self._tick += stop - start
            if stop - start == left:
                self._before = found[stop - 1].copy()
                self._tree = self._epoch(self._tree_epoch())
            start = stop
        if len(rows):
            self._last = found[-1].copy()
        return found

    def _tree_epoch(self) -> int:
        """The epoch of the next tick."""
        return (self._tick + 1).bit_length() - 1

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            live = {"tick": self._tick, "last": array_to_dict(self._last)}
            more = {"before": array_to_dict(self._before), "tree": self._tree.live()}
            return state_of(self, {**live, **more})

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        self._tick = part(live, "tick", int)
        shape = self._last.shape
        self._last = array_from_dict(live.get("last"), shape)
        self._before = array_from_dict(live.get("before"), shape)
        self._tree = self._epoch(self._tree_epoch())
        self._tree.resume(part(live, "tree", dict))
