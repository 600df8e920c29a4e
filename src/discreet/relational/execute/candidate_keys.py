"""Candidate keys with their exact numbers of people, for the curator's own process alone.

Each person counts once in at most G keys, chosen by a salted hash of the keys' content. Nothing
is cut by how many people a key has: that is the rule's business (``mechanisms/key_selection``).

Source: contract, "Columns" (discovered keys), "Bounding inside the engine". Proof:
``proofs/key_selection.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.relational.bounding.hashing import Content
from discreet.relational.compile.compiler import Compiler, privacy_id
from discreet.relational.engines.engine import Engine
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import columns


@dataclass(frozen=True)
class Candidates:
    """Private: key columns as the engine gave them, and how many people have each combination."""

    columns: tuple[NDArray[Any], ...]
    kinds: tuple[DataType, ...]
    people: NDArray[np.int64]

    def entries(self, chosen: NDArray[np.bool_]) -> tuple[tuple[tuple[object, ...], ...], Any]:
        """The chosen combinations, sorted by their values, and the order that sorts them."""
        places = np.flatnonzero(chosen)
        picked = [
            _values(column[places], kind)
            for column, kind in zip(self.columns, self.kinds, strict=True)
        ]
        rows = list(zip(*picked, strict=True))
        plain = not any(None in column for column in picked)
        order = sorted(
            range(len(rows)),
            key=rows.__getitem__ if plain else lambda row: _sortable(rows[row]),
        )
        return tuple(rows[row] for row in order), places[order]


def candidates(
    keys: DiscoveredKeys, rows: PlanNode, groups: int | None, engine: Engine, *, salt: int
) -> Candidates:
    """Count people by key. ``groups`` bounds the keys of a person; None where rows are people."""
    compiler = Compiler.of(engine, salt=salt)
    *found, people = engine.keyed(candidates_text(keys, rows, groups, compiler))
    return Candidates(
        tuple(found),
        tuple(expression.domain.kind for expression in keys.expressions),
        np.asarray(people, dtype=np.int64),
    )


def candidates_text(
    keys: DiscoveredKeys, rows: PlanNode, groups: int | None, compiler: Compiler
) -> str:
    """A SELECT of the keys' values and the number of people who have them.

    Equal keys look alike: of the rows of a group the engine shows any, so one zero for both signs.
    """
    dialect = compiler.dialect
    names = [f"k{number}" for number in range(len(keys.expressions))]
    items = [
        f"{compiler.one_zero(expression)} AS {name}"
        for expression, name in zip(keys.expressions, names, strict=True)
    ]
    used = frozenset().union(*(columns(expression) for expression in keys.expressions))
    present = [
        f"{name} IS NOT NULL" for name, listed in zip(names, keys.listed, strict=True) if not listed
    ]
    where = " AND ".join(present) or "TRUE"
    listed = ", ".join(names)
    if groups is None:
        inside = f"SELECT {', '.join(items)} FROM ({compiler.text(rows, used)}) AS q"
        return (
            f"SELECT {listed}, COUNT(*) AS n FROM ({inside}) AS q WHERE {where} GROUP BY {listed}"
        )
    assert rows.privacy_id is not None
    owner = dialect.identifier(rows.privacy_id)
    inside = f"SELECT {', '.join([f'{owner} AS o', *items])} FROM "
    inside += f"({compiler.text(rows, used | {rows.privacy_id})}) AS q"
    once = f"SELECT DISTINCT o, {listed} FROM ({inside}) AS q WHERE {where}"
    contents = [
        Content(name, expression.domain.kind)
        for expression, name in zip(keys.expressions, names, strict=True)
    ]
    order = compiler.shuffle.order(contents, privacy_id(rows, "o"))
    ranked = f"SELECT {listed}, row_number() OVER (PARTITION BY o ORDER BY {order}) AS g"
    return (
        f"SELECT {listed}, COUNT(*) AS n FROM ({ranked} FROM ({once}) AS q) AS q "
        f"WHERE g <= {groups} GROUP BY {listed}"
    )


def _values(column: NDArray[Any], kind: DataType) -> list[object]:
    """Values of one kind as plain Python ones."""
    plain: list[object]
    match kind:
        case DataType.DATE:
            plain = np.ma.asarray(column).astype("datetime64[D]").tolist()
        case DataType.TIMESTAMP:
            plain = np.ma.asarray(column).astype("datetime64[us]").tolist()
        case DataType.DOUBLE:
            plain = (column + 0.0).tolist()  # one zero, whatever the engine showed
        case _:
            plain = column.tolist()
    return plain


def _sortable(row: Sequence[object]) -> tuple[tuple[bool, Any], ...]:
    """NULL after everything else."""
    return tuple((value is None, 0 if value is None else value) for value in row)


def keys_to_dict(keys: tuple[tuple[object, ...], ...]) -> list[list[object]]:
    """Discovered keys as plain JSON: days and moments say which they are."""
    return [[_write_key_value(value) for value in key] for key in keys]


def keys_from_dict(plain: Sequence[Sequence[Any]]) -> tuple[tuple[object, ...], ...]:
    """What :func:`keys_to_dict` wrote."""
    return tuple(tuple(map(_read_key_value, key)) for key in plain)


def _write_key_value(value: object) -> object:
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    return {"day": value.isoformat()} if isinstance(value, date) else value


def _read_key_value(plain: Any) -> object:
    if not isinstance(plain, dict):
        return plain
    if "moment" in plain:
        return datetime.fromisoformat(plain["moment"])
    return date.fromisoformat(plain["day"])


def stand_in(keys: DiscoveredKeys) -> tuple[tuple[object, ...], ...]:
    """One invented combination of keys, to write a text with before any is known."""
    return (tuple(_INVENTED[expression.domain.kind] for expression in keys.expressions),)


_INVENTED: dict[DataType, object] = {
    DataType.INTEGER: 0,
    DataType.DOUBLE: 0.0,
    DataType.TEXT: "",
    DataType.BOOLEAN: False,
    DataType.DATE: date(2000, 1, 1),
    DataType.TIMESTAMP: datetime(2000, 1, 1),
}
