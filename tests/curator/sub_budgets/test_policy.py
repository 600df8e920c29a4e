"""Policies: what may be asked, at what price, by whom and for what; refusals are free."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.mechanisms import AboveThreshold
from tests.curator.sub_budgets.amounts import used
from tests.curator.tables import COLUMNS, visits

TEXT = """
purposes = ["planning", "research"]
joins = [["visits", "wards"]]

[min_spend]
epsilon = 0.1

[max_spend]
epsilon = 0.5
delta = 1e-7

[tables.visits]
filter = ["ward", "age", "day", "patient_id"]
group = ["ward"]
aggregate = ["age"]
"""
POLICY: dict[str, Any] = {
    "max_spend": {"epsilon": 0.5, "delta": 1e-7},
    "min_spend": {"epsilon": 0.1},
    "tables": {
        "visits": {
            "filter": ["ward", "age", "day", "patient_id"],
            "group": ["ward"],
            "aggregate": ["age"],
        }
    },
    "joins": [["visits", "wards"]],
    "purposes": ["planning", "research"],
}
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
HALF = dp.PureDP(epsilon=0.5)
PERSON = dp.Person("patient_id", max_rows=3)


def held(policy: dp.Policy | None, unit: Any = PERSON) -> dp.Curator:
    wards = pl.DataFrame({"ward": ["A", "B", "C"], "site": ["north", "north", "south"]})
    table = dp.table(visits(), unit=unit, columns=COLUMNS, snapshot="one")
    staff = dp.table(
        pl.DataFrame({"patient_id": [1, 2], "grade": [1, 2]}),
        unit=unit,
        columns={"grade": dp.Number(0, 9)},
    )
    return dp.Curator(
        visits=table,
        staff=staff,
        wards=dp.public(wards),
        budget=dp.ApproxDP(epsilon=10, delta=1e-5),
        ledger=dp.ledger.Memory(),
        policy=policy,
    )


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


@pytest.fixture
def curator() -> dp.Curator:
    return held(dp.Policy.of(POLICY))


def ask(session: Any, text: str = COUNT, spend: Any = HALF, **more: Any) -> Any:
    return session.sql(text, spend=spend, **{"purpose": "planning", **more})


def test_what_is_allowed_is_answered(curator: dp.Curator) -> None:
    for text in (
        COUNT,
        "SELECT AVG(age) AS a FROM visits WHERE ward = 'A' AND day > DATE '2024-02-01'",
        "SELECT SUM(age) FILTER (WHERE ward = 'A') AS s FROM visits",
        "SELECT site, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward "
        "GROUP BY site",
        "SELECT w, SUM(a) AS s FROM (SELECT ward AS w, age AS a FROM visits) AS q GROUP BY w",
        "SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
        "SELECT AVG(q.n) AS m FROM "
        "(SELECT patient_id, COUNT(*) AS n, SUM(age) AS a FROM visits GROUP BY patient_id) AS q "
        "WHERE q.patient_id > 3",
        "SELECT k, COUNT(*) AS n FROM "
        "(SELECT site AS k FROM visits JOIN wards ON visits.ward = wards.ward) AS q GROUP BY k",
    ):
        ask(curator, text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT SUM(cost) AS s FROM visits", "policy_column"),
        ("SELECT COUNT(*) AS n FROM visits WHERE cost > 3", "policy_column"),
        ("SELECT COUNT(*) AS n FROM visits WHERE note = 'n1'", "policy_column"),
        ("SELECT age, COUNT(*) AS n FROM visits GROUP BY age", "policy_column"),
        ("SELECT COUNT(DISTINCT ward) AS n FROM visits", "policy_column"),
        (
            "SELECT a, COUNT(*) AS n FROM (SELECT age AS a FROM visits) AS q GROUP BY a",
            "policy_column",
        ),
        (
            "SELECT SUM(c) AS s FROM (SELECT DISTINCT ward, cost AS c FROM visits) q",
            "policy_column",
        ),
        (
            "SELECT SUM(v) AS s FROM "
            "(SELECT age AS v FROM visits UNION ALL SELECT cost FROM visits) AS q",
            "policy_column",
        ),
        ("SELECT SUM(CASE WHEN cost > 1 THEN 1 ELSE 0 END) AS s FROM visits", "policy_column"),
        ("SELECT MEDIAN(cost) AS m FROM visits", "policy_column"),
        (
            "SELECT AVG(q.n) AS m FROM "
            "(SELECT patient_id, SUM(cost) AS n FROM visits GROUP BY patient_id) AS q",
            "policy_column",
        ),
        (
            "SELECT SUM(least(q.n, 1)) AS m FROM (SELECT COUNT(*) AS n, patient_id FROM visits "
            "WHERE cost > 2 GROUP BY patient_id) AS q",
            "policy_column",
        ),
        ("SELECT COUNT(*) AS n FROM staff", "policy_table"),
        (
            "SELECT COUNT(*) AS n FROM visits JOIN staff ON visits.patient_id = staff.patient_id",
            "policy_table",
        ),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_refused_by_name_and_free(
    curator: dp.Curator, text: str, code: str
) -> None:
    assert code_of(lambda: ask(curator, text)) == code
    assert used(curator) == 0


def test_identifiers_are_columns_like_others_where_they_are_filtered_by() -> None:
    uses = {**POLICY["tables"]["visits"], "filter": ["ward"]}
    curator = held(dp.Policy.of({**POLICY, "tables": {"visits": uses}}))
    inner = "(SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS q"
    ask(curator, f"SELECT AVG(q.n) AS m FROM {inner}")
    for text in (f"SELECT AVG(q.n) AS m FROM {inner} WHERE q.patient_id = 3",
                 "SELECT COUNT(*) AS n FROM visits WHERE patient_id = 3"):  # fmt: skip
        assert code_of(lambda t=text: ask(curator, t)) == "policy_column"  # type: ignore[misc]


def test_only_listed_tables_may_meet() -> None:
    policy = dp.Policy.of({**POLICY, "joins": []})
    joined = "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward"
    assert code_of(lambda: ask(held(policy), joined)) == "policy_join"
    twice = "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.patient_id = b.patient_id"
    assert code_of(lambda: ask(held(policy), twice)) == "policy_join"


@pytest.mark.parametrize(
    ("spend", "fine"),
    [
        (dp.PureDP(epsilon=0.1), True),
        (dp.PureDP(epsilon=0.5), True),
        (dp.PureDP(epsilon=0.09), False),
        (dp.PureDP(epsilon=0.51), False),
        (dp.ApproxDP(epsilon=0.3, delta=1e-7), True),
        (dp.ApproxDP(epsilon=0.3, delta=2e-7), False),
        (dp.ApproxDP(epsilon=0.3, delta=0), True),
    ],
)
def test_a_question_spends_within_the_bounds(
    curator: dp.Curator, spend: Any, *, fine: bool
) -> None:
    if fine:
        ask(curator, spend=spend)
    else:
        assert code_of(lambda: ask(curator, spend=spend)) == "policy_spend"
        assert used(curator) == 0


def test_a_notion_without_bounds_is_refused() -> None:
    policy = dp.Policy.of(POLICY)
    table = dp.table(visits(), unit=PERSON, columns=COLUMNS)
    for budget, spend in (
        (dp.ZCDP(rho=1), dp.ZCDP(rho=0.1)),
        (dp.RenyiDP(alpha=4, epsilon=1), dp.RenyiDP(alpha=4, epsilon=0.2)),
    ):
        curator = dp.Curator(
            visits=table,
            wards=dp.public(pl.DataFrame({"ward": ["A"]})),
            budget=budget,
            ledger=dp.ledger.Memory(),
            policy=policy,
        )
        assert code_of(lambda c=curator, s=spend: ask(c, spend=s)) == "policy_spend"  # type: ignore[misc]


def test_wanted_accuracy_is_held_to_the_same_bounds(curator: dp.Curator) -> None:
    wanted = {"n": dp.Within(1)}
    attempt = lambda: curator.sql(COUNT, accuracy=wanted, purpose="planning")  # noqa: E731
    assert code_of(attempt) == "policy_spend"


def test_a_purpose_is_stated_and_recorded(curator: dp.Curator) -> None:
    for purpose in (None, "fun"):
        assert code_of(lambda p=purpose: ask(curator, purpose=p)) == "policy_purpose"  # type: ignore[misc]
    ask(curator, purpose="research")
    assert [asked.purpose for asked in curator.history()] == ["research"]
    assert "research" in str(curator.history())


def test_analysts_may_be_listed() -> None:
    curator = held(dp.Policy.of({**POLICY, "analysts": ["ann"]}))
    assert code_of(lambda: ask(curator, analyst="bob")) == "policy_asker"
    ask(curator, analyst="ann")


def test_the_ledger_says_under_which_policy_a_question_was_asked(curator: dp.Curator) -> None:
    ask(curator)
    details = [e.body["detail"] for e in curator.ledger.entries() if "asker" in e.body]
    assert [detail["policy"] for detail in details] == [[dp.Policy.of(POLICY).digest]]
    assert dp.Policy.of({**POLICY, "joins": []}).digest != dp.Policy.of(POLICY).digest


def test_it_holds_for_batches_conversations_children_and_parts(curator: dp.Curator) -> None:
    child = curator.child("a", budget=dp.PureDP(epsilon=1))
    part = curator.partition("visits", by="ward", budget=dp.PureDP(epsilon=1), k=1)["A"]
    bad = "SELECT SUM(cost) AS s FROM visits"
    questions = {"a": COUNT, "b": bad}
    watching = AboveThreshold(threshold=5, sensitivity=3, epsilon=0.5)
    for session in (curator, child, part):
        assert code_of(lambda s=session: ask(s, bad)) == "policy_column"  # type: ignore[misc]
        assert code_of(lambda s=session: ask(s, purpose=None)) == "policy_purpose"  # type: ignore[misc]
        ask(session)
        assert (
            code_of(lambda s=session: s.batch(questions, spend=HALF, purpose="planning"))  # type: ignore[misc]
            == "policy_column"
        )
        assert code_of(lambda s=session: s.open(watching, spend=HALF)) == "policy_purpose"  # type: ignore[misc]
        watch = session.open(watching, spend=HALF, purpose="planning")
        assert code_of(lambda w=watch: w.ask("SELECT SUM(cost) AS s FROM visits")) == (  # type: ignore[misc]
            "policy_column"
        )
    anything: Any = None
    assert code_of(lambda: curator.release(anything, spend=HALF)) == "policy_measurement"


def test_dividing_a_table_counts_as_grouping(curator: dp.Curator) -> None:
    one = dp.PureDP(epsilon=1)
    for attempt in (
        lambda: curator.partition("visits", by="age > 40", budget=one, k=1),
        lambda: curator.blocks(
            "visits",
            by="date_trunc('month', day)",
            budget=one,
            k=1,
            settled=date(2024, 5, 1),
            name="visits",
        ),
    ):
        assert code_of(attempt) == "policy_column"
    assert used(curator) == 0


def test_without_a_policy_a_purpose_is_recorded_if_given() -> None:
    curator = held(None)
    curator.sql(COUNT, spend=HALF)
    curator.sql(COUNT, spend=dp.PureDP(epsilon=0.25), purpose="audit")
    assert [asked.purpose for asked in curator.history()] == ["", "audit"]
    number: Any = 3
    assert (
        code_of(lambda: curator.sql(COUNT, spend=HALF, analyst="b", purpose=number)) == "not_text"
    )


class TestReading:
    def test_a_file_says_the_same_as_an_object(self, tmp_path: Path) -> None:
        path = tmp_path / "policy.toml"
        path.write_text(TEXT, encoding="utf-8")
        read = dp.Policy.read(path)
        assert read == dp.Policy.of(POLICY)
        assert read.digest == dp.Policy.of(json.loads(json.dumps(read.to_dict()))).digest

    @pytest.mark.parametrize("content", ["max_spend = {", "\x00", None])
    def test_a_file_that_cannot_be_read_is_refused(
        self, tmp_path: Path, content: str | None
    ) -> None:
        path = tmp_path / "policy.toml"
        if content is not None:
            path.write_text(content, encoding="utf-8")
        assert code_of(lambda: dp.Policy.read(path)) == "policy_unreadable"

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            ({"tables": None}, "tables"),
            ({"max_spend": None}, "max_spend"),
            ({"max_spend": {}}, "max_spend"),
            ({"max_spend": {"eps": 1}}, "eps"),
            ({"max_spend": {"epsilon": -1}}, "max_spend.epsilon"),
            ({"max_spend": {"epsilon": True}}, "max_spend.epsilon"),
            ({"max_spend": {"epsilon": "1"}}, "max_spend.epsilon"),
            ({"min_spend": {"epsilon": 2}}, "min_spend.epsilon"),
            ({"purpose": ["x"]}, "purpose"),
            ({"purposes": "x"}, "purposes"),
            ({"purposes": [3]}, "purposes"),
            ({"joins": [["visits"]]}, "joins"),
            ({"joins": "visits"}, "joins"),
            ({"tables": {}}, "tables"),
            ({"tables": {"visits": {"filter": [], "group": []}}}, "aggregate"),
            ({"tables": {"visits": {"filters": []}}}, "filters"),
            ({"tables": {"visits": {"filter": "age", "group": [], "aggregate": []}}}, "filter"),
        ],
    )
    def test_unknown_missing_and_misread_fields_are_refused_by_name(
        self, change: dict[str, Any], name: str
    ) -> None:
        content = {key: value for key, value in {**POLICY, **change}.items() if value is not None}
        with pytest.raises(InvalidParameter) as refusal:
            dp.Policy.of(content)
        assert refusal.value.code == "policy_field"
        assert name in refusal.value.expectation

    @pytest.mark.parametrize(
        "change",
        [
            {"tables": {"nobody": {"filter": [], "group": [], "aggregate": []}}},
            {"tables": {"visits": {"filter": ["nothing"], "group": [], "aggregate": []}}},
            {"joins": [["visits", "nobody"]]},
        ],
    )
    def test_names_that_are_not_there_are_refused(self, change: dict[str, Any]) -> None:
        assert code_of(lambda: held(dp.Policy.of({**POLICY, **change}))) == "policy_unknown"

    def test_something_else_is_no_policy(self) -> None:
        anything: Any = POLICY
        assert code_of(lambda: held(anything)) == "not_a_policy"
