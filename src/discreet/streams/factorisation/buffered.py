"""Buffered linear Toeplitz counters: nearly the square root's error, with a few numbers a key.

C is Toeplitz with c_0 = 1 and c_i = sum of w_j t_j**(i - 1): a tick needs one decaying sum for each
of a handful of buffers, not the whole past. What is released is y = 2**24 C x + z in whole numbers.
Decaying sums cannot be exact in bounded memory: each floor moves neighbouring streams apart by
less than one unit more than C does, and the sensitivity counts that.

Source: modern-learn:6 (Dvijotham, McMahan, Pillutla, Steinke and Thakurta, 2024).
Proof: ``proofs/buffered.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.mechanisms.grid import LIMIT
from discreet.streams.contribution import StreamSensitivity
from discreet.streams.counter import ContinualCounter, LiveCounter
from discreet.streams.factorisation.buffer_search import buffered_coefficients
from discreet.streams.factorisation.buffers import LIMB, LIMBS, decayed, raised, weighed
from discreet.streams.factorisation.kept import require_room
from discreet.streams.factorisation.optimum import ErrorObjective
from discreet.streams.factorisation.series import inverse
from discreet.streams.factorisation.toeplitz import BITS, LONGEST
from discreet.streams.node_noise import noisy
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part
from discreet.streams.tails import combined_half_width

MOST_BUFFERS = 6
_UPWARD = 1 + Fraction(1, 1 << 30)
_ONE = 1 << LIMB
_FINE = 1 << 40


@dataclass(frozen=True, kw_only=True)
class BufferedToeplitzCounter(ContinualCounter):
    """Prefix sums by a buffered linear Toeplitz factorisation with ``buffers`` decaying sums.

    Four buffers are within a fifth of a per cent of the square root's error at 16 384 ticks, and
    hold 176 bytes a key at any horizon. ``objective`` says what they are chosen for; ``factors``
    are decay and weight of each in units of 2**-30, found by a search unless they are given, as for
    a stream that goes on.

    Contract: as for all counters; estimates are real numbers. Increments are clamped at
    ``largest`` so that no measurement leaves 64 bits.

    Guarantee: one release of all measurements, at the norm of C's first column and what floors add
    to it; several events of one person at the norm of as many neighbouring columns together.

    >>> from discreet.core.guarantee import ZCDP
    >>> from discreet.streams.units import EventLevel
    >>> counter = BufferedToeplitzCounter(
    ...     horizon=1024, buffers=3, spend=ZCDP(rho=0.5), unit=EventLevel()
    ... )
    >>> round(counter.variance(1024) ** 0.5, 3), counter.memory()
    (3.278, 136)

    Source: modern-learn:6. Proof: ``proofs/buffered.md``.

    Numerics: measurements are integers with a stated bound on what floors do to neighbours;
    estimates are post-processed in double precision.
    """

    kind: ClassVar[str] = "buffered/1"

    buffers: int
    objective: ErrorObjective = ErrorObjective.LARGEST
    factors: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        """Refuse horizons without room, and buffers or factors that are none."""
        super().__post_init__()
        object.__setattr__(self, "objective", ErrorObjective(self.objective))
        object.__setattr__(self, "buffers", count("buffers", self.buffers))
        if self.horizon > LONGEST:
            raise InvalidParameter(
                code="horizon_too_long",
                expectation=f"a horizon of at most 2**{LONGEST.bit_length() - 1} ticks",
                received=self.horizon,
                remedy="Use a tree for longer streams, or longer ticks.",
            )
        if self.buffers > MOST_BUFFERS:
            raise InvalidParameter(
                code="not_a_count",
                expectation=f"at most {MOST_BUFFERS} buffers",
                received=self.buffers,
                remedy="Take fewer: more than five gain nothing that noise does not hide.",
            )
        if self.factors is None:
            found = buffered_coefficients(self.horizon, self.buffers, self.objective)
            object.__setattr__(self, "factors", _in_whole_numbers(found))
        else:
            object.__setattr__(self, "factors", _require_factors(self.factors, self.buffers))

    @cached_property
    def decays(self) -> NDArray[np.int64]:
        """The decay of each buffer, in units of 2**-30."""
        assert self.factors is not None
        return np.array([decay for decay, _ in self.factors], dtype=np.int64)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How much of each buffer is measured, in units of 2**-30."""
        assert self.factors is not None
        return np.array([weight for _, weight in self.factors], dtype=np.int64)

    @cached_property
    def coefficients(self) -> Floats:
        """The first column of C; it begins with one and never rises."""
        powers = np.arange(self.horizon - 1.0)
        column = np.ones(self.horizon)
        column[1:] = sum(
            weight / _ONE * (decay / _ONE) ** powers
            for decay, weight in zip(self.decays.tolist(), self.weights.tolist(), strict=True)
        )
        return column

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """Numbers above the first column of C, in units of 2**-40, for sums without rounding."""
        return np.ceil(self.coefficients * _FINE).astype(np.int64) + 1

    @cached_property
    def errors(self) -> Floats:
        """How much of each earlier draw is in an estimate, in units of measurements."""
        return np.cumsum(inverse(self.coefficients, self.horizon)) / (1 << BITS)

    @property
    def largest(self) -> int:
        """What increments are clamped to."""
        return LIMIT // (math.ceil(Fraction(int(self.column.sum()), _FINE) * (1 << BITS)) + 2)

    @property
    def lost(self) -> Fraction:
        """By how much floors move one measurement of neighbouring streams apart, at most.

        Each buffer's difference errs by less than one unit at a tick, and earlier errors decay.
        """
        assert self.factors is not None
        held = Fraction(self.buffers)
        for decay, weight in self.factors:
            held += Fraction(weight, _ONE) * min(
                Fraction(self.horizon), Fraction(_ONE, _ONE - decay)
            )
        return 1 + held / _ONE

    def sensitivity(self) -> StreamSensitivity:
        """Columns of C, as for other Toeplitz counters, and what floors add to each measurement."""
        events, at_once = self.unit.events, self.unit.per_tick
        norm = events * _norm(self.column)
        ticks = min(-(-events // at_once), self.horizon)
        if ticks > 1:
            sums = np.cumsum(self.column)
            sums[ticks:] -= sums[:-ticks].copy()
            norm = min(norm, at_once * _norm(sums))
        # Keys that any event of the unit counts under: whole steps, so each moves one at least.
        moved = min(self.keys, math.floor(Fraction(self.contribution.l1) * events))
        measurements = moved * self.horizon
        size = math.sqrt(Fraction(self.contribution.l2_squared)) * (1 << BITS)
        l2 = Fraction(norm * size + float(self.lost) * math.sqrt(measurements))
        total = Fraction(int(self.column.sum()), _FINE) * (1 << BITS)
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * total + measurements * self.lost,
            l2**2 * _UPWARD,
        )

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        return [(float(c), 1) for c in self.errors[: self.require_tick(t)]]

    def variance(self, t: int) -> float:
        squares = float(np.sum(self.errors[: self.require_tick(t)] ** 2))
        return squares * self.noise.distribution.std**2

    def error(self, t: int, *, confidence: float) -> float:
        used = self.errors[: self.require_tick(t)]
        return combined_half_width(used, self.noise.distribution, confidence=confidence)

    def memory(self) -> int:
        return 8 * self.keys * ((LIMBS + 1) * self.buffers + 2)

    def shape(self) -> State:
        assert self.factors is not None
        return {
            "buffers": self.buffers,
            "objective": self.objective.value,
            "factors": [list(pair) for pair in self.factors],
        }

    def open(self) -> LiveBuffers:
        require_room(self.contribution, self.largest)
        return LiveBuffers(self)


def _norm(column: NDArray[np.int64]) -> float:
    """The L2 norm of numbers in units of 2**-40."""
    return float(np.sqrt(np.sum((column / _FINE) ** 2)))


def _in_whole_numbers(found: Sequence[tuple[float, float]]) -> tuple[tuple[int, int], ...]:
    """Decays below one and weights that add up to one at most, so that c never rises."""
    pairs = [
        (min(max(math.floor(decay * _ONE), 0), _ONE - 1), max(math.floor(weight * _ONE), 0))
        for decay, weight in found
    ]
    total = sum(weight for _, weight in pairs)
    if total >= _ONE:
        pairs = [(decay, weight * (_ONE - 1) // total) for decay, weight in pairs]
    return tuple(pairs)


def _require_factors(given: object, buffers: int) -> tuple[tuple[int, int], ...]:
    """Factors as a state holds them, refused where c would be negative or rise."""
    pairs = [tuple(pair) if isinstance(pair, Sequence) else () for pair in _read_pair_list(given)]
    whole = all(
        len(pair) == 2 and all(type(each) is int and 0 <= each < _ONE for each in pair)
        for pair in pairs
    )
    if not whole or len(pairs) != buffers or sum(pair[1] for pair in pairs) > _ONE:
        raise InvalidParameter(
            code="coefficients_rise",
            expectation=f"{buffers} pairs of decay and weight in units of 2**-30, below one each, "
            "with weights that add up to one at most",
            remedy="Leave factors to the search, or resume from an unchanged state.",
        )
    return tuple((pair[0], pair[1]) for pair in pairs)


def _read_pair_list(given: object) -> Sequence[object]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else [()]


class LiveBuffers(LiveCounter):
    """A live :class:`BufferedToeplitzCounter`: decaying sums of increments and of estimates."""

    _mechanism: BufferedToeplitzCounter

    def __init__(self, mechanism: BufferedToeplitzCounter, tick: int = 0) -> None:
        """Start with nothing remembered."""
        super().__init__(mechanism, tick)
        shape = (mechanism.buffers, mechanism.keys)
        self._held = np.zeros((LIMBS, *shape), dtype=np.int64)
        self._estimated = np.zeros(shape)
        self._last = np.zeros(mechanism.keys)
        self._total = np.zeros(mechanism.keys)

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        held = (self._held, self._estimated, self._last, self._total)
        return sum(array.nbytes for array in held)

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        mechanism = self._mechanism
        most = mechanism.largest
        exact = np.empty(rows.shape, dtype=np.int64)
        for place, row in enumerate(np.clip(rows, -most, most)):
            exact[place] = self._measure(row)
        measured = noisy(exact, mechanism.noise, mechanism.randomness) / (1 << BITS)
        found = np.empty(rows.shape)
        for place, row in enumerate(measured):
            found[place] = self._estimate(row)
        self._tick += len(rows)
        return found

    def _measure(self, row: NDArray[np.int64]) -> NDArray[np.int64]:
        """What one tick adds to the present and to all buffers, before noise."""
        mechanism, steps = self._mechanism, row << BITS
        exact = steps + weighed(self._held, mechanism.weights[:, None])
        self._held = raised(decayed(self._held, mechanism.decays[:, None]), steps)
        return np.asarray(exact)

    def _estimate(self, measured: Floats) -> Floats:
        """The total after a noisy measurement: C solved for its last increment."""
        decays, weights = self._mechanism.decays / _ONE, self._mechanism.weights / _ONE
        estimate = measured - weights @ self._estimated
        self._estimated = decays[:, None] * self._estimated + estimate
        self._total = self._total + estimate
        self._last = self._total.copy()
        return self._last

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            arrays = {
                "last": self._last,
                "total": self._total,
                "held": self._held,
                "estimated": self._estimated,
            }
            plain = {name: array_to_dict(array) for name, array in arrays.items()}
            return state_of(self, {"tick": self._tick, **plain})

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        self._tick = part(live, "tick", int)
        self._last = array_from_dict(live.get("last"), self._last.shape)
        self._total = array_from_dict(live.get("total"), self._last.shape)
        self._held = array_from_dict(live.get("held"), self._held.shape)
        self._estimated = array_from_dict(live.get("estimated"), self._estimated.shape)
