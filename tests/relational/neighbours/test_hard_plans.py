"""Plans and rows picked by hand, where a bound is tight or an engine might surprise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from tests.relational.neighbours.tables import (
    FAR,
    INF,
    NAN,
    PUBLIC,
    VISIT_COLUMNS,
    VISITS,
    both,
    frame,
    routed,
    visits,
)
from tests.relational.neighbours.worlds import Private, Setting, breaches, one

WARDS = dp.Category(["A", "B", "C"])

ONE_OF_EACH = [
    (1, "A", "p", True, 5, 2.25, None, "x", NAN),
    (1, "A", None, False, -3, -1.5, None, "1", INF),
    (1, "B", "q", None, 5, NAN, None, "", -INF),
    (1, "é", "r", True, FAR, INF, None, None, 0.0),
    (1, "Z", "p", True, 1, 0.1, None, "nan", -0.0),
    (2, "A", "p", True, 5, 2.25, None, "x", 1.0),
    (2, "B", "q", False, 0, -0.0, None, "x", 1.0),
    (None, "A", "p", True, 5, 2.25, None, "x", 1.0),
    (FAR, None, None, None, None, None, None, None, None),
]

BOUNDS: list[dict[str, Any]] = [
    {"max_rows": 1},
    {"max_rows": 2},
    {"max_rows": 3, "max_groups": 1},
    {"max_rows": 3, "max_groups": 2},
    {"max_rows": 3, "max_groups": 2, "max_rows_per_group": 2},
    {"max_rows": 4, "max_groups": 3, "max_rows_per_group": 1},
    {"max_rows": 9, "max_groups": 9, "max_rows_per_group": 9},
    {"max_rows": 2, "max_rows_per_group": 5},
    {"max_rows": 5, "max_groups": 2, "max_rows_per_group": 2},
]
ALL_AGGREGATES = (
    "COUNT(*) AS n, COUNT(y) AS p, COUNT(DISTINCT x) AS d, COUNT(DISTINCT w) AS e, SUM(x) AS s, "
    "SUM(y) AS r, AVG(y) AS a, VARIANCE(x) AS v, MEDIAN(x) AS m, CORR(x, y) AS k, "
    "GEOMEAN(greatest(y, 0.5)) AS g, GEOMETRIC_MEAN(x + 4) FILTER (WHERE f) AS h"
)


@pytest.mark.parametrize("limits", BOUNDS, ids=str)
@pytest.mark.parametrize(
    "relation",
    [
        pytest.param(lambda unit: unit, id="removed"),
        pytest.param(Replace, id="replaced", marks=pytest.mark.slow),
    ],
)
def test_every_aggregate_under_every_bound(
    limits: dict[str, Any], relation: Callable[[dp.Person], PrivacyUnit]
) -> None:
    asked = f"{ALL_AGGREGATES}, COUNT(DISTINCT pid) AS u FROM t"
    questions = [f"SELECT {asked}"]
    questions += [f"SELECT {key}, {asked} GROUP BY {key}" for key in ("w", "c", "w, f", "x")]
    assert breaches(visits(ONE_OF_EACH, relation(dp.Person("pid", **limits))), *questions) == []


@pytest.mark.parametrize("unit", [dp.Row(), Replace(dp.Row())], ids=str)
@pytest.mark.parametrize(
    "origin",
    [
        "t",
        "t JOIN p USING (w)",
        "t LEFT JOIN p USING (w)",
        "(SELECT w, x, y, f FROM t UNION ALL SELECT w, x, y, f FROM t) AS t",
        "(SELECT DISTINCT w, x, y, f FROM t) AS t",
        "(SELECT w, x, y, f FROM t UNION SELECT w, x, y, f FROM t) AS t",
        "(SELECT t.w, t.x, t.y, t.f FROM t JOIN p ON t.w = p.w UNION ALL SELECT w, x, y, f FROM t)"
        " AS t",
    ],
)
def test_every_aggregate_over_every_origin(unit: PrivacyUnit, origin: str) -> None:
    listed = ALL_AGGREGATES.replace("COUNT(DISTINCT w)", "COUNT(DISTINCT f)")
    questions = [
        f"SELECT {listed} FROM {origin}",
        f"SELECT t.f, {listed} FROM {origin} GROUP BY t.f",
    ]
    assert breaches(visits(ONE_OF_EACH, unit), *questions) == []


def test_people_are_counted_once_in_each_group_they_are_bounded_to() -> None:
    setting = visits(ONE_OF_EACH, dp.Person("pid", max_groups=2))
    questions = [
        "SELECT COUNT(DISTINCT pid) AS n FROM t",
        "SELECT w, COUNT(DISTINCT pid) AS n FROM t GROUP BY w",
        "SELECT p.region, COUNT(DISTINCT t.pid) AS n FROM t JOIN p ON t.w = p.w GROUP BY p.region",
    ]
    assert breaches(setting, *questions) == []


def test_a_public_partner_for_every_row_multiplies_the_reach() -> None:
    public = pl.DataFrame({"w": ["A"] * 7 + ["B"], "tag": list("abcdefgh")})
    setting = one(frame(VISITS, ONE_OF_EACH), dp.Row(), VISIT_COLUMNS, p=public, q=public.head(3))
    questions = [
        "SELECT COUNT(*) AS n FROM t JOIN p ON t.w = p.w",
        "SELECT p.tag, COUNT(*) AS n, SUM(t.x) AS s FROM t JOIN p ON t.w = p.w GROUP BY p.tag",
        "SELECT COUNT(*) AS n, MEDIAN(t.x) AS m FROM t JOIN p ON t.w = p.w JOIN q ON q.w = p.w",
        "SELECT COUNT(*) AS n FROM t JOIN p ON t.x > 0",
    ]
    assert breaches(setting, *questions) == []


@pytest.mark.parametrize("limits", BOUNDS[:6], ids=str)
def test_fan_out_is_bounded_after_the_join(limits: dict[str, Any]) -> None:
    others = [
        (1, "A", 4, "x"),
        (1, "B", 4, "y"),
        (1, "é", 0, None),
        (2, "A", 1, "x"),
        (None, "A", 4, "x"),
    ]
    questions = [
        "SELECT COUNT(*) AS n, SUM(t.x) AS s, SUM(u.v) AS v FROM t JOIN u ON t.pid = u.pid",
        "SELECT u.k, COUNT(*) AS n, SUM(t.x) AS s FROM t LEFT JOIN u ON t.pid = u.pid GROUP BY u.k",
        "SELECT p.region, COUNT(*) AS n, SUM(u.v * p.weight) AS s FROM t JOIN u USING (pid) "
        "JOIN p ON t.w = p.w GROUP BY p.region",
        "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.pid = b.pid JOIN u ON b.pid = u.pid",
    ]
    assert breaches(both(ONE_OF_EACH, others, dp.Person("pid", **limits)), *questions) == []


@pytest.mark.parametrize("limits", BOUNDS[:6], ids=str)
def test_items_are_bounded_by_the_person_behind_their_order(limits: dict[str, Any]) -> None:
    orders = [(1, 7, "A"), (2, 7, "B"), (3, 8, "A"), (4, None, "A"), (5, 9, None)]
    items = [
        (1, 3, "A"),
        (1, 3, "A"),
        (2, 1, "B"),
        (2, FAR, "A"),
        (3, 2, "é"),
        (4, 3, "A"),
        (None, 3, "A"),
        (9, 3, "A"),
    ]
    questions = [
        "SELECT COUNT(*) AS n, SUM(q) AS s FROM items",
        "SELECT w, COUNT(*) AS n, SUM(q) AS s, MEDIAN(q) AS m FROM items GROUP BY w",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT w, q FROM items) AS s",
        "SELECT w, COUNT(*) AS n FROM (SELECT w FROM items UNION ALL SELECT w FROM orders) AS s "
        "GROUP BY w",
    ]
    assert breaches(routed(orders, items, **limits), *questions) == []


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([0.0, -0.0, 0.0, 1.5, NAN, -NAN, None, INF], dtype=pl.Float64),
        pl.Series(["", " ", "a", "A", "a", "a\u0301", None, "á"], dtype=pl.String),
        pl.Series([0, 255, 255, 1, 1, 2, None, 255], dtype=pl.UInt8),
        pl.Series([2**63 - 1, -(2**63), 0, 0, 1, 1, None, 2**63 - 1], dtype=pl.Int64),
        pl.Series([True, False, True, True, None, None, False, True], dtype=pl.Boolean),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_identifiers_of_any_type_say_who_is_who(ids: pl.Series) -> None:
    rows = pl.DataFrame({"pid": ids, "w": list("ABABABAB"), "x": [1, 2, 3, 1, 2, 3, 1, 2]})
    columns = {"w": WARDS, "x": dp.Number(0, 3)}
    unit = dp.Person("pid", max_rows=2, max_groups=1)
    query = "SELECT w, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT pid) AS u FROM t GROUP BY w"
    assert breaches(one(rows, unit, columns), query) == []


def test_distinct_and_bounding_take_no_account_of_other_people() -> None:
    """Shared combinations: who else has a row decides nothing about which of mine stay."""
    rows = pl.DataFrame(
        {"pid": [1, 1, 1, 2, 2, 2, 3, 3], "w": list("ABCABCAB"), "x": [1, 2, 3, 1, 2, 3, 1, 2]}
    )
    for most in (1, 2, 3):
        unit = dp.Person("pid", max_rows=most)
        columns = {"w": WARDS, "x": dp.Number(0, 3)}
        questions = [
            "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT w, x FROM t) AS q",
            "SELECT w, COUNT(*) AS n FROM (SELECT DISTINCT w, x FROM t) AS q GROUP BY w",
            "SELECT COUNT(*) AS n FROM (SELECT w FROM t UNION SELECT 'C' FROM t) AS q",
        ]
        for salt in range(3):
            assert breaches(one(rows, unit, columns), *questions, salt=salt) == []


def test_two_tables_with_public_rows_between_them() -> None:
    setting = Setting(
        {
            "t": Private(frame(VISITS, ONE_OF_EACH), dp.Row(), VISIT_COLUMNS),
            "s": Private(frame(VISITS, ONE_OF_EACH[:4]), dp.Row(), VISIT_COLUMNS),
        },
        PUBLIC,
    )
    questions = [
        "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT w, x FROM t UNION ALL "
        "(SELECT w, x FROM s UNION ALL SELECT w, weight FROM p)) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT w, x FROM t UNION SELECT w, x FROM s) AS q",
    ]
    assert breaches(setting, *questions) == []
