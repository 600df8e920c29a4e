"""Answers beside public rows and over features of people; combinations; how large a join may be."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise.randomness import Noiseless
from discreet.relational.identity.identity import canonical_text

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


def table() -> pl.DataFrame:
    wards, sexes = ["a", "b", "c"] * 100, ["f", "m"] * 150
    months, ages = [1, 2, 3, 4, 5, 6] * 50, list(range(100)) * 3
    return pl.DataFrame({"ward": wards, "sex": sexes, "month": months, "age": ages})


@pytest.fixture(scope="module")
def curator() -> dp.Curator:
    return dp.Curator(
        visits=dp.table(table(), unit=dp.Row(), columns=COLUMNS),
        p=dp.public(WARDS),
        budget=dp.PureDP(epsilon=100_000),
        ledger=dp.ledger.Memory(),
    )


def test_answers_over_features_of_people_are_added_up_again() -> None:
    frame = pl.DataFrame({"pid": [1, 1, 2, 3, 3], "ward": ["a", "a", "b", "c", "c"]})
    source = dp.Curator(
        t=dp.table(
            frame,
            unit=dp.Person("pid", max_rows=3),
            columns={"ward": dp.Category(["a", "b", "c"])},
        ),
        p=dp.public(WARDS),
        budget=dp.PureDP(epsilon=1e6),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    modes = "SELECT pid, MODE(ward) AS w FROM t GROUP BY pid"
    counted = f"SELECT w, COUNT(*) AS n FROM ({modes}) AS f GROUP BY w"
    total = source.sql(f"SELECT SUM(n) AS n FROM ({counted}) AS a", spend=SPEND)
    assert total["n"].values == (3,)
    crossed = "SELECT COUNT(*) AS n, SUM(q.m) AS s FROM t, (SELECT COUNT(*) AS m FROM p) AS q"
    answer = source.sql(crossed, spend=SPEND)
    assert (answer["n"].values, answer["s"].values) == ((5,), (20,))


@pytest.mark.parametrize(
    ("asked", "plainly"),
    [
        ("COUNT(DISTINCT (ward, sex))", "COUNT(DISTINCT (ward, sex))"),
        ("COUNT(DISTINCT (ward, age))", "COUNT(DISTINCT (ward, age))"),
        ("COUNT(DISTINCT ward, age)", "COUNT(DISTINCT ward || CAST(age AS VARCHAR))"),
        (
            "COUNT(DISTINCT (ward, age)) FILTER (WHERE age > 1)",
            "COUNT(DISTINCT (ward, age)) FILTER (WHERE age > 1)",
        ),
        ("COUNT(DISTINCT (sex, age, ward))", "COUNT(DISTINCT (sex, age, ward))"),
    ],
)
def test_combinations_are_different_values_of_one_number(asked: str, plainly: str) -> None:
    wards, ages, sexes = ["a", "b", "c", None], [0, 1, 2, None], ["f", "m"]
    there = [(w, a, s) for w in wards for a in ages for s in sexes][3:] * 2
    frame = pl.DataFrame(there, schema=["ward", "age", "sex"], orient="row")
    columns = {name: COLUMNS[name] for name in ("ward", "sex")} | {"age": dp.Integer(0, 2)}
    source = dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns=columns),
        budget=dp.PureDP(epsilon=1e6),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    found = source.sql(f"SELECT {asked} AS n FROM t", spend=SPEND)["n"].values
    plain = duckdb.connect()
    plain.register("t", frame)
    assert found == plain.execute(f"SELECT {plainly} FROM t").fetchone()


def test_combinations_of_what_nobody_declared_are_refused() -> None:
    source = dp.Curator(
        t=dp.table(table(), unit=dp.Row(), columns={"ward": COLUMNS["ward"]}),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    asked = "(ward, CASE WHEN age > 3 THEN 1 ELSE 0 END)"
    with pytest.raises(DiscreetError, match="unsupported_sql"):
        source.sql(f"SELECT COUNT(DISTINCT {asked}) AS n FROM t", spend=SPEND)


def test_combinations_without_public_lists_are_refused() -> None:
    source = dp.Curator(
        t=dp.table(table(), unit=dp.Row(), columns={"age": dp.Number(0.0, 99.5)}),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    )
    for asked in ("(ward, sex)", "(age, month)", "()"):
        with pytest.raises(DiscreetError) as refusal:
            source.sql(f"SELECT COUNT(DISTINCT {asked}) AS n FROM t", spend=SPEND)
        assert refusal.value.code == "unsupported_sql"


DEEP = {
    "SELECT SUM(m) AS k FROM (SELECT ward, COUNT(*) AS m FROM p GROUP BY ward) AS z": 4,
    "SELECT MAX(m) AS k FROM (SELECT ward, SUM(COUNT(*)) OVER () AS m FROM p GROUP BY ward) z": 4,
    "SELECT SUM(m) AS k FROM (SELECT COUNT(*) AS m FROM p GROUP BY ROLLUP (ward)) AS z": 8,
}


@pytest.mark.parametrize("inner", DEEP)
def test_public_numbers_are_computed_however_deep(curator: dp.Curator, inner: str) -> None:
    asked = f"SELECT COUNT(*) AS n, SUM(q.k) AS s FROM visits, ({inner}) AS q"
    made = curator.sql(asked, spend=dp.PureDP(epsilon=1_000))
    (count,), (total,) = made["n"].values, made["s"].values
    assert total / count == pytest.approx(DEEP[inner], rel=0.01)  # type: ignore[operator]


def many(keys: int) -> dp.Curator:
    columns = {"k": dp.Number(1, keys), "m": dp.Number(1, 2)}
    frame = pl.DataFrame({"k": list(range(1, keys + 1)), "m": [1] * keys})
    return dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns=columns),
        names=dp.public(frame.with_columns(name=pl.col("k").cast(pl.String))),
        budget=dp.PureDP(epsilon=1e6),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


JOINS = {
    "three answers": (
        "SELECT a.k, a.n + b.n + c.n AS x FROM ({0}) a JOIN ({0}) b USING (k) JOIN ({0}) c USING "
        "(k) ORDER BY a.k",
        1_001,
    ),
    "labels of some keys": (
        "SELECT a.k, a.m, p.name FROM ({1}) a JOIN names p ON a.k = p.k AND p.m = 1",
        2_002,
    ),
    "beside their total": (
        "SELECT a.k FROM ({0}) a, (SELECT SUM(n) AS n FROM ({0})) s WHERE s.n > 9",
        1_001,
    ),
    "the first ones": ("SELECT a.k, b.k AS l FROM ({0}) a, (SELECT k FROM ({0}) LIMIT 2) b", 2_002),
    "added up again": (
        "SELECT a.m, b.k FROM ({1}) a JOIN (SELECT k, SUM(n) AS n FROM ({1}) GROUP BY k) b ON "
        "b.k = a.k",
        2_002,
    ),
}
BY_KEY = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
BY_BOTH = "SELECT k, m, COUNT(*) AS n FROM t GROUP BY k, m"


@pytest.mark.parametrize("form", JOINS)
def test_answers_of_many_keys_are_joined_where_a_row_meets_one_other(form: str) -> None:
    """Pairs of all rows would be more than a million; with one key fewer in ON they are."""
    text, rows_of_answer = JOINS[form]
    made = many(1_001).sql(text.format(BY_KEY, BY_BOTH), spend=SPEND)
    assert len(made) == rows_of_answer


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a.k FROM ({0}) a, ({0}) b",
        "SELECT a.k FROM ({0}) a JOIN ({0}) b ON a.k < b.k",
        "SELECT a.k FROM ({0}) a JOIN ({0}) b ON a.k + 0 = b.k OR a.n = b.n",
        "SELECT a.k FROM ({0}) a JOIN ({0}) b ON a.n = b.n",
        "SELECT a.k FROM ({1}) a JOIN ({1}) b ON a.m = b.m",
        "SELECT a.k FROM ({0}) a JOIN names p ON a.n = p.m",
        "SELECT a.k FROM ({0}) a JOIN (SELECT n FROM ({0})) b ON a.n = b.n",
    ],
)
def test_joins_that_might_look_at_more_pairs_are_refused_free(text: str) -> None:
    source = many(1_001)
    with pytest.raises(DiscreetError) as refusal:
        source.sql(text.format(BY_KEY, BY_BOTH), spend=SPEND)
    assert refusal.value.code == "too_many_keys"


def test_public_rows_beside_an_answer_are_part_of_the_question() -> None:
    text = "SELECT t.ward, p.beds FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t "
    text += "JOIN p ON t.ward = p.ward"
    beds: list[list[Any]] = [[1, 2], [1, 3], [1.0, 2.0], ["1", "2"], [True, False], [1, None]]
    known = set()
    for values in beds:
        curator = dp.Curator(
            visits=dp.table(table(), unit=dp.Row(), columns=COLUMNS),
            p=dp.public(pl.DataFrame({"ward": ["a", "b"], "beds": values})),
            budget=dp.PureDP(epsilon=1),
            ledger=dp.ledger.Memory(),
        )
        known.add(canonical_text(curator.context.question(text)))
    assert len(known) == len(beds)


PAIRED = "(SELECT a.k, COUNT(*) AS m FROM {0} a JOIN {1} b ON a.x < b.x GROUP BY a.k)"


def numbered(rows: int) -> pl.DataFrame:
    return pl.DataFrame({"k": [n % 7 for n in range(rows)], "x": list(range(rows))})


@pytest.fixture(scope="module")
def beside() -> dp.Curator:
    private = pl.DataFrame({"k": [n % 7 for n in range(100)]})
    return dp.Curator(
        v=dp.table(private, unit=dp.Row(), columns={"k": dp.Number(0, 7)}),
        small=dp.public(numbered(120)),
        large=dp.public(numbered(1_000)),
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
    )


def test_public_tables_are_joined_within_a_limit_before_anybody_pays(beside: dp.Curator) -> None:
    small, large = PAIRED.format("small", "small"), PAIRED.format("large", "large")
    ask = f"SELECT COUNT(*) AS n FROM v JOIN {small} p ON v.k = p.k"
    assert len(beside.sql(ask, spend=dp.PureDP(epsilon=1))) == 1
    spent = beside.remaining
    for text in (
        f"SELECT COUNT(*) AS n FROM v JOIN {large} p ON v.k = p.k",
        f"{ask} JOIN {small} q ON v.k = q.k",
    ):
        with pytest.raises(DiscreetError) as refusal:
            beside.sql(text, spend=dp.PureDP(epsilon=1))
        assert refusal.value.code == "public_join_too_large"
    assert beside.remaining == spent
    keyed = large.replace("a.x < b.x", "a.x = b.x")
    answered = beside.sql(
        f"SELECT COUNT(*) AS n FROM v JOIN {keyed} p ON v.k = p.k", spend=dp.PureDP(epsilon=1)
    )
    assert len(answered) == 1, "on a key it may be of any size"
