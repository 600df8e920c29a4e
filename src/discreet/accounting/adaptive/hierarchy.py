"""Budgets below budgets: nested and joined sessions, and parts that pay once.

A charge on a child is translated into charges on its parents, to the roots, all or nothing.
Parts of a partition charge their parent with the increase of their maximum only, since a unit
sees the events of its own parts and no others. The parts are declared by one of

- ``ByRow``: a function of the row, where each row is a unit;
- ``ByPerson``: a function of the person, the same for all of a person's rows;
- ``AcrossParts``: anything else, with bounding that keeps each unit in ``at_most`` parts.

Proof: ``proofs/filters.md``. Source: 004d:F16; contract, "Units and neighbours".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from discreet.accounting.adaptive.account import Budget, Draft
from discreet.accounting.adaptive.steps import (
    Amounts,
    highest,
    lowest,
    minus,
    plus,
    steps_down,
)
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.core.unit import (
    AddRemoveUnit,
    Edge,
    Person,
    PrivacyUnit,
    Relation,
    Replace,
    Row,
    TickWindow,
)

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class DeclaredParts(ABC):
    """A public list of parts, and in how many of them one unit may lie."""

    names: Sequence[Hashable]

    def __post_init__(self) -> None:
        """Refuse an empty list, and names that repeat."""
        object.__setattr__(self, "names", tuple(self.names))
        if not self.names or len(set(self.names)) != len(self.names):
            raise InvalidParameter(
                code="parts_not_distinct",
                expectation="one part or more, each named once, from a public list",
                received=len(self.names),
                remedy="List every part once; never read the list from private data.",
            )

    @abstractmethod
    def overlap(self, unit: AddRemoveUnit) -> int:
        """The most parts in which one unit can lie."""


@dataclass(frozen=True)
class ByRow(DeclaredParts):
    """Parts by a function of the row, where a row (or an edge) is the unit."""

    def overlap(self, unit: AddRemoveUnit) -> int:
        if not isinstance(unit, (Row, Edge)):
            raise _many_parts(unit)
        return 1


@dataclass(frozen=True)
class ByPerson(DeclaredParts):
    """Parts by a function of the person: all rows of a person fall into the same one."""

    def overlap(self, unit: AddRemoveUnit) -> int:
        if not isinstance(unit, Person):
            raise _many_parts(unit)
        return 1


@dataclass(frozen=True)
class AcrossParts(DeclaredParts):
    """Parts of any kind, where bounding keeps every unit in ``at_most`` of them."""

    at_most: int

    def __post_init__(self) -> None:
        """Refuse bounds that are not whole."""
        super().__post_init__()
        object.__setattr__(self, "at_most", count("at_most", self.at_most))

    def overlap(self, unit: AddRemoveUnit) -> int:
        """As declared, and never more than there are parts."""
        return min(self.at_most, len(self.names))


class ChildBudget(Budget):
    """A session below one parent, or joined from several, with or without a limit of its own."""

    def __init__(self, parents: tuple[Budget, ...], limit: Guarantee | None) -> None:
        """Fix parents and limit."""
        super().__init__(parents[0]._currency, 1 + max(parent._depth for parent in parents))
        self._parents = parents
        self._own = None if limit is None else self._currency.read_amounts(limit, steps_down)

    def _propose(self, charge: Amounts, draft: Draft) -> bool:
        total = plus(draft.get(self, self._spent), charge)
        draft[self] = total
        if self._own is not None and any(map(int.__gt__, total, self._own)):
            return False
        return all(parent._propose(charge, draft) for parent in self._parents)

    def _ceiling(self) -> Amounts:
        return self._least([parent._ceiling() for parent in self._parents], self._own)

    def _headroom(self) -> Amounts:
        own = None if self._own is None else minus(self._own, self._spent)
        return self._least([parent._headroom() for parent in self._parents], own)

    def _least(self, amounts: list[Amounts], own: Amounts | None) -> Amounts:
        least = amounts[0] if own is None else own
        for other in amounts:
            least = lowest(least, other)
        return least

    def _check_relation(self, relation: Relation) -> None:
        for parent in self._parents:
            parent._check_relation(relation)


class PartitionBudget(Budget):
    """Stands between a parent and its parts; ``_spent`` is what they cost the parent so far."""

    def __init__(self, parent: Budget, factor: int) -> None:
        """Charge ``parent`` with ``factor`` times the maximum over parts."""
        super().__init__(parent._currency, 1 + parent._depth)
        self._parent = parent
        self._factor = factor

    def _propose(self, charge: Amounts, draft: Draft) -> bool:
        """Here ``charge`` is the new total of one part, not an increase."""
        before = draft.get(self, self._spent)
        after = highest(before, tuple(self._factor * amount for amount in charge))
        draft[self] = after
        return self._parent._propose(minus(after, before), draft)

    def _ceiling(self) -> Amounts:
        return tuple(amount // self._factor for amount in self._parent._ceiling())

    def _headroom(self) -> Amounts:
        """The total that one part could reach."""
        most = plus(self._spent, self._parent._headroom())
        return tuple(amount // self._factor for amount in most)

    def _check_relation(self, relation: Relation) -> None:
        if isinstance(self.unit, Replace):
            raise Mismatch(
                code="relation_in_part",
                expectation="an event whose price holds for units added, removed or exchanged",
                received=relation.value,
                remedy="In a part of a table under Replace no sampling is priced; sample before.",
            )
        self._parent._check_relation(relation)


class PartBudget(Budget):
    """One part of a partition.

    Contract: under ``Replace`` the events of a part must be priced for a unit that is added,
    removed or exchanged in it, since its size is not public.
    """

    def __init__(self, partition: PartitionBudget) -> None:
        """Belong to a partition."""
        super().__init__(partition._currency, 1 + partition._depth)
        self._partition = partition

    def _propose(self, charge: Amounts, draft: Draft) -> bool:
        total = plus(draft.get(self, self._spent), charge)
        draft[self] = total
        return self._partition._propose(total, draft)

    def _ceiling(self) -> Amounts:
        return self._partition._ceiling()

    def _headroom(self) -> Amounts:
        return minus(self._partition._headroom(), self._spent)

    def _check_relation(self, relation: Relation) -> None:
        self._partition._check_relation(relation)


def open_child(parent: Budget, *others: Budget, limit: Guarantee | None = None) -> ChildBudget:
    """A session on data derived from one parent, or joined from several.

    Contract: prices are for one unit, changed at once in all parents that hold its rows.
    Guarantee: every charge reaches every parent in full, and an ancestor once for each way to
    it, so each keeps its own limit.
    """
    parents = (parent, *others)
    if len(set(parents)) != len(parents):
        raise InvalidParameter(
            code="parents_not_distinct",
            expectation="each parent once",
            received=len(parents),
            remedy="List every parent once; the price of the event already covers a self-join.",
        )
    if any(other._currency != parent._currency for other in others):
        raise Mismatch(
            code="notion_mismatch",
            expectation=f"parents that all spend like {parent.limit}",
            received=[other.limit for other in others],
            remedy="Open the budgets to be joined in one privacy definition and for one unit.",
        )
    return ChildBudget(parents, limit)


def open_parts(parent: Budget, parts: DeclaredParts) -> dict[Hashable, PartBudget]:
    """One session for each part; the parent pays the increase of their maximum.

    Guarantee: a unit that lies in at most k parts costs the parent k times the maximum, under
    ``Replace`` twice that. Maxima are taken for each component and each Rényi order by itself.

    >>> from discreet import events
    >>> from discreet.accounting.adaptive.filter import PureFilter
    >>> from discreet.core.guarantee import PureDP
    >>> budget = PureFilter(limit=PureDP(epsilon=1, unit=Row()))
    >>> part = open_parts(budget, ByRow(["young", "old"]))
    >>> for name, epsilon in [("young", 0.5), ("old", 0.3), ("old", 0.4), ("young", 0.1)]:
    ...     part[name].record(events.Laplace(epsilon=epsilon))
    ...     print(round(budget.spent().epsilon, 9))
    0.5
    0.5
    0.7
    0.7

    Source: 004d:F16.
    """
    factor = _factor(parent.unit, parts)
    partition = PartitionBudget(parent, factor)
    return {name: PartBudget(partition) for name in parts.names}


def _factor(unit: PrivacyUnit | None, parts: DeclaredParts) -> int:
    if unit is None:
        raise Mismatch(
            code="parts_without_unit",
            expectation="a budget that says whose privacy it is",
            remedy="Open it with a unit: PureDP(epsilon=1, unit=Row()).",
        )
    if isinstance(unit, Replace):
        return 2 * parts.overlap(unit.unit)
    if isinstance(unit, TickWindow):  # what falls into a window may fall into many parts
        raise _many_parts(unit.unit)
    return parts.overlap(unit)


def _many_parts(unit: AddRemoveUnit) -> Mismatch:
    return Mismatch(
        code="parts_not_per_unit",
        expectation="parts that are a function of the unit",
        received=unit,
        remedy="ByRow is for rows, ByPerson for people; else AcrossParts(names, at_most=k).",
    )
