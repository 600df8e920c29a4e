"""Questions with a public table whose partners were counted when it held less than now."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import polars as pl

import discreet as dp
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.nodes import PlanNode
from tests.relational.engine_with_rows import EngineWithRows
from tests.relational.neighbours.worlds import Stand, one

PRIVATE = pl.DataFrame({"z": [1, 1, 2, 3, None]})
PUBLIC = pl.DataFrame(
    {
        "z": [1, 1, 1, 2, 2, None, None],
        "w": ["b", None, "a", "b", "b", "c", "c"],
        "v": [5, 1, 7, 2, 4, 9, 9],
    }
)
"""At most three rows share a key, and seven there are in all."""

QUESTIONS = (
    "SELECT COUNT(*) AS n, SUM(p.v) AS s FROM t JOIN p ON t.z = p.z",
    "SELECT COUNT(*) AS n, COUNT(p.v) AS m FROM t LEFT JOIN p ON t.z = p.z",
    "SELECT p.w, COUNT(*) AS n FROM t JOIN p ON t.z = p.z AND t.z + 1 = p.z + 1 GROUP BY p.w",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.z = p.z",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.z < p.v",
    "SELECT COUNT(*) AS n FROM t JOIN p ON TRUE",
)


def with_partners(rows: Any, partners: int) -> Any:
    """A plan whose joins with public tables were priced for so many partners."""
    if not isinstance(rows, PlanNode) or not is_dataclass(rows):
        return rows
    below = {
        field.name: with_partners(getattr(rows, field.name), partners) for field in fields(rows)
    }
    made = replace(rows, **below)
    return replace(made, partners=partners) if isinstance(made, JoinedPublic) else made


def exact(home: EngineWithRows, partners: int | None) -> list[list[list[int]]]:
    """The exact numbers of each question, where it was priced for so many partners."""
    stand = Stand(one(PRIVATE, dp.Row(), {"z": dp.Number(0, 9)}, p=PUBLIC), home)
    try:
        return [_numbers(stand, text, partners) for text in QUESTIONS]
    finally:
        stand.close()
        home.close()


def _numbers(stand: Stand, text: str, partners: int | None) -> list[list[int]]:
    planned = stand.planned(text)
    if partners is not None:
        rows = with_partners(planned.query.rows, partners)
        planned = replace(planned, query=replace(planned.query, rows=rows))
    return [[int(value) for value in part] for part in stand.exact(planned).linear]


CUT: dict[int | None, list[list[list[int]]]] = {
    None: [[[8], [32]], [[10], [8]], [[2, 4, 0, 2]], [[8]], [[22]], [[35]]],
    0: [[[3], [4]], [[5], [3]], [[2, 1, 0, 0]], [[3]], [[0]], [[5]]],
    1: [[[3], [4]], [[5], [3]], [[2, 1, 0, 0]], [[3]], [[0]], [[5]]],
    2: [[[6], [18]], [[8], [6]], [[2, 4, 0, 0]], [[6]], [[2]], [[10]]],
}
"""The exact numbers, by the number of partners paid for: the first rows of a key by content count.

Five private rows: two with the key 1 (v: 1, 5, 7), one with 2 (v: 2, 4), one with 3, one without.
"""
