"""The number of a row's cell: from the keys of the row, as text for an engine.

Each block of keys adds its own number times its stride. Whole numbers with equal gaps are counted
off, a few texts are looked up in a list, and what is left meets a table of keys. A row whose keys
are not all listed has no cell: it is dropped by a join, or by a condition, or its number is NULL.

Source: contract, "Columns" (public keys). Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.keys import Block, DiscoveredKeys, KeySet
from discreet.relational.types.data_type import DataType

KeyTable = Callable[[Sequence[tuple[object, ...]], Sequence[DataType]], str]
"""The name of a table of public keys in the engine."""
Code = Callable[[str, Sequence[object], DataType], str | None]
"""The place of a value in a list, NULL where it is not there; None to meet a table instead."""


@dataclass(frozen=True)
class BlockNumber:
    """The place of a row among the entries of one block: ``number`` where ``condition`` holds."""

    number: str
    condition: str | None = None
    join: str = ""
    is_range: bool = False
    """Whether the condition is one range: statistics of a column often decide it for all rows."""

    @property
    def or_null(self) -> str:
        """The number, or NULL where the row has none."""
        if self.condition is None:
            return self.number
        return f"CASE WHEN {self.condition} THEN {self.number} END"


@dataclass(frozen=True)
class CellNumbers:
    """The number of a cell, by block."""

    blocks: tuple[BlockNumber, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(
        cls,
        keys: KeySet | DiscoveredKeys,
        names: Sequence[str],
        key_table: KeyTable,
        dialect: Dialect,
        code: Code,
    ) -> CellNumbers:
        """Of rows in which the keys are written so, one after the other."""
        found, number = list[BlockNumber](), 0
        for place, block in enumerate(keys.blocks):
            own = names[number : number + len(block.expressions)]
            number += len(own)
            found.append(
                _counted_off(block, own[0], dialect)
                or _looked_up(block, own[0], code)
                or _met(block, own, f"b{place}", key_table, dialect)
            )
        return cls(tuple(found), keys.strides())

    @property
    def joins(self) -> str:
        """The tables of keys that rows meet, after the rows in a FROM clause."""
        return "".join(block.join for block in self.blocks)

    @property
    def number(self) -> str:
        """The number, of rows that satisfy all ``conditions``."""
        return self._summed([block.number for block in self.blocks])

    @property
    def or_null(self) -> str:
        """The number, or NULL."""
        return self._summed([block.or_null for block in self.blocks])

    @property
    def where(self) -> str:
        """The clause that leaves rows with a cell, if any others are left by the joins."""
        conditions = [block.condition for block in self.blocks if block.condition is not None]
        return _where(conditions)

    @property
    def ranges(self) -> str:
        """The part of that clause which costs next to nothing for each row."""
        return _where([block.condition for block in self.blocks if block.is_range])

    @property
    def all_ranges(self) -> bool:
        """Whether that part is all of it."""
        return all(block.is_range for block in self.blocks if block.condition is not None)

    def _summed(self, numbers: Sequence[str]) -> str:
        terms = [
            number if stride == 1 else f"{number} * {stride}"
            for number, stride in zip(numbers, self.strides, strict=True)
        ]
        return " + ".join(terms) or "0"


def _where(conditions: Sequence[str | None]) -> str:
    return f" WHERE {' AND '.join(map(str, conditions))}" if conditions else ""


def _counted_off(block: Block, name: str, dialect: Dialect) -> BlockNumber | None:
    """Whole keys with equal gaps, such as bins: no table is needed."""
    found = progression(block)
    if found is None:
        return None
    first, step = found
    last = first + step * (len(block.entries) - 1)
    within, number = f"{name} BETWEEN {first} AND {last}", f"(CAST({name} AS BIGINT) - ({first}))"
    if step == 1:
        return BlockNumber(number, within, is_range=True)
    # Outside of the bounds a difference may not fit.
    met = f"CASE WHEN {within} THEN {number} % {step} = 0 ELSE FALSE END"
    return BlockNumber(dialect.whole_quotient(number, str(step)), met)


def _looked_up(block: Block, name: str, code: Code) -> BlockNumber | None:
    """A few texts, where the engine finds them faster than a table would be met."""
    if len(block.expressions) != 1 or block.has_null:
        return None
    number = code(name, [value for (value,) in block.entries], block.expressions[0].domain.kind)
    return None if number is None else _LookedUp(number, f"{number} IS NOT NULL")


class _LookedUp(BlockNumber):
    """A number that is NULL by itself."""

    @property
    def or_null(self) -> str:
        return self.number


def always_met(text: str, values: Sequence[object], kind: DataType) -> None:
    """Look nothing up: where a condition would look it up a second time, for each row."""


def _met(
    block: Block, names: Sequence[str], alias: str, key_table: KeyTable, dialect: Dialect
) -> BlockNumber:
    """Keys in a table of the engine."""
    kinds = [expression.domain.kind for expression in block.expressions]
    known = block.has_null
    on = " AND ".join(
        dialect.same(name, f"{alias}.v{i}", kind) if known else f"{name} = {alias}.v{i}"
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    table = key_table(block.entries, kinds)
    return BlockNumber(f"{alias}.code", join=f" JOIN {table} AS {alias} ON {on}")


def progression(block: Block) -> tuple[int, int] | None:
    """The first of whole keys with equal gaps, and the gap; None if they are no such keys."""
    if len(block.expressions) != 1 or block.expressions[0].domain.kind is not DataType.INTEGER:
        return None
    values = [entry[0] for entry in block.entries]
    if not values or any(type(value) is not int for value in values):
        return None
    first, *rest = values
    assert isinstance(first, int)
    step = rest[0] - first if rest and isinstance(rest[0], int) else 1
    if step < 1 or values != list(range(first, first + step * len(values), step)):
        return None
    return first, step
