"""Random SQL over one answer, against what an engine says about the released numbers.

False alarms: none; both compute from the same numbers. Orders end in the keys, so no tie is left.
"""

from __future__ import annotations

import math
import random
from collections import Counter

import duckdb
import polars as pl
import pytest

import discreet as dp
from tests.relational.post_processing.test_over_answers import COLUMNS, PAID, SPEND, rows, table

AGGREGATES = ("SUM", "AVG", "MIN", "MAX", "MEDIAN", "COUNT")
NUMBERS = ("n", "s", "n + s", "n - 2 * s", "s / n", "n * month", "round(s / 7)", "abs(n - 150)")
KEYS = ("ward", "month", "month > 3", "upper(ward)")
WINDOWS = (
    "SUM({0}) OVER (PARTITION BY ward ORDER BY month)",
    "AVG({0}) OVER (PARTITION BY month ORDER BY ward ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "{0} - LAG({0}) OVER (PARTITION BY ward ORDER BY month)",
    "LEAD({0}, 2, 0) OVER (PARTITION BY ward ORDER BY month DESC)",
    "RANK() OVER (ORDER BY month)",
    "MAX({0}) OVER ()",
    "COUNT(*) OVER (PARTITION BY ward)",
    "{0} / SUM(n) OVER (PARTITION BY ward)",
)
CONDITIONS = ("n > 150", "month BETWEEN 2 AND 5", "ward <> 'b'", "n > (SELECT AVG(n) FROM t)")


def grown(draw: random.Random, used: Counter[str]) -> str:
    """A random query over ``t``, and which clauses it has."""
    where = f" WHERE {draw.choice(CONDITIONS)}" if draw.random() < 0.5 else ""
    used.update(["where"] if where else [])
    if draw.random() < 0.5:
        keys = draw.sample(KEYS, draw.randint(0, 2))
        made = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        for place in range(draw.randint(1, 3)):
            name = draw.choice(AGGREGATES)
            used[name] += 1
            made.append(f"{name}({draw.choice(NUMBERS)}) AS x{place}")
        group = ", ".join(f"k{place}" for place in range(len(keys)))
        if group and set(keys) <= {"ward", "month"}:
            used["rollup"] += 1
            return f"SELECT {', '.join(made)} FROM t{where} GROUP BY ROLLUP ({', '.join(keys)})"
        used["group"] += bool(group)
        return f"SELECT {', '.join(made)} FROM t{where}" + (f" GROUP BY {group}" if group else "")
    made = ["ward", "month"]
    for place in range(draw.randint(1, 3)):
        window = draw.choice(WINDOWS)
        used["window"] += 1
        made.append(f"{window.format(draw.choice(NUMBERS[:4]))} AS x{place}")
    order = " ORDER BY ward, month DESC LIMIT 7" if draw.random() < 0.4 else ""
    used["order"] += bool(order)
    return f"SELECT {', '.join(made)} FROM t{where}{order}"


def close(a: object, b: object) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


@pytest.mark.parametrize("seed", range(3))
def test_random_queries_over_an_answer_are_what_an_engine_says(seed: int) -> None:
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS)
    curator = dp.Curator(visits=visits, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory())
    paid = curator.sql(PAID, spend=SPEND)
    spent = curator.spent
    plain = duckdb.connect()
    columns = paid.to_dict()
    plain.register("t", pl.DataFrame({name: columns[name] for name in ("ward", "month", "n", "s")}))
    draw, used = random.Random(seed), Counter[str]()
    for _ in range(60):
        text = grown(draw, used)
        found = plain.execute(text)
        names = [column[0] for column in found.description]
        made = rows(curator.sql(f"WITH t AS ({PAID}) {text}", spend=SPEND), names)
        for got, expected in zip(
            sorted(made, key=repr_of), sorted(found.fetchall(), key=repr_of), strict=True
        ):
            assert all(map(close, got, expected)), (text, got, expected)
    assert curator.spent == spent
    assert set(used) >= {"where", "group", "rollup", "window", "order", *AGGREGATES}


def repr_of(row: tuple[object, ...]) -> list[str]:
    return [
        f"{float(value):.6g}" if isinstance(value, int | float) else str(value) for value in row
    ]
