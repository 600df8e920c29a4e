"""SQL over answers: what plain SQL says about the released numbers, with the noise they have."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.identity.identity import canonical_text
from discreet.relational.plan.query import QueryOverAnswers
from discreet.release import Release

SPEND = dp.PureDP(epsilon=1)
COLUMNS: dict[str, Any] = {
    "ward": dp.Category(["a", "b", "c"]),
    "sex": dp.Category(["f", "m"]),
    "month": dp.Number(1, 6),
    "age": dp.Number(0, 110),
}
WARDS = pl.DataFrame(
    {"ward": ["a", "a", "b", "d"], "site": ["x", "y", "x", None], "beds": [10, 20, 5, 1]}
)
PAID = "SELECT ward, month, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward, month"


def table() -> pl.DataFrame:
    number = np.arange(3000)
    return pl.DataFrame(
        {
            "ward": [("a", "b", "c")[n * n % 7 % 3] for n in number],
            "sex": [("f", "m")[n % 5 % 2] for n in number],
            "month": number % 6 + 1,
            "age": number * 7 % 100,
        }
    )


@pytest.fixture(scope="module")
def curator() -> dp.Curator:
    return dp.Curator(
        visits=dp.table(table(), unit=dp.Row(), columns=COLUMNS),
        p=dp.public(WARDS),
        budget=dp.PureDP(epsilon=100_000),
        ledger=dp.ledger.Memory(),
    )


def rows(release: Release, names: list[str]) -> list[tuple[Any, ...]]:
    columns = release.to_dict()
    return list(zip(*(columns[name] for name in names), strict=True))


FORMS = {
    "sum": "SELECT SUM(n) AS x FROM t",
    "mean": "SELECT AVG(n) AS x FROM t",
    "extremes": "SELECT MIN(n) AS low, MAX(n) AS high, MEDIAN(n) AS mid FROM t",
    "how many": "SELECT COUNT(*) AS k, COUNT(n) AS l, COUNT(DISTINCT ward) AS w FROM t",
    "by key": "SELECT ward, SUM(n) AS x FROM t GROUP BY ward ORDER BY ward",
    "by number of column": "SELECT month, SUM(s) AS x FROM t GROUP BY 1 ORDER BY 1 DESC",
    "by expression": "SELECT month > 3 AS late, SUM(n) AS x FROM t GROUP BY late ORDER BY 1",
    "filtered": "SELECT SUM(n) FILTER (WHERE month < 3) AS x FROM t",
    "having": "SELECT ward, SUM(n) AS x FROM t GROUP BY ward HAVING SUM(n) > 900 ORDER BY 2, 1",
    "ratio of sums": "SELECT ward, SUM(s) / SUM(n) AS x FROM t GROUP BY ward ORDER BY ward",
    "where": "SELECT ward, month, n FROM t WHERE n > 160 AND month <> 2 ORDER BY n, ward, month",
    "share": "SELECT ward, month, n / SUM(n) OVER () AS x FROM t ORDER BY ward, month",
    "share of a part": (
        "SELECT ward, month, n / SUM(n) OVER (PARTITION BY ward) AS x FROM t ORDER BY 1, 2"
    ),
    "running": (
        "SELECT ward, month, SUM(n) OVER (PARTITION BY ward ORDER BY month) AS x "
        "FROM t ORDER BY ward, month"
    ),
    "moving": (
        "SELECT month, ward, AVG(n) OVER (PARTITION BY ward ORDER BY month "
        "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS x FROM t ORDER BY ward, month"
    ),
    "neighbours": (
        "SELECT ward, month, n - LAG(n) OVER (PARTITION BY ward ORDER BY month) AS x, "
        "LEAD(n, 2, 0) OVER (PARTITION BY ward ORDER BY month) AS y FROM t ORDER BY ward, month"
    ),
    "ranks": (
        "SELECT ward, month, RANK() OVER (ORDER BY month DESC) AS r, DENSE_RANK() OVER "
        "(ORDER BY month) AS d, ROW_NUMBER() OVER (PARTITION BY ward ORDER BY n, month) AS k, "
        "NTILE(4) OVER (PARTITION BY ward ORDER BY month) AS q FROM t ORDER BY ward, month"
    ),
    "first and last": (
        "SELECT ward, month, FIRST_VALUE(n) OVER (PARTITION BY ward ORDER BY month) AS f, "
        "LAST_VALUE(n) OVER (PARTITION BY ward ORDER BY month) AS l FROM t ORDER BY ward, month"
    ),
    "qualify": (
        "SELECT ward, month, n FROM t QUALIFY ROW_NUMBER() OVER "
        "(PARTITION BY ward ORDER BY n DESC, month) = 1 ORDER BY ward"
    ),
    "rollup of an answer": "SELECT ward, SUM(n) AS x FROM t GROUP BY ROLLUP (ward) ORDER BY ward",
    "distinct": "SELECT DISTINCT ward FROM t ORDER BY ward DESC",
    "joined": (
        "SELECT a.ward, a.month, a.n - b.n AS x FROM t AS a JOIN t AS b "
        "ON a.ward = b.ward AND a.month = b.month + 1 ORDER BY 1, 2"
    ),
    "left joined": (
        "SELECT a.ward, a.month, b.n AS x FROM t AS a LEFT JOIN t AS b "
        "ON a.ward = b.ward AND a.month = b.month + 1 ORDER BY a.ward, a.month"
    ),
    "USING": "SELECT ward, month, a.n + b.s AS x FROM t a JOIN t b USING (ward, month) "
    "ORDER BY 1, 2",
    "union": "SELECT ward, n FROM t WHERE month = 1 UNION ALL "
    "SELECT ward, s FROM t WHERE month = 2 ORDER BY ward, n",
    "except": "SELECT ward FROM t EXCEPT SELECT ward FROM t WHERE ward = 'a' ORDER BY ward",
    "intersect": "SELECT month FROM t INTERSECT SELECT month FROM t WHERE month < 3 ORDER BY 1",
    "scalar": "SELECT ward, month, n / (SELECT SUM(n) FROM t) AS x FROM t ORDER BY 1, 2",
    "compared": "SELECT ward, month FROM t WHERE n > (SELECT AVG(n) FROM t) ORDER BY ward, month",
    "nested": (
        "SELECT AVG(x) AS y FROM (SELECT ward, SUM(n) AS x FROM (SELECT * FROM t) GROUP BY ward)"
    ),
    "limit": "SELECT ward, month, n FROM t ORDER BY n DESC, ward, month LIMIT 3 OFFSET 2",
    "labels": "SELECT upper(ward) AS w, SUM(n) AS x FROM t GROUP BY upper(ward) ORDER BY w",
    "public labels": "SELECT p.site, SUM(n) AS x FROM t JOIN p ON t.ward = p.ward GROUP BY p.site "
    "ORDER BY 1",
    "labels of some": "SELECT t.ward, t.month, p.site FROM t LEFT JOIN p ON t.ward = p.ward AND "
    "p.beds > 10 ORDER BY 1, 2, 3",
    "beside public rows": "SELECT COUNT(*) AS k, SUM(p.beds) AS b FROM t CROSS JOIN p",
    "beside a public number": "SELECT ward, month, n / q.m AS x FROM t CROSS JOIN (SELECT "
    "SUM(beds) AS m FROM p) AS q ORDER BY 1, 2",
    "public rows compared": "SELECT COUNT(*) AS k FROM p WHERE beds * 40 < (SELECT MAX(n) FROM t)",
    "case": (
        "SELECT CASE WHEN month < 4 THEN 'first' ELSE 'second' END AS half, SUM(n) AS x "
        "FROM t GROUP BY half ORDER BY half"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_engine_says_the_same_about_the_released_numbers(curator: dp.Curator, form: str) -> None:
    paid = curator.sql(PAID, spend=SPEND)
    before = curator.spent
    made = curator.sql(f"WITH t AS ({PAID}) {FORMS[form]}", spend=SPEND)
    assert curator.spent == before, "what was paid for is read again for nothing"
    plain = duckdb.connect()
    frame = pl.DataFrame({name: paid.to_dict()[name] for name in ("ward", "month", "n", "s")})
    plain.register("t", frame)
    plain.register("p", WARDS)
    found = plain.execute(FORMS[form])
    names = [column[0] for column in found.description]
    expected = found.fetchall()
    got = rows(made, names)
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        for a, b in zip(one, other, strict=True):
            same = a == b if a is None or isinstance(b, str | None) else math.isclose(a, b)
            assert same, (one, other)


def test_a_sum_has_the_noise_of_all_and_a_difference_with_itself_none(curator: dp.Curator) -> None:
    paid = curator.sql(PAID, spend=SPEND)
    cells = [paid.cell("n", ward=w, month=m) for w in "abc" for m in range(1, 7)]
    made = curator.sql(f"SELECT SUM(n) AS x, SUM(n) - SUM(n) AS zero FROM ({PAID})", spend=SPEND)
    x, zero = made["x"], made["zero"]
    assert (x.lower[0], x.upper[0]) == sum(cells).interval()  # type: ignore[index,union-attr]
    assert (zero.lower[0], zero.upper[0]) == (0, 0)  # type: ignore[index]


def test_a_share_of_a_total_knows_that_it_is_part_of_it(curator: dp.Curator) -> None:
    paid = curator.sql(PAID, spend=SPEND)
    cells = [paid.cell("n", ward=w, month=m) for w in "abc" for m in range(1, 7)]
    made = curator.sql(
        f"SELECT ward, month, n / SUM(n) OVER () AS x FROM ({PAID}) ORDER BY ward, month",
        spend=SPEND,
    )
    low, high = (cells[0] / sum(cells)).interval()  # type: ignore[operator]
    # Two ways to the same ends: in 25 releases they were apart by .0065 of the width at most.
    near = 2e-2 * (high - low)
    assert made["x"].lower[0] == pytest.approx(low, abs=near)  # type: ignore[index]
    assert made["x"].upper[0] == pytest.approx(high, abs=near)  # type: ignore[index]


@pytest.mark.parametrize("far", [0, 100_000])
def test_a_choice_is_sure_only_where_noise_leaves_no_doubt(curator: dp.Curator, far: int) -> None:
    """At the number itself the truth may lie in either branch; false alarm 1e-6."""
    made = curator.sql(
        f"SELECT CASE WHEN COUNT(*) > {table().height + far} THEN 1 ELSE 0 END AS x FROM visits",
        spend=SPEND,
    )
    ends = made["x"].lower[0], made["x"].upper[0]  # type: ignore[index]
    assert ends == ((0, 0) if far else (0, 1))


SUBTOTALS = {
    "ROLLUP (ward, month)": 3 * 6 + 3 + 1,
    "CUBE (ward, month)": 3 * 6 + 3 + 6 + 1,
    "GROUPING SETS ((ward), (month), ())": 3 + 6 + 1,
    "ward, ROLLUP (month)": 3 * 6 + 3,
}


@pytest.mark.parametrize("group", SUBTOTALS)
def test_subtotals_cost_what_the_finest_groups_cost_and_add_up(
    curator: dp.Curator, group: str
) -> None:
    finest = curator.sql(PAID, spend=SPEND)
    before = curator.spent
    made = curator.sql(
        f"SELECT ward, month, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY {group}",
        spend=SPEND,
    )
    assert curator.spent == before
    assert len(made) == SUBTOTALS[group]
    for ward, month, n in rows(made, ["ward", "month", "n"]):
        parts = [
            count
            for w, m, count in rows(finest, ["ward", "month", "n"])
            if ward in (None, w) and month in (None, m)
        ]
        assert n == sum(parts), "totals are those of their parts"


def test_a_mean_of_several_cells_is_that_of_their_rows(curator: dp.Curator) -> None:
    made = curator.sql(
        "SELECT ward, AVG(age) AS m, GROUPING(ward) AS g FROM visits GROUP BY ROLLUP (ward)",
        spend=dp.PureDP(epsilon=10_000),
    )
    truth = table()["age"].mean()
    assert rows(made, ["g", "m"])[-1] == (1, pytest.approx(truth, abs=0.1))


def test_price_of_a_rollup_is_that_of_its_finest_grouping(curator: dp.Curator) -> None:
    text = "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY {}"
    plain = curator.preview(text.format("ward, sex"), spend=SPEND)
    rolled = curator.preview(text.format("ROLLUP (ward, sex)"), spend=SPEND)
    assert plain.price == rolled.price


@pytest.mark.parametrize(
    "aggregate", ["COUNT(DISTINCT age)", "MEDIAN(age)", "VAR_POP(age)", "MAX(age)"]
)
def test_what_does_not_add_up_is_refused_in_subtotals_and_free(
    curator: dp.Curator, aggregate: str
) -> None:
    before = curator.spent
    with pytest.raises(DiscreetError, match="unsupported_sql"):
        curator.sql(
            f"SELECT ward, {aggregate} AS x FROM visits GROUP BY ROLLUP (ward)", spend=SPEND
        )
    assert curator.spent == before


REFUSED = {
    "rows beside an answer": (
        "SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a "
        "JOIN visits v ON a.ward = v.ward"
    ),
    "a subquery of several rows": (
        "SELECT COUNT(*) / (SELECT COUNT(*) FROM visits GROUP BY ward) AS x FROM visits"
    ),
    "a window over rows": "SELECT SUM(age) OVER () AS x FROM visits",
    "rows of both": "SELECT ward FROM visits UNION ALL SELECT ward FROM visits",
    "an unknown column": "SELECT SUM(k) AS x FROM (SELECT COUNT(*) AS n FROM visits)",
    "an unknown function": "SELECT STDDEV(n) AS x FROM (SELECT ward, COUNT(*) AS n FROM visits "
    "GROUP BY ward)",
    "a window function that is none": "SELECT ward, UPPER(ward) OVER () AS x, COUNT(*) AS n "
    "FROM visits GROUP BY ward",
    "different numbers of columns": (
        "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*), SUM(age) FROM visits"
    ),
    "text beside numbers": (
        "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT MIN(ward) FROM (SELECT ward, COUNT(*) "
        "AS n FROM visits GROUP BY ward)"
    ),
    "RANGE of numbers": "SELECT month, SUM(COUNT(*)) OVER (ORDER BY month RANGE BETWEEN 1 "
    "PRECEDING AND CURRENT ROW) AS x FROM visits GROUP BY month",
    "IGNORE NULLS": "SELECT month, LAG(COUNT(*) IGNORE NULLS) OVER (ORDER BY month) AS x "
    "FROM visits GROUP BY month",
    "WITH RECURSIVE": "WITH RECURSIVE t AS (SELECT COUNT(*) AS n FROM visits) SELECT SUM(n) AS x "
    "FROM t",
    "FULL JOIN": "SELECT a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a FULL "
    "JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) b ON a.ward = b.ward",
    "names twice": "SELECT n, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
    "HAVING that is no condition": "SELECT SUM(n) AS x FROM (SELECT ward, COUNT(*) AS n FROM "
    "visits GROUP BY ward) HAVING SUM(n)",
    "constants alone": "SELECT (SELECT 1) AS x",
    "too many pairs": "SELECT COUNT(*) AS k FROM (SELECT ward, month, COUNT(*) AS n FROM visits "
    "GROUP BY ward, month) CROSS JOIN generate_series(1, 60000) AS g(k)",
    "private rows beside public ones": "SELECT COUNT(*) AS n FROM visits CROSS JOIN (SELECT "
    "SUM(beds) AS m FROM p JOIN visits ON p.ward = visits.ward) AS q",
    "too many pairs of public rows": "SELECT COUNT(*) AS n FROM visits, (SELECT COUNT(*) AS m FROM "
    "generate_series(1, 1001) AS a(x) CROSS JOIN generate_series(1, 1000) AS b(y)) AS q",
}
PRIVATE = {
    "no rows": "SELECT age FROM visits WHERE FALSE",
    "rows that public ones keep": "SELECT v.age FROM p LEFT JOIN visits v ON p.ward = v.ward",
    "rows after public ones": "SELECT beds FROM p UNION ALL SELECT age FROM visits",
    "rows in IN": "SELECT beds FROM p WHERE ward IN (SELECT ward FROM visits)",
    "rows in EXISTS": "SELECT beds FROM p WHERE EXISTS (SELECT 1 FROM visits WHERE age > 3)",
    "rows by the way": "SELECT beds, (SELECT MAX(age) FROM visits) AS m FROM p",
    "rows in HAVING": "SELECT COUNT(*) AS m FROM p HAVING COUNT(*) > (SELECT MAX(age) FROM visits)",
    "rows under a public name": "WITH p AS (SELECT age FROM visits) SELECT age FROM p",
}
REFUSED |= {
    f"{name}, beside an answer": "SELECT * FROM (SELECT COUNT(*) AS n FROM visits) AS a CROSS JOIN "
    f"({inner}) AS q"
    for name, inner in PRIVATE.items()
    if name != "rows in HAVING"
}
REFUSED |= {
    "a public name for private rows": "WITH p AS (SELECT age AS beds FROM visits) SELECT COUNT(*) "
    "AS n FROM p WHERE beds < (SELECT COUNT(*) FROM visits)",
    "a number for each public row": "SELECT COUNT(*) AS n FROM p WHERE beds < (SELECT COUNT(*) "
    "FROM visits v WHERE v.ward = p.ward)",
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_not_understood_is_refused_free(curator: dp.Curator, form: str) -> None:
    before = curator.spent
    with pytest.raises(DiscreetError) as refusal:
        curator.sql(REFUSED[form], spend=SPEND)
    assert refusal.value.code != "engine_failed"
    assert curator.spent == before


# Several answers in one question -----------------------------------------------------------------

SEVERAL = {
    "scalar": "SELECT ward, COUNT(*) / (SELECT COUNT(*) FROM visits) AS x FROM visits "
    "GROUP BY ward",
    "union": "SELECT 'young' AS k, COUNT(*) AS n FROM visits WHERE age < 50 UNION ALL "
    "SELECT 'old', COUNT(*) FROM visits WHERE age >= 50",
    "joined": "SELECT a.ward, a.n, b.n AS m FROM (SELECT ward, COUNT(*) AS n FROM visits WHERE "
    "sex = 'f' GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM visits WHERE sex = 'm' "
    "GROUP BY ward) b ON a.ward = b.ward",
}


@pytest.mark.parametrize("form", SEVERAL)
def test_several_answers_are_one_purchase_at_the_price_that_was_named(form: str) -> None:
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS, snapshot="one")
    ledger = dp.ledger.Memory()
    curator = dp.Curator(visits=visits, budget=dp.PureDP(epsilon=2), ledger=ledger)
    first = curator.sql(SEVERAL[form], spend=SPEND)
    assert curator.spent.epsilon == pytest.approx(1)  # type: ignore[attr-defined]
    assert first.event.epsilon(delta=0) <= 1 + 1e-9
    assert curator.sql(SEVERAL[form], spend=SPEND).to_json() == first.to_json()
    assert len([e for e in ledger.entries() if e.kind == "reserved"]) == 1
    assert curator.spent.epsilon == pytest.approx(1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("first", ["n", "m"])
def test_what_is_counted_and_what_is_chosen_is_paid_for_together(first: str) -> None:
    """The price is that of every part, whichever answer has it."""
    queries = {
        "n": "(SELECT COUNT(*) AS n FROM visits) AS a",
        "m": "(SELECT MEDIAN(age) AS m FROM visits) AS b",
    }
    sources = [queries[first], *(query for name, query in queries.items() if name != first)]
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS, snapshot="one")
    curator = dp.Curator(visits=visits, budget=dp.PureDP(epsilon=2), ledger=dp.ledger.Memory())
    made = curator.sql(f"SELECT n, m FROM {sources[0]} CROSS JOIN {sources[1]}", spend=SPEND)
    assert made.event.epsilon(delta=0) == pytest.approx(1)
    assert curator.spent.epsilon == pytest.approx(1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", SEVERAL)
def test_every_query_of_a_question_stays_within_a_part(form: str) -> None:
    """In each of several queries the divided table is replaced by its part."""
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS, snapshot="one")
    curator = dp.Curator(
        visits=visits, budget=dp.PureDP(epsilon=100_000), ledger=dp.ledger.Memory()
    )
    part = curator.partition("visits", by="sex", budget=dp.PureDP(epsilon=50_000))["f"]
    query = part.context.question(SEVERAL[form])
    assert len(query.parts) == 2
    for each in query.parts:
        assert isinstance(each.rows, PartitionFilter) or any(
            isinstance(step, PartitionFilter) for step in each.rows.inputs
        )


def test_every_query_of_a_question_is_held_to_the_policy() -> None:
    uses = {"filter": ["sex"], "group": ["ward"], "aggregate": []}
    policy = dp.Policy(max_spend={"epsilon": 2}, tables={"visits": uses})
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS)
    curator = dp.Curator(
        visits=visits,
        budget=dp.PureDP(epsilon=9),
        ledger=dp.ledger.Memory(),
        policy=policy,
    )
    curator.sql(SEVERAL["joined"], spend=SPEND)
    before = curator.spent
    hidden = "SELECT ward, COUNT(*) / (SELECT SUM(age) FROM visits) AS x FROM visits GROUP BY ward"
    for text in (hidden, SEVERAL["union"]):
        with pytest.raises(DiscreetError, match="policy_column"):
            curator.sql(text, spend=SPEND)
    assert curator.spent == before


@pytest.mark.parametrize("form", SEVERAL)
def test_no_query_of_a_question_is_hidden_from_identity_and_snapshot(form: str) -> None:
    visits = dp.table(table(), unit=dp.Row(), columns=COLUMNS)
    curator = dp.Curator(visits=visits, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory())
    query = curator.context.question(SEVERAL[form])
    assert isinstance(query, QueryOverAnswers)
    (other,) = query.others
    less = replace(query, others=(replace(other, rows=query.rows),))
    changed = replace(query, others=(replace(other, limit=7),))
    assert len({canonical_text(each) for each in (query, changed)}) == 2
    assert (less == query) is (other.rows == query.rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        "SELECT SUM(n) AS x FROM t",
        "SELECT n / SUM(n) OVER () AS x FROM t ORDER BY ward, month LIMIT 1",
        "SELECT SUM(s) / SUM(n) AS x FROM t",
        "SELECT n - LAG(n) OVER (ORDER BY ward, month) AS x FROM t ORDER BY ward, month LIMIT 1 "
        "OFFSET 1",
    ],
)
def test_intervals_hold_over_fresh_noise(curator: dp.Curator, form: str) -> None:
    """300 runs: a correct 95 % interval covers 91-98.7 % of them but for a probability of .002."""
    text = f"WITH t AS ({PAID}) {form}"
    truth = curator.sql(text, spend=dp.PureDP(epsilon=20_000))["x"].values[0]
    assert truth is not None
    held = []
    for number in range(300):
        made = curator.sql(text, spend=SPEND, analyst=f"analyst {form} {number}")["x"]
        held.append(made.lower[0] <= truth <= made.upper[0])  # type: ignore[index]
    assert 0.91 <= np.mean(held) <= 0.987
