"""A table as a universe: which attributes are counted, and how rows and cells translate.

Most columns are an attribute each. Columns that an impossible combination ties together are one
attribute, whose cells are the combinations that can be: so nothing impossible is ever counted,
estimated or sampled, whatever the mechanism. A column that follows from another is no attribute.

Source: contract, "Columns"; 004b:A14 (structural zeros).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.noise.randomness import Source
from discreet.queries.workload.universe import Attribute, Universe
from discreet.synthetic.encoding.constraints import (
    Between,
    Constraint,
    Determined,
    Impossible,
    constraint_from_dict,
)
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import (
    OUTSIDE,
    Codes,
    EncodedColumn,
    require_several,
)
from discreet.synthetic.encoding.number_column import NumberColumn
from discreet.synthetic.encoding.stored import column_from_dict

MOST_TIED = 1 << 14
"""Combinations of columns that constraints tie together."""


@dataclass(frozen=True)
class EncodedAttribute:
    """An attribute of the universe: the columns it stands for, and their codes in each cell."""

    name: str
    columns: tuple[str, ...]
    cells: NDArray[np.int64]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.cells)


@dataclass(frozen=True)
class TableEncoding:
    """Columns by name, in the order of the table, and what holds of them.

    >>> from discreet.synthetic.encoding.category_column import CategoryColumn
    >>> sex, pregnant = CategoryColumn(["f", "m"], missing=False), CategoryColumn([False, True])
    >>> never = Impossible({"sex": ["m"], "pregnant": [True]})
    >>> TableEncoding({"sex": sex, "pregnant": pregnant}, (never,)).universe.shape
    (5,)
    """

    columns: Mapping[str, EncodedColumn]
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be synthesised, by the declarations alone."""
        columns = dict(self.columns)
        object.__setattr__(self, "constraints", tuple(self.constraints))
        for constraint in self.constraints:
            for name in constraint.columns:
                if name not in columns or not columns[name].size:
                    raise _unknown(name, columns)
        columns = with_constraint_edges(columns, self.constraints)
        object.__setattr__(self, "columns", columns)
        counted = [name for name, column in columns.items() if column.size]
        for name in counted:
            require_several(name, columns[name])
        if not self.attributes:
            raise InvalidParameter(
                code="attribute_names",
                expectation="at least one column with cells that can be counted",
                received=list(columns),
                remedy='Declare columns: {"ward": dp.Category(["A", "B"])}.',
            )
        for attribute in self.attributes:
            if len(attribute.columns) > 1:
                for name in attribute.columns:
                    _require_ungrouped(name, columns[name])

    @cached_property
    def determined(self) -> dict[str, Determined]:
        """The columns that follow from others, by name."""
        found: dict[str, Determined] = {}
        tied = {name for each in self._impossible for name in each.columns}
        for constraint in self.constraints:
            if isinstance(constraint, Determined):
                if constraint.column in found or constraint.column in tied:
                    raise _twice(constraint.column)
                constraint.codes(self.columns[constraint.by], self.columns[constraint.column])
                found[constraint.column] = constraint
        for first in found:
            name, seen = first, {first}
            while name in found:
                name = found[name].by
                if name in seen:
                    raise _twice(name)
                seen.add(name)
        return found

    @cached_property
    def attributes(self) -> tuple[EncodedAttribute, ...]:
        """What is counted, in the order of the columns."""
        found = []
        for names in self._tied():
            shape = [self.columns[name].size for name in names]
            if math.prod(shape) > MOST_TIED:
                raise InvalidParameter(
                    code="constraint_too_large",
                    expectation=f"at most {MOST_TIED} combinations of columns that constraints tie "
                    f"together",
                    received=f"{' x '.join(names)}: {math.prod(shape)}",
                    remedy="Use coarser bins, or constraints on fewer columns.",
                )
            possible = self._possible(names, tuple(shape))
            cells = np.argwhere(possible).astype(np.int64)
            if len(cells) < 2:
                raise InvalidParameter(
                    code="constraints_infeasible",
                    expectation="constraints that leave at least two combinations of "
                    f"{', '.join(names)}",
                    received=len(cells),
                    remedy="Remove the constraint that excludes them.",
                )
            found.append(EncodedAttribute("+".join(names), tuple(names), cells))
        return tuple(found)

    @property
    def digits(self) -> dict[str, int]:
        """How many decimals of each column of reals tell something: those of its bins, and two."""
        return {
            name: column.digits
            for name, column in self.columns.items()
            if isinstance(column, NumberColumn) and not column.whole
        }

    @property
    def binned_privately(self) -> dict[str, tuple[int, bool]]:
        """How many bins each column gets whose bins are chosen privately, and if some are missing.

        By attribute, which such a column is by itself.
        """
        return {
            name: (column.groups, column.missing)
            for name, column in self.columns.items()
            if isinstance(column, NumberColumn | DayColumn)
            and column.groups is not None
            and name not in self.determined
        }

    @cached_property
    def universe(self) -> Universe:
        """Attributes with the numbers of their cells as values."""
        return Universe(
            tuple(Attribute(each.name, tuple(range(each.size))) for each in self.attributes)
        )

    def encode(self, table: Mapping[str, Sequence[Any]]) -> Codes:
        """The cells of rows, a column for each attribute; ``OUTSIDE`` where a row has none."""
        found = []
        for attribute in self.attributes:
            codes = [self.columns[name].encode(table[name]) for name in attribute.columns]
            found.append(codes[0] if len(codes) == 1 else self._cell(attribute, codes))
        return np.stack(found, axis=1)

    def decode(self, codes: Codes, randomness: Source) -> dict[str, list[Any]]:
        """Values for rows of cells, in the order of the table's columns."""
        places = self.column_codes(codes)
        nothing = np.zeros(len(codes), dtype=np.int64)
        return {
            name: column.decode(places.get(name, nothing), randomness)
            for name, column in self.columns.items()
        }

    def column_codes(self, codes: Codes) -> dict[str, Codes]:
        """The cell of each column, for rows of cells of the attributes."""
        found: dict[str, Codes] = {}
        for place, attribute in enumerate(self.attributes):
            for axis, name in enumerate(attribute.columns):
                found[name] = attribute.cells[codes[:, place], axis]
        for name in self._in_order():
            rule = self.determined[name]
            follows = rule.codes(self.columns[rule.by], self.columns[name])
            found[name] = follows[found[rule.by]]
        return found

    def needed(self, names: Sequence[str]) -> tuple[int, ...]:
        """The places of the attributes that some columns follow from, in order."""
        found = set()
        for name in names:
            if name not in self.columns or not self.columns[name].size:
                raise _unknown(name, self.columns)
            root = name
            while root in self.determined:
                root = self.determined[root].by
            found |= {p for p, each in enumerate(self.attributes) if root in each.columns}
        return tuple(sorted(found))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; :meth:`from_dict` reads it."""
        return {
            "encoding": 1,
            "columns": [[name, dict(each.to_dict())] for name, each in self.columns.items()],
            "constraints": [each.to_dict() for each in self.constraints],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TableEncoding:
        """The encoding that ``to_dict`` wrote."""
        columns = {name: column_from_dict(each) for name, each in plain["columns"]}
        return cls(columns, tuple(constraint_from_dict(each) for each in plain["constraints"]))

    @cached_property
    def _impossible(self) -> tuple[Impossible, ...]:
        return tuple(each for each in self.constraints if isinstance(each, Impossible))

    def _tied(self) -> Iterator[list[str]]:
        """Columns by attribute: those that constraints tie together, and each other by itself."""
        names = [n for n, c in self.columns.items() if c.size and n not in self.determined]
        group = {name: {name} for name in names}
        for constraint in self._impossible:
            joint = set().union(*(group[name] for name in constraint.columns))
            for name in joint:
                group[name] = joint
        seen: set[str] = set()
        for name in names:
            if name not in seen:
                seen |= group[name]
                yield [each for each in names if each in group[name]]

    def _possible(self, names: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.bool_]:
        possible = np.ones(shape, dtype=np.bool_)
        for constraint in self._impossible:
            if constraint.columns[0] not in names:
                continue
            out = np.ones((), dtype=np.bool_)
            for axis, name in enumerate(names):
                cells = np.ones(shape[axis], dtype=np.bool_)
                if name in constraint.where:
                    cells = constraint.cells(name, self.columns[name])
                out = np.logical_and.outer(out, cells)
            possible &= ~out
        return possible

    def _cell(self, attribute: EncodedAttribute, codes: Sequence[Codes]) -> Codes:
        shape = [self.columns[name].size for name in attribute.columns]
        numbers = np.full(math.prod(shape), OUTSIDE, dtype=np.int64)
        numbers[np.ravel_multi_index(tuple(attribute.cells.T), shape)] = np.arange(attribute.size)
        outside = np.any(np.stack(codes) == OUTSIDE, axis=0)
        inside = [np.where(outside, 0, each) for each in codes]
        found = numbers[np.ravel_multi_index(tuple(inside), shape)]
        return np.where(outside, OUTSIDE, found).astype(np.int64)

    def _in_order(self) -> list[str]:
        """Columns that follow from others, each after the one it follows from."""
        done: list[str] = []
        while len(done) < len(self.determined):
            for name, rule in self.determined.items():
                if name not in done and (rule.by not in self.determined or rule.by in done):
                    done.append(name)
        return done


def with_constraint_edges(
    columns: Mapping[str, EncodedColumn], constraints: Sequence[Constraint]
) -> dict[str, EncodedColumn]:
    """The same columns, numbers with the ends of constraints as edges: no bin straddles one."""
    found = dict(columns)
    for constraint in constraints:
        if isinstance(constraint, Impossible):
            for name, values in constraint.where.items():
                column = found.get(name)
                if isinstance(values, Between) and isinstance(column, NumberColumn):
                    found[name] = column.with_edges(values.edges)
    return found


def _require_ungrouped(name: str, column: EncodedColumn) -> None:
    if isinstance(column, NumberColumn | DayColumn) and column.groups:
        raise InvalidParameter(
            code="constraint_unclear",
            expectation=f"public cells for {name!r}, which a constraint is about",
            received=name,
            remedy="Give it public bins.",
        )


def _unknown(name: str, columns: Mapping[str, EncodedColumn]) -> InvalidParameter:
    known = [each for each, column in columns.items() if column.size]
    far = "Check the spelling, or have it among the columns that are synthesised."
    return InvalidParameter(
        code="attribute_unknown",
        expectation=f"one of the columns {known}",
        received=name,
        remedy="It is numbered anew in every sample, and has no counts."
        if name in columns
        else did_you_mean(name, known, far),
    )


def _twice(name: str) -> InvalidParameter:
    return InvalidParameter(
        code="constraint_unclear",
        expectation=f"one rule for {name!r}, that does not lead back to itself",
        received=name,
        remedy="A column follows from one other, and stands in no impossible combination.",
    )
