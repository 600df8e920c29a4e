"""How often elements of a public universe occur, cut off at a number, from small random states.

Each element has a state between 0 and ``most``, random from the start. An arrival redraws the state
with probability 1/(most + 1), and otherwise moves it up by one, to ``most`` at most. However often
an element arrived, its state has nearly the same law: with w = 1/2 on ``most`` and r = 1/(2 most)
on each other state, the law after a arrivals is that, plus eta (1 - 1/(most + 1))**a moved from
``most`` to a, for a < most; from ``most`` arrivals on it is that law itself. So the numbers of
elements in each state tell how many elements occurred 0, 1, ... times, and no state tells of one.

For ``most`` = 1 this is the density estimator of the book, its bias eta being half of
1 - exp(-epsilon), not epsilon.

Source: 000b:B37 (errata: the state's loss is -ln(1 - 2 epsilon), and the estimator needs the bias),
B38 (named there; the algorithm is our own). Proof: ``proofs/pan-private.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import Exhausted, InvalidData
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import DiscreteLaplace, Pure
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.grid import ordinary
from discreet.noise import SYSTEM, Source, bernoulli, discrete_laplace, uniform_integers
from discreet.noise.randomness import require_source
from discreet.streams.pan_private.checkpoints import Checkpoints, Seizable
from discreet.streams.stored import State, array_from_dict, array_to_dict, part, unreadable

FORM = "pan-private-cropped-counts/1"
_BITS = 48


@dataclass(frozen=True, kw_only=True)
class CroppedCounts:
    """Frequencies of cropped counts over ``universe`` elements, private to whole elements.

    Assumptions: neighbouring streams differ in all arrivals of one element, which stands for one
    person. One look at the memory at any time, and one output.

    Contract: ``epsilon_state`` is what the memory costs, ``epsilon_output`` the numbers of states
    with Laplace noise.

    Guarantee: pure epsilon_state + epsilon_output for one state and the output together, whatever
    came how often.

    Source: 000b:B37, B38. Proof: ``proofs/pan-private.md``.

    Numerics: probabilities are exact rationals; eta is rounded down.
    """

    universe: int
    most: int
    epsilon_state: Number
    epsilon_output: Number
    checkpoints: Checkpoints
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        for name in ("universe", "most"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        for name in ("epsilon_state", "epsilon_output"):
            object.__setattr__(self, name, ordinary(name, getattr(self, name)))

    @cached_property
    def eta(self) -> Fraction:
        """How far the law of an element that never came is from that of one that often did."""
        epsilon = float(exact(self.epsilon_state))
        bias = min(math.expm1(epsilon) / (2 * self.most), -math.expm1(-epsilon) / 2)
        return Fraction(math.floor(bias * (1 - 1e-12) * (1 << _BITS)), 1 << _BITS)

    @property
    def event(self) -> Event:
        """What one look at the memory and the output cost together."""
        output = DiscreteLaplace(epsilon=self.epsilon_output, steps=2)
        return mark_unprotected_event(Pure(epsilon=self.epsilon_state) + output, self.randomness)

    def signal(self, arrivals: int) -> float:
        """How much more often an element that came so often is in that state."""
        return float(self.eta) * (self.most / (self.most + 1)) ** arrivals

    def deviation(self, arrivals: int) -> float:
        """A bound on the deviation of the estimated part of elements that came so often."""
        states = 0.5 / math.sqrt(self.universe)
        noise = math.sqrt(2) * 2 / float(exact(self.epsilon_output)) / self.universe
        return math.hypot(states, noise) / self.signal(arrivals)

    def error(self, arrivals: int, *, confidence: float) -> float:
        """How far the estimated part may be off: Chebyshev's inequality, wide and certain."""
        missed = 1 - float(probability("confidence", confidence))
        return self.deviation(arrivals) / math.sqrt(missed)

    @property
    def kind(self) -> np.dtype[Any]:
        """How a state is held: in a byte where it fits."""
        return np.dtype(np.uint8 if self.most < 1 << 8 else np.int64)

    def memory(self) -> int:
        """Bytes of the live state."""
        return self.universe * self.kind.itemsize

    def open(self) -> LiveCroppedCounts:
        """Start with random states."""
        return LiveCroppedCounts(self)

    def first(self) -> NDArray[np.int64]:
        """States of elements that never came: the usual law, and eta moved from the top to zero."""
        # Half to the top; of it 2 eta go to zero. The other half is uniform below.
        source, size = self.randomness, self.universe
        low = uniform_integers(self.most, size, source)
        top = bernoulli(Fraction(1, 2), size, source)
        moved = bernoulli(2 * self.eta, size, source)
        return np.where(top, np.where(moved, 0, self.most), low)

    def next(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """States after one more arrival of each."""
        source, size, most = self.randomness, len(states), self.most
        again = bernoulli(Fraction(1, most + 1), size, source)
        # Redrawn: zero with probability (most + 1)/(2 most), each other below the top 1/(2 most).
        low = uniform_integers(most, size, source)
        zero = bernoulli(Fraction(1, 2), size, source)
        return np.where(again, np.where(zero, 0, low), np.minimum(states + 1, most))


class LiveCroppedCounts(Seizable):
    """The live states of all elements."""

    def __init__(self, mechanism: CroppedCounts, written: int = 0) -> None:
        """Draw the first states."""
        super().__init__(mechanism.checkpoints, written)
        self._mechanism = mechanism
        self._states: NDArray[Any] = mechanism.first().astype(mechanism.kind)
        self._answered = False

    @property
    def event(self) -> Event:
        """What one look at the memory and the output cost together."""
        return self._mechanism.event

    def arrive(self, elements: Any) -> None:
        """Take arrivals in any order, elements by their numbers; nothing is told of them."""
        arrived = np.asarray(elements).reshape(-1)
        if arrived.size and (
            arrived.dtype.kind not in "iu"
            or int(arrived.min()) < 0
            or int(arrived.max()) >= self._mechanism.universe
        ):
            raise InvalidData(
                code="element_outside_universe",
                expectation="elements by their numbers, from zero, within the declared universe",
                remedy="Drop what is not in the universe before it reaches the stream.",
            )
        with self._lock:
            self._check_process()
            who, times = np.unique(arrived, return_counts=True)
            for already in range(int(times.max(initial=0))):
                still = who[times > already]
                moved = self._mechanism.next(self._states[still].astype(np.int64))
                self._states[still] = moved

    def frequencies(self) -> Floats:
        """The estimated part of elements that came 0, 1, ... times, and ``most`` times or more.

        The one output. Parts are unbiased, so some may be below zero.
        """
        mechanism = self._mechanism
        with self._lock:
            self._check_process()
            if self._answered:
                raise Exhausted(
                    code="stream_has_answered",
                    expectation="a stream that has not answered yet",
                    remedy="Use the answer that was given; another one is charged anew.",
                )
            self._answered = True
            exact_numbers = np.bincount(self._states, minlength=mechanism.most + 1)
            scale = 2 / exact(mechanism.epsilon_output)
            noise = discrete_laplace(scale, mechanism.most + 1, mechanism.randomness)
        parts = (exact_numbers + noise)[:-1] / mechanism.universe - 0.5 / mechanism.most
        found = parts / np.array([mechanism.signal(a) for a in range(mechanism.most)])
        return np.append(found, 1 - found.sum())

    def memory(self) -> int:
        """Bytes of the live state."""
        return self._states.nbytes

    def state(self) -> State:
        """The memory as an intruder would find it; an intrusion, and counted as one."""
        with self._lock:
            self._count_checkpoint()
            mechanism = self._mechanism
            return {
                "form": FORM,
                "universe": mechanism.universe,
                "most": mechanism.most,
                "epsilon_state": str(exact(mechanism.epsilon_state)),
                "epsilon_output": str(exact(mechanism.epsilon_output)),
                "written": self._written,
                "answered": int(self._answered),
                "states": array_to_dict(self._states),
            }


def from_checkpoint(state: State, *, randomness: Source = SYSTEM) -> LiveCroppedCounts:
    """Go on from the one state that was written; nothing that was kept is drawn again."""
    if state.get("form") != FORM:
        raise unreadable(expected="the state of pan-private cropped counts")
    mechanism = CroppedCounts(
        universe=part(state, "universe", int),
        most=part(state, "most", int),
        epsilon_state=Fraction(part(state, "epsilon_state", str)),
        epsilon_output=Fraction(part(state, "epsilon_output", str)),
        checkpoints=Checkpoints(1),
        randomness=randomness,
    )
    live = LiveCroppedCounts(mechanism, part(state, "written", int))
    live._answered = bool(part(state, "answered", int))
    live._states = array_from_dict(state.get("states"), (mechanism.universe,))
    return live


def density(frequencies: Floats) -> float:
    """The part of elements that came at least once.

    >>> density(np.array([0.25, 0.5, 0.25]))
    0.75
    """
    return float(1 - frequencies[0])


def incidence(frequencies: Floats, times: int) -> float:
    """The part of elements that came exactly ``times`` times, below the cut-off."""
    if not 0 <= times < len(frequencies) - 1:
        raise InvalidData(
            code="incidence_beyond_cut",
            expectation=f"a number of times below the cut-off, {len(frequencies) - 1}",
            received=times,
            remedy="Open the stream with a larger cut-off.",
        )
    return float(frequencies[times])


def cropped_mean(frequencies: Floats) -> float:
    """The mean over all elements of how often each came, cut off.

    >>> cropped_mean(np.array([0.25, 0.5, 0.25]))
    1.0
    """
    return float(np.arange(len(frequencies)) @ frequencies)


def heavy_hitter_fraction(frequencies: Floats) -> float:
    """The part of elements that came as often as the cut-off, or more often."""
    return float(frequencies[-1])
