"""The keys of an answer: every declared combination and no other, or keys to be discovered.

Keys come in blocks. A block is one key expression with its finite list of values, or several
columns of one public table with the combinations that occur there. An answer has one cell for
each choice of one entry per block, in the order of the blocks.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from discreet.core.by_object import ByObject
from discreet.core.errors import InvalidParameter
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression

MAX_VALUES = 100_000
MAX_CELLS = 10_000_000
_WITH_NULL = ByObject[bool](16)
_COLUMNS = ByObject[list[tuple[object, ...]]](16)
"""Long lists of public keys are those of a table, and come again."""


@dataclass(frozen=True)
class Block:
    """Key expressions, with the tuples of values they may take together."""

    expressions: tuple[Expression, ...]
    entries: tuple[tuple[object, ...], ...]

    @property
    def has_null(self) -> bool:
        """Whether NULL is a key."""
        return _WITH_NULL.of_long(self.entries, _has_null)


@dataclass(frozen=True)
class KeySet:
    """Blocks of keys; no block at all means one cell for everything."""

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        """Refuse more cells than an answer can hold."""
        if self.cells > MAX_CELLS:
            raise InvalidParameter(
                code="too_many_keys",
                expectation=f"at most {MAX_CELLS} combinations of keys",
                received=self.cells,
                remedy="Group by fewer columns, or by coarser bins.",
            )

    @cached_property
    def cells(self) -> int:
        """How many combinations there are."""
        return math.prod([len(block.entries) for block in self.blocks])

    def strides(self) -> tuple[int, ...]:
        """What one entry of each block adds to the number of the cell."""
        strides = []
        stride = self.cells
        for block in self.blocks:
            stride //= max(len(block.entries), 1)
            strides.append(stride)
        return tuple(strides)

    def column(self, block: int, place: int) -> tuple[object, ...]:
        """The values of one key expression, cell by cell."""
        if not self.cells:
            return ()
        entries = _COLUMNS.of_long(self.blocks[block].entries, _by_place)[place]
        stride = self.strides()[block]
        if stride > 1:
            entries = tuple(value for value in entries for _ in range(stride))
        times = self.cells // max(len(entries), 1)
        return entries if times == 1 else entries * times


@dataclass(frozen=True)
class DiscoveredKeys:
    """Key expressions whose combinations are found privately, by how many people have each.

    Rows in which a key is NULL are left out, except where ``listed`` says that the owner listed
    NULL among the values of that key. A combination of fewer than ``min_people`` is never named.
    """

    expressions: tuple[Expression, ...]
    listed: tuple[bool, ...]
    min_people: int

    @property
    def cells(self) -> int:
        """Refused: nobody knows before it is paid for."""
        raise _unknown(self)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Refused as well."""
        raise _unknown(self)

    def strides(self) -> tuple[int, ...]:
        """Refused as well."""
        raise _unknown(self)

    def make_public_keys(self, entries: tuple[tuple[object, ...], ...]) -> KeySet:
        """The keys that were named, as public ones."""
        return KeySet((Block(self.expressions, entries),))


def _has_null(entries: tuple[tuple[object, ...], ...]) -> bool:
    return any(None in entry for entry in entries)


def _by_place(entries: tuple[tuple[object, ...], ...]) -> list[tuple[object, ...]]:
    """The values of each key expression."""
    return list(zip(*entries, strict=True))


def _unknown(keys: DiscoveredKeys) -> InvalidParameter:
    return InvalidParameter(
        code="keys_not_known",
        expectation="keys that are known beforehand",
        received=f"{len(keys.expressions)} to be discovered",
        remedy="Keys are discovered by `sql`, one question at a time; declare dp.Category here.",
    )


def not_finite(name: str, domain: ColumnDomain) -> InvalidParameter:
    """The refusal of a key without a finite list of values, or with too long a one."""
    listed = domain.listable
    if listed is not None and listed > MAX_VALUES:
        return InvalidParameter(
            code="too_many_keys",
            expectation=f"at most {MAX_VALUES} keys for {name}",
            received=listed,
            remedy="Use coarser bins: FLOOR(x / 1000), or bin(x, low, high, n).",
        )
    whole = ""
    if domain.kind is DataType.DOUBLE:
        whole = (
            f"Group by whole numbers: declare dp.Integer(low, high), or write FLOOR({name}) or "
            f"CAST({name} AS INTEGER). "
        )
    return InvalidParameter(
        code="keys_not_finite",
        expectation=f"a finite public list of keys for {name}",
        received=domain.kind.value,
        remedy=f"{whole}Group by a Category, by bin(x, low, high, n), by year(day), or by a column "
        "of a public table; or declare dp.Discovered() and spend some delta.",
    )
