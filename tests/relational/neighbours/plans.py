"""Questions put together from parts: where rows come from, keys, conditions and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Origin:
    """A FROM clause with the expressions that may be used above it.

    ``before`` stands before SELECT. ``person`` is the identifier, where it can be counted.
    """

    text: str
    numbers: Sequence[str]
    keys: Sequence[str]
    conditions: Sequence[str]
    before: str = ""
    person: str = ""


_NUMBERS = (
    *("t.x", "t.y", "t.x * 2 - 1", "t.x * t.x", "t.y / 2", "abs(t.x) + t.y", "t.x % 3"),
    "CASE WHEN t.f THEN t.x ELSE -t.x END",
    *("coalesce(t.y, 0.5)", "t.x // 2", "round(t.y, 1)", "least(t.x, 2)", "CAST(t.y AS BIGINT)"),
    *("year(t.d) - 2023", "sqrt(abs(t.y))", "sign(t.y)"),
)
_KEYS = (
    *("t.w", "t.c", "t.f", "t.x", "t.x > 1", "t.d", "bin(t.y, -1.5, 2.25, 3)", "t.x % 2"),
    *("month(t.d)", "CASE WHEN t.x > 0 THEN t.w END", "t.y IS NULL", "lower(t.w)"),
)
_CONDITIONS = (
    *("t.x > 0", "t.y < 1", "t.z > 0", "t.z <= 1e300 OR t.note = 'x'", "t.note LIKE '%x%'"),
    *("t.w IN ('A', 'é')", "t.d >= DATE '2024-01-01'", "NOT t.f", "t.c IS NULL", "t.y = t.y"),
    *("CAST(t.note AS BIGINT) > 0", "1 / t.x > 0.1", "ln(t.z) > 0", "t.z % t.x < 2", "t.x <> 1"),
    *("CAST(t.note AS DATE) IS NOT NULL", "t.x * t.x * t.x > 3", "t.z IS DISTINCT FROM t.y"),
)

SCAN = Origin("t", _NUMBERS, _KEYS, _CONDITIONS, person="t.pid")

ROWS = (
    SCAN,
    Origin(
        "t JOIN p ON t.w = p.w",
        (*_NUMBERS[:6], "p.weight", "p.rate", "t.x * p.weight"),
        (*_KEYS[:5], "p.region", "p.w", "p.weight"),
        (*_CONDITIONS[:5], "p.weight > 1"),
        person="t.pid",
    ),
    Origin(
        "t LEFT JOIN p ON p.w = t.w",
        (*_NUMBERS[:6], "p.weight", "coalesce(p.weight, -9)"),
        (*_KEYS[:3], "p.region"),
        (*_CONDITIONS[:5], "p.w IS NULL"),
        person="t.pid",
    ),
    Origin(
        "p JOIN t ON t.w = p.w AND t.x > p.weight",
        ("t.x", "p.weight"),
        ("p.region", "t.f"),
        _CONDITIONS[:3],
    ),
    Origin(
        "t JOIN bands ON t.x = bands.x LEFT JOIN p ON t.w = p.w",
        ("t.x", "t.y", "p.weight", "bands.x"),
        ("bands.band", "p.region", "t.f"),
        _CONDITIONS[:4],
    ),
    Origin(
        "(SELECT w, x AS v, y FROM t UNION ALL SELECT w, x, z FROM t WHERE f) AS s",
        ("s.v", "s.v + 1"),
        ("s.w", "s.v > 1", "s.v"),
        ("s.y > 0", "s.v <> 0"),
    ),
    Origin(
        "(SELECT w, x AS v FROM t UNION ALL SELECT w, weight FROM p) AS s",
        ("s.v", "s.v * 2"),
        ("s.v > 1", "s.v"),
        ("s.v <> 0", "s.w = 'A'"),
    ),
    Origin(
        "(SELECT DISTINCT w, x, y, note FROM t) AS s",
        ("s.x", "s.y"),
        ("s.w", "s.x"),
        ("s.note = 'x'", "s.x > 0"),
    ),
    Origin(
        "(SELECT x, f FROM t UNION SELECT x + 1, f FROM t WHERE w = 'A') AS s",
        ("s.x",),
        ("s.f", "s.x"),
        ("s.x > 0",),
    ),
    Origin(
        "(SELECT DISTINCT w, x FROM t WHERE z > 0) AS s JOIN p ON s.w = p.w",
        ("s.x", "p.weight"),
        ("s.w", "p.region"),
        ("s.x > 0",),
    ),
    Origin(
        "base AS s LEFT JOIN p ON s.w = p.w",
        ("s.v", "p.weight"),
        ("s.w", "p.region"),
        ("s.v > 0", "s.note IS NULL"),
        before="WITH raw AS (SELECT * FROM t), t AS (SELECT * FROM raw WHERE x > -2), "
        "base AS (SELECT w, x * 2 AS v, note FROM t) ",
    ),
    Origin(
        "t, p",
        ("t.x", "p.weight", "t.x * p.weight"),
        ("t.w", "p.region", "p.w", "t.f"),
        ("t.w = p.w", "t.x > p.weight", "p.weight > 1", "t.z > 0"),
    ),
    Origin(
        "p LEFT JOIN t ON t.w = p.w AND t.x > 0",
        ("t.x", "t.x * p.weight", "t.y"),
        ("p.region", "p.w", "t.f"),
        ("p.weight > 1", "t.x > 1", "t.z > 0 OR p.weight > 1"),
    ),
    Origin(
        "t FULL JOIN p USING (w)",
        ("t.x", "t.y"),
        ("w", "p.w", "p.region"),
        ("p.weight > 1", "w = 'A'", "p.w IS NULL"),
    ),
    Origin(
        "t JOIN (p JOIN bands ON p.weight = bands.x) ON t.w = p.w",
        ("t.x", "p.weight"),
        ("p.region", "bands.band", "t.w"),
        ("bands.x > 0", "t.x > bands.x"),
    ),
    Origin(
        "t LEFT JOIN (SELECT w, weight + 1 AS heavy, 1 AS one FROM p WHERE weight > 0) AS q "
        "ON t.w = q.w AND q.heavy > 1",
        ("t.x", "q.heavy", "coalesce(q.one, 3)"),
        ("t.w", "q.one", "t.f"),
        ("q.one IS NULL", "q.heavy > 2"),
    ),
    Origin(
        "t JOIN (VALUES ('A', 1), ('A', 2), ('é', 7)) AS q(w, n) ON t.w = q.w",
        ("t.x", "q.n", "t.x * q.n"),
        ("t.w", "q.n", "q.w"),
        ("q.n > 1", "t.x > q.n"),
    ),
    Origin(
        "t CROSS JOIN UNNEST([0, 1, 2]) AS q(n)",
        ("t.x", "q.n", "t.x - q.n"),
        ("q.n", "t.f"),
        ("t.x > q.n", "q.n = t.x", "q.n < 2"),
    ),
    Origin(
        "t LEFT JOIN UNNEST(string_split(t.note, '-')[1:2]) AS q(e) ON TRUE",
        ("t.x", "t.y", "least(length(q.e), 3)"),
        ("t.w", "t.f", "t.x"),
        ("q.e = '2024'", "q.e IS NULL", "length(q.e) > 1"),
        person="t.pid",
    ),
    Origin(
        "t JOIN p USING (w)",
        ("t.x", "p.weight"),
        ("w", "t.w", "p.w", "p.region"),
        ("p.w <> 'A'", "w IN ('A', 'é')"),
    ),
    Origin(
        "t",
        ("t.x", "t.y"),
        ("t.w", "t.x", "t.f"),
        (
            "t.w IN (SELECT w FROM p WHERE weight > 1)",
            "t.w NOT IN (SELECT w FROM p)",
            "t.x IN (SELECT x FROM bands)",
            "EXISTS (SELECT 1 FROM p WHERE p.w = t.w AND p.weight > 1)",
            "NOT EXISTS (SELECT 1 FROM p WHERE p.w = t.w AND p.weight = t.x)",
            "(t.w, t.x) IN (SELECT w, weight FROM p)",
            "t.x BETWEEN 1 AND 2 OR t.w IN (SELECT w FROM p)",
        ),
        person="t.pid",
    ),
)
"""Where rows of ``t`` come from, alone or with public tables."""

PEOPLE = (
    Origin(
        "t JOIN u ON t.pid = u.pid",
        ("t.x", "t.y", "u.v", "t.x - u.v"),
        ("t.w", "u.k", "t.f", "u.v"),
        ("t.note = u.note", "u.v > 1", "t.z > 0"),
        person="t.pid",
    ),
    Origin(
        "t LEFT JOIN u ON u.pid = t.pid",
        ("t.x", "u.v", "coalesce(u.v, 4)"),
        ("t.w", "u.k", "u.v IS NULL"),
        ("u.note IS NULL", "t.x > 0"),
        person="t.pid",
    ),
    Origin(
        "t JOIN u USING (pid) JOIN p ON t.w = p.w",
        ("t.x", "u.v", "p.weight"),
        ("t.w", "p.region"),
        ("u.v > p.weight", "t.x > 0"),
    ),
    Origin(
        "(SELECT pid, w, x AS n FROM t UNION ALL SELECT pid, k, v FROM u) AS s",
        ("s.n",),
        ("s.w", "s.n"),
        ("s.n > 0", "s.pid > 1"),
    ),
    Origin(
        "(SELECT DISTINCT t.w, u.v FROM t JOIN u ON t.pid = u.pid) AS s",
        ("s.v",),
        ("s.w", "s.v"),
        ("s.v > 0",),
    ),
)
"""Rows of two tables of the same people."""


ROUTED = (
    Origin("items AS t", ("t.q", "t.q * t.q"), ("t.w", "t.q"), ("t.q > 1", "t.oid > 2")),
    Origin(
        "items AS t JOIN p ON t.w = p.w",
        ("t.q", "p.weight"),
        ("t.w", "p.region"),
        ("t.q > 1",),
    ),
    Origin(
        "(SELECT w, q FROM items UNION ALL SELECT w, 1 FROM orders) AS s",
        ("s.q",),
        ("s.w", "s.q"),
        ("s.q > 1",),
    ),
    Origin(
        "(SELECT DISTINCT w, q FROM items) AS s",
        ("s.q",),
        ("s.w",),
        ("s.q > 1",),
    ),
)
"""Rows that reach their people through another table."""


LIMITED = (
    Origin(
        "t JOIN u ON t.pid = u.pid AND t.note = u.note",
        ("t.x", "u.v", "t.x - u.v"),
        ("t.w", "u.k", "t.f"),
        ("u.v > 1", "t.z > 0"),
        person="t.pid",
    ),
    Origin(
        "(SELECT pid, w, x AS n, 'a' AS s FROM t UNION ALL SELECT pid, w, x, 'b' FROM t "
        "UNION ALL SELECT pid, k, v, 'c' FROM u) AS s JOIN p ON s.w = p.w",
        ("s.n", "p.weight"),
        ("s.w", "s.n > 1", "p.region"),
        ("s.n > 0", "s.s <> 'b'"),
        person="s.pid",
    ),
    Origin(
        "(SELECT t.pid, t.w, u.v FROM t JOIN u USING (pid) UNION ALL SELECT pid, k, v FROM u) AS s",
        ("s.v",),
        ("s.w", "s.v"),
        ("s.v > 0",),
        person="s.pid",
    ),
    Origin(
        "(SELECT pid, COUNT(*) AS n, SUM(v) AS m FROM (SELECT pid, x AS v FROM t UNION ALL "
        "SELECT pid, v FROM u) AS q GROUP BY pid) AS s JOIN t ON s.pid = t.pid",
        ("s.n", "s.m", "t.x"),
        ("s.n", "t.w", "t.f"),
        ("s.n > 1", "t.x > 0"),
        person="t.pid",
    ),
)
"""Rows whose limits add up and multiply."""


LEVELS = (
    Origin(
        "items AS t JOIN orders AS o ON t.oid = o.oid",
        ("t.q", "t.q * 2"),
        ("t.w", "o.w", "t.q"),
        ("t.q > 1", "o.w = 'A'"),
    ),
    Origin(
        "(SELECT oid, w FROM items UNION ALL SELECT oid, w FROM items UNION ALL "
        "SELECT oid, w FROM orders) AS s",
        ("s.oid % 3",),
        ("s.w",),
        ("s.oid > 2",),
    ),
)
"""Rows of a table and of the one through which it reaches its people."""


KEYED = (
    Origin(
        "t JOIN u ON t.w = u.k",
        ("t.x", "t.y", "u.v", "t.x - u.v"),
        ("t.w", "t.f", "u.v"),
        ("t.note = u.note", "u.v > 1", "t.pid <> u.pid"),
    ),
    Origin(
        "t LEFT JOIN u ON t.note = u.note",
        ("t.x", "u.v", "coalesce(u.v, 4)"),
        ("t.w", "u.k", "u.v IS NULL"),
        ("u.note IS NULL", "t.x > 0"),
    ),
    Origin(
        "t JOIN u ON t.w = u.k AND t.note = u.note AND t.x > u.v",
        ("t.x", "u.v"),
        ("t.w", "t.f"),
        ("t.x > 0",),
    ),
    Origin(
        "t AS t JOIN t AS s ON t.w = s.w",
        ("t.x", "s.y", "t.x + s.x"),
        ("t.w", "s.f", "t.x > s.x"),
        ("t.x > 0", "s.note IS NULL", "t.pid <> s.pid"),
    ),
    Origin(
        "t AS t LEFT JOIN t AS s ON t.x = s.x LEFT JOIN p ON t.w = p.w",
        ("t.x", "s.x", "p.weight"),
        ("p.region", "s.f"),
        ("t.x > 0", "s.y > 0"),
    ),
    Origin(
        "t JOIN u ON t.w = u.k JOIN u AS r ON u.note = r.note",
        ("t.x", "r.v"),
        ("t.w", "r.k"),
        ("r.v > 0",),
    ),
    Origin(
        "(SELECT DISTINCT t.w, u.v FROM t JOIN u ON t.note = u.note) AS s",
        ("s.v",),
        ("s.w", "s.v"),
        ("s.v > 0",),
    ),
)
"""Private tables joined on another key than the person."""

_FEATURES = (
    "SELECT pid, COUNT(*) AS n, COUNT(y) AS m, COUNT(DISTINCT w) AS k, SUM(x) AS sx, SUM(y) AS sy, "
    "AVG(y) AS ay, MIN(x) AS lo, MAX(d) AS hi, FIRST(w ORDER BY d) AS fw, LAST(f ORDER BY x) AS lf,"
    " LAST(x ORDER BY y DESC) FILTER (WHERE f) AS lx FROM t"
)

FEATURES = (
    Origin(
        f"({_FEATURES} GROUP BY pid) AS s",
        ("s.n", "s.m", "s.sx", "s.sy", "s.ay", "s.lo", "s.lx", "s.sx / greatest(s.n, 1)"),
        ("s.n", "s.k", "s.fw", "s.lf", "s.lo", "s.hi", "bin(s.sy, -6, 9, 3)"),
        ("s.n > 1", "s.lf", "s.pid > 1", "s.sy > 0", "s.fw IS NULL"),
        person="s.pid",
    ),
    Origin(
        f"({_FEATURES} WHERE z > 0 OR note = 'x' GROUP BY pid HAVING COUNT(*) > 1) AS s "
        "JOIN p ON s.fw = p.w",
        ("s.n", "p.weight", "s.sy * p.weight"),
        ("p.region", "s.lf"),
        ("s.n > 1",),
        person="s.pid",
    ),
    Origin(
        f"({_FEATURES} GROUP BY pid) AS s LEFT JOIN "
        "(SELECT pid, SUM(v) AS sv, COUNT(*) AS c FROM u GROUP BY pid) AS r ON s.pid = r.pid",
        ("s.n", "r.sv", "coalesce(r.c, 0)", "s.sx - r.sv"),
        ("s.fw", "r.c", "r.sv IS NULL"),
        ("r.c > 1", "s.n > 1"),
        person="s.pid",
    ),
    Origin(
        f"({_FEATURES} GROUP BY pid) AS s JOIN t ON s.pid = t.pid",
        ("s.n", "t.x", "t.x - s.lo"),
        ("s.fw", "t.w"),
        ("t.x > s.lo",),
        person="t.pid",
    ),
    Origin(
        "(SELECT pid, w, f, COUNT(*) AS n, SUM(x) AS sx, STDDEV_POP(y) AS dy, MEDIAN(x) AS mx, "
        "MODE(c) AS oc FROM t GROUP BY pid, w, f) AS s",
        ("s.n", "s.sx", "s.dy", "s.mx", "least(s.sx, 4)"),
        ("s.w", "s.f", "s.n", "s.oc"),
        ("s.n > 1", "s.dy > 0", "s.w = 'A'"),
        person="s.pid",
    ),
    Origin(
        "(SELECT pid, w, x, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY x) AS r, LAG(x) OVER "
        "(PARTITION BY pid ORDER BY d) AS b, SUM(y) OVER (PARTITION BY pid, w ORDER BY x) AS z, "
        "LEAD(w) OVER (PARTITION BY pid ORDER BY y) AS e FROM t) AS s",
        ("s.x", "s.r", "s.b", "s.z", "s.x - s.b"),
        ("s.w", "s.e", "s.r", "s.b"),
        ("s.r = 1", "s.x > s.b", "s.e IS NULL"),
        person="s.pid",
    ),
    Origin(
        "(SELECT pid, w, x, (SELECT SUM(u.v) FROM u WHERE u.pid = t.pid) AS sv FROM t WHERE "
        "EXISTS (SELECT 1 FROM u WHERE u.pid = t.pid AND u.v > 1) OR x > 0) AS s",
        ("s.x", "s.sv", "coalesce(s.sv, 1)"),
        ("s.w", "s.sv IS NULL"),
        ("s.sv > 2", "s.x > 0"),
        person="s.pid",
    ),
    Origin(
        f"(SELECT DISTINCT n, fw FROM ({_FEATURES} GROUP BY pid) AS r) AS s",
        ("s.n",),
        ("s.fw",),
        ("s.n > 1",),
    ),
)
"""Features of each person's rows, asked about."""


def _aggregates(origin: Origin, *, people: bool) -> st.SearchStrategy[str]:
    number = st.sampled_from(origin.numbers)
    key = st.sampled_from(origin.keys)
    condition = st.sampled_from(origin.conditions)
    counted = [f"COUNT(DISTINCT {origin.person})"] if people and origin.person else []
    return st.one_of(
        *(st.just(text) for text in ("COUNT(*)", *counted)),
        number.map("COUNT({})".format),
        number.map("SUM({})".format),
        number.map("AVG({})".format),
        number.map("GEOMEAN(greatest({}, 0.5))".format),
        number.map("VARIANCE({})".format),
        number.map("MEDIAN({})".format),
        number.map("MAX({})".format),
        key.map("COUNT(DISTINCT {})".format),
        number.map("SUM(DISTINCT CAST({} AS BIGINT))".format),
        number.map("SUM({}, contribution_bounds_per_group => (-1, 2))".format),
        number.map("AVG({}, contribution_bounds_per_row => (0, 1.5))".format),
        st.tuples(number, number).map(lambda two: f"CORR({two[0]}, {two[1]})"),
        st.tuples(number, condition).map(lambda two: f"SUM({two[0]}) FILTER (WHERE {two[1]})"),
        condition.map("COUNT(*) FILTER (WHERE {})".format),
        condition.map("COUNT_IF({})".format),
    )


@st.composite
def plans(draw: st.DrawFn, origins: Sequence[Origin], *, people: bool = False) -> str:
    """A question over one of the origins; people are counted where rows belong to them."""
    origin = draw(st.sampled_from(origins))
    keys = draw(st.lists(st.sampled_from(origin.keys), max_size=2, unique=True))
    aggregates = _aggregates(origin, people=people)
    asked = draw(st.lists(aggregates, min_size=1, max_size=4, unique=True))
    condition = draw(st.none() | st.sampled_from(origin.conditions))
    named = [*keys, *(f"{text} AS a{place}" for place, text in enumerate(asked))]
    where = f" WHERE {condition}" if condition else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"{origin.before}SELECT {', '.join(named)} FROM {origin.text}{where}{group}"
