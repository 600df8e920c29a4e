"""Columns that are linear in released measures: factors, constants, and an order of their own."""

from __future__ import annotations

from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
from discreet.relational.answers.linear_forms import linear_form, quotient_form
from discreet.relational.functions.arithmetic import ADD, DIVIDE, MULTIPLY, SUBTRACT
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, Expression, Literal
from discreet.release.formula import NoisyMeasure

NAMES = ("agg2", "agg0", "agg1", "agg3")
LAW = DiscreteLaplaceDistribution(scale=1, step=1)
KNOWN = {name: NoisyMeasure("r", name, LAW, (1, 2)) for name in NAMES}


def column(name: str) -> Expression:
    return Column(name, ColumnDomain(DataType.DOUBLE, None, None, None, declared=True))


def test_terms_stand_in_the_order_in_which_they_were_written() -> None:
    """Not in that of a set of texts, which differs from process to process."""
    expression = column(NAMES[0])
    for name in NAMES[1:]:
        expression = Call(ADD, (expression, column(name)))
    form = linear_form(expression, KNOWN)
    assert form is not None
    assert [measure.name for _, measure in form.terms] == list(NAMES)


def test_factors_and_the_constant_add_up() -> None:
    twice = Call(MULTIPLY, (Literal(2.0), column("agg0")))
    form = linear_form(Call(SUBTRACT, (Call(ADD, (twice, column("agg0"))), Literal(3.0))), KNOWN)
    assert form is not None
    assert [(factor, measure.name) for factor, measure in form.terms] == [(3.0, "agg0")]
    assert form.constant == -3.0


def test_what_is_not_linear_is_not_taken_for_it() -> None:
    product = Call(MULTIPLY, (column("agg0"), column("agg1")))
    assert linear_form(product, KNOWN) is None
    assert linear_form(column("agg9"), KNOWN) is None
    ratio = Call(DIVIDE, (column("agg0"), column("agg1")))
    assert linear_form(ratio, KNOWN) is None
    assert quotient_form(ratio, KNOWN, {}) is not None
