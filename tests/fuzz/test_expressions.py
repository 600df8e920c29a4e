"""The engine's value of any expression lies in the domain that was derived for it.

Every name of the allow-list, in random expressions to depth six over columns at their extremes.
Seeds are fixed: each share finds the same faults on every run, and no fault by chance.
"""

from __future__ import annotations

from functools import partial

import pytest

from discreet.relational.functions.registry import FUNCTIONS, OPERATORS
from discreet.relational.sql.composed import COMPOSED
from tests.fuzz.grammar import CALLS, NAMES, SIGNS
from tests.fuzz.values import checked, expressions, unused
from tests.relational.conformance.engines import DUCKDB, POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows
from tests.relational.conformance.spark_with_rows import missing as spark_missing

EVERY = sorted(NAMES)
FIXED = len(EVERY) + 30
"""Expressions of the fixed share: the first have each name outermost once."""
AUDITED, EACH = 40, 250
"""Tables of the long share, and expressions about each; the server and Spark get a part."""
AT_ONCE = 10
"""Expressions in one statement of Spark, whose plan grows with the square of them."""

SPARK = Maker("spark", spark_missing, partial(SparkWithRows, settings=INTERPRETED))


def test_the_grammar_has_a_rule_for_every_function_and_operator() -> None:
    assert set(CALLS) == {*FUNCTIONS, *COMPOSED}
    assert set(SIGNS) == set(OPERATORS)


def test_values_lie_in_their_domain_and_every_name_occurs() -> None:
    drawn = expressions(FIXED, 0, EVERY)
    assert unused(drawn) == frozenset()
    assert checked(DUCKDB, drawn, rows=60, seed=0) == []


def test_values_lie_in_their_domain_on_postgres() -> None:
    drawn = expressions(FIXED, 7, EVERY, deepest=3)
    assert unused(drawn) == frozenset()
    assert checked(POSTGRES, drawn, rows=40, seed=7) == []


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(spark_missing() is not None, reason=str(spark_missing()))
def test_values_lie_in_their_domain_on_spark() -> None:
    assert checked(SPARK, expressions(30, 8, deepest=2), rows=40, seed=8, at_once=AT_ONCE) == []


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(1_000, 1_000 + AUDITED))
def test_many_values_lie_in_their_domain(seed: int) -> None:
    assert checked(DUCKDB, expressions(EACH, seed, EVERY), rows=100, seed=seed) == []


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(2_000, 2_000 + AUDITED // 2))
def test_many_values_lie_in_their_domain_on_postgres(seed: int) -> None:
    assert checked(POSTGRES, expressions(EACH, seed, EVERY), rows=100, seed=seed) == []


@pytest.mark.audit
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(spark_missing() is not None, reason=str(spark_missing()))
@pytest.mark.parametrize("seed", range(3_000, 3_000 + AUDITED // 10))
def test_many_values_lie_in_their_domain_on_spark(seed: int) -> None:
    drawn = expressions(FIXED, seed, EVERY, deepest=4)
    assert checked(SPARK, drawn, rows=60, seed=seed, at_once=AT_ONCE) == []
