"""Which limits can act on an answer: each has a line of its own, and others have none.

Lines follow from the plan and the declarations: the same for every table of the same schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit
from discreet.relational.schema.declarations import Declaration
from discreet.release.active_limits import LimitKind, limit_text

VISITS = pl.DataFrame(
    {
        "patient": [1, 1, 1, 2, 3, 3],
        "ward": ["A", "B", "A", "A", "B", "B"],
        "day": [1, 2, 3, 1, 2, 2],
        "cost": [10.0, 20.0, 5000.0, 40.0, 50.0, 60.0],
    }
)
PEOPLE = pl.DataFrame({"patient": [1, 2, 3], "sex": ["f", "m", "f"]})
COLUMNS: dict[str, Declaration] = {
    "ward": dp.Category(["A", "B", "C"]),
    "day": dp.Integer(1, 4),
    "cost": dp.Number(0, 100),
}
ONE = dp.PureDP(epsilon=1)


def curator(
    unit: PrivacyUnit,
    visits: pl.DataFrame = VISITS,
    *,
    fixed_per_person: Sequence[str] = (),
    max_rows_per: Mapping[str, int] | None = None,
) -> dp.Curator:
    one = dp.Person("patient", max_rows=1)
    sexes = {"sex": dp.Category(["f", "m"])}
    people = dp.table(PEOPLE, unit=one, columns=sexes, snapshot="1")
    tables: dict[str, Any] = {
        "visits": dp.table(
            visits,
            unit=unit,
            columns=COLUMNS,
            snapshot="1",
            fixed_per_person=fixed_per_person,
            max_rows_per=max_rows_per,
        ),
        **({"people": people} if isinstance(unit, dp.Person) else {}),
    }
    return dp.Curator(
        budget=dp.ApproxDP(epsilon=1000, delta=0.1), ledger=dp.ledger.Memory(), **tables
    )


def acting(source: dp.Curator, sql: str) -> list[str]:
    answer = source.sql(sql, spend=ONE)
    facts = answer.statement["active_limits"]
    for fact in facts:
        assert f"limit: {limit_text(fact)}; not in ±" in str(answer).splitlines()
        assert limit_text(fact) in answer._repr_html_()
    assert sum(line.startswith("limit: ") for line in str(answer).splitlines()) == len(facts)
    return [fact["limit"] for fact in facts]


COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PEOPLE_BY_WARD = "SELECT ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward"
FIVE = dp.Person("patient", max_rows=5)
TWO_EACH = dp.Person("patient", max_rows=5, max_groups=2, max_rows_per_group=2)


@pytest.mark.parametrize(
    ("unit", "sql", "limits"),
    [
        (dp.Row(), COUNT, []),
        (dp.Row(), "SELECT COUNT(cost) AS n FROM visits", []),
        (dp.Row(), "SELECT COUNT(*) AS n FROM visits WHERE cost > 50", []),
        (dp.Row(), "SELECT SUM(cost) AS s FROM visits", ["bounds"]),
        (dp.Row(), "SELECT day, COUNT(*) AS n FROM visits GROUP BY day", ["bounds"]),
        (dp.Row(), "SELECT COUNT(DISTINCT cost) AS n FROM visits", ["bounds"]),
        (dp.Row(), "SELECT MEDIAN(cost) AS m FROM visits", ["bounds"]),
        (dp.Person("patient", max_rows=1), COUNT, ["max_rows"]),
        (dp.Person("patient", max_rows=1), PEOPLE_BY_WARD, ["max_rows_as_groups"]),
        (FIVE, COUNT, ["max_rows"]),
        (FIVE, BY_WARD, ["max_rows"]),
        (FIVE, "SELECT COUNT(DISTINCT patient) AS n FROM visits", []),
        (FIVE, PEOPLE_BY_WARD, []),
        (dp.Person("patient", max_rows=2), PEOPLE_BY_WARD, ["max_rows_as_groups"]),
        (dp.Person("patient", max_rows=5, max_groups=2), PEOPLE_BY_WARD, ["max_groups"]),
        (dp.Person("patient", max_rows=5, max_groups=3), PEOPLE_BY_WARD, []),
        (TWO_EACH, COUNT, ["max_rows_per_group"]),
        (TWO_EACH, BY_WARD, ["max_rows_per_group", "max_groups"]),
        (
            dp.Person("patient", max_rows=3, max_rows_per_group=2),
            BY_WARD,
            ["max_rows_per_group", "max_rows"],
        ),
        (dp.Person("patient", max_rows=3, max_groups=2), BY_WARD, ["max_rows"]),
        (
            dp.Person("patient", max_rows=3, max_groups=2),
            "SELECT ward, MEDIAN(cost) AS m FROM visits GROUP BY ward",
            ["max_rows", "max_groups", "bounds"],
        ),
        (
            FIVE,
            "SELECT AVG(s) AS m FROM "
            "(SELECT patient, SUM(cost) AS s FROM visits GROUP BY patient) AS q",
            ["rows_of_features", "bounds"],
        ),
        (
            FIVE,
            "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, day FROM visits) AS q",
            ["rows_of_step", "bounds"],
        ),
        (FIVE, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", ["max_rows"]),
        (
            FIVE,
            "SELECT sex, COUNT(*) AS n FROM visits JOIN people USING (patient) GROUP BY sex",
            ["rows_before_join", "max_rows"],
        ),
        (dp.Replace(FIVE), COUNT, ["max_rows"]),
    ],
)
def test_the_limits_that_can_act_and_no_others(
    unit: PrivacyUnit, sql: str, limits: list[str]
) -> None:
    assert acting(curator(unit), sql) == limits


def test_a_limit_is_named_by_its_public_value() -> None:
    answer = curator(FIVE).sql("SELECT SUM(cost) AS s FROM visits", spend=ONE)
    lines = [line for line in str(answer).splitlines() if line.startswith("limit")]
    assert lines == [
        "limit: max_rows=5: each patient counts as at most 5 rows; not in ±",
        "limit: cost within 0 and 100: values outside count as the nearest; not in ±",
    ]


def test_joins_that_multiply_have_their_limits() -> None:
    both = "SELECT COUNT(*) AS n FROM visits a JOIN visits b"
    source = curator(dp.Person("patient", max_rows=40), max_rows_per={"day": 7})
    assert acting(source, f"{both} ON a.patient = b.patient") == ["rows_before_join", "max_rows"]
    assert acting(source, f"{both} ON a.day = b.day") == ["rows_of_step", "max_rows_per", "bounds"]
    answer = source.sql(f"{both} ON a.patient = b.patient", spend=ONE)
    assert (
        "limit: at most 1,000 rows of each patient enter the join; more are left out; not in ±"
        in str(answer)
    )


def test_an_attribute_declared_fixed_has_its_line() -> None:
    source = curator(FIVE, fixed_per_person=["ward"])
    assert acting(source, PEOPLE_BY_WARD) == ["fixed_per_person"]


def test_discovered_keys_and_questions_over_answers() -> None:
    columns = {"ward": dp.Discovered()}
    source = dp.Curator(
        visits=dp.table(
            VISITS,
            unit=dp.Person("patient", max_rows=5, max_groups=2),
            columns=columns,
            snapshot="1",
        ),
        budget=dp.ApproxDP(epsilon=1000, delta=0.1),
        ledger=dp.ledger.Memory(),
    )
    answer = source.sql(PEOPLE_BY_WARD, spend=dp.ApproxDP(epsilon=1, delta=1e-3))
    assert [fact["limit"] for fact in answer.statement["active_limits"]] == ["max_groups"]
    over = "SELECT SUM(n) AS s FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS q"
    assert acting(curator(FIVE), over) == ["max_rows"]
    shares = (
        "SELECT (SELECT COUNT(*) FROM visits) / (SELECT COUNT(DISTINCT patient) FROM visits) AS r"
    )
    assert acting(curator(FIVE), shares) == ["max_rows"]


def test_every_answer_of_a_batch_has_its_own_lines() -> None:
    batch = curator(FIVE).batch(
        {"rows": COUNT, "people": "SELECT COUNT(DISTINCT patient) AS n FROM visits"}, spend=ONE
    )
    assert "limit: max_rows=5" in str(batch["rows"])
    assert "limit:" not in str(batch["people"])


def test_lines_are_the_same_for_every_table() -> None:
    """Public: nothing about them is read from rows."""
    empty = VISITS.clear()
    for sql in (COUNT, BY_WARD, PEOPLE_BY_WARD, "SELECT SUM(cost) AS s FROM visits"):
        assert acting(curator(TWO_EACH), sql) == acting(curator(TWO_EACH, empty), sql)


def test_the_statement_says_that_no_limit_can_act_where_none_can() -> None:
    source = curator(FIVE)
    people = source.sql("SELECT COUNT(DISTINCT patient) AS n FROM visits", spend=ONE)
    assert "Bounding: none: no limit can act" in str(people.statement)
    rows = source.sql(COUNT, spend=ONE)
    text = " ".join(str(rows.statement).split())
    assert (
        "Bounding: unknown without paying for it: max_rows=5: each patient counts as at most 5"
        in text
    )
    one = curator(dp.Person("patient", max_rows=1)).sql(COUNT, spend=ONE)
    assert "One patient has one row of a table; further ones would not count." in str(one.statement)


def test_every_kind_has_words() -> None:
    for kind in LimitKind:
        fact = {"limit": kind.value, "of": "patient", "most": 1, "low": 0.5, "high": 1200}
        assert "{" not in limit_text(fact)
        assert "1 rows" not in limit_text(fact)
