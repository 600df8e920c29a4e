"""What a mechanism does to two neighbouring tables, noise by noise, under the same outcomes.

A release is played twice, once on each table. Whatever noise decides (a noisy number, a choice, a
comparison, a partition) is decided alike in both: the outcomes come from a tape. So both runs see
the same past, and what differs is what noise was put on: the distance that this noise must hide,
measured and not derived. Its loss is computed from the scale that would have been drawn and from
that distance, and compared with the price that was paid for it.

Nothing here is random but the choice of outcomes, which is seeded; a private claim holds whatever
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event, Nothing
from discreet.core.events.mechanisms import Pure
from discreet.mechanisms import AboveThreshold, Exponential, PermuteAndFlip
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.sparse_vector.above_threshold import ThresholdSession
from discreet.queries.boosting.reweighting import Reweighting
from discreet.queries.online.comparisons import Comparisons
from discreet.queries.trees.noisy_partition import NoisyPartition
from discreet.queries.trees.privtree import PrivTree, Splitting

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One use of noise: what it was put on, what it loses at a distance, and what was paid."""

    kind: str
    values: Floats
    loss: Callable[[Floats], float]
    promised: float
    """What may be lost, in the unit of ``loss``: epsilon, or rho for normal noise."""
    paid: Event


@dataclass
class Tape:
    """Outcomes in the order in which they are asked for; the first world decides them."""

    rng: np.random.Generator
    outcomes: list[Any] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def rewind(self) -> list[Step]:
        """The steps so far; the next world starts from the beginning."""
        done, self.steps = self.steps, []
        return done

    def take(self, step: Step, decide: Callable[[], Any]) -> Any:
        """The outcome of a step."""
        if len(self.steps) == len(self.outcomes):
            self.outcomes.append(decide())
        self.steps.append(step)
        return self.outcomes[len(self.steps) - 1]


def shares(one: list[Step], other: list[Step]) -> dict[str, float]:
    """For each kind of noise the largest share of its promise that was lost."""
    assert [step.kind for step in one] == [step.kind for step in other]
    found: dict[str, float] = {}
    for here, there in zip(one, other, strict=True):
        assert here.promised == there.promised, "what is promised depends on data"
        lost = here.loss(here.values - there.values)
        share = lost / here.promised if here.promised else float(lost > 0)
        found[here.kind] = max(found.get(here.kind, 0.0), share)
    return found


@contextmanager
def taped(tape: Tape) -> Iterator[None]:
    """Let the tape decide whatever noise would."""
    with ExitStack() as stack:

        def replace(owner: type, name: str, made: Callable[..., Any]) -> None:
            stack.enter_context(patch.object(owner, name, made))

        replace(Additive, "_release", _additive(tape))
        for kind in (Exponential, PermuteAndFlip):
            replace(kind, "release", _chosen(tape))
        replace(Comparisons, "__init__", _remembering(Comparisons.__init__))
        replace(Comparisons, "above", _above(tape))
        replace(ThresholdSession, "ask_all", _asked(tape))
        replace(Reweighting, "draw", _drawn(tape))
        replace(NoisyPartition, "release", _partition(tape))
        replace(PrivTree, "_grown", _grown(tape, PrivTree._grown))
        replace(Splitting, "chosen", _split(tape))
        yield


def _additive(tape: Tape) -> Callable[..., Any]:
    def release(self: Additive, value: Any, kind: type) -> Any:
        array = np.asarray(value)
        values = array.astype(np.float64).ravel()
        scale = self.scale(size=values.size, kind=kind)
        name = type(self).__name__
        event = self.event
        if "Laplace" in name:
            step = Step(
                name, values, lambda d: float(np.abs(d).sum()) / scale, _epsilon(event), event
            )
        else:
            step = Step(
                name,
                values,
                lambda d: float((d**2).sum()) / (2 * scale**2),
                float(event.zcdp().rho),
                event,
            )

        def decide() -> Any:
            noisy = values + tape.rng.normal(0, scale, values.size)
            return np.rint(noisy) if kind is int else noisy

        noisy = np.asarray(tape.take(step, decide)).astype(np.int64 if kind is int else np.float64)
        return noisy.reshape(array.shape) if array.shape else noisy[0].item()

    return release


def _chosen(tape: Tape) -> Callable[..., Any]:
    def release(self: Selection, scores: Any) -> int:
        values, rate = np.asarray(scores, dtype=np.float64), float(self.rate())
        # Odds of bounded range are paid by it; permute-and-flip by twice the largest move.
        bounded = isinstance(self, Exponential)

        def loss(d: Floats) -> float:
            moved = d.max() - d.min() if bounded else 2 * np.abs(d).max()
            return rate * float(moved)

        step = Step(type(self).__name__, values, loss, _epsilon(self.event), self.event)
        return int(tape.take(step, lambda: tape.rng.integers(len(values))))

    return release


def _remembering(made: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, mechanism: AboveThreshold) -> None:
        made(self, mechanism)
        self.told = mechanism

    return init


def _compared(values: Floats, mechanism: AboveThreshold, scale: float, *, begun: bool) -> Step:
    """Comparisons of one round, with the scale of each value's noise.

    The threshold has half of it. Where values move by d, moving the threshold along costs d over
    its scale, and the one yes 2 d over its own.
    """
    threshold = scale / mechanism.scores.value

    def loss(d: Floats) -> float:
        far = float(np.abs(d).max())
        return far / threshold + 2 * far / scale

    event = mechanism.event
    paid = event if begun else Nothing()
    return Step("AboveThreshold", values, loss, _epsilon(event), paid)


def _above(tape: Tape) -> Callable[..., Any]:
    def above(self: Any, value: float) -> bool:
        begun = not self.under_way or not getattr(self, "charged", False)
        if not self.under_way:
            self.begin()
        self.charged = True
        threshold, scale = float(self._scale), float(self._value_scale)
        step = _compared(np.array([value]), self.told, scale / self._steps, begun=begun)
        assert scale == threshold * self.told.scores.value
        if tape.take(step, lambda: bool(tape.rng.random() < 0.4)):
            self._bar, self.charged = None, False
            return True
        return False

    return above


def _asked(tape: Tape) -> Callable[..., Any]:
    def ask_all(self: Any, questions: Any) -> list[bool]:
        values = np.asarray(questions, dtype=np.float64)
        scale = float(self._value_scale) * 2.0**self._exponent
        begun = not getattr(self, "charged", False)
        self.charged = True

        def decide() -> list[bool]:
            yes = np.flatnonzero(tape.rng.random(len(values)) < 0.4)
            last = int(yes[0]) if yes.size else len(values)
            return [False] * last + [True] * bool(yes.size)

        answers: list[bool] = tape.take(
            _compared(values, self._mechanism, scale, begun=begun), decide
        )
        self._halted = answers[-1]
        return list(answers)

    return ask_all


def _drawn(tape: Tape) -> Callable[..., Any]:
    def draw(self: Reweighting, excesses: Any, before: int, size: int) -> Any:
        values = excesses.astype(np.float64)
        if before == 0:
            step = Step("uniform", np.zeros(1), lambda _: 0.0, 0.0, Nothing())
        else:
            each = self.selector(before)
            rate = float(each.rate())
            step = Step(
                "draw",
                values,
                lambda d: rate * float(d.max() - d.min()),
                _epsilon(each.event),
                each.event * size,
            )
        return tape.take(step, lambda: tape.rng.integers(len(values), size=size))

    return draw


def _partition(tape: Tape) -> Callable[..., Any]:
    """Its law is not one of independent outcomes: see the exact law in ``trees/test_dawa.py``."""

    def release(self: NoisyPartition, counts: Any, present: Any, price: Any) -> Any:
        step = Step("partition", np.zeros(1), lambda _: 0.0, 0.0, self.event)
        bits = len(counts).bit_length() - 1

        def decide() -> Any:
            width = 1 << int(tape.rng.integers(bits + 1))
            return np.arange(0, len(counts) + 1, width)

        return tape.take(step, decide)

    return release


def _grown(tape: Tape, grown: Callable[..., Any]) -> Callable[..., Any]:
    """The price of all splits; their law is in ``trees/exact_shapes.py``."""

    def priced(self: PrivTree, data: Any) -> Any:
        event = Pure(epsilon=self._growing)
        tape.take(Step("shape", np.zeros(1), lambda _: 0.0, 0.0, event), lambda: None)
        return grown(self, data)

    return priced


def _split(tape: Tape) -> Callable[..., Any]:
    def chosen(self: Splitting, counts: Any, depth: int) -> Any:
        step = Step("split", np.zeros(1), lambda _: 0.0, 0.0, Nothing())
        return tape.take(step, lambda: tape.rng.random(len(counts)) < 0.6)

    return chosen


def _epsilon(event: Event) -> float:
    assert isinstance(event, Pure)
    return float(event.loss)
