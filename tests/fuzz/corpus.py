"""Valid SQL texts, gathered from the documents and from the tests, for the tables of one curator.

A text is taken if the curator's own translation accepts it, so the corpus grows with the project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.database import Database
from discreet.relational.schema.declarations import Declaration
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.sql.privacy_clause import opened
from discreet.relational.sql.translate import question_from
from tests.relational.neighbours.plans import FEATURES, KEYED, PEOPLE, ROUTED, ROWS
from tests.relational.neighbours.tables import (
    ITEMS,
    ORDERS,
    PUBLIC,
    STAY_COLUMNS,
    STAYS,
    VISIT_COLUMNS,
    VISITS,
    frame,
)

_ROOT = Path(__file__).parents[2]
_PLACES = (
    *("docs/sql.md", "docs/joins.md", "docs/dataframes.md", "docs/discovered-keys.md"),
    *("tests/relational/sql/*.py", "tests/relational/neighbours/*.py"),
    *("tests/relational/frontends/*.py", "tests/relational/adversarial/test_values.py"),
)
_ADDED = (
    "SELECT drug, COUNT(DISTINCT patient) AS n FROM visits GROUP BY drug",
    "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 2",
    "SELECT APPROX_TOP_K(ward, 2) AS w FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6, max_groups_contributed=1, "
    "privacy_unit_column=patient) ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost DESC) AS q, MIN(age) AS a FROM visits",
    "SELECT bin(age, 0, 110, 11) AS k, SUM(cost) FILTER (WHERE note LIKE 'l%') AS s FROM visits "
    "WHERE day + INTERVAL 30 DAY > '2024-03-01' GROUP BY k HAVING s > 1 ORDER BY s LIMIT 3",
    "SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS a WHERE n > 1",
    "SELECT AVG(CASE WHEN age BETWEEN 18 AND 65 THEN round(cost, 2) ELSE power(age, 2) END) AS m, "
    "STDDEV_POP(cost) AS d, COVAR_SAMP(age, cost) AS c FROM visits WHERE note IN ('ok', 'late')",
    "SELECT SUM(n) AS s, MAX(n) FILTER (WHERE ward <> 'A') AS m FROM (SELECT ward, COUNT(*) AS n "
    "FROM visits GROUP BY ward) HAVING SUM(n) > 1",
    "SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY ward ORDER BY age ROWS BETWEEN 1 "
    "PRECEDING AND CURRENT ROW) AS x, LAG(SUM(cost), 2, 0) OVER (ORDER BY age) AS y, RANK() OVER "
    "(ORDER BY COUNT(*) DESC) AS r FROM visits WHERE age < 9 GROUP BY ward, age QUALIFY r < 7",
    "SELECT ward, age, COUNT(*) AS n, AVG(cost) AS m, GROUPING(ward) AS g FROM visits "
    "WHERE age < 5 GROUP BY ROLLUP (ward, age) ORDER BY n DESC LIMIT 5",
    "SELECT ward, SUM(cost) AS n FROM visits GROUP BY CUBE (ward) UNION ALL "
    "SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), ()) ORDER BY n",
    "WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward), b AS (SELECT ward, "
    "SUM(cost) AS s FROM visits GROUP BY ward) SELECT upper(a.ward) AS w, s / n AS m, "
    "n / (SELECT COUNT(*) FROM visits) AS k FROM a LEFT JOIN b ON a.ward = b.ward WHERE n > 0",
    "SELECT DISTINCT ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) EXCEPT "
    "SELECT ward FROM (SELECT ward, AVG(age) AS n FROM visits GROUP BY ward) WHERE n > 5",
)
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
_BEGINS = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)

_PERSON = dp.Person("pid", max_rows=3, max_groups=2)
_WORDS = {"w": dp.Category(["A", "B", "é"])}
_VISITS = [
    (1, "A", "p", True, 1, 0.5, date(2024, 1, 1), "x", 1.0),
    (1, "B", "q", None, 5, 2.0, date(2023, 12, 31), "1", -2.5),
    (2, "é", None, False, -3, -1.0, None, None, float("nan")),
    (3, None, "p", True, None, None, date(2024, 1, 2), "2024-02-29", 1e300),
]


def tables() -> dict[str, Table | PublicTable]:
    """The tables that texts of the documents and of the tests are about, with a few rows."""
    ids = np.array([1, 1, 2, 3])
    visits = {
        "patient": ids,
        "ward": np.array(["A", "B", "C", "A"]),
        "age": np.array([17, 50, 99, 3]),
        "cost": np.array([0.5, 100.0, 4_000.0, 12.25]),
        "day": np.array(["2024-01-01", "2024-06-30", "2024-12-31", "2024-02-29"], "datetime64[us]"),
        "note": np.array(["ok", "late", "ok", "x"]),
        "drug": np.array(["a", "b", "a", "a"]),
    }
    declared: dict[str, Declaration] = {
        "ward": dp.Category(["A", "B", "C"]),
        "age": dp.Number(0, 110),
        "cost": dp.Number(0, 5_000),
        "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
        "drug": dp.Discovered(),
    }
    cuts = {"w": 2, "x": 2, "note": 2}
    items = frame(ITEMS, [(1, 1, "A"), (2, 3, "B"), (1, 2, None)])
    orders = frame(ORDERS, [(1, 1, "A"), (2, 2, "B")])
    return {
        "t": dp.table(
            frame(VISITS, _VISITS), unit=_PERSON, columns=VISIT_COLUMNS, max_rows_per=cuts
        ),
        "u": dp.table(
            frame(STAYS, [(1, "A", 1, "x"), (2, "B", 4, "1")]),
            unit=_PERSON,
            columns=STAY_COLUMNS,
            max_rows_per={"k": 2, "note": 2},
        ),
        "orders": dp.table(orders, unit=_PERSON, columns=_WORDS),
        "items": dp.table(
            items,
            unit=dp.Person("oid", via="orders.pid", max_rows=3, max_groups=2),
            columns={**_WORDS, "q": dp.Number(0, 3)},
        ),
        "visits": dp.table(
            visits, unit=dp.Person("patient", max_rows=3, max_groups=2), columns=declared
        ),
        "wards": dp.public(
            pl.DataFrame({"ward": ["A", "B", "C"], "site": ["n", "s", "s"], "beds": [1, 2, 3]})
        ),
        **{name: dp.public(rows) for name, rows in PUBLIC.items()},
    }


def curator() -> dp.Curator:
    """A curator with real noise and room for any number of questions."""
    named: dict[str, Any] = {**tables()}
    return dp.Curator(
        **named,
        budget=dp.ApproxDP(epsilon=1e7, delta=0.5),
        ledger=dp.ledger.Memory(),
    )


@cache
def corpus() -> tuple[str, ...]:
    """Every text of the documents and tests that asks something of these tables."""
    database = Database(dp.DuckDB(threads=1), tables())
    try:
        found = dict.fromkeys((*_ADDED, *_origins(), *_texts()))
        return tuple(text for text in found if _accepted(text, database))
    finally:
        database.engine.close()


def _accepted(text: str, database: Database) -> bool:
    try:
        question_from(opened(text)[0], database)
    except DiscreetError:
        return False
    return True


def _origins() -> Iterator[str]:
    for origin in (*ROWS, *PEOPLE, *ROUTED, *KEYED, *FEATURES):
        key, number = origin.keys[0], origin.numbers[-1]
        yield f"{origin.before}SELECT {key}, AVG({number}) AS a FROM {origin.text} GROUP BY {key}"


def _texts() -> Iterator[str]:
    for pattern in _PLACES:
        for path in sorted(_ROOT.glob(pattern)):
            written = path.read_text(encoding="utf-8")
            sources = _BLOCK.findall(written) if path.suffix == ".md" else [written]
            for source in sources:
                yield from _strings(source)


def _strings(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if _BEGINS.match(text) and len(text) < 3_000:
                yield text
