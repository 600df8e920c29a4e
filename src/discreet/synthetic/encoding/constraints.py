"""What the owner knows to hold of every row: combinations that cannot be, columns that follow.

Constraints are typed in, never computed from rows and never checked against them. Whether they can
be kept is decided on declarations alone. A row that breaks one follows a fixed rule: a column that
follows from others is taken from those; a row with an impossible combination is left out.

Source: contract, "What may be seen" (declared facts are enforced, never believed).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import finite
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.encoded_column import Codes, EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn


@dataclass(frozen=True)
class Between:
    """Numbers from ``low`` to below ``high``: ``Between(0, 18)``; None for no end."""

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        """Refuse ends that are no numbers, or are crossed."""
        ends = [finite(name, end) for name, end in self._ends().items()]
        if not ends or (len(ends) == 2 and not ends[0] < ends[1]):
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="a lower end below the upper one, or one of the two",
                received=(self.low, self.high),
                remedy="Write Between(0, 18), or Between(high=18).",
            )

    def _ends(self) -> dict[str, float]:
        named = {"low": self.low, "high": self.high}
        return {name: end for name, end in named.items() if end is not None}

    @property
    def edges(self) -> tuple[float, ...]:
        """Its ends, which no bin may straddle."""
        return tuple(self._ends().values())


Condition = Between | Iterable[object]


@dataclass(frozen=True)
class Impossible:
    """A combination that no row has: ``Impossible({"sex": ["m"], "pregnant": [True]})``.

    Each column's values are a list, in which None is a missing value, or for numbers a
    :class:`Between`.
    """

    where: Mapping[str, Condition]

    def __post_init__(self) -> None:
        """Refuse a condition on nothing."""
        kept: dict[str, Condition] = {}
        for name, values in dict(self.where).items():
            if isinstance(values, str) or not isinstance(values, Iterable | Between):
                raise _unclear(name)
            kept[name] = values if isinstance(values, Between) else tuple(values)
        if not kept:
            raise _unclear(None)
        object.__setattr__(self, "where", kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return tuple(self.where)

    def cells(self, name: str, column: EncodedColumn) -> NDArray[np.bool_]:
        """Which cells of a column it names."""
        return cells_of(name, column, self.where[name])

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; days are no part of constraints."""
        return {
            "constraint": "impossible",
            "where": {
                name: {"low": values.low, "high": values.high}
                if isinstance(values, Between)
                else list(values)
                for name, values in self.where.items()
            },
        }


@dataclass(frozen=True)
class Determined:
    """A column that follows from another: ``Determined("country", by="city", values={...})``.

    ``values`` has the value for every value of ``by``; a missing one stays missing unless None is
    listed. The column is not counted at all: its values in the sample follow.
    """

    column: str
    by: str
    values: Mapping[object, object]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return (self.by, self.column)

    def codes(self, by: EncodedColumn, column: EncodedColumn) -> Codes:
        """The cell of the column for each cell of ``by``; refused where one is not listed."""
        table = dict(self.values)
        if by.missing:
            table.setdefault(None, None)
        absent = [label for label in by.labels if label not in table]
        if absent:
            raise InvalidParameter(
                code="dependency_incomplete",
                expectation=f"a value of {self.column!r} for every value of {self.by!r}",
                received=absent[:3],
                remedy="List them, or declare fewer values.",
            )
        known = set(column.labels)
        strange = [table[label] for label in by.labels if table[label] not in known]
        if strange:
            raise InvalidParameter(
                code="constraint_value",
                expectation=f"values that {self.column!r} is declared with",
                received=strange[:3],
                remedy="Declare them, or correct the dependency.",
            )
        places = {label: place for place, label in enumerate(column.labels)}
        return np.array([places[table[label]] for label in by.labels], dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON: pairs, since keys need not be text."""
        return {
            "constraint": "determined",
            "column": self.column,
            "by": self.by,
            "values": [[key, value] for key, value in self.values.items()],
        }


Constraint = Impossible | Determined


def constraint_from_dict(plain: Mapping[str, Any]) -> Constraint:
    """The constraint that its ``to_dict`` wrote."""
    if plain["constraint"] == "determined":
        return Determined(plain["column"], plain["by"], dict(plain["values"]))
    where = {
        name: Between(values["low"], values["high"]) if isinstance(values, dict) else values
        for name, values in plain["where"].items()
    }
    return Impossible(where)


def cells_of(name: str, column: EncodedColumn, values: Condition) -> NDArray[np.bool_]:
    """Which cells of a column a condition names; refused where it fits no cell exactly."""
    if isinstance(values, Between):
        if not isinstance(column, NumberColumn):
            raise _misfit(name, "Between")
        edges = np.asarray(column.edges, dtype=np.float64)
        low = -np.inf if values.low is None else values.low
        high = np.inf if values.high is None else values.high
        inside = (edges[:-1] >= low) & (edges[1:] <= high)
        return np.append(inside, False) if column.missing else inside
    labels = column.labels
    wanted: Sequence[object] = tuple(values)
    for value in wanted:
        if value not in labels:
            raise InvalidParameter(
                code="constraint_value",
                expectation=f"values that {name!r} is declared with",
                received=value,
                remedy="Declare it, or correct the constraint; for numbers write Between(0, 18).",
            )
    if isinstance(column, CategoryColumn):
        return np.array([_among(label, wanted) for label in labels], dtype=np.bool_)
    return np.array([label in wanted for label in labels], dtype=np.bool_)


def _among(label: object, wanted: Sequence[object]) -> bool:
    """Whether a value is listed; True is not 1."""
    return any(
        label == each and isinstance(label, bool) == isinstance(each, bool) for each in wanted
    )


def _misfit(name: str, received: object) -> InvalidParameter:
    return InvalidParameter(
        code="constraint_value",
        expectation=f"a list of values of {name!r}, which is no number",
        received=received,
        remedy='Write Impossible({"sex": ["m"], "pregnant": [True]}).',
    )


def _unclear(received: str | None) -> InvalidParameter:
    return InvalidParameter(
        code="constraint_unclear",
        expectation="columns, each with a list of values or Between(low, high)",
        received=received,
        remedy='Write Impossible({"sex": ["m"], "pregnant": [True]}).',
    )
