"""Spark gives the exact numbers that DuckDB gives, and keeps every bound on neighbours.

All of Spark's tests are in one group, so that one worker starts one Java machine. The fast part
is interpreted; ``slow`` runs everything again, compiled and spread over partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.hashing import NATIVE, PORTABLE, Hashing
from discreet.relational.bounding.person_groups import PersonBounds
from tests.relational.bounding.test_hashing import spelled_alike
from tests.relational.conformance.engines import Maker
from tests.relational.conformance.questions import CASES, UNCUT
from tests.relational.conformance.rows import people
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows, missing
from tests.relational.conformance.test_conformance import differences, farther_apart
from tests.relational.conformance.test_expressions import differences as expression_differences
from tests.relational.conformance.test_neighbours import found
from tests.relational.expressions.engine import Row
from tests.relational.expressions.rows import any_rows, awkward_rows
from tests.relational.neighbours.tables import both, routed, visits
from tests.relational.neighbours.test_generated import (
    Trial,
    by_feature,
    by_key,
    by_person,
    by_route,
    by_row,
)
from tests.relational.neighbours.test_hard_plans import ALL_AGGREGATES, BOUNDS, ONE_OF_EACH

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]
QUICK = Maker("spark", missing, partial(SparkWithRows, settings=INTERPRETED))
WHOLE = Maker("spark", missing, SparkWithRows)
_FAST = ("rows", "people in one group", "through orders")
"""The cases of the fast suite; the others ask most of their questions again of other units."""
_QUIET = settings(suppress_health_check=list(HealthCheck), deadline=None)


def sampled(questions: Sequence[str]) -> list[str]:
    """One of three; the slow suite asks them all."""
    return [query for place, query in enumerate(questions) if place % 3 == 1]


@pytest.mark.parametrize("name", _FAST)
def test_exact_numbers_are_equal(name: str) -> None:
    """With the portable hash, which keeps the same rows wherever bounding cuts."""
    setting, questions = CASES[name]
    assert list(differences(setting, sampled(questions), QUICK, PORTABLE)) == []


def test_geometric_means_are_equal_but_for_the_last_place_of_logarithms() -> None:
    assert list(farther_apart(QUICK)) == []


def test_the_fast_cases_hold_enough_questions() -> None:
    assert len({query for name in _FAST for query in sampled(CASES[name][1])}) >= 75


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_exact_numbers_are_equal_compiled_and_in_partitions(name: str) -> None:
    assert list(differences(*CASES[name], WHOLE, PORTABLE)) == []


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) for n in UNCUT])
def test_the_native_hash_agrees_where_nothing_is_cut(name: str) -> None:
    assert list(differences(*UNCUT[name], WHOLE, NATIVE)) == []


def test_a_difference_is_seen() -> None:
    """The native hash keeps other rows than DuckDB's where bounding cuts: this notices."""
    unit = dp.Person("pid", max_rows=2, max_groups=1)
    questions = ["SELECT w, MEDIAN(x) AS m, COUNT(DISTINCT x) AS d FROM t GROUP BY w"]
    assert list(differences(lambda: people(unit), questions, WHOLE, NATIVE)) != []


def test_decimal_identifiers_are_spelled_as_on_other_engines() -> None:
    spelled_alike(QUICK, "decimal")


def test_every_function_has_the_value_of_the_interpreter() -> None:
    assert list(expression_differences(WHOLE, awkward_rows(400))) == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", [QUICK, WHOLE], ids=["interpreted", "compiled"])
def test_every_function_on_many_rows(maker: Maker) -> None:
    assert list(expression_differences(maker, awkward_rows(6_000))) == []


@pytest.mark.slow
@settings(_QUIET, max_examples=20)
@given(rows=any_rows())
def test_every_function_on_any_rows(rows: Sequence[Row]) -> None:
    assert list(expression_differences(WHOLE, rows)) == []


def _asked(*keys: str) -> list[str]:
    asked = f"{ALL_AGGREGATES}, COUNT(DISTINCT pid) AS u FROM t"
    return [f"SELECT {asked}", *(f"SELECT {key}, {asked} GROUP BY {key}" for key in keys)]


_SOME = "COUNT(*) AS n, COUNT(DISTINCT t.f) AS k, SUM(t.x) AS s, AVG(t.y) AS a, MEDIAN(t.x) AS m"


def test_no_person_moves_an_answer_by_more_than_declared() -> None:
    setting = visits(ONE_OF_EACH, dp.Person("pid", **BOUNDS[5]))
    assert found(QUICK, setting, f"SELECT w, f, {_SOME} FROM t GROUP BY w, f") == []


def test_no_row_moves_an_answer_by_more_than_declared() -> None:
    query = f"SELECT t.f, {_SOME} FROM t LEFT JOIN p USING (w) GROUP BY t.f"
    assert found(QUICK, visits(ONE_OF_EACH, dp.Row()), query) == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", [dp.Row(), Replace(dp.Row())], ids=str)
def test_every_aggregate_over_a_join(unit: PrivacyUnit) -> None:
    listed = ALL_AGGREGATES.replace("COUNT(DISTINCT w)", "COUNT(DISTINCT f)")
    query = f"SELECT t.f, {listed} FROM t LEFT JOIN p USING (w) GROUP BY t.f"
    assert found(QUICK, visits(ONE_OF_EACH, unit), query) == []


@pytest.mark.slow
@pytest.mark.parametrize("hashing", [NATIVE, PORTABLE], ids=["native", "portable"])
@pytest.mark.parametrize("limits", BOUNDS, ids=str)
@pytest.mark.parametrize("relation", [lambda unit: unit, Replace], ids=["removed", "replaced"])
def test_every_aggregate_under_every_bound(
    hashing: Hashing, limits: dict[str, Any], relation: Callable[[dp.Person], PrivacyUnit]
) -> None:
    setting = visits(ONE_OF_EACH, relation(dp.Person("pid", **limits)))
    assert found(QUICK, setting, *_asked("w", "c", "w, f", "x"), hashing=hashing) == []


@pytest.mark.slow
def test_joins_of_people_and_routes() -> None:
    limits: dict[str, Any] = {"max_rows": 3, "max_groups": 2, "max_rows_per_group": 2}
    others = [(1, "A", 4, "x"), (1, "B", 4, "y"), (1, "é", 0, None), (2, "A", 1, "x")]
    query = "SELECT COUNT(*) AS n, SUM(t.x) AS s, SUM(u.v) AS v FROM t JOIN u ON t.pid = u.pid"
    setting = both(ONE_OF_EACH, others, dp.Person("pid", **limits))
    assert found(WHOLE, setting, query) == []
    orders = [(1, 7, "A"), (2, 7, "B"), (3, 8, "A"), (4, None, "A"), (5, 9, None)]
    items = [(1, 3, "A"), (1, 3, "A"), (2, 1, "B"), (3, 2, "é"), (4, 3, "A"), (None, 3, "A")]
    query = "SELECT w, COUNT(*) AS n, SUM(q) AS s, MEDIAN(q) AS m FROM items GROUP BY w"
    assert found(WHOLE, routed(orders, items, **limits), query) == []


@pytest.mark.slow
@settings(_QUIET, max_examples=40)
@given(by_row | by_person | by_route | by_key | by_feature)
def test_generated_questions_about_generated_tables(trial: Trial) -> None:
    options = {"spend": trial.spend, "salt": trial.salt, "refusals": []}
    assert found(QUICK, trial.setting, *trial.questions, **options) == []


def test_a_bound_that_is_not_enforced_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: bounding that forgets how many groups a person may be in."""
    real = PersonBounds.text
    monkeypatch.setattr(
        PersonBounds, "text", lambda *given: real(*given).replace("g <= 1", "g <= 9")
    )
    setting = visits(ONE_OF_EACH, dp.Person("pid", max_rows=9, max_groups=1, max_rows_per_group=1))
    assert found(QUICK, setting, "SELECT w, COUNT(DISTINCT x) AS n FROM t GROUP BY w") != []
