"""Every kind of counter, small enough to enumerate."""

from collections.abc import Callable

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.noise import SYSTEM, Source
from discreet.streams.baselines import NoisePerPrefix, NoisePerTick
from discreet.streams.counter import ContinualCounter
from discreet.streams.doubling import DoublingTree
from discreet.streams.factorisation.buffered import BufferedToeplitzCounter
from discreet.streams.factorisation.dense import OptimalCounter
from discreet.streams.factorisation.toeplitz import ToeplitzCounter
from discreet.streams.tree import BinaryTree, ReducedTree
from discreet.streams.units import EventLevel, StreamUnit

PURE = dp.PureDP(epsilon=1)
NORMAL = dp.ZCDP(rho=0.5)

Make = Callable[..., ContinualCounter]


def _doubling(*, horizon: int, **others: object) -> ContinualCounter:
    del horizon
    return DoublingTree(**others)  # type: ignore[arg-type]


def _banded(**others: object) -> ContinualCounter:
    return ToeplitzCounter(bands=3, **others)  # type: ignore[arg-type]


def _buffered(**others: object) -> ContinualCounter:
    return BufferedToeplitzCounter(buffers=2, **others)  # type: ignore[arg-type]


KINDS: dict[str, Make] = {
    "per tick": NoisePerTick,
    "per prefix": NoisePerPrefix,
    "tree": BinaryTree,
    "reduced tree": ReducedTree,
    "doubling": _doubling,
    "square root": ToeplitzCounter,
    "banded": _banded,
    "buffered": _buffered,
    "optimal": OptimalCounter,
}


def made(
    name: str,
    horizon: int,
    *,
    keys: int = 1,
    spend: Guarantee = NORMAL,
    unit: StreamUnit | None = None,
    randomness: Source = SYSTEM,
) -> ContinualCounter:
    """A counter of a kind."""
    return KINDS[name](
        horizon=horizon,
        keys=keys,
        spend=spend,
        unit=unit or EventLevel(),
        randomness=randomness,
    )
