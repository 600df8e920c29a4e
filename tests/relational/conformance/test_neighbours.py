"""On every engine, removing or exchanging one unit moves no vector by more than was declared.

The battery of ``tests/relational/neighbours``, with its rows in each engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.hashing import NATIVE, PORTABLE, Hashing
from discreet.relational.bounding.person_groups import PersonBounds
from tests.relational.conformance.engines import Maker, others
from tests.relational.neighbours import test_limits as limits
from tests.relational.neighbours.tables import both, limited, routed, visits
from tests.relational.neighbours.test_generated import Trial, by_person, by_route, by_row
from tests.relational.neighbours.test_hard_plans import ALL_AGGREGATES, BOUNDS, ONE_OF_EACH
from tests.relational.neighbours.worlds import PURE, Setting, breaches

_OTHERS = [(1, "A", 4, "x"), (1, "B", 4, "y"), (1, "é", 0, None), (2, "A", 1, "x")]
_ORIGINS = (
    "t",
    "t LEFT JOIN p USING (w)",
    "(SELECT w, x, y, f FROM t UNION ALL SELECT w, x, y, f FROM t) AS t",
    "(SELECT DISTINCT w, x, y, f FROM t) AS t",
)
_QUIET = settings(suppress_health_check=list(HealthCheck), deadline=None)


def found(maker: Maker, setting: Setting, *questions: str, **options: Any) -> list[str]:
    """The breaches of declared bounds on one engine."""
    home = maker.home(options.pop("hashing", NATIVE))
    try:
        return breaches(setting, *questions, home=home, **options)
    finally:
        home.close()


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("hashing", [NATIVE, PORTABLE], ids=["native", "portable"])
@pytest.mark.parametrize(
    "bounds",
    [
        pytest.param(bound, marks=() if place == 5 else pytest.mark.slow, id=str(bound))
        for place, bound in enumerate(BOUNDS)
    ],
)
@pytest.mark.parametrize(
    "relation",
    [
        pytest.param(lambda unit: unit, id="removed"),
        pytest.param(Replace, id="replaced", marks=pytest.mark.slow),
    ],
)
def test_every_aggregate_under_every_bound(
    maker: Maker,
    hashing: Hashing,
    bounds: dict[str, Any],
    relation: Callable[[dp.Person], PrivacyUnit],
) -> None:
    asked = f"{ALL_AGGREGATES}, COUNT(DISTINCT pid) AS u FROM t"
    questions = [f"SELECT {asked}"]
    questions += [f"SELECT {key}, {asked} GROUP BY {key}" for key in ("w", "c", "w, f", "x")]
    setting = visits(ONE_OF_EACH, relation(dp.Person("pid", **bounds)))
    assert found(maker, setting, *questions, hashing=hashing) == []


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("unit", [dp.Row(), Replace(dp.Row())], ids=str)
def test_every_aggregate_over_every_origin(maker: Maker, unit: PrivacyUnit) -> None:
    listed = ALL_AGGREGATES.replace("COUNT(DISTINCT w)", "COUNT(DISTINCT f)")
    questions = [f"SELECT t.f, {listed} FROM {origin} GROUP BY t.f" for origin in _ORIGINS]
    assert found(maker, visits(ONE_OF_EACH, unit), *questions) == []


@pytest.mark.parametrize("maker", others())
def test_joins_of_people_and_routes(maker: Maker) -> None:
    bounds: dict[str, Any] = {"max_rows": 3, "max_groups": 2, "max_rows_per_group": 2}
    questions = [
        "SELECT COUNT(*) AS n, SUM(t.x) AS s, SUM(u.v) AS v FROM t JOIN u ON t.pid = u.pid",
        "SELECT u.k, COUNT(*) AS n, SUM(t.x) AS s FROM t LEFT JOIN u ON t.pid = u.pid GROUP BY u.k",
    ]
    setting = both(ONE_OF_EACH, _OTHERS, dp.Person("pid", **bounds))
    assert found(maker, setting, *questions) == []
    orders = [(1, 7, "A"), (2, 7, "B"), (3, 8, "A"), (4, None, "A"), (5, 9, None)]
    items = [(1, 3, "A"), (1, 3, "A"), (2, 1, "B"), (3, 2, "é"), (4, 3, "A"), (None, 3, "A")]
    questions = ["SELECT w, COUNT(*) AS n, SUM(q) AS s, MEDIAN(q) AS m FROM items GROUP BY w"]
    assert found(maker, routed(orders, items, **bounds), *questions) == []


@pytest.mark.parametrize("maker", others())
def test_limits_of_each_table_and_what_is_fixed(maker: Maker) -> None:
    units = dp.Person("pid", max_rows=3, max_groups=2), dp.Person("pid", max_rows=1)
    setting = limited(ONE_OF_EACH, _OTHERS, units, ["f"], {"note": 2})
    assert found(maker, setting, *limits.QUESTIONS) == []
    assert found(maker, limits.sexes(dp.Person("pid", max_rows=3)), *limits.BY_SEX) == []


def _tried(maker: Maker, trial: Trial) -> list[str]:
    return found(
        maker, trial.setting, *trial.questions, spend=trial.spend, salt=trial.salt, refusals=[]
    )


@pytest.mark.slow
@pytest.mark.parametrize("maker", others())
@settings(_QUIET, max_examples=40)
@given(by_row)
def test_each_row_a_unit_at_length(maker: Maker, trial: Trial) -> None:
    assert _tried(maker, trial) == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", others())
@settings(_QUIET, max_examples=60)
@given(by_person)
def test_people_with_bounds_at_length(maker: Maker, trial: Trial) -> None:
    assert _tried(maker, trial) == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", others())
@settings(_QUIET, max_examples=20)
@given(by_route)
def test_people_through_foreign_keys_at_length(maker: Maker, trial: Trial) -> None:
    assert _tried(maker, trial) == []


@pytest.mark.parametrize("maker", others())
def test_a_bound_that_is_not_enforced_is_caught(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin: bounding that forgets how many groups a person may be in."""
    real = PersonBounds.text
    monkeypatch.setattr(
        PersonBounds, "text", lambda *given: real(*given).replace("g <= 1", "g <= 9")
    )
    setting = visits(ONE_OF_EACH, dp.Person("pid", max_rows=9, max_groups=1, max_rows_per_group=1))
    questions = ["SELECT w, COUNT(DISTINCT x) AS n FROM t GROUP BY w"]
    assert found(maker, setting, *questions, spend=PURE) != []
