"""Expressions too large to follow are refused before anything recursive looks at them."""

from __future__ import annotations

import pytest
from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.arithmetic import ADD
from discreet.relational.functions.choice import LEAST
from discreet.relational.functions.logic import NOT
from discreet.relational.sql.expressions import expression_from
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import (
    MAX_NESTED,
    Call,
    Column,
    Expression,
    Literal,
    canonical,
    evaluate,
)
from tests.processor_time import at_most
from tests.relational.expressions.engine import DIALECT, translated


def parsed_chain(kind: type[exp.Add], length: int) -> exp.Add:
    node = kind(this=exp.Literal.number(1), expression=exp.Literal.number(1))
    for _ in range(length - 1):
        node = kind(this=node, expression=exp.Literal.number(1))
    return node


def refuse(node: exp.Column) -> Expression:
    raise AssertionError(node)


@pytest.mark.parametrize("length", [200, 20_000])
def test_deep_nesting_is_refused(length: int) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        expression_from(parsed_chain(exp.Add, length), refuse)
    assert refusal.value.code == "expression_too_large"
    assert str(refusal.value.received).endswith(" deep")


def test_deep_nesting_of_our_own_nodes_is_refused() -> None:
    node: Expression = Column("p", ColumnDomain(DataType.BOOLEAN))
    for _ in range(MAX_NESTED - 1):
        node = Call(NOT, (node,))
    with pytest.raises(InvalidParameter, match="expression_too_large"):
        Call(NOT, (node,))


def test_what_is_allowed_can_be_followed_by_everything() -> None:
    node = expression_from(parsed_chain(exp.Add, 140), refuse)
    assert evaluate(node, {}) == 141
    assert DIALECT.render(node)
    assert canonical(node)
    assert hash(node)
    assert node == expression_from(parsed_chain(exp.Add, 140), refuse)


def test_long_conditions_are_flat() -> None:
    listed = " or ".join(f"w = {number}" for number in range(1_500))
    condition = translated(f"({listed}) and (p and (q and x > 0))")
    assert isinstance(condition, Call)
    assert len(condition.args) == 4


def test_too_many_parts_are_refused() -> None:
    conditions = " and ".join(["p"] * 11_000)
    with pytest.raises(InvalidParameter, match="expression_too_large"):
        translated(conditions)


def test_text_does_not_grow_without_bound() -> None:
    node: Expression = Column("x", ColumnDomain(DataType.DOUBLE))
    for number in range(30):
        node = Call(
            LEAST, (node, Literal(float(number)), Column("y", ColumnDomain(DataType.DOUBLE)))
        )
    with at_most(5), pytest.raises(InvalidParameter, match="expression_too_large"):
        DIALECT.render(node)


def test_long_sums_of_undeclared_columns_stay_short() -> None:
    """One guard around a chain of operations, not one around each."""
    node: Expression = Column("x", ColumnDomain(DataType.DOUBLE))
    for number in range(100):
        node = Call(ADD, (node, Column(f"y{number}", ColumnDomain(DataType.DOUBLE))))
    assert len(DIALECT.render(node)) < 5_000
