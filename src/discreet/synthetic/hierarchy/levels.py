"""What a hierarchy is: levels from the whole to the smallest places, all of it public.

Which places there are, which lie in which, what each level may spend and which totals are public
knowledge is typed in by the owner. Nothing of it is read from rows or checked against them.

Source: Abowd and others 2022, sections 3 and 5 (levels, invariants); contract, "Columns".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, exact, nonnegative

if TYPE_CHECKING:
    pass

Key: TypeAlias = tuple[object, ...]
"""A node by its labels: one for each attribute that is told apart down to its level."""
_FEWEST = 2


@dataclass(frozen=True)
class Level:
    """One level: the nodes above it, told apart further ``by`` an attribute.

    The first level is everything, and has no attribute. ``groups`` gives each value of the
    attribute the label of its group, where the level is coarser than the values themselves.
    ``share`` is this level's part of the spend beside those of the others; a level of share 0 is
    not measured. ``totals`` are public numbers of records, by node: they stay exact because
    everybody knows them already.

    >>> Level("region", by="town", groups={"Ayr": "south", "Wick": "north"}, share=2).share
    2

    Assumptions: attributes, groups, shares and totals are known without the data.

    Guarantee: they cost nothing and are never compared with the data.

    Source: Abowd and others 2022.
    """

    name: str
    by: str | None = None
    groups: tuple[tuple[object, object], ...] | Mapping[Any, object] | None = None
    share: Number = 1
    totals: tuple[tuple[Key, int], ...] | Mapping[Any, int] | int = ()

    def __post_init__(self) -> None:
        """Refuse what says nothing, and bring mappings into one form."""
        if not isinstance(self.name, str) or not self.name:
            raise _unfit(expectation="a level with a name", received=type(self.name).__name__)
        nonnegative("share", self.share)
        if self.groups is not None:
            object.__setattr__(self, "groups", _pairs("groups", self.groups))
        given = {(): self.totals} if isinstance(self.totals, int) else self.totals
        told = [
            (key if isinstance(key, tuple) else (key,), count("totals", number, least=0))
            for key, number in _pairs("totals", given)
        ]
        object.__setattr__(self, "totals", tuple(told))

    @property
    def labels(self) -> dict[object, object]:
        """The group of each value; empty where values are not grouped."""
        return dict(self.groups or ())


@dataclass(frozen=True)
class Hierarchy:
    """Levels from the whole down.

    >>> towns = {"Ayr": "south", "Kelso": "south", "Wick": "north"}
    >>> Hierarchy((
    ...     Level("nation"),
    ...     Level("region", by="town", groups=towns),
    ...     Level("town", by="town"),
    ... )).names
    ('nation', 'region', 'town')

    Assumptions: as for its levels.

    Guarantee: refused where levels do not refine each other; every record lies in exactly one
    node of each level.

    Source: Abowd and others 2022.
    """

    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        """Refuse levels that do not follow from each other."""
        given: object = self.levels
        if not isinstance(given, Iterable) or not all(isinstance(each, Level) for each in given):
            raise _unfit(expectation="a tuple of Level", received=type(given).__name__)
        levels = tuple(self.levels)
        object.__setattr__(self, "levels", levels)
        if len(levels) < _FEWEST or len(set(self.names)) < len(levels):
            raise _unfit(
                expectation="at least two levels, each with a name of its own", received=self.names
            )
        first, *others = levels
        if first.by is not None or first.groups is not None:
            raise _unfit(expectation="a first level that is everything", received=first.name)
        for level, following in zip(others, [*others[1:], None], strict=True):
            if level.by is None:
                raise _unfit(
                    expectation="an attribute for every level but the first", received=level.name
                )
            last = following is None or following.by != level.by
            if last and level.groups is not None:
                raise _unfit(
                    expectation=f"a level by the values of {level.by!r} below its groups",
                    received=level.name,
                )
            if not last and level.groups is None:
                raise _unfit(
                    expectation=f"groups for all levels by {level.by!r} but the last",
                    received=level.name,
                )
        attributes = self.attributes
        if len(set(attributes)) < len(attributes):
            raise _unfit(
                expectation="all levels of one attribute next to each other", received=attributes
            )
        if not exact(levels[-1].share):
            raise _unfit(expectation="a last level that is measured", received=levels[-1].name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the levels, from the whole down."""
        return tuple(level.name for level in self.levels)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that tell nodes apart, from the top."""
        found: list[str] = []
        for level in self.levels[1:]:
            assert level.by is not None
            if not found or found[-1] != level.by:
                found.append(level.by)
        return tuple(found)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """What each level spends of the whole; they add up to one."""
        given = [exact(level.share) for level in self.levels]
        return tuple(share / sum(given) for share in given)

    def place(self, name: str) -> int:
        """The position of a level."""
        if name not in self.names:
            raise _unfit(expectation=f"one of the levels {list(self.names)}", received=name)
        return self.names.index(name)


def _pairs(name: str, given: object) -> tuple[tuple[object, object], ...]:
    """A mapping as pairs, in its order; each key once."""
    pairs: tuple[tuple[object, object], ...] = tuple(
        given.items() if isinstance(given, Mapping) else given  # type: ignore[arg-type]
    )
    known = [key for key, label in pairs if isinstance(key, Hashable)]
    if len(known) < len(pairs) or len(set(known)) < len(known):
        raise _unfit(
            expectation=f"{name} as a mapping, with each key once", received=type(given).__name__
        )
    return pairs


def _unfit(*, expectation: str, received: object) -> InvalidParameter:
    return InvalidParameter(
        code="hierarchy_misfit",
        expectation=expectation,
        received=received,
        remedy='Write Hierarchy((Level("nation"), Level("region", by="town", groups={...}), '
        'Level("town", by="town"))).',
    )
