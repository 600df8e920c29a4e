"""No random plan moves by more than was declared when one unit leaves, or fails in one world only.

Seeds are fixed, and the norms are compared exactly: there are no false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from discreet.relational.aggregates.registry import FUNCTIONS
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.compile.compiler import Compiler
from discreet.relational.compile.standard import STANDARD
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.top_k import Ranking
from tests.fuzz.clauses import PlainlyAsked
from tests.fuzz.relations import FAMILIES, LINES
from tests.fuzz.worlds import Tried, tried
from tests.relational.conformance.engines import POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows
from tests.relational.conformance.spark_with_rows import missing as spark_missing

LEAST, MOST = 14, 60
"""Tables of the fixed share: at least and at most, until every step and clause has occurred."""
PLAINLY_MOST = 160
"""Tables at most until every clause has been accepted; twice as many as it takes."""
TABLES, FAMILY = 300, 40
"""Tables of the long share, and of each family of functions; three questions each."""
ELSEWHERE = 25
"""Tables of the long share on PostgreSQL; a quarter of them on Spark."""

SPARK = Maker("spark", spark_missing, partial(SparkWithRows, settings=INTERPRETED))
ASKED = {kind.__name__ for kind in (PlannedQuery, Ranking, Discovering)}
CLAUSES = {
    *("where", "inner where", "group", "having", "inner having", "order", "LIMIT", "top", "with"),
    *("features by key", "windows", "subqueries"),
    *("distinct", "union", "union all", "features", "public join", "public left join"),
    *("constants join", "constants left join", "constants cross join"),
    *("people join", "people left join", "key join", "key left join", "SUM filter"),
    *(function.names[0] for function in FUNCTIONS),
}
IN_PLAIN_WORDS = {
    *("TOP", "with names", "inner order", "derived column", "hiding column"),
    *("public in", "public not in", "public exists", "public not exists", "public or"),
    *("public in, two columns", "public exists, two columns", "public not exists, two columns"),
    *("semi join", "anti join", "public semi join", "public anti join", "natural join"),
    *("natural left join", "public natural join", "intersect", "except", "public intersect"),
    *("public except", "public group", "constants union", "SAFE_DIVIDE", *LINES),
    *(
        "where",
        "group",
        "order",
        "having",
        "top",
        "LIMIT",
        "with",
        "distinct",
        "union",
        "union all",
    ),
    *("features", "features by key", "inner having", "windows", "subqueries", "public join"),
    *("public left join", "constants join", "constants left join", "constants cross join"),
    *("people join", "people left join", "key join", "key left join", "inner where"),
}
"""Clauses that questions which are accepted have to hold."""
CALENDAR = {"part", "truncate", "difference", "shift", "make_date"}


STEERED: Sequence[tuple[int, tuple[str, ...]]] = (
    *((1, ("windows",)), (1, ("subqueries",)), (1, ("features",))),
    *((0, ()), (1, ("people",)), (1, ("features",)), (1, ("by_key",)), (1, ("public",))),
    *((1, ("constants",)), (1, ("windows",))),
    *((1, ("union",)), (1, ("distinct",)), (2, ("common", "select")), (3, ())),
)
"""Depth and steps of the tables of the fixed share, in turn."""


PLAINLY: Sequence[tuple[int, tuple[str, ...]]] = (
    *(
        (1, ("among",)),
        (1, ("semi",)),
        (1, ("natural",)),
        (1, ("semi", "natural_public")),
        (1, ("sets",)),
    ),
    *((1, ("groups", "ordered", "written")), (1, ("among",)), (0, ())),
    *((1, ("people", "by_key")), (1, ("public", "constants")), (1, ("windows", "subqueries"))),
    *((1, ("features",)), (2, ("common", "select", "union")), (1, ("distinct", "union"))),
)


def nodes(kind: type[PlanNode] = PlanNode) -> Iterator[str]:
    """The steps that a plan may have; whoever loads the compiler loads all of them."""
    assert isinstance(Compiler, type)
    for below in kind.__subclasses__():
        yield below.__name__
        yield from nodes(below)


def together(first: Tried, second: Tried) -> Tried:
    """What two runs found."""
    return Tried(
        first.asked + second.asked,
        first.neighbours + second.neighbours,
        first.refused + second.refused,
        first.steps | second.steps,
        first.clauses | second.clauses,
        first.accepted | second.accepted,
        first.functions | second.functions,
        first.faults + second.faults,
    )


def test_no_reach_is_exceeded_in_any_kind_of_step() -> None:
    found, wanted = Tried(), {*nodes(), *ASKED}
    for seed in range(MOST):
        depth, steps = STEERED[seed % len(STEERED)]
        found = together(found, tried(seed, questions=3, depth=depth, steps=steps))
        if seed >= LEAST and wanted <= found.steps and found.clauses >= CLAUSES:
            break
    assert found.faults == []
    assert wanted - found.steps == set()
    assert CLAUSES - found.clauses == set()


@pytest.mark.slow
def test_no_reach_is_exceeded_in_any_clause_of_accepted_questions() -> None:
    found = Tried()
    for seed in range(40_000, 40_000 + PLAINLY_MOST):
        depth, steps = PLAINLY[seed % len(PLAINLY)]
        found = together(
            found,
            tried(
                seed, questions=5, depth=depth, steps=steps, most_units=2, generator=PlainlyAsked
            ),
        )
        if found.accepted >= IN_PLAIN_WORDS:
            break
    assert found.faults == []
    assert IN_PLAIN_WORDS - found.accepted == set()


@pytest.mark.audit
def test_no_reach_is_exceeded_at_length() -> None:
    found = Tried()
    for seed in range(10_000, 10_000 + TABLES):
        found = together(found, tried(seed, depth=4))
    assert found.faults == []
    assert {*nodes(), *ASKED} - found.steps == set()
    assert found.asked > TABLES // 2


@pytest.mark.audit
def test_no_reach_is_exceeded_in_any_family_of_functions() -> None:
    """Every function of the language occurs in a key, a measure or a step."""
    found = Tried()
    for names in FAMILIES.values():
        for seed in range(20_000, 20_000 + FAMILY):
            found = together(found, tried(seed, depth=2, focus=names))
    assert found.faults == []
    assert (set(STANDARD) | CALENDAR) - found.functions == set()


def elsewhere(maker: Maker, tables: int) -> list[str]:
    """The faults found with rows in another engine."""
    found: list[str] = []
    for seed in range(30_000, 30_000 + tables):
        home = maker.home(NATIVE)
        try:
            found += tried(seed, depth=2, home=home).faults
        finally:
            home.close()
    return found


@pytest.mark.audit
def test_no_reach_is_exceeded_on_postgres() -> None:
    assert elsewhere(POSTGRES, ELSEWHERE) == []


@pytest.mark.audit
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(spark_missing() is not None, reason=str(spark_missing()))
def test_no_reach_is_exceeded_on_spark() -> None:
    assert elsewhere(SPARK, ELSEWHERE // 4) == []
