"""The meaning of the language is the interpreter's; DuckDB gives it on every row, without fail."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType, type_of_value
from discreet.relational.types.expression import Call, Expression, possible_values
from tests.relational.expressions.cases import EXACT, NEARLY
from tests.relational.expressions.engine import Row, computed, reference, same, translated
from tests.relational.expressions.rows import any_rows, awkward_rows

_COUNT = 1_500


pytestmark = pytest.mark.xdist_group("interpreter")  # what all compare is computed once


@cache
def expressions() -> tuple[Expression, ...]:
    return tuple(translated(text) for text in (*EXACT, *NEARLY))


@cache
def results() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    rows = awkward_rows(_COUNT)
    return reference(expressions(), rows), computed(expressions(), rows)


@pytest.mark.parametrize("place", range(len(EXACT)), ids=EXACT)
def test_duckdb_gives_the_value_of_the_interpreter(place: int) -> None:
    ours, theirs = ([row[place] for row in side] for side in results())
    assert all(map(same, ours, theirs))


@pytest.mark.parametrize("place", range(len(EXACT), len(EXACT) + len(NEARLY)), ids=NEARLY)
def test_duckdb_gives_nearly_the_value_of_the_interpreter(place: int) -> None:
    ours, theirs = ([row[place] for row in side] for side in results())
    assert all(same(mine, other, ulps=64) for mine, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("place", range(len(EXACT) + len(NEARLY)), ids=(*EXACT, *NEARLY))
def test_facts_hold_on_every_row(place: int) -> None:
    expression = expressions()[place]
    values = possible_values(expression)
    listed = None if values is None else frozenset(values)
    for side in results():
        assert all(holds(expression.domain, listed, row[place]) for row in side)


@given(rows=any_rows())
@settings(max_examples=15)
def test_both_agree_and_facts_hold_on_any_rows(rows: Sequence[Row]) -> None:
    check(rows)


@pytest.mark.slow
@given(rows=any_rows())
@settings(max_examples=400)
def test_both_agree_and_facts_hold_on_many_more_rows(rows: Sequence[Row]) -> None:
    check(rows)


def check(rows: Sequence[Row]) -> None:
    ours, theirs = reference(expressions(), rows), computed(expressions(), rows)
    for place, expression in enumerate(expressions()):
        ulps = 0 if place < len(EXACT) else 64
        for mine, other in zip(ours, theirs, strict=True):
            assert same(mine[place], other[place], ulps=ulps), (*EXACT, *NEARLY)[place]
            assert holds(expression.domain, None, other[place])


def test_every_function_is_among_the_cases() -> None:
    """A function without a case would go untested."""
    from discreet.relational.compile.standard import STANDARD

    def names(expression: Expression) -> set[str]:
        found = {expression.function.name} if isinstance(expression, Call) else set()
        return found.union(*map(names, expression.args))

    own = {"part", "truncate", "difference", "shift", "make_date", "regexp_matches"}
    assert set().union(*map(names, expressions())) == set(STANDARD) | own


def holds(domain: ColumnDomain, listed: Set[object] | None, value: Any) -> bool:
    """Whether a value is NULL or as its facts say."""
    if value is None:
        return True
    if type_of_value(value) is not domain.kind:
        return False
    above = domain.low is None or value >= domain.low
    below = domain.high is None or value <= domain.high
    known = domain.kind is DataType.BOOLEAN or domain.values is None or value in domain.values
    short = domain.length is None or len(value) <= domain.length
    return above and below and known and short and (listed is None or value in listed)
