"""Neighbouring databases side by side in one engine, and how far their exact numbers lie apart.

A *world* is one version of the private tables. The checker removes every unit in turn (and, for
Replace, exchanges any two), asks the engine for the exact vectors at the same salt, and compares
their distance with the declared reach in three norms. Nothing of the reach is used to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.contributions import ContributionBounds
from discreet.relational.bounding.hashing import Hashing
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.compile.dialect import Dialect
from discreet.relational.database import Database
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.planning.allocation import Noised
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.declarations import Declaration
from discreet.relational.schema.sources import TableSource, source_of
from discreet.relational.schema.table import MOST_ROWS, PublicTable, Table
from discreet.relational.sql.translate import query_from
from discreet.relational.types.data_type import DataType
from tests.relational.engine_with_rows import DuckDBWithRows, EngineWithRows

SALT = 0x5A17
PURE = dp.PureDP(epsilon=1)

Frames = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Private:
    """A private table of a test: rows, whose they are, what is declared."""

    frame: pl.DataFrame
    unit: PrivacyUnit
    columns: Mapping[str, Declaration]
    max_rows_per: Mapping[Any, int] = field(default_factory=dict)
    fixed_per_person: Sequence[str] = ()
    derived: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """The tables of a curator; public ones never change."""

    private: Mapping[str, Private]
    public: Frames = field(default_factory=dict)

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """The private rows as they are."""
        return {name: table.frame for name, table in self.private.items()}

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy."""
        return next(iter(self.private.values())).unit

    def tables(self, home: EngineWithRows) -> dict[str, Table | PublicTable]:
        """As they are declared to a curator, with their rows in an engine."""
        private = {
            name: dp.table(
                home.source(table.frame),
                unit=table.unit,
                columns=table.columns,
                max_rows_per=table.max_rows_per,
                fixed_per_person=table.fixed_per_person,
                derived=table.derived,
            )
            for name, table in self.private.items()
        }
        public = {name: dp.public(home.source(frame)) for name, frame in self.public.items()}
        return {**private, **public}

    def with_frames(self, frames: Frames) -> Setting:
        """The same declarations over other rows."""
        return replace(
            self, private={k: replace(v, frame=frames[k]) for k, v in self.private.items()}
        )


def one(
    frame: pl.DataFrame, unit: PrivacyUnit, columns: Mapping[str, Any], **public: Any
) -> Setting:
    """A setting with the one private table ``t``."""
    return Setting({"t": Private(frame, unit, columns)}, public)


# Who is who ------------------------------------------------------------------------------------


def owners(setting: Setting, frames: Frames) -> dict[str, list[object]]:
    """For every row of every table whose it is; None where it is nobody's. Rows own themselves."""
    found: dict[str, list[object]] = {}
    for name, table in setting.private.items():
        unit = table.unit.unit if isinstance(table.unit, Replace) else table.unit
        frame = frames[name]
        if not isinstance(unit, dp.Person):
            found[name] = [(name, place) for place in range(frame.height)]
        elif unit.via is None:
            found[name] = frame[unit.id].to_list()
        else:
            through, _, person = unit.via.rpartition(".")
            route = dict(zip(frames[through][unit.id], frames[through][person], strict=True))
            found[name] = [None if k is None else route.get(k) for k in frame[unit.id]]
    return found


def people(setting: Setting, frames: Frames) -> list[object]:
    """Every unit that owns a row."""
    every = [owner for column in owners(setting, frames).values() for owner in column]
    return sorted({owner for owner in every if owner is not None}, key=repr)


def without(setting: Setting, frames: Frames, who: object) -> Frames:
    """The database after one unit has left."""
    whose = owners(setting, frames)
    return {
        name: frame.filter(pl.Series([owner != who for owner in whose[name]], dtype=pl.Boolean))
        for name, frame in frames.items()
    }


def without_nobody(setting: Setting, frames: Frames) -> Frames:
    """The database without rows that belong to nobody."""
    return without(setting, frames, None)


def shuffled(frames: Frames, seed: int) -> Frames:
    """The same rows in another order."""
    return {
        name: frame.sample(fraction=1, shuffle=True, seed=seed) for name, frame in frames.items()
    }


# One engine, many worlds -----------------------------------------------------------------------


class Worlds:
    """An engine in which each private table has several versions, one of which is seen."""

    def __init__(self, private: Sequence[str], engine: Engine, tag: str) -> None:
        self._inner = engine
        self._private = set(private)
        self._tag = tag
        self.seen = 0
        self.statements = 0

    @property
    def dialect(self) -> Dialect:
        return self._inner.dialect

    @property
    def hashing(self) -> Hashing:
        return self._inner.hashing

    def attach(self, name: str, source: TableSource) -> dict[str, str]:
        return self._inner.attach(self._version(name), source)

    def lock(self) -> None:
        """Other worlds come later."""

    def place(self, name: str) -> str:
        return self._inner.place(self._version(name))

    def columns(self, name: str) -> dict[str, str]:
        return self._inner.columns(self._version(name))

    def contents(self, name: str) -> object:
        return self._inner.contents(self._version(name))

    def snapshot(self) -> AbstractContextManager[None]:
        return self._inner.snapshot()

    def keys(self, entries: Sequence[tuple[object, ...]], kinds: Sequence[DataType]) -> str:
        return self._inner.keys(entries, kinds)

    def crowd(self, tables: Sequence[str], rows: str, limit: int) -> str:
        return self._inner.crowd([self._version(name) for name in tables], rows, limit)

    def numbers(self, text: str) -> list[NDArray[np.int64]]:
        self.statements += 1
        return self._inner.numbers(text)

    def batches(self, text: str) -> Iterator[list[NDArray[np.int64]]]:
        self.statements += 1
        return self._inner.batches(text)

    def keyed(self, text: str) -> list[NDArray[Any]]:
        return self._inner.keyed(text)

    def rows(self, text: str) -> list[tuple[object, ...]]:
        return self._inner.rows(text)

    def vacant(self) -> Worlds:
        return self

    def close(self) -> None:
        self._inner.close()

    def _version(self, name: str) -> str:
        return f"{name}@{self._tag}{self.seen}" if name in self._private else name


@dataclass(frozen=True)
class Exact:
    """Exact numbers by cell: one vector per linear measure, one histogram per selection."""

    linear: tuple[NDArray[Any], ...]
    ranks: tuple[NDArray[Any], ...]

    def same(self, other: Exact) -> bool:
        """Whether every number is equal."""
        return all(
            np.array_equal(a, b)
            for a, b in zip((*self.linear, *self.ranks), (*other.linear, *other.ranks), strict=True)
        )


class Stand:
    """A setting in an engine, with further worlds added one by one.

    ``tag`` tells it from another stand in the same engine.
    """

    def __init__(
        self, setting: Setting, home: EngineWithRows | None = None, *, tag: str = ""
    ) -> None:
        self.setting = setting
        self.home = DuckDBWithRows() if home is None else home
        self.engine = Worlds(list(setting.private), self.home.engine, tag)
        self.database = Database(self.engine, setting.tables(self.home))
        self._count = 1

    def add(self, frames: Frames) -> int:
        """The number of a new world."""
        self.engine.seen, self._count = self._count, self._count + 1
        for name, frame in frames.items():
            self.engine.attach(name, source_of(self.home.source(frame)))
        return self.engine.seen

    def planned(self, sql: str, spend: Guarantee = PURE) -> PlannedQuery:
        """The question as it would be paid for."""
        return PlannedQuery(query_from(sql, self.database), spend, MOST_ROWS)

    def exact(self, planned: PlannedQuery, world: int = 0, salt: int = SALT) -> Exact:
        """What noise would be added to, in one world."""
        self.engine.seen = world
        found = aggregate_exactly(
            planned.query,
            [item.exact for item in planned.allocation.noised],
            [group[0].ranks for group in planned.choosing],
            planned.person,
            self.engine,
            salt=salt,
        )
        return Exact(found.linear, found.ranks)

    def close(self) -> None:
        self.engine.close()


# Distances -------------------------------------------------------------------------------------


def bound(item: Noised) -> int:
    """The largest contribution of a row, in steps of the noise."""
    return item.measure.steps() << (item.places or 0)


def _norms(
    differences: Sequence[int], contributions: ContributionBounds, most: int
) -> Iterator[str]:
    sizes = [abs(difference) for difference in differences]
    if sum(sizes) > contributions.l1(most):
        yield f"L1 {sum(sizes)} > {contributions.l1(most)}"
    if Fraction(sum(size * size for size in sizes)) > contributions.l2(most) ** 2:
        moved = sum(size * size for size in sizes) ** 0.5
        yield f"L2 {moved:g} > {float(contributions.l2(most)):g}"
    if max(sizes, default=0) > contributions.linf(most):
        yield f"Linf {max(sizes)} > {contributions.linf(most)}"


def _whole(values: NDArray[Any]) -> list[int]:
    return [int(value) for value in values.reshape(-1).tolist()]


def apart(planned: PlannedQuery, first: Exact, second: Exact) -> Iterator[str]:
    """How two worlds that should be neighbours are farther apart than declared."""
    for part, item, a, b in zip(
        planned.parts, planned.allocation.noised, first.linear, second.linear, strict=True
    ):
        differences = [p - q for p, q in zip(_whole(a), _whole(b), strict=True)]
        for norm in _norms(differences, part.contributions, bound(item)):
            yield f"{type(item.measure).__name__}: {norm}"
    for choice, a, b in zip(planned.choices, first.ranks, second.ranks, strict=True):
        moved = np.abs(a - b).sum(axis=1)
        for norm in _norms(_whole(moved), choice.contributions, 1):
            yield f"Ranks: {norm}"


def one_way(first: Exact, second: Exact) -> bool:
    """Whether every histogram of ranks only lost rows, as its proof presumes."""
    return all(bool((a >= b).all()) for a, b in zip(first.ranks, second.ranks, strict=True))


def exchanges(rows: PlanNode) -> bool:
    """Whether rows may come as others go: a cut by key lets one row take another's place."""
    return isinstance(rows, Truncated) or any(exchanges(below) for below in rows.inputs)


@dataclass
class Tested:
    """How much was compared, for the record."""

    plans: int = 0
    neighbours: int = 0
    refused: int = 0


TESTED = Tested()


def breaches(
    setting: Setting,
    *questions: str,
    spend: Guarantee = PURE,
    salt: int = SALT,
    also: Callable[[Frames], Sequence[Frames]] = lambda frames: [],
    refusals: list[str] | None = None,
    home: EngineWithRows | None = None,
) -> list[str]:
    """Everything by which neighbours are farther apart than declared; none is right.

    ``also`` gives further databases that must answer exactly as the given one does. Refused
    questions are errors, unless a list is given for their codes.
    """
    stand = Stand(setting, home)
    try:
        inquiries = []
        for query in questions:
            try:
                inquiries.append((query, stand.planned(query, spend)))
            except DiscreetError as refusal:
                if refusals is None:
                    raise
                refusals.append(refusal.code)
                TESTED.refused += 1
        return [
            f"{query}: {fault}"
            for query, faults in faults_of(stand, inquiries, salt, also)
            for fault in faults
        ]
    finally:
        stand.close()


def faults_of(
    stand: Stand,
    inquiries: Sequence[tuple[str, PlannedQuery]],
    salt: int,
    also: Callable[[Frames], Sequence[Frames]],
) -> Iterator[tuple[str, list[str]]]:
    setting, frames = stand.setting, stand.setting.frames
    units = {who: stand.add(without(setting, frames, who)) for who in people(setting, frames)}
    equal = [without_nobody(setting, frames), shuffled(frames, 1), *also(frames)]
    same = [stand.add(frames_of_world) for frames_of_world in equal]
    for query, planned in inquiries:
        base = stand.exact(planned, 0, salt)
        left = {who: stand.exact(planned, world, salt) for who, world in units.items()}
        TESTED.plans += 1
        TESTED.neighbours += len(left)
        faults: list[str] = []
        if isinstance(setting.unit, Replace):
            for (a, first), (b, second) in combinations(left.items(), 2):
                faults += [f"{a} for {b}: {fault}" for fault in apart(planned, first, second)]
        else:
            for who, other in left.items():
                faults += [f"without {who}: {fault}" for fault in apart(planned, base, other)]
                if not exchanges(planned.query.rows) and not one_way(base, other):
                    faults.append(f"without {who}: ranks gained rows")
        for place, world in enumerate(same):
            if not base.same(stand.exact(planned, world, salt)):
                faults.append(f"the answer depends on nobody's rows or their order ({place})")
        yield query, faults
