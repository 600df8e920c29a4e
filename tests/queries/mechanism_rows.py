"""A mechanism, whose records it hides, and how nearly each of its noises is needed in full."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.core.events.event import Event, Nothing, compose
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from tests.queries.transcripts import Tape, shares, taped

Wholes = NDArray[np.int64]
Play = Callable[[Any, Wholes], object]

PURE, RHO, APPROX = dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=1, delta=1e-4)
SMALL_DELTA, LARGE_DELTA = dp.ApproxDP(epsilon=1, delta=1e-90), dp.ApproxDP(epsilon=1, delta=0.5)
"""So that Laplace noise is the better on tables of six cells, and normal noise."""
COUNTS = np.array([9, 7, 5, 8, 6, 10])
RECORDS = (1, 2, 5)
COME_OR_GO, EXCHANGED = "come or go", "exchanged"
_ROUNDING = 1 + 1e-9
_SEEDS = 3


def released(mechanism: Any, counts: Wholes) -> object:
    """One release."""
    return mechanism.release(counts)


@dataclass(frozen=True)
class Row:
    """How a mechanism is made for a spend, a size and records, and what its noises reach.

    ``reached`` says, for each kind of noise, which share of its promise some neighbours need at
    least; ``exchanged`` where that is less for exchanged records.
    """

    name: str
    title: str
    build: Callable[[Any, Any, int], Any]
    reached: Mapping[str, float]
    spend: Guarantee = PURE
    exchanged: Mapping[str, float] = field(default_factory=dict)
    counts: Wholes = field(default_factory=lambda: COUNTS)
    play: Play = released
    relations: tuple[str, ...] = (COME_OR_GO, EXCHANGED)

    def least(self, relation: str) -> dict[str, float]:
        """What is reached."""
        return {**self.reached, **(self.exchanged if relation == EXCHANGED else {})}


def neighbours(counts: Wholes, records: int, relation: str) -> list[Wholes]:
    """All of a person's records are in one cell, or in two; they go, or become others."""
    cells = np.eye(len(counts), dtype=np.int64)
    mine = [records * cell for cell in cells]
    if records > 1:
        mine.append(records // 2 * cells[0] + (records - records // 2) * cells[1])
    if relation == COME_OR_GO:
        return [counts - each for each in mine]
    return [counts - gone + come for gone, come in itertools.permutations(mine, 2)]


def size_of(counts: Wholes, relation: str) -> RecordCount:
    """Exchanged records leave their number public; others have it bought for a quarter."""
    return (
        PublicCount(int(counts.sum()))
        if relation == EXCHANGED
        else NoisyRecordCount(Fraction(1, 4))
    )


def check(row: Row, relation: str, records: int) -> None:
    """No noise hides less than was promised for it, promises add up, and some are needed."""
    mechanism = row.build(row.spend, size_of(row.counts, relation), records)
    claimed = priced(mechanism.event, row.spend)
    assert claimed <= allowed(row.spend) * _ROUNDING
    others = neighbours(row.counts, records, relation)
    # Many exchanges: each with outcomes of its own. Few that go: each with several.
    pairs = (
        list(enumerate(others))
        if relation == EXCHANGED
        else list(itertools.product(range(_SEEDS), others))
    )
    most: dict[str, float] = {}
    for turn, (seed, other) in enumerate(pairs):
        tape = Tape(np.random.default_rng(seed))
        with taped(tape):
            row.play(mechanism, row.counts)
            here = tape.rewind()
            row.play(mechanism, other)
            there = tape.rewind()
        if turn % 7 == 0:
            paid = [step.paid for step in here if not isinstance(step.paid, Nothing)]
            assert priced(compose(tuple(paid)), row.spend) <= claimed * _ROUNDING
        for kind, share in shares(here, there).items():
            most[kind] = max(most.get(kind, 0.0), share)
    assert max(most.values()) <= _ROUNDING, most
    for kind, least in row.least(relation).items():
        assert most[kind] >= least, most


def priced(event: Event, spend: Guarantee) -> float:
    """What an event costs in the notion of a spend."""
    match spend:
        case PureDP():
            return float(event.epsilon(delta=0))
        case ZCDP():
            return float(event.zcdp().rho)
        case ApproxDP(delta=delta):
            return float(event.epsilon(delta=float(delta)))
    raise AssertionError


def allowed(spend: Guarantee) -> float:
    """The number of a spend."""
    match spend:
        case PureDP(epsilon=number) | ApproxDP(epsilon=number) | ZCDP(rho=number):
            return float(number)
    raise AssertionError


def mechanisms_of(package: ModuleType) -> set[str]:
    """Public names of a package that are, or make, something that releases for an event."""
    found = set()
    for name in package.__all__:
        value = getattr(package, name)
        made = value if inspect.isclass(value) else None
        if inspect.isfunction(value):
            made = get_type_hints(value).get("return")
        if _releases(made):
            found.add(name)
    return found


def hidden_mechanisms(package: ModuleType, *, without: str = "") -> set[str]:
    """Names of all classes inside a package that release for an event, exported or not."""
    found = set()
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if without and module.name.startswith(without):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(value) and value.__module__ == module.name and _releases(value):
                found.add(name)
    return found


def _releases(kind: object) -> bool:
    return hasattr(kind, "event") and (hasattr(kind, "release") or hasattr(kind, "open"))
