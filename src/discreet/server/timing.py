"""When an answer may leave: a public quantum after its request, or a random power of two of it.

How long a question took depends on private rows. So an answer that took ``t`` leaves at the
smallest ``q * 2**k`` that is at least ``t * 4**v``, ``v`` uniform on [0, 1) and drawn anew for each
answer. Whatever takes at most a quarter of the quantum ``q`` leaves at exactly ``q``. Beyond that
the level ``k`` is random, and its law moves with log t: there is no edge to tune a question to.

Guarantee: tables for which ``t`` differs by a factor ``1 + r`` give levels whose laws differ by at
most ``log2(1 + r) / 2`` in total variation. What the moment of leaving tells beyond the level is
the machine's load, not the data. A level of one or more is an overrun; a day has a limited number
of them (:mod:`discreet.server.state.overruns`).

Source: contract, "What may be seen" (answers at multiples of a public quantum). Proof:
``proofs/timing.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from discreet.noise.randomness import SYSTEM, Source, integer

BITS = 53
"""Of the number ``v``."""


@dataclass(frozen=True)
class Quanta:
    """The public quantum of each private table, in seconds; zero where padding is off."""

    seconds: Mapping[str, float]

    def of(self, tables: Collection[str]) -> float:
        """The quantum of a question about these tables: the largest of theirs.

        Of a question about tables that nobody named, the largest of all.
        """
        named = [self.seconds[name] for name in tables if name in self.seconds]
        return max(named or self.seconds.values(), default=0.0)

    @property
    def alike(self) -> bool:
        """Whether all tables have one quantum, so that nobody need ask which are read."""
        return len(set(self.seconds.values())) <= 1


@dataclass(frozen=True)
class Leaving:
    """When an answer leaves: ``after`` so many seconds from its request, at a ``level``."""

    level: int
    after: float

    @property
    def overrun(self) -> bool:
        """Whether it is later than the quantum."""
        return self.level > 0


def leaving(took: float, quantum: float, *, randomness: Source = SYSTEM) -> Leaving:
    """When an answer leaves that took so many seconds; at once where padding is off."""
    if quantum <= 0:
        return Leaving(0, took)
    reached = level(took / quantum, integer(randomness, BITS), BITS)
    return Leaving(reached, quantum * 2.0**reached)


def level(ratio: float, draw: int, bits: int) -> int:
    """The least k of zero or more with 2**k >= ratio * 4**v, where v is draw / 2**bits.

    >>> level(0.25, 2**8 - 1, 8), level(0.5, 127, 8), level(0.5, 129, 8)
    (0, 0, 1)
    """
    if ratio <= 0.25:
        return 0
    return max(0, math.ceil(math.log2(ratio) + draw / 2.0 ** (bits - 1)))


def law(ratio: float) -> dict[int, float]:
    """How likely each level is for an answer that took ``ratio`` quanta.

    >>> law(1.0)
    {1: 0.5, 2: 0.5}
    """
    if ratio <= 0.25:
        return {0: 1.0}
    place = math.log2(ratio)
    ends = {k: min(1.0, max(0.0, (k - place) / 2)) for k in range(-1, math.ceil(place) + 3)}
    ends[-1] = 0.0
    found = {k: ends[k] - ends[k - 1] for k in ends if k >= 0}
    return {k: chance for k, chance in found.items() if chance > 0}


def most_levels(quantum: float, longest: float) -> int:
    """How many levels there can be where no work runs for more than ``longest`` seconds."""
    if quantum <= 0:
        return 1
    return max(law(longest / quantum)) + 1
