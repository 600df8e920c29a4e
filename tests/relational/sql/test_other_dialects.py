"""Words of other systems mean what they mean there, and nothing else in a text is touched."""

from __future__ import annotations

import math
import statistics
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.relational.sql.other_dialects import in_duckdbs_words

ROWS = pl.DataFrame(
    {
        "pid": [1, 1, 2, 3, 4, 4],
        "w": ["A", "B", "A", "A", "B", "B"],
        "x": [1, 2, 3, 4, None, 6],
        "y": [2.0, 4.0, 6.5, None, 1.0, 3.0],
        "note": ["a", None, "b", "c", None, None],
    }
)
# Fewer people are in both tables than in the first alone, so that IN is told from NOT IN.
OTHERS = pl.DataFrame({"pid": [1, 1, 7], "v": [1, 2, 3]})


@pytest.fixture
def curator() -> dp.Curator:
    unit = dp.Person("pid", max_rows=9)
    columns: dict[str, Any] = {
        "w": dp.Category(["A", "B"]),
        "x": dp.Number(0, 9),
        "y": dp.Number(0.0, 9.0),
    }
    return dp.Curator(
        t=dp.table(ROWS, unit=unit, columns=columns),
        s=dp.table(OTHERS, unit=unit, columns={"v": dp.Number(0, 9)}),
        p=dp.public(pl.DataFrame({"w": ["A", "A", "B"], "r": ["n", "n", "s"]})),
        budget=dp.PureDP(epsilon=10**9),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def numbers(curator: dp.Curator, sql: str) -> list[list[object]]:
    """The columns of an answer without noise."""
    release = curator.sql(sql, spend=dp.PureDP(epsilon=10**5))
    return [list(answer.values) for answer in release.answers]


SAME = {
    "SELECT TOP 1 w, COUNT(*) AS n FROM t GROUP BY w ORDER BY n DESC": (
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w ORDER BY n DESC LIMIT 1"
    ),
    "SELECT TOP (1) w, COUNT(*) AS n FROM t GROUP BY w ORDER BY n DESC -- the most": (
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w ORDER BY n DESC LIMIT 1"
    ),
    "SELECT SUM([x]) AS s FROM [t] WHERE [t].[w] = 'A'": "SELECT SUM(x) AS s FROM t WHERE w = 'A'",
    "SELECT COUNT(*) AS n FROM `main.t`": "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(*) AS n FROM memory.main.t": "SELECT COUNT(*) AS n FROM t",
    "SELECT SAFE_DIVIDE(SUM(x), COUNT(*)) AS r FROM t": "SELECT SUM(x) / COUNT(*) AS r FROM t",
    "SELECT VAR(x) AS v, STD(x) AS d FROM t": "SELECT VARIANCE(x) AS v, STDDEV(x) AS d FROM t",
    "SELECT COUNT(*) AS n FROM t SEMI JOIN s USING (pid)": (
        "SELECT COUNT(*) AS n FROM t WHERE pid IN (SELECT pid FROM s)"
    ),
    "SELECT COUNT(*) AS n FROM t LEFT ANTI JOIN s ON t.pid = s.pid": (
        "SELECT COUNT(*) AS n FROM t WHERE pid NOT IN (SELECT pid FROM s)"
    ),
    "SELECT COUNT(*) AS n FROM t NATURAL JOIN s": "SELECT COUNT(*) AS n FROM t JOIN s USING (pid)",
    "SELECT COUNT(*) AS n FROM t NATURAL LEFT JOIN s": (
        "SELECT COUNT(*) AS n FROM t LEFT JOIN s USING (pid)"
    ),
    "WITH c (a, b) AS (SELECT x, y FROM t) SELECT SUM(a) AS a, SUM(b) AS b FROM c": (
        "SELECT SUM(x) AS a, SUM(y) AS b FROM t"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT pid FROM t INTERSECT SELECT pid FROM s)": (
        "SELECT COUNT(DISTINCT pid) AS n FROM t WHERE pid IN (SELECT pid FROM s)"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT pid FROM t EXCEPT SELECT pid FROM s)": (
        "SELECT COUNT(DISTINCT pid) AS n FROM t WHERE pid NOT IN (SELECT pid FROM s)"
    ),
    "SELECT COUNT(note) AS n FROM t": "SELECT COUNT(*) AS n FROM t WHERE note IS NOT NULL",
    "SELECT COUNT(*) AS n FROM (SELECT x FROM t ORDER BY x DESC)": "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE x IN (y, 4)": (
        "SELECT COUNT(*) AS n FROM t WHERE x = y OR x = 4"
    ),
    "SELECT COUNT(*) AS n FROM t CROSS JOIN (SELECT 1 AS a UNION ALL SELECT 2)": (
        "SELECT 2 * COUNT(*) AS n FROM t"
    ),
    "SELECT COUNT(*) AS n FROM t JOIN (SELECT w FROM p GROUP BY w) AS q ON t.w = q.w": (
        "SELECT COUNT(*) AS n FROM t"
    ),
}


@pytest.mark.parametrize("sql", SAME)
def test_it_is_the_same_as_in_other_words(sql: str, curator: dp.Curator) -> None:
    with curator:
        assert numbers(curator, sql) == numbers(curator, SAME[sql])


def test_lines_through_points_are_over_rows_with_both_numbers(curator: dp.Curator) -> None:
    pairs = [(x, y) for x, y in ROWS.select("x", "y").rows() if x is not None and y is not None]
    xs, ys = zip(*pairs, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    asked = "SELECT REGR_SLOPE(y, x) AS a, REGR_INTERCEPT(y, x) AS b, REGR_COUNT(y, x) AS n FROM t"
    with curator:
        (a,), (b,), (n,) = numbers(curator, asked)
    assert (a, b, n) == pytest.approx((slope, intercept, len(pairs)))


def test_columns_without_a_name_that_look_alike_are_told_apart(curator: dp.Curator) -> None:
    with curator:
        release = curator.sql("SELECT SUM(x), SUM(x) FROM t", spend=dp.PureDP(epsilon=10**5))
        names = [answer.name.lower() for answer in release.answers]
        assert len(set(names)) == 2
        with pytest.raises(DiscreetError) as refused:  # the same name given twice is a mistake
            curator.sql("SELECT SUM(x) AS a, SUM(y) AS a FROM t", spend=dp.PureDP(epsilon=1))
    assert refused.value.code == "columns_not_distinct"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM t SEMI JOIN s ON pid = pid",
        "SELECT COUNT(*) AS n FROM t SEMI JOIN s",
        "SELECT COUNT(*) AS n FROM t NATURAL JOIN (SELECT v FROM s) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t ORDER BY random())",
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t ORDER BY x LIMIT 2)",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ON (pid) x FROM t ORDER BY x)",
        "SELECT COUNT(*) AS n FROM (SELECT pid, x FROM t EXCEPT SELECT pid, v FROM s)",
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t INTERSECT SELECT v FROM s)",
        "SELECT COUNT(*) AS n FROM elsewhere.main.t",
        "SELECT TOP 5 PERCENT w, COUNT(*) AS n FROM t GROUP BY w",
        "SELECT TOP 1 w, COUNT(*) AS n FROM t GROUP BY w LIMIT 2",
        "WITH c (a, b) AS (SELECT x FROM t) SELECT SUM(a) AS a FROM c",
    ],
)
def test_what_would_choose_or_mean_something_else_is_refused(sql: str, curator: dp.Curator) -> None:
    with curator:
        with pytest.raises(DiscreetError):
            curator.sql(sql, spend=dp.PureDP(epsilon=1))
        assert curator.spent == dp.PureDP(epsilon=0, unit=dp.Person("pid", max_rows=9))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'TOP 5 [a] `b.c`' FROM t",
        "SELECT a FROM t -- SELECT TOP 5 [a]",
        "SELECT list[1], t[i], unnest(['a', 'b']) FROM t",
        "SELECT date_trunc('month', day) FROM t",
        'SELECT "TOP 5" FROM t',
        "SELECT x[a] FROM t",
        "SELECT `a.b` FROM t",
    ],
)
def test_strings_comments_lists_and_names_stay_as_they_are(text: str) -> None:
    assert in_duckdbs_words(text) == text


@given(st.text(alphabet="SELECTOPFRM 15()[]`.,'\"-;date_truncMONTH\n", max_size=80))
def test_any_text_is_rewritten_or_left_alone_without_a_failure(text: str) -> None:
    made = in_duckdbs_words(text)
    assert isinstance(made, str)
    assert in_duckdbs_words(in_duckdbs_words(made)) == in_duckdbs_words(made)


def test_an_empty_path_is_no_path() -> None:
    assert in_duckdbs_words("SELECT 1 FROM `.t`") == "SELECT 1 FROM `.t`"


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 0.25, 0.9, 30.0])
def test_hyperbolic_functions_of_numbers(x: float, curator: dp.Curator) -> None:
    wanted = [math.sinh(x), math.cosh(x), math.tanh(x), math.asinh(x)]
    asked = ", ".join(
        f"{name}(COUNT(*) * 0 + ({x})) AS {name}" for name in ("sinh", "cosh", "tanh", "asinh")
    )
    with curator:
        found = [column[0] for column in numbers(curator, f"SELECT {asked} FROM t")]
    assert found == pytest.approx(wanted)
