"""The questions that every engine must answer alike, and the settings in which they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import discreet as dp
from discreet.core.unit import Replace
from tests.relational.conformance.rows import people, routed, visits
from tests.relational.neighbours import tables
from tests.relational.neighbours import test_different_values as different_values
from tests.relational.neighbours import test_elements as elements
from tests.relational.neighbours import test_key_joins as key_joins
from tests.relational.neighbours import test_limits as limits
from tests.relational.neighbours import test_person_features as person_features
from tests.relational.neighbours import test_person_statistics as person_statistics
from tests.relational.neighbours import test_person_subqueries as person_subqueries
from tests.relational.neighbours import test_person_windows as person_windows
from tests.relational.neighbours import test_public_rows as public_rows
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.worlds import Setting
from tests.relational.sql import test_contribution_bounds as contribution_bounds

AGGREGATES = (
    *("COUNT(*)", "COUNT(y)", "COUNT(price)", "COUNT(DISTINCT x)", "COUNT(DISTINCT w)"),
    *("COUNT(DISTINCT y)", "COUNT(DISTINCT d)", "SUM(x)", "SUM(i)", "SUM(big)", "SUM(y)"),
    *("SUM(r)", "SUM(price)", "AVG(x)", "AVG(y)", "AVG(price)", "VARIANCE(y)", "STDDEV(i)"),
    *("CORR(x, y)", "COVAR_POP(x, r)", "MEDIAN(x)", "MEDIAN(y)", "MIN(i)", "MAX(y)"),
    *("quantile_cont(y, 0.25)", "quantile_cont(price, 0.9)", "MAX(r)", "COUNT_IF(x > 1)"),
    *("SUM(x) FILTER (WHERE f)", "COUNT(*) FILTER (WHERE note IS NULL)"),
    *("COUNT(told)", "SUM(told)"),
)
GEOMETRIC = (
    "SELECT GEOMEAN(greatest(y, 0.25)) AS a FROM t",
    "SELECT w, GEOMEAN(r + 0.5) AS a FROM t GROUP BY w",
    "SELECT f, GEOMEAN(x + 4) FILTER (WHERE x > 0) AS a FROM t GROUP BY f",
    "SELECT c, GEOMETRIC_MEAN(greatest(price, 0.01)) AS a FROM t GROUP BY c",
)
"""Sums of logarithms, which engines round in ways of their own."""
NUMBERS = (
    *("x + i", "x - i", "x * i", "x / 4", "i // 7", "i % 7", "i // -3", "-x", "abs(i)", "sign(i)"),
    *("y + r", "y * y", "y * r", "y / (r + 1)", "y % 0.4", "r % 3", "x * x", "abs(y) - r"),
    *("floor(y)", "ceil(y)", "trunc(y)", "round(y)", "round(y, 1)", "round(i, -2)", "round(r, 2)"),
    *("sqrt(r)", "floor(sqrt(abs(i)))", "floor(exp(y))", "round(power(r, 2), -1)"),
    *("least(x, i)", "greatest(y, 0.5)", "coalesce(y, 0.5)", "nullif(x, 5)", "coalesce(x, i, 9)"),
    *("CASE WHEN f THEN x ELSE -x END", "CASE WHEN y > 0 THEN y WHEN y < 0 THEN 1 END"),
    *("CAST(y AS BIGINT)", "CAST(r AS BIGINT)", "CAST(f AS INTEGER)", "CAST(x AS DOUBLE)"),
    *("length(w)", "length(c)", "year(d) - 2023", "month(d)", "day(d)", "week(d)"),
    *("hour(m)", "minute(m)", "second(m)", "hour(u)", "isodow(d)", "dow(m)", "quarter(d)"),
    *("dayofyear(d)", "date_diff('day', d, DATE '2024-03-01')", "date_diff('week', d, m)"),
    *("date_diff('month', d, m)", "date_diff('hour', m, u)", "date_diff('minute', u, m)"),
    *("bin(y, -1.5, 2.25, 3)", "width_bucket(r, 0, 10, 4)", "bin(i, -1000, 1000, 8)"),
)
CONDITIONS = (
    *("x > 0", "y < 1", "y = 0", "z > 0", "z <= 1e300", "z = z", "1 / z > 0.1", "z * z > 1"),
    *("z * 1e300 > 1", "z / 1e-300 > 0", "z + 1e308 > 1e308", "z - -1e308 > 0", "z * z * z < 0.1"),
    *("ln(z) > 0.5", "sqrt(z) > 0.4", "exp(z) > 2", "power(z, 2) > 0.05", "log10(z) > 100.5"),
    *(
        "z % 0.7 > 0.2",
        "big > 0",
        "big + 1 > big",
        "big * big > 1e36",
        "big // 3 > 5",
        "big % 2 = 1",
    ),
    *("big = 9007199254740993", "w = 'é'", "w = 'e\u0301'", "w > 'Z'", "w IN ('A', '日本')"),
    *("note LIKE '%a%'", "note LIKE '_'", "note LIKE 'a!%b' ESCAPE '!'", r"note LIKE '\'"),
    *("note ILIKE 'é%' OR note ILIKE 'à%'", "lower(note) = 'àé'", "upper(w) = 'É'"),
    *("upper(w) = 'ẞ'", "trim(note) = 'pad'", "note = ''", "length(note) > 3", "note < 'a'"),
    *("substring(note, 2, 2) = '-0' OR left(note, 1) = '-'", "note || w = 'xA'"),
    *("replace(note, 'a', '') = '%b'", "starts_with(note, '1')", "ends_with(note, 's')"),
    *("contains(note, '0')", "CAST(note AS BIGINT) > 0", "CAST(note AS DOUBLE) > 0"),
    *("CAST(note AS DATE) IS NOT NULL", "CAST(note AS TIMESTAMP) IS NOT NULL"),
    *("CAST(note AS BOOLEAN)", "CAST(x AS VARCHAR) = '5'", "CAST(d AS VARCHAR) LIKE '2024%'"),
    *(
        "CAST(m AS VARCHAR) LIKE '%.999999'",
        "CAST(f AS VARCHAR) = 'true'",
        "NOT f",
        "f IS NOT TRUE",
    ),
    *("c IS NULL", "c IS DISTINCT FROM 'p'", "x IS NOT DISTINCT FROM i", "x BETWEEN i AND 5"),
    *(
        "d >= DATE '2024-01-01'",
        "d + INTERVAL 1 MONTH > DATE '2024-02-01'",
        "d + INTERVAL 1 MONTH > d + INTERVAL 30 DAY",
        "d - INTERVAL 60 DAY < d",
    ),
    *("m > TIMESTAMP '2024-01-01 12:00:00'", "m + INTERVAL 90 MINUTE > u", "CAST(m AS DATE) = d"),
    *("date_trunc('week', d) = DATE '2023-12-25'", "date_trunc('hour', u) = u", "m = u"),
    *("make_date(2024, x, 29) IS NOT NULL", "make_date(i, x, 31) IS NULL", "x IN (1, 2, 5)"),
    *("r = 0.1", "r > 0.1", "price > 99.99", "price = 0.1", "price * 3 > 0.3", "pid > 4"),
    *("told > 9", "told < 1", "told = 7", "told IS NULL"),
)
KEYS = (
    *("w", "c", "f", "x", "w, c", "f, c", "x > 1", "d", "month(d)", "x % 2", "y IS NULL"),
    *("bin(y, -1.5, 2.25, 3)", "bin(i, -1000, 1000, 8)", "width_bucket(r, 0, 10, 4)", "lower(w)"),
    *("upper(w)", "length(w)", "substring(w, 1, 1)", "w || '-' || w", "date_trunc('month', d)"),
    *("date_trunc('week', d)", "year(d)", "isodow(d)", "hour(u)", "floor(y)", "round(r)"),
    *("CASE WHEN x > 0 THEN w END", "coalesce(c, 'q')", "nullif(x, 5)", "CAST(f AS INTEGER)"),
    *("round(price, -1)", "sign(y)", "w LIKE '%é%'", "CAST(x AS VARCHAR)"),
)
ORIGINS = (
    "SELECT p.region, COUNT(*) AS n, SUM(t.x) AS s FROM t JOIN p ON t.w = p.w GROUP BY p.region",
    "SELECT p.region, COUNT(*) AS n FROM t LEFT JOIN p ON t.w = p.w GROUP BY p.region",
    "SELECT COUNT(*) AS n, SUM(p.weight) AS s FROM t LEFT JOIN p USING (w) WHERE p.weight > 1",
    "SELECT p.w, p.region, COUNT(*) AS n FROM t JOIN p ON t.w = p.w GROUP BY p.w, p.region",
    "SELECT bands.band, COUNT(*) AS n FROM t JOIN bands ON t.x = bands.x GROUP BY bands.band",
    "SELECT days.kind, COUNT(*) AS n FROM t JOIN days ON t.d = days.d GROUP BY days.kind",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.w = p.w AND t.x > p.weight",
    "SELECT COUNT(*) AS n, SUM(p.rate) AS s FROM t JOIN p ON t.x > 0",
    "SELECT s.w, COUNT(*) AS n, SUM(s.v) AS t FROM (SELECT w, x AS v FROM t UNION ALL "
    "SELECT w, i FROM t WHERE f) AS s GROUP BY s.w",
    "SELECT s.v, COUNT(*) AS n FROM (SELECT w, x AS v FROM t UNION ALL SELECT w, weight FROM p) "
    "AS s GROUP BY s.v",
    "SELECT COUNT(*) AS n, SUM(s.x) AS t FROM (SELECT DISTINCT w, x, y, note FROM t) AS s",
    "SELECT s.w, COUNT(*) AS n, SUM(s.y) AS t FROM (SELECT DISTINCT w, y, z, r FROM t) AS s "
    "GROUP BY s.w",
    "SELECT s.f, COUNT(*) AS n FROM (SELECT x, f FROM t UNION SELECT x + 1 AS x, f FROM t) AS s "
    "GROUP BY s.f",
    "SELECT COUNT(*) AS n, MEDIAN(s.m) AS h FROM (SELECT DISTINCT hour(m) AS m, d, u FROM t) AS s",
    "WITH b AS (SELECT w, x * 2 AS v FROM t WHERE x > 0) SELECT w, SUM(v) AS s FROM b GROUP BY w",
)
PEOPLE = (
    "SELECT COUNT(DISTINCT pid) AS n FROM t",
    "SELECT w, COUNT(DISTINCT pid) AS n FROM t GROUP BY w",
    "SELECT t.w, COUNT(*) AS n, SUM(s.v) AS v FROM t JOIN s ON t.pid = s.pid GROUP BY t.w",
    "SELECT s.k, COUNT(*) AS n, SUM(t.x) AS v FROM t LEFT JOIN s ON t.pid = s.pid GROUP BY s.k",
    "SELECT p.region, COUNT(*) AS n FROM t JOIN s USING (pid) JOIN p ON t.w = p.w "
    "GROUP BY p.region",
    "SELECT u.w, COUNT(*) AS n, SUM(u.n) AS v FROM (SELECT pid, w, x AS n FROM t UNION ALL "
    "SELECT pid, k, v FROM s) AS u GROUP BY u.w",
    "SELECT u.w, COUNT(*) AS n FROM (SELECT DISTINCT t.w, s.v FROM t JOIN s ON t.pid = s.pid) AS u "
    "GROUP BY u.w",
    "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.pid = b.pid",
)
ROUTED = (
    "SELECT COUNT(*) AS n, SUM(q) AS s FROM items",
    "SELECT w, COUNT(*) AS n, SUM(q) AS s, MEDIAN(q) AS m FROM items GROUP BY w",
    "SELECT w, COUNT(*) AS n FROM orders GROUP BY w",
    "SELECT p.region, SUM(items.q) AS s FROM items JOIN p ON items.w = p.w GROUP BY p.region",
    "SELECT s.w, SUM(s.q) AS t FROM (SELECT w, q FROM items UNION ALL SELECT w, 1 FROM orders) "
    "AS s GROUP BY s.w",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT w, q FROM items) AS s",
)

ALONE = tuple(f"SELECT {text} AS a FROM t" for text in AGGREGATES)
GROUPED = tuple(f"SELECT w, {text} AS a FROM t GROUP BY w" for text in AGGREGATES)
SUMMED = tuple(f"SELECT SUM({text}) AS a FROM t" for text in NUMBERS)
COUNTED = tuple(f"SELECT COUNT(*) AS a FROM t WHERE {text}" for text in CONDITIONS)
KEYED = tuple(f"SELECT {text}, COUNT(*) AS n FROM t GROUP BY {text}" for text in KEYS)

_WIDE = dp.Person("pid", max_rows=1000, max_groups=100)
_NARROW = dp.Person("pid", max_rows=5, max_groups=2, max_rows_per_group=3)


def _told(unit: dp.Person, row: str) -> Setting:
    """The rows of one table are said to be told apart by a column; those of the other are not."""
    made = people(unit)
    first = replace(made.private["t"], unit=replace(unit, row=row))
    return replace(made, private={**made.private, "t": first})


CASES: Mapping[str, tuple[Callable[[], Setting], Sequence[str]]] = {
    "rows": (lambda: visits(dp.Row()), (*ALONE, *SUMMED, *COUNTED, *KEYED, *ORIGINS)),
    "replaced rows": (lambda: visits(Replace(dp.Row())), GROUPED),
    "no rows": (lambda: visits(dp.Row(), 0), (*ALONE[::2], *KEYED[:4], *ORIGINS[::3])),
    "people cut down": (
        lambda: people(_NARROW),
        (*ALONE[::3], *GROUPED, *KEYED[::2], *ORIGINS, *PEOPLE),
    ),
    "people whose rows are told apart by text": (
        lambda: _told(_NARROW, "note"),
        (*ALONE[::4], *GROUPED[::2], *PEOPLE),
    ),
    "people whose rows are told apart by a real number": (
        lambda: _told(_NARROW, "r"),
        (*GROUPED[::3], *PEOPLE),
    ),
    "people of one row": (lambda: people(dp.Person("pid", max_rows=1)), (*GROUPED[:12], *PEOPLE)),
    "people replaced": (lambda: people(Replace(_NARROW)), (*GROUPED[:12], *PEOPLE)),
    "people in one group": (
        lambda: people(dp.Person("pid", max_rows=9, max_groups=1)),
        (*GROUPED[:12], *PEOPLE),
    ),
    "through orders": (lambda: routed(max_rows=3, max_groups=2), ROUTED),
    "cut by another key": (
        lambda: tables.keyed(ONE_OF_EACH, key_joins.OTHERS, dp.Person("pid", max_rows=2), 1, 2),
        key_joins.QUESTIONS,
    ),
    "statistics of people": (
        lambda: person_statistics.crowd(person_statistics.MIXED, dp.Person("pid", max_rows=4)),
        (*person_statistics.QUESTIONS, *person_statistics.KEYED),
    ),
    "windows over people": (
        lambda: person_statistics.crowd(person_statistics.MIXED, dp.Person("pid", max_rows=4)),
        person_windows.QUESTIONS,
    ),
    "subqueries about people": (
        lambda: tables.both(ONE_OF_EACH, person_features.OTHERS, dp.Person("pid", max_rows=2)),
        person_subqueries.QUESTIONS,
    ),
    "different values": (
        lambda: different_values.table(
            different_values.MIXED, dp.Person("pid", max_rows=4, max_groups=1)
        ),
        different_values.QUESTIONS,
    ),
    "bounds in the text": (
        lambda: contribution_bounds.table(
            contribution_bounds.MIXED, dp.Person("pid", max_rows=3, max_groups=1)
        ),
        contribution_bounds.QUESTIONS,
    ),
    "elements of texts": (
        lambda: elements.table(elements.MIXED, dp.Person("pid", max_rows=3, max_groups=2)),
        (*elements.QUESTIONS, *elements.OF_PEOPLE),
    ),
    "elements of texts beside rows": (
        lambda: elements.table(elements.MIXED, dp.Row()),
        elements.QUESTIONS,
    ),
    "public rows": (
        lambda: tables.visits(ONE_OF_EACH, dp.Person("pid", max_rows=3)),
        public_rows.QUESTIONS,
    ),
    "public rows beside rows": (
        lambda: tables.visits(ONE_OF_EACH, dp.Row()),
        public_rows.QUESTIONS,
    ),
    "limits of each table": (
        lambda: tables.limited(
            ONE_OF_EACH,
            person_features.OTHERS,
            (dp.Person("pid", max_rows=3), dp.Person("pid", max_rows=1)),
            ["f"],
            {"note": 2},
        ),
        limits.QUESTIONS,
    ),
    "what is fixed for a person": (
        lambda: limits.sexes(dp.Person("pid", max_rows=3)),
        limits.BY_SEX,
    ),
    "features of people": (
        lambda: tables.visits(ONE_OF_EACH, dp.Person("pid", max_rows=3)),
        person_features.QUESTIONS,
    ),
}
"""Rows bounded so that much is cut: only the portable hash keeps the same ones everywhere."""

UNCUT: Mapping[str, tuple[Callable[[], Setting], Sequence[str]]] = {
    "people whole": (lambda: people(_WIDE), (*GROUPED[::2], *KEYED[:6], *ORIGINS[:10], *PEOPLE)),
    "orders whole": (lambda: routed(max_rows=1000, max_groups=100), ROUTED),
}
"""Bounds that nobody reaches: every hash keeps all rows."""
