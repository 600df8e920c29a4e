"""Counters by the best factorisation there is, for horizons of up to some thousand ticks.

As for Toeplitz counters, y = C x + z is released, with C in whole numbers (2**26 times the optimum,
rounded), and estimates are functions of y alone.

Source: modern-data:M3, M4, modern-learn:6. Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.grid import LIMIT
from discreet.streams.contribution import StreamSensitivity
from discreet.streams.counter import ContinualCounter, LiveCounter
from discreet.streams.factorisation.kept import digest_of, require_digest, require_room
from discreet.streams.factorisation.optimum import ErrorObjective, optimum
from discreet.streams.node_noise import noisy
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part
from discreet.streams.tails import combined_half_width

BITS = 26
LONGEST = 4096


@dataclass(frozen=True, kw_only=True)
class OptimalCounter(ContinualCounter):
    """Prefix sums by the factorisation of least error: the mean's, or that of the worst tick.

    Memory is two numbers for each tick and key, and two square matrices. Finding the optimum takes
    a decomposition of a square matrix of ``horizon`` rows some dozens of times. ``digest`` is that
    of C, for a stream that goes on: another factorisation would have another sensitivity.

    Contract: as for all counters; estimates are real numbers.

    Guarantee: one release of all measurements, at the largest column of C; several events of one
    person at a bound on as many columns together.

    >>> from discreet.core.guarantee import ZCDP
    >>> from discreet.streams.units import EventLevel
    >>> best = OptimalCounter(horizon=64, spend=ZCDP(rho=0.5), unit=EventLevel())
    >>> round(max(best.variance(t) for t in range(1, 65)) ** 0.5, 3)
    2.112

    Source: modern-data:M3, M4. Proof: ``proofs/streams.md``.

    Numerics: measurements are exact integers; estimates are post-processed in double precision.
    """

    kind: ClassVar[str] = "dense/1"

    objective: ErrorObjective = ErrorObjective.LARGEST
    digest: str | None = None

    def __post_init__(self) -> None:
        """Refuse horizons whose optimum takes too long to find."""
        super().__post_init__()
        object.__setattr__(self, "objective", ErrorObjective(self.objective))
        if self.horizon > LONGEST:
            raise InvalidParameter(
                code="horizon_too_long",
                expectation=f"a horizon of at most {LONGEST} ticks",
                received=self.horizon,
                remedy="Use ToeplitzCounter, whose error is hardly larger.",
            )
        require_digest(self.digest, lambda: self.strategy)

    @cached_property
    def strategy(self) -> NDArray[np.int64]:
        """C in whole numbers, lower-triangular."""
        found = optimum(self.horizon, self.objective).strategy
        return np.rint(np.tril(found) * (1 << BITS)).astype(np.int64)

    @cached_property
    def reconstruction(self) -> Floats:
        """B with B C = A: what estimates are made of measurements by."""
        size = self.horizon
        prefix = np.tril(np.ones((size, size)))
        return np.asarray(np.tril(np.linalg.solve(self.strategy.T.astype(float), prefix.T).T))

    @property
    def largest(self) -> int:
        """What increments are clamped to."""
        return LIMIT // int(np.abs(self.strategy).sum(axis=1).max())

    def sensitivity(self) -> StreamSensitivity:
        """Columns of C: the largest, for each event; or a bound on as many as there are ticks.

        For weights a of ticks, of which none is above ``per_tick`` and which add up to ``events``,
        a'Ga is at most their sum times the largest row of |G|a.
        """
        events, at_once = self.unit.events, self.unit.per_tick
        columns = [int(c) for c in np.sum(self.strategy.astype(object) ** 2, axis=0)]
        together = Fraction(events**2 * max(columns))
        ticks = min(-(-events // at_once), self.horizon)
        if ticks > 1:
            real = self.strategy.astype(np.float64)
            gram = np.sort(np.abs(real.T @ real), axis=1)[:, ::-1]
            rows = at_once * float(gram[:, :ticks].sum(axis=1).max())
            together = min(together, events * Fraction(rows) * (1 + Fraction(1, 1 << 30)))
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * int(np.abs(self.strategy).sum(axis=0).max()),
            Fraction(self.contribution.l2_squared) * together,
        )

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        return [(float(c), 1) for c in self.reconstruction[self.require_tick(t) - 1, :t]]

    def error(self, t: int, *, confidence: float) -> float:
        used = self.reconstruction[self.require_tick(t) - 1, :t]
        return combined_half_width(used, self.noise.distribution, confidence=confidence)

    def memory(self) -> int:
        return 8 * self.keys * (2 * self.horizon + 1) + 16 * self.horizon**2

    def shape(self) -> State:
        return {"objective": self.objective.value, "digest": digest_of(self.strategy)}

    def open(self) -> LiveDense:
        require_room(self.contribution, self.largest)
        return LiveDense(self)


class LiveDense(LiveCounter):
    """A live :class:`OptimalCounter`: all increments and measurements so far."""

    _mechanism: OptimalCounter

    def __init__(self, mechanism: OptimalCounter, tick: int = 0) -> None:
        """Start with nothing remembered."""
        super().__init__(mechanism, tick)
        shape = (mechanism.horizon, mechanism.keys)
        self._increments = np.zeros(shape, dtype=np.int64)
        self._measured = np.zeros(shape)
        self._last = np.zeros(mechanism.keys)

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys, matrices included."""
        matrices = self._mechanism.strategy.nbytes + self._mechanism.reconstruction.nbytes
        held = (self._increments, self._measured, self._last)
        return sum(array.nbytes for array in held) + matrices

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        mechanism, start, end = self._mechanism, self._tick, self._tick + len(rows)
        most = mechanism.largest
        self._increments[start:end] = np.clip(rows, -most, most)
        exact = mechanism.strategy[start:end, :end] @ self._increments[:end]
        self._measured[start:end] = noisy(exact, mechanism.noise, mechanism.randomness)
        found: Floats = mechanism.reconstruction[start:end, :end] @ self._measured[:end]
        self._tick = end
        if len(rows):
            self._last = found[-1].copy()
        return found

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            held = {"increments": self._increments, "measured": self._measured}
            plain = {name: array_to_dict(array) for name, array in held.items()}
            return state_of(self, {"tick": self._tick, "last": array_to_dict(self._last), **plain})

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        self._tick = part(live, "tick", int)
        self._last = array_from_dict(live.get("last"), self._last.shape)
        self._increments = array_from_dict(live.get("increments"), self._increments.shape)
        self._measured = array_from_dict(live.get("measured"), self._measured.shape)
