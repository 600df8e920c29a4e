"""Toeplitz counters: the square root of the prefix sums as both factors, or the best few bands.

What is released is y = C x + z, with C the lower-triangular Toeplitz matrix of whole numbers
c_k = round(2**24 f_k): exact integers with noise for their exact sensitivity. Estimates are
functions of y alone: x' = C**-1 y, and its running sums. All ``horizon`` bands of the square root
have the least largest error of all Toeplitz factorisations, at (ln n)/pi deviations against the
tree's lg n; fewer bands cost memory in proportion and more error on long horizons.

Source: modern-learn:6, modern-data:M3, M4. Proof: ``proofs/streams.md``.
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
from discreet.streams.factorisation.banded import banded_coefficients
from discreet.streams.factorisation.kept import digest_of, require_digest, require_room
from discreet.streams.factorisation.optimum import ErrorObjective
from discreet.streams.factorisation.series import inverse, multiply, multiply_exactly, square_root
from discreet.streams.node_noise import noisy
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part
from discreet.streams.tails import combined_half_width

BITS = 24
LONGEST = 1 << 22
_STEPWISE = 16
_UPWARD = 1 + Fraction(1, 1 << 30)


@dataclass(frozen=True, kw_only=True)
class ToeplitzCounter(ContinualCounter):
    """Prefix sums by the square-root factorisation, or by the best ``bands`` coefficients.

    Without ``bands`` all coefficients of the square root are used. Memory is two numbers for each
    band and key. ``objective`` says what few bands are chosen for; ``digest`` is that of C, for a
    stream that goes on.

    Contract: as for all counters; estimates are real numbers. Increments are clamped at
    ``largest`` so that no measurement leaves 64 bits.

    Guarantee: one release of all measurements, at the norm of C's first column; several events of
    one person at the norm of as many neighbouring columns together.

    >>> from discreet.core.guarantee import ZCDP
    >>> from discreet.streams.units import EventLevel
    >>> counter = ToeplitzCounter(horizon=1024, spend=ZCDP(rho=0.5), unit=EventLevel())
    >>> round(counter.variance(1024) ** 0.5, 4)
    3.2726

    Source: modern-learn:6. Proof: ``proofs/streams.md``.

    Numerics: measurements are exact integers; estimates are post-processed in double precision.
    """

    kind: ClassVar[str] = "toeplitz/1"

    bands: int | None = None
    objective: ErrorObjective = ErrorObjective.LARGEST
    digest: str | None = None

    def __post_init__(self) -> None:
        """Refuse horizons without room, and bands that are none."""
        super().__post_init__()
        object.__setattr__(self, "objective", ErrorObjective(self.objective))
        if self.bands is not None:
            object.__setattr__(self, "bands", count("bands", self.bands))
        if self.horizon > LONGEST:
            raise InvalidParameter(
                code="horizon_too_long",
                expectation=f"a horizon of at most 2**{LONGEST.bit_length() - 1} ticks",
                received=self.horizon,
                remedy="Use a tree for longer streams, or longer ticks.",
            )
        require_digest(self.digest, lambda: self.coefficients)

    @property
    def width(self) -> int:
        """How many coefficients C has."""
        return min(self.bands or self.horizon, self.horizon)

    @cached_property
    def coefficients(self) -> NDArray[np.int64]:
        """The first column of C, in whole numbers."""
        found = np.array(banded_coefficients(self.horizon, self.width, self.objective))
        return np.asarray(np.rint(found * (1 << BITS)), dtype=np.int64)

    @cached_property
    def errors(self) -> Floats:
        """How much of each earlier draw is in an estimate: coefficients of (1 - q)**-1 C**-1."""
        return np.cumsum(inverse(self.coefficients.astype(np.float64), self.horizon))

    @property
    def largest(self) -> int:
        """What increments are clamped to."""
        return LIMIT // int(self.coefficients.sum())

    def sensitivity(self) -> StreamSensitivity:
        """Columns of C, for as many ticks as the unit's events can fall into."""
        events, at_once = self.unit.events, self.unit.per_tick
        one = _square_norm(self.coefficients)
        together = Fraction(events**2 * one)
        ticks = min(-(-events // at_once), self.horizon)
        if ticks > 1:
            sums = np.cumsum(np.pad(self.coefficients, (0, self.horizon - self.width)))
            sums[ticks:] -= sums[:-ticks].copy()
            spread = at_once**2 * Fraction(float(np.sum(sums.astype(np.float64) ** 2))) * _UPWARD
            together = min(together, spread)
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * int(self.coefficients.sum()),
            Fraction(self.contribution.l2_squared) * together,
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
        return 8 * self.keys * (2 * max(self.width - 1, 1) + 2)

    def shape(self) -> State:
        found = {"bands": self.bands, "objective": self.objective.value}
        return {**found, "digest": digest_of(self.coefficients)}

    def open(self) -> LiveToeplitz:
        require_room(self.contribution, self.largest)
        return LiveToeplitz(self)


def _square_norm(whole: NDArray[np.int64]) -> int:
    """The sum of squares of numbers below 2**25, exactly."""
    high, low = whole >> 12, whole & 4095
    return (
        (int(np.sum(high * high)) << 24) + (int(np.sum(high * low)) << 13) + int(np.sum(low * low))
    )


class LiveToeplitz(LiveCounter):
    """A live :class:`ToeplitzCounter`: the last increments and estimated increments of each key."""

    _mechanism: ToeplitzCounter

    def __init__(self, mechanism: ToeplitzCounter, tick: int = 0) -> None:
        """Start with nothing remembered."""
        super().__init__(mechanism, tick)
        shape = (max(mechanism.width - 1, 1), mechanism.keys)
        self._increments = np.zeros(shape, dtype=np.int64)
        self._estimated = np.zeros(shape)
        self._last = np.zeros(mechanism.keys)
        self._total = np.zeros(mechanism.keys)

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        held = (self._increments, self._estimated, self._last, self._total)
        return sum(array.nbytes for array in held)

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        most = self._mechanism.largest
        rows = np.clip(rows, -most, most)
        if len(rows) < _STEPWISE:
            found = [self._one(row) for row in rows]
            return np.array(found) if found else np.empty(rows.shape)
        return self._many(rows)

    def _one(self, row: NDArray[np.int64]) -> Floats:
        """One tick, in time proportional to the bands."""
        mechanism = self._mechanism
        c = mechanism.coefficients
        past = min(self._tick, len(c) - 1)
        before = c[past:0:-1]
        held = len(self._increments) - past
        exact = c[0] * row + before @ self._increments[held:]
        measured = noisy(exact, mechanism.noise, mechanism.randomness)
        known = before.astype(np.float64) @ self._estimated[held:]
        estimate = (measured - known) / c[0]
        self._remember(row[None], estimate[None])
        self._total = self._total + estimate
        self._last = self._total.copy()
        return self._last

    def _many(self, rows: NDArray[np.int64]) -> Floats:
        """Many ticks at once, by products of power series."""
        mechanism, n = self._mechanism, len(rows)
        c = mechanism.coefficients
        past = min(self._tick, len(c) - 1)
        held = len(self._increments) - past
        joined = np.concatenate([self._increments[held:], rows])
        measured = noisy(
            multiply_exactly(c, joined)[past:], mechanism.noise, mechanism.randomness
        ).astype(np.float64)
        real = c.astype(np.float64)
        if past:
            older = np.concatenate([self._estimated[held:], np.zeros(rows.shape)])
            measured -= multiply(real, older, past + n)[past:]
        estimates = multiply(inverse(real, n), measured, n)
        self._remember(rows, estimates)
        found: Floats = self._total + np.cumsum(estimates, axis=0)
        self._total = found[-1].copy()
        self._last = found[-1].copy()
        return found

    def _remember(self, rows: NDArray[np.int64], estimates: Floats) -> None:
        size = len(self._increments)
        self._increments = np.concatenate([self._increments, rows])[-size:]
        self._estimated = np.concatenate([self._estimated, estimates])[-size:]
        self._tick += len(rows)

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            arrays = {
                "last": self._last,
                "total": self._total,
                "increments": self._increments,
                "estimated": self._estimated,
            }
            plain = {name: array_to_dict(array) for name, array in arrays.items()}
            return state_of(self, {"tick": self._tick, **plain})

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        self._tick = part(live, "tick", int)
        self._last = array_from_dict(live.get("last"), self._last.shape)
        self._total = array_from_dict(live.get("total"), self._last.shape)
        self._increments = array_from_dict(live.get("increments"), self._increments.shape)
        self._estimated = array_from_dict(live.get("estimated"), self._estimated.shape)


def square_root_error(horizon: int) -> float:
    """The largest deviation of the square root at one deviation per unit: the sum of f_k**2."""
    return math.fsum(square_root(horizon) ** 2)
