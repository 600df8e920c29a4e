"""Refusals name what to write, in words that belong to the question."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError

SQL = "SELECT COUNT(*) AS n FROM t"
HALF = dp.PureDP(epsilon=0.5)


@pytest.fixture(scope="module")
def curator() -> Iterator[dp.Curator]:
    rows = {"ward": np.array(["A", "B"] * 20), "age": np.arange(40), "town": np.array(["x"] * 40)}
    columns: dict[str, dp.Category | dp.Number] = {
        "ward": dp.Category(["A", "B"]),
        "age": dp.Number(0, 100),
    }
    table = dp.table(rows, unit=dp.Row(), columns=columns)
    budget = dp.ApproxDP(epsilon=2.1, delta=1e-6)
    with dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory()) as made:
        yield made


def refusal(ask: Callable[[], object]) -> DiscreetError:
    with pytest.raises(DiscreetError) as caught:
        ask()
    return caught.value


def test_what_the_budget_cannot_pay_is_told_in_plain_numbers(curator: dp.Curator) -> None:
    told = refusal(lambda: curator.sql(SQL, spend=dp.PureDP(epsilon=5.39)))
    assert told.code == "budget_exhausted"
    assert told.expectation == "a charge within what remains: 2.1 with delta 1e-06"
    assert told.received == "a charge of 5.39 with delta 0"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CASE WHEN town = 'x' THEN 1 ELSE 2 END AS k, COUNT(*) AS n FROM t GROUP BY k",
        "SELECT upper(town) AS k, COUNT(*) AS n FROM t GROUP BY k",
        "SELECT COUNT(DISTINCT upper(town)) AS k FROM t",
    ],
)
def test_the_undeclared_column_is_named_and_not_the_expression(
    curator: dp.Curator, sql: str
) -> None:
    told = refusal(lambda: curator.preview(sql, spend=HALF))
    assert told.code in {"key_not_declared", "column_not_declared"}
    assert told.expectation.endswith("here town")
    assert 'columns={"town": ' in told.remedy


def test_the_mean_of_a_category_says_how_it_is_declared(curator: dp.Curator) -> None:
    told = refusal(lambda: curator.preview("SELECT AVG(ward) AS w FROM t", spend=HALF))
    assert (told.code, "ward is declared as a category" in told.remedy) == ("type_clash", True)


@pytest.mark.parametrize("accuracy", [5, {"n": 5}, "n=5"])
def test_an_accuracy_that_is_none_is_refused(curator: dp.Curator, accuracy: object) -> None:
    told = refusal(lambda: curator.preview(SQL, accuracy=accuracy))  # type: ignore[call-overload]
    assert told.code == "accuracy_columns"


@pytest.mark.parametrize(("questions", "importance"), [(SQL, None), ({"a": SQL}, 3)])
def test_a_batch_without_names_is_refused(
    curator: dp.Curator, questions: object, importance: object
) -> None:
    told = refusal(lambda: curator.batch(questions, spend=HALF, importance=importance))  # type: ignore[arg-type]
    assert told.code == "batch_names"


def test_a_text_alone_is_no_list_of_values() -> None:
    told = refusal(lambda: dp.Category("AB"))
    assert (told.code, told.remedy) == ("category_values", "Write Category(['AB']).")


def test_a_policy_says_which_field_is_missing() -> None:
    tables: dict[str, dict[str, list[str]]] = {"survey": {"filter": [], "aggregate": []}}
    told = refusal(lambda: dp.Policy(max_spend={"epsilon": 1}, tables=tables))
    assert (told.code, told.expectation) == (
        "policy_field",
        "tables.survey to have the field group",
    )
