"""Curators over tables with planted secrets, and everything an analyst could read of an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

import discreet as dp

SECRETS = ("Zaphod-7731", "271828182845", "3.14159265358", "2019-07-31")
"""Values planted in the tables of these tests; none may ever be seen outside."""

PERSON = dp.Person("pid", max_rows=3)


def table(unit: Any = None, **columns: Any) -> dp.Curator:
    """A private table ``t`` whose rows hold nothing but secrets, beside a public ``p``."""
    rows = {
        "pid": [271828182845, 271828182845, 2],
        "w": ["A", "Zaphod-7731", "B"],
        "x": [1, 271828182845, 3],
        "y": [0.5, 3.14159265358, float("nan")],
        "note": ["Zaphod-7731", "2019-07-31", "3.14159265358"],
    }
    return curator(pl.DataFrame({**rows, **columns}), unit=unit or PERSON)


COLUMNS: Mapping[str, Any] = {
    "w": dp.Category(["A", "B"]),
    "x": dp.Number(0, 10),
    "y": dp.Number(0.0, 1.0),
}


def curator(source: object, *, unit: Any = PERSON, columns: Any = None, **more: Any) -> dp.Curator:
    """A curator with real noise and a ledger in memory."""
    return dp.Curator(
        t=dp.table(source, unit=unit, columns=COLUMNS if columns is None else columns),
        p=dp.public(pl.DataFrame({"w": ["A", "B"], "r": ["n", "s"]})),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        **more,
    )


def ask(asked: dp.Curator, sql: str) -> Any:
    """One question at epsilon one."""
    return asked.sql(sql, spend=dp.PureDP(epsilon=1))


def spent(asked: dp.Curator) -> float:
    """Epsilon so far."""
    return float(asked.spent.epsilon)  # type: ignore[attr-defined]


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error with its causes and contexts, suppressed ones too."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def words(error: BaseException) -> str:
    """All that an error says."""
    return " ".join(f"{part!r} {part} {vars(part)}" for part in chain(error))
