"""Which parts notice a unit: the exact answers of every part, with the unit and without it.

Answers are taken without noise, at one fixed salt for the partition; bounds on rows are so wide
that nothing else cuts. A part *notices* a change of the data if some answer in it changes. A
partition is sound if, for every pair of neighbours, the parts that notice the change, each at the
price of its budget, cost no more than what was charged above.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import polars as pl

import discreet as dp
from discreet.noise import Noiseless
from tests.curator.sub_budgets.amounts import used

WARDS = ("A", "B", "C")
SPEND = dp.PureDP(epsilon=1)
PERSON = dp.Person("pid", max_rows=50)
QUESTIONS = (
    "SELECT COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT pid) AS p FROM t",
    "SELECT w, COUNT(*) AS n FROM t GROUP BY w",
    "SELECT COUNT(*) AS n FROM t WHERE x > 2",
    "SELECT COUNT(*) AS n, SUM(t.x * u.v) AS s FROM t JOIN u ON t.pid = u.pid",
    "SELECT SUM(t.x + coalesce(u.v, 0)) AS s FROM t LEFT JOIN u ON t.pid = u.pid",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT w, x FROM t) AS q",
    "SELECT COUNT(*) AS n, SUM(q.x) AS s FROM (SELECT w, x FROM t UNION ALL SELECT w, 1 FROM t) q",
    "SELECT COUNT(*) AS n, SUM(weight) AS s FROM t JOIN p ON t.w = p.w",
)
ROWS = tuple(q for q in QUESTIONS if "pid" not in q)

Row = tuple[int, str | None, int]


def curator(rows: list[Row], unit: Any, others: list[tuple[int, int]] | None = None) -> dp.Curator:
    """A curator without noise over rows (person, ward, number), with another table of people."""
    schema = {"pid": pl.Int64, "w": pl.String, "x": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    columns: dict[str, Any] = {"w": dp.Category(WARDS), "x": dp.Number(0, 9)}
    tables: dict[str, Any] = {
        "t": dp.table(frame, unit=unit, columns=columns, snapshot="one"),
        "p": dp.public(pl.DataFrame({"w": ["A", "B", "C"], "weight": [1, 2, 3]})),
    }
    if others is not None:
        more = pl.DataFrame(others, schema={"pid": pl.Int64, "v": pl.Int64}, orient="row")
        tables["u"] = dp.table(more, unit=unit, columns={"v": dp.Number(0, 9)}, snapshot="one")
    return dp.Curator(
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
        engine=dp.DuckDB(threads=1),
        **tables,
    )


def answers(parts: Any, questions: tuple[str, ...]) -> dict[object, list[Any]]:
    """The exact answers of every part."""
    return {
        name: [list(parts[name].sql(query, spend=SPEND)) for query in questions] for name in parts
    }


def neighbours(rows: list[Row], unit: Any) -> Iterator[list[Row]]:
    """Without each unit; under Replace, each unit's rows under another's, for any two worlds."""
    inside = unit.unit if isinstance(unit, dp.Replace) else unit
    if isinstance(inside, dp.Row):
        yield from (rows[:place] + rows[place + 1 :] for place in range(len(rows)))
        return
    for person in sorted({row[0] for row in rows}):
        yield [row for row in rows if row[0] != person]


def worlds(rows: list[Row], unit: Any) -> list[tuple[list[Row], list[Row]]]:
    """Pairs of neighbours."""
    without = list(neighbours(rows, unit))
    if isinstance(unit, dp.Replace):
        return list(combinations(without, 2))
    return [(rows, other) for other in without]


def overspent(
    rows: list[Row], unit: Any, k: int | None, questions: tuple[str, ...] = QUESTIONS
) -> list[str]:
    """The pairs of neighbours for which the parts that notice cost more than was charged."""
    others = None if "pid" not in "".join(questions) else [(row[0], row[2]) for row in rows[::2]]
    known: dict[str, tuple[dict[object, list[Any]], float]] = {}

    def asked(world: list[Row]) -> tuple[dict[object, list[Any]], float]:
        key = repr(world)
        if key not in known:
            kept = None if others is None else [o for o in others if o[0] in {r[0] for r in world}]
            made = curator(world, unit, kept)
            parts = made.partition("t", by="w", budget=SPEND, k=k)
            known[key] = answers(parts, questions), used(made)
        return known[key]

    faults = []
    for left, right in worlds(rows, unit):
        (one, charged), (two, _) = asked(left), asked(right)
        noticed = [name for name in one if one[name] != two[name]]
        if len(noticed) * float(SPEND.epsilon) > charged:
            faults.append(f"{len(noticed)} parts notice, {charged} was charged")
    return faults
