"""When an answer may leave: a public quantum after its request, or a random later level.

How long a question took depends on private rows. So an answer that took ``t`` leaves at the
smallest ``q * b**k`` that is at least ``t * b**v``, ``v`` uniform on [0, 1) and drawn anew for each
answer; ``q`` is the public quantum and ``b`` the public step, a power of two. Whatever takes at
most ``q / b`` leaves at exactly ``q``. Beyond that the level ``k`` is random, one of two, and its
law moves with log t: there is no edge to tune a question to.

Guarantee: tables for which ``t`` differs by a factor ``1 + r`` give levels whose laws differ by at
most ``log(1 + r) / log(b)`` in total variation; no classifier on an answer's time has an area under
the curve above 1/2 plus half of that. A level of one or more is an overrun; a day has a limited
number of them (:mod:`discreet.server.state.overruns`).

``t`` is the worker's own time. What was added, by the front before and after the work and by
others who had the processors during it, moves no level and is nobody's overrun: where an answer
would leave before it is there, it leaves whole quanta later, by a random threshold again. What the
moment of leaving tells beyond that is the machine's load, not the data.

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

STEP = 8
"""From one level to the next, where the owner says nothing else."""


@dataclass(frozen=True)
class Quanta:
    """The public quantum of each private table, in seconds; zero where padding is off.

    Attributes:
        seconds: Of each private table.
        step: The factor from one level to the next, a power of two.
    """

    seconds: Mapping[str, float]
    step: int = STEP

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
    """When an answer leaves: ``after`` so many seconds from its request, at a ``level``.

    Only the level is the work's; whole quanta that the front adds leave it as it is.
    """

    level: int
    after: float

    @property
    def overrun(self) -> bool:
        """Whether the work alone made it later than the quantum."""
        return self.level > 0

    def later(self, quantum: float, quanta: int = 1) -> Leaving:
        """So many quanta later, since the front was late."""
        return Leaving(self.level, self.after + quanta * quantum)


def leaving(
    took: float,
    quantum: float,
    *,
    waited: float = 0.0,
    step: int = STEP,
    randomness: Source = SYSTEM,
) -> Leaving:
    """When an answer leaves that took a worker so many seconds; at once where padding is off.

    ``waited`` is what the front added. Its quanta are counted with the threshold ``waited * u``, u
    uniform on [0, 1), so that they have no edge to tune a question to either.
    """
    if quantum <= 0:
        return Leaving(0, took + waited)
    reached = level(took / quantum, integer(randomness, BITS), BITS, step=step)
    after = quantum * float(step) ** reached
    if waited <= 0:
        return Leaving(reached, after)
    there = took + waited * (1 + integer(randomness, BITS) / 2.0**BITS)
    return Leaving(reached, after + quantum * max(0, math.ceil((there - after) / quantum)))


def level(ratio: float, draw: int, bits: int, *, step: int = STEP) -> int:
    """The least k of zero or more with step**k >= ratio * step**v, where v is draw / 2**bits.

    >>> level(0.125, 2**9 - 1, 9), level(0.5, 170, 9), level(0.5, 171, 9)
    (0, 0, 1)
    """
    if ratio <= 1 / step:
        return 0
    return max(0, math.ceil(_place(ratio, step) + draw / 2.0**bits))


def law(ratio: float, *, step: int = STEP) -> dict[int, float]:
    """How likely each level is for an answer that took ``ratio`` quanta.

    >>> law(2.0, step=4)
    {1: 0.5, 2: 0.5}
    """
    place = _place(ratio, step) if ratio > 1 / step else -1.0
    lower = math.ceil(place)
    chances = {max(0, lower + 1): 1 - (lower - place)}
    chances[max(0, lower)] = chances.get(max(0, lower), 0.0) + (lower - place)
    return {k: chances[k] for k in sorted(chances) if chances[k] > 0}


def most_auc(longer: float, *, step: int = STEP) -> float:
    """What no classifier exceeds where one table's answers take ``longer`` times the other's.

    >>> round(most_auc(1.17), 4)
    0.5378
    """
    return 0.5 + min(1.0, abs(_place(longer, step))) / 2


def most_levels(quantum: float, longest: float, *, step: int = STEP) -> int:
    """How many levels there can be where no work runs for more than ``longest`` seconds."""
    if quantum <= 0:
        return 1
    return max(law(longest / quantum, step=step)) + 1


def most_bits(answers: int, *, overruns: int, levels: int) -> float:
    """What the levels of so many answers tell at most, if so many of them may be overruns.

    >>> round(most_bits(1000, overruns=20, levels=6))
    184
    """
    late = range(min(answers, overruns) + 1)
    return math.log2(sum(math.comb(answers, i) * (levels - 1) ** i for i in late))


def _place(ratio: float, step: int) -> float:
    """The logarithm to the base of the step."""
    return math.log2(ratio) / (step.bit_length() - 1)
