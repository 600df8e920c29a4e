"""No random plan moves by more than was declared when one unit leaves, or fails in one world only.

Seeds are fixed, and the norms are compared exactly: there are no false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pytest

from discreet.relational.aggregates.registry import FUNCTIONS
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.bounding.key_numbering import NumberedByKey
from discreet.relational.compile.compiler import Compiler
from discreet.relational.compile.standard import STANDARD
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.top_k import Ranking
from tests.fuzz.clauses import PlainlyAsked
from tests.fuzz.vocabulary import ELEMENTS, FAMILIES, LINES, LISTED, MARKS, SETS
from tests.fuzz.worlds import Tried, tried
from tests.relational.conformance.engines import POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows
from tests.relational.conformance.spark_with_rows import missing as spark_missing

LEAST, MOST = 14, 120
"""Tables of the fixed share: at least and at most, until every step and clause has occurred."""
PLAINLY_MOST = 160
"""Tables at most until every clause has been accepted; twice as many as it takes."""
TABLES, FAMILY = 300, 40
"""Tables of the long share, and of each family of functions; three questions each."""
ELSEWHERE = 25
"""Tables of the long share on PostgreSQL; a quarter of them on Spark."""

SPARK = Maker("spark", spark_missing, partial(SparkWithRows, settings=INTERPRETED))
ASKED = {kind.__name__ for kind in (PlannedQuery, Ranking, Discovering)}
LEARNT = {NumberedByKey.__name__}
"""What no SQL makes: limits are learnt with it (``neighbours/test_learnt_limits.py``)."""
CLAUSES = {
    *("where", "inner where", "group", "having", "inner having", "order", "LIMIT", "top", "with"),
    *("features by key", "windows", "subqueries"),
    *("distinct", "union", "union all", "features", "public join", "public left join"),
    *("constants join", "constants left join", "constants cross join"),
    *("people join", "people left join", "key join", "key left join", "SUM filter"),
    *(function.names[0] for function in FUNCTIONS),
    *(*SETS, *LISTED, *MARKS, "max_groups_contributed", *(f"unnest {way}" for way in ELEMENTS)),
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
    *(*SETS, *LISTED, *MARKS, "max_groups_contributed", *(f"unnest {way}" for way in ELEMENTS)),
    *("left out", "untyped field"),
}
"""Clauses that questions which are accepted have to hold."""
JOINS = ("join", "left join", "cross join")
CALENDAR = {"part", "truncate", "difference", "shift", "make_date"}


STEERED: Sequence[tuple[int, tuple[str, ...]]] = (
    *((1, ("windows",)), (1, ("subqueries",)), (1, ("features",))),
    *((0, ()), (1, ("people",)), (1, ("features",)), (1, ("by_key",)), (1, ("public",))),
    *((1, ("constants",)), (1, ("windows",)), (1, ("elements",))),
    *((1, ("union",)), (1, ("distinct",)), (2, ("common", "select")), (3, ())),
)
"""Depth and steps of the tables of the fixed share, in turn."""


BROUGHT: Mapping[str, str] = {
    **dict.fromkeys(("public in", "public not in", "public exists", "public or"), "among"),
    **dict.fromkeys(("public not exists", "public in, two columns"), "among"),
    **dict.fromkeys(("public exists, two columns", "public not exists, two columns"), "among"),
    **dict.fromkeys(("semi join", "anti join", "public semi join", "public anti join"), "semi"),
    **dict.fromkeys(("intersect", "except", "public intersect", "public except"), "sets"),
    **dict.fromkeys(("natural join", "natural left join"), "natural"),
    **dict.fromkeys(("public natural join",), "natural_public"),
    **dict.fromkeys(("public join", "public left join"), "public"),
    **dict.fromkeys(("people join", "people left join"), "people"),
    **dict.fromkeys(("key join", "key left join"), "by_key"),
    **dict.fromkeys(("features", "features by key", "inner having"), "features"),
    **dict.fromkeys(("union", "union all"), "union"),
    **dict.fromkeys(("with", "with names"), "common"),
    **{f"unnest {way}": "elements" for way in ELEMENTS},
    **dict.fromkeys((*LISTED, *(f"constants {join}" for join in JOINS)), "constants"),
    "public group": "groups",
    "inner order": "ordered",
    "constants union": "written",
    "inner where": "select",
    **{step: step for step in ("distinct", "windows", "subqueries")},
}
"""The step that brings a clause; all others are drawn by any question."""

MADE_BY: Mapping[str, str] = {
    **dict.fromkeys(("JoinedByKey", "Truncated"), "by_key"),
    **dict.fromkeys(("PerPerson", "PerPersonAndKey", "Bounded"), "features"),
    "JoinedPeople": "people",
    "JoinedPublic": "public",
    "PublicRows": "constants",
    "Distinct": "distinct",
    "UnionAll": "union",
    "Windowed": "windows",
    "Unnested": "elements",
}
"""The step that makes a node of a plan, where one does."""

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
    found, wanted = Tried(), {*nodes(), *ASKED} - LEARNT
    for seed in range(MOST):
        missing = CLAUSES - found.clauses
        sought = sorted((wanted - found.steps) & MADE_BY.keys()) + sorted(missing & BROUGHT.keys())
        depth, steps = STEERED[seed % len(STEERED)]
        if seed >= LEAST and sought:
            depth, steps = 1, ({**MADE_BY, **BROUGHT}[sought[seed % len(sought)]],)
        found = together(found, tried(seed, questions=3, depth=depth, steps=steps, wanted=missing))
        if seed >= LEAST and wanted <= found.steps and found.clauses >= CLAUSES:
            break
    assert found.faults == []
    assert wanted - found.steps == set()
    assert CLAUSES - found.clauses == set()


def test_no_reach_is_exceeded_in_any_clause_of_accepted_questions() -> None:
    """The fast share: what was not accepted yet is drawn next, until all of it was."""
    found = Tried()
    for seed in range(50_000, 50_000 + PLAINLY_MOST):
        missing = sorted(IN_PLAIN_WORDS - found.accepted)
        if not missing:
            break
        next_one = missing[seed % len(missing)]
        depth, steps = (1, (BROUGHT[next_one],)) if next_one in BROUGHT else (0, ())
        found = together(
            found,
            tried(
                seed,
                questions=4,
                depth=depth,
                steps=steps,
                most_units=1,
                generator=PlainlyAsked,
                wanted=missing,
            ),
        )
    assert found.faults == []
    assert IN_PLAIN_WORDS - found.accepted == set()


@pytest.mark.slow
def test_no_reach_is_exceeded_in_accepted_questions_of_every_step() -> None:
    """Steps in turn; then what was not accepted yet is drawn more often, until all of it was."""
    found = Tried()
    for seed in range(40_000, 40_000 + 3 * PLAINLY_MOST):
        missing = sorted(IN_PLAIN_WORDS - found.accepted)
        depth, steps = PLAINLY[seed % len(PLAINLY)]
        if seed >= 40_000 + PLAINLY_MOST:
            if not missing:
                break
            next_one = missing[seed % len(missing)]
            depth, steps = (1, (BROUGHT[next_one],)) if next_one in BROUGHT else (0, ())
        found = together(
            found,
            tried(
                seed,
                questions=5,
                depth=depth,
                steps=steps,
                most_units=2,
                generator=PlainlyAsked,
                wanted=missing,
            ),
        )
    assert found.faults == []
    assert IN_PLAIN_WORDS - found.accepted == set()


@pytest.mark.audit
def test_no_reach_is_exceeded_at_length() -> None:
    found, wanted = Tried(), {*nodes(), *ASKED} - LEARNT
    for seed in range(10_000, 10_000 + TABLES):
        found = together(found, tried(seed, depth=4))
    for seed in range(10_000 + TABLES, 10_000 + TABLES + MOST):
        sought = sorted((wanted - found.steps) & MADE_BY.keys())
        if not sought:
            break
        steps = (MADE_BY[sought[seed % len(sought)]],)
        found = together(found, tried(seed, questions=3, depth=1, steps=steps))
    assert found.faults == []
    assert wanted - found.steps == set()
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
