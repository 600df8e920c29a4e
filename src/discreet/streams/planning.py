"""Which counter to take: errors and memory of all of them, before anything is spent.

Source: 000b:B39, B40, modern-learn:6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count, probability
from discreet.noise.randomness import SYSTEM, Source
from discreet.streams.baselines import NoisePerPrefix, NoisePerTick
from discreet.streams.contribution import ONE_COUNT, EventContribution
from discreet.streams.counter import ContinualCounter, require_horizon
from discreet.streams.doubling import DoublingTree
from discreet.streams.factorisation.buffered import BufferedToeplitzCounter
from discreet.streams.factorisation.dense import OptimalCounter
from discreet.streams.factorisation.toeplitz import LONGEST as LONGEST_TOEPLITZ
from discreet.streams.factorisation.toeplitz import ToeplitzCounter
from discreet.streams.tree import BinaryTree, ReducedTree
from discreet.streams.units import StreamUnit

if TYPE_CHECKING:
    import altair as alt

_DENSE = 128
"""Longer horizons take their time to be optimised: ask for OptimalCounter, or bands, by name."""
_BANDS = 64
_BANDED = 1 << 15
_BUFFERS = 4
USUAL_MEMORY = 1 << 30
"""Bytes that a plan allows unless it is told."""


@dataclass(frozen=True)
class Choice:
    """A counter, how far its worst tick may be off, and what it holds."""

    name: str
    mechanism: ContinualCounter
    error: float
    memory: int


@dataclass(frozen=True)
class StreamPlan:
    """All counters that fit, the best first; and those that do not fit into memory."""

    choices: tuple[Choice, ...]
    left_out: tuple[Choice, ...]
    confidence: float

    @property
    def best(self) -> ContinualCounter:
        """The counter of least error at its worst tick."""
        return self.choices[0].mechanism

    def __str__(self) -> str:
        """A table of errors at the worst tick, and memory."""
        head = f"{'counter':<14}  {f'error ({self.confidence:.0%})':>12}  {'memory':>12}"
        rows = [_row(each, "") for each in self.choices]
        rows += [_row(each, "  too much memory") for each in self.left_out]
        return "\n".join((head, *rows))

    def plot(self) -> alt.Chart:
        """Errors of all counters against time, above what none can beat."""
        from discreet.streams.plots import error_by_tick  # Altair is an extra

        return error_by_tick({each.name: each.mechanism for each in self.choices})


def _row(choice: Choice, remark: str) -> str:
    return f"{choice.name:<14}  {choice.error:>12.1f}  {choice.memory:>10} B{remark}"


def plan(
    *,
    horizon: int | None,
    spend: Guarantee,
    unit: StreamUnit,
    keys: int = 1,
    contribution: EventContribution = ONE_COUNT,
    confidence: float = 0.95,
    memory: int = USUAL_MEMORY,
    randomness: Source = SYSTEM,
) -> StreamPlan:
    """Compare all counters for a stream; ``horizon=None`` where nobody knows how long it will be.

    Only public numbers are used. Errors are those of one key at the worst tick, from noise.
    """
    level, room = float(probability("confidence", confidence)), count("memory", memory)
    if horizon is None:
        endless = DoublingTree(
            spend=spend, unit=unit, keys=keys, contribution=contribution, randomness=randomness
        )
        made: list[tuple[str, ContinualCounter]] = [("doubling tree", endless)]
    else:
        common = {
            "horizon": require_horizon(horizon),
            "spend": spend,
            "unit": unit,
            "keys": keys,
            "contribution": contribution,
            "randomness": randomness,
        }
        made = list(_counters(common))
    found = [
        Choice(name, each, each.error(each.worst_tick(), confidence=level), each.memory())
        for name, each in made
    ]
    found.sort(key=lambda choice: choice.error)
    fitting = tuple(choice for choice in found if choice.memory <= room)
    if not fitting:
        raise InvalidParameter(
            code="memory_too_small",
            expectation=f"at least {min(choice.memory for choice in found)} bytes for these keys",
            received=room,
            remedy="Allow more memory, or count fewer keys.",
        )
    rest = tuple(choice for choice in found if choice.memory > room)
    return StreamPlan(fitting, rest, level)


def _counters(common: dict[str, object]) -> Iterator[tuple[str, ContinualCounter]]:
    horizon = common["horizon"]
    assert isinstance(horizon, int)
    yield "per tick", NoisePerTick(**common)  # type: ignore[arg-type]
    yield "per prefix", NoisePerPrefix(**common)  # type: ignore[arg-type]
    yield "tree", BinaryTree(**common)  # type: ignore[arg-type]
    yield "reduced tree", ReducedTree(**common)  # type: ignore[arg-type]
    if horizon <= LONGEST_TOEPLITZ:
        if _BANDS < horizon <= _BANDED:
            yield "64 bands", ToeplitzCounter(bands=_BANDS, **common)  # type: ignore[arg-type]
        if horizon > _BANDS:
            yield "4 buffers", BufferedToeplitzCounter(buffers=_BUFFERS, **common)  # type: ignore[arg-type]
        yield "square root", ToeplitzCounter(**common)  # type: ignore[arg-type]
    if horizon <= _DENSE:
        yield "optimal", OptimalCounter(**common)  # type: ignore[arg-type]
