"""SQL as the curator understands it: what is answered, with which stability, and what is not."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.noise import Noiseless
from tests.curator.tables import COLUMNS, by_person, by_row, visits

HALF = dp.PureDP(epsilon=0.5)


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "patient_id": list(range(60)),
            "sex": ["f" if person % 2 else "m" for person in range(60)],
        }
    )


def two_tables(unit: dp.Person | None = None) -> dp.Curator:
    person = unit or dp.Person("patient_id", max_rows=3, max_groups=3)
    return dp.Curator(
        visits=dp.table(visits(), unit=person, columns=COLUMNS),
        patients=dp.table(people(), unit=person, columns={"sex": dp.Category(["f", "m"])}),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def values(curator: dp.Curator, text: str, column: str = "n") -> tuple[Any, ...]:
    return curator.sql(text, spend=HALF)[column].values


def test_private_tables_join_on_the_person() -> None:
    text = (
        "SELECT sex, COUNT(*) AS n, COUNT(DISTINCT v.patient_id) AS p FROM visits v "
        "JOIN patients p ON v.patient_id = p.patient_id GROUP BY sex"
    )
    answer = two_tables().sql(text, spend=HALF)
    assert answer["n"].values == (90, 90)
    assert answer["p"].values == (30, 30)


def test_a_left_join_on_the_person_keeps_rows_without_partner() -> None:
    text = (
        "SELECT COUNT(*) AS n, COUNT(p.sex) AS s FROM visits v LEFT JOIN "
        "(SELECT patient_id, sex FROM patients WHERE sex = 'f') p "
        "ON v.patient_id = p.patient_id"
    )
    answer = two_tables().sql(text, spend=HALF)
    assert (answer["n"].values, answer["s"].values) == ((180,), (90,))


def test_private_tables_join_on_nothing_else() -> None:
    with pytest.raises(InvalidParameter, match="private_join"):
        two_tables().sql(
            "SELECT COUNT(*) AS n FROM visits v JOIN patients p ON v.age = p.patient_id",
            spend=HALF,
        )
    with pytest.raises(InvalidParameter, match="private_join"):
        by_row().sql(
            "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient_id = b.patient_id",
            spend=HALF,
        )


def test_a_table_reaches_the_person_through_a_foreign_key() -> None:
    orders = pl.DataFrame({"order_id": [1, 2, 3, 4], "customer_id": [7, 7, 8, None]})
    items = pl.DataFrame({"order_id": [1, 1, 2, 3, 4, 9], "price": [1, 2, 3, 4, 5, 6]})
    unit = dp.Person("customer_id", max_rows=2)
    curator = dp.Curator(
        orders=dp.table(orders, unit=unit, columns={}),
        items=dp.table(
            items,
            unit=dp.Person("order_id", max_rows=2, via="orders.customer_id"),
            columns={"price": dp.Number(0, 10)},
        ),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    assert values(curator, "SELECT COUNT(*) AS n FROM items") == (3,)
    joined = "SELECT COUNT(*) AS n FROM items JOIN orders USING (order_id) WHERE price > 1"
    assert values(curator, joined) == (3,)


def test_common_table_expressions_and_subqueries_are_inlined() -> None:
    text = """
        WITH dear AS (SELECT ward, cost * 2 AS double, age FROM visits WHERE cost > 20),
             old AS (SELECT * FROM dear WHERE age > 30)
        SELECT ward, SUM(double) AS n FROM (SELECT ward, double FROM old) x GROUP BY ward
    """
    frame = visits().filter((pl.col("cost") > 20) & (pl.col("age") > 30))
    wanted = [2 * frame.filter(pl.col("ward") == w)["cost"].sum() for w in "ABC"]
    assert values(by_row(), text) == pytest.approx(wanted)


def test_union_all_adds_up_stability() -> None:
    text = "SELECT COUNT(*) AS n FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits) u"
    assert values(by_row(), text) == (360,)
    assert by_row().explain(text).measures[0].l1 == 2


def test_distinct_bounds_people_first_and_forgets_whose_rows_they_are() -> None:
    text = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM visits) d"
    assert values(by_row(), text) == (len(visits().select("ward", "age").unique()),)
    plan = by_person().explain(text)
    assert plan.measures[0].l1 == 3
    assert any("at most 3 rows per person" in step.label for step in plan.steps)
    with pytest.raises(InvalidParameter, match="column_not_declared"):
        by_person().sql(
            "SELECT COUNT(DISTINCT patient_id) AS n FROM "
            "(SELECT DISTINCT patient_id, ward FROM visits) d",
            spend=HALF,
        )


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("year(day)", (2024,)),
        ("quarter(day)", (1, 2, 3, 4)),
        ("age > 40", (False, True)),
        ("CASE WHEN age < 40 THEN 'young' ELSE 'old' END", ("old", "young")),
        ("floor(cost / 50) * 50", (0.0, 50.0, 100.0, 150.0, 200.0)),
        ("ward || '!'", ("A!", "B!", "C!")),
    ],
)
def test_expressions_with_few_values_are_keys(key: str, keys: tuple[object, ...]) -> None:
    answer = by_row().sql(f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY k", spend=HALF)
    assert answer.keys["k"] == keys
    assert sum(answer["n"].values) == 180  # type: ignore[arg-type]


def test_two_keys_give_every_combination() -> None:
    answer = by_row().sql(
        "SELECT ward, age > 40 AS old, COUNT(*) AS n FROM visits GROUP BY ward, age > 40",
        spend=HALF,
    )
    assert len(answer) == 6
    assert sum(answer["n"].values) == 180  # type: ignore[arg-type]


def test_keys_of_one_public_table_are_the_combinations_that_occur_there() -> None:
    names = dp.public(pl.DataFrame({"ward": ["A", "B", "C"], "site": ["x", "x", "y"]}))
    curator = dp.Curator(
        visits=dp.table(visits(), unit=dp.Row(), columns=COLUMNS),
        names=names,
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    answer = curator.sql(
        "SELECT n.site, n.ward, COUNT(*) AS n FROM names n JOIN visits v ON v.ward = n.ward "
        "GROUP BY n.site, n.ward",
        spend=HALF,
    )
    assert len(answer) == 3


def test_quantiles_are_candidates_near_the_truth() -> None:
    frame = visits(people=600)
    table = dp.table(frame, unit=dp.Row(), columns=COLUMNS)
    curator = dp.Curator(visits=table, budget=dp.PureDP(epsilon=100), ledger=dp.ledger.Memory())
    answer = curator.sql(
        "SELECT MEDIAN(age) AS m, QUANTILE(age, 0.25) AS lo, QUANTILE(age, 0.75) AS hi, "
        "MAX(age) AS top, MIN(age) AS low FROM visits",
        spend=dp.PureDP(epsilon=50),
    )
    row = next(iter(answer))
    middle: Any = frame["age"].median()
    assert abs(row["m"] - middle) <= 3
    assert row["lo"] < row["m"] < row["hi"]  # type: ignore[operator]
    assert row["low"] <= 25  # type: ignore[operator]
    assert row["top"] >= 70  # type: ignore[operator]
    assert answer["m"].lower is None
    assert "rank" in answer["m"].note


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT COUNT(*) FROM nobody", "unknown_table"),
        ("SELECT SUM(agee) FROM visits", "unknown_column"),
        ("SELECT SUM(note) FROM visits", "type_clash"),
        ("SELECT SUM(patient_id) FROM visits", "column_not_declared"),
        ("SELECT note, COUNT(*) FROM visits GROUP BY note", "key_not_declared"),
        ("SELECT cost, COUNT(*) FROM visits GROUP BY cost", "keys_not_finite"),
        ("SELECT SUM(1 / cost) FROM visits", "missing_bound"),
        ("SELECT ward, COUNT(*) FROM visits", "not_grouped"),
        ("SELECT 1 AS one FROM visits", "no_aggregate"),
        ("SELECT DISTINCT ON (ward) ward FROM visits", "unsupported_sql"),
        (
            "SELECT COUNT(*) AS n FROM visits, (SELECT COUNT(*) AS m FROM wards) AS w",
            "unsupported_sql",
        ),
        ("SELECT COUNT(*) FROM visits; SELECT 1", "sql_syntax"),
        ("SELECT COUNT(* FROM visits", "sql_syntax"),
        ("DELETE FROM visits", "unsupported_sql"),
        ("SELECT COUNT(*) AS n FROM visits GROUP BY", "unsupported_sql"),
        ("SELECT COUNT(*) AS n FROM visits WHERE", "sql_syntax"),
        ("ATTACH 'x.db'", "unsupported_sql"),
        ("COPY visits TO 'x.csv'", "unsupported_sql"),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "unsupported_sql"),
        ("SELECT COUNT(*) FROM 'other.parquet'", "unknown_table|unsupported_sql"),
        ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", "unsupported_sql"),
        ("SELECT COUNT(*) OVER () FROM visits", "unsupported_sql"),
        ("SELECT COUNT(*) FROM (SELECT ward FROM visits LIMIT 5) v", "unsupported_sql"),
        ("SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)", "unsupported_sql"),
        ("SELECT COUNT(*) FROM visits, visits", "unsupported_sql|private_join"),
        ("SELECT QUANTILE(age, 2) FROM visits", "quantile_level"),
        ("SELECT COUNT(*) AS a, SUM(age) AS a FROM visits", "columns_not_distinct"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(text: str, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        by_row().sql(text, spend=HALF)
    assert refusal.value.code in code.split("|")
    assert refusal.value.remedy


def test_a_missing_bound_names_the_column_and_the_fix() -> None:
    with pytest.raises(DiscreetError, match=r"patient_id.*dp\.Number"):
        by_row().sql("SELECT AVG(patient_id) AS a FROM visits", spend=HALF)


def test_a_syntax_error_says_where() -> None:
    with pytest.raises(InvalidParameter, match="line 2, column 1: something is missing near WHERE"):
        by_row().sql("SELECT COUNT(*) AS n FROM visits\nWHERE", spend=HALF)
