"""Expressions as values: facts, conversions, columns, substitution and canonical text."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.arithmetic import ADD, DIVIDE, MULTIPLY
from discreet.relational.functions.comparison import LESS
from discreet.relational.functions.rounding import FLOOR
from discreet.relational.types.column_domain import ColumnDomain, hull, require_bounds
from discreet.relational.types.data_type import DataType, type_of_value
from discreet.relational.types.expression import (
    Call,
    Case,
    Column,
    Literal,
    canonical,
    columns,
    evaluate,
    evaluate_each,
    possible_values,
    substitute,
)
from tests.relational.expressions.engine import DIALECT, translated

AGE = Column("age", ColumnDomain(DataType.INTEGER, 0, 120, declared=True))
COST = Column("cost", ColumnDomain(DataType.DOUBLE, 0, 50_000, declared=True))
WARD = Column("ward", ColumnDomain(DataType.TEXT, values=("A", "B"), declared=True))
WEIGHT = Column("weight", ColumnDomain(DataType.DOUBLE))


def test_whole_arithmetic_stays_whole_where_it_is_proved_to_fit() -> None:
    assert Call(ADD, (AGE, Literal(1))).domain == ColumnDomain(
        DataType.INTEGER, values=tuple(range(1, 122)), declared=True
    )
    large = Column("n", ColumnDomain(DataType.INTEGER, 0, 2**40))
    assert Call(MULTIPLY, (large, Literal(2**21))).domain.kind is DataType.INTEGER
    assert Call(MULTIPLY, (large, Literal(2**22))).domain.kind is DataType.DOUBLE
    assert (
        Call(ADD, (Column("n", ColumnDomain(DataType.INTEGER)), Literal(1))).domain.kind
        is DataType.DOUBLE
    )


def test_facts_are_declared_only_if_every_column_below_is() -> None:
    assert Call(ADD, (AGE, COST)).domain.declared
    assert not Call(ADD, (AGE, WEIGHT)).domain.declared
    test = Call(LESS, (WEIGHT, Literal(1)))
    assert not Case(((test, Literal(1)),), Literal(0)).domain.declared


def test_conversions_become_nodes_and_constants_are_converted_on_the_spot() -> None:
    total = Call(ADD, (COST, Literal(1)))
    assert total.args == (COST, Literal(1.0))
    mixed = Call(ADD, (AGE, COST))
    assert DIALECT.render(mixed) == '(CAST("age" AS DOUBLE) + "cost")'
    later = Call(LESS, (Column("m", ColumnDomain(DataType.TIMESTAMP)), Literal(date(2020, 1, 1))))
    assert later.args[1] == Literal(datetime(2020, 1, 1))


def test_constants_of_different_kinds_are_different() -> None:
    one, real, true = (Literal(value) for value in (1, 1.0, True))
    assert len({one, real, true}) == 3
    assert canonical(Literal(1)) != canonical(Literal(1.0))


@pytest.mark.parametrize(
    "text",
    [
        "case when a > 5 then 1 when a > 2 then 2 else 3 end",
        "case when s = 'b' then a when a > 5 then floor(a / 2) else null end",
        "coalesce(a, 0) + case when s = 'a' then 1 else a end",
        "s in ('a', 'b') and a > 3",
    ],
)
def test_rows_are_evaluated_together_as_each_is_alone(text: str) -> None:
    expression = translated(text)
    rows = [{"a": a, "s": s} for a in (None, 0.0, 3.0, 6.0, 9.0) for s in ("a", "b", None)]
    assert evaluate_each(expression, rows) == [evaluate(expression, row) for row in rows]
    assert len(set(evaluate_each(expression, rows))) > 1
    assert evaluate_each(expression, []) == []


def test_the_first_true_branch_is_taken_however_many_there_are() -> None:
    """Each branch is tried on the rows that no earlier one took."""
    many = [(Call(LESS, (AGE, Literal(end))), Literal(end)) for end in range(2_000)]
    case = Case(tuple(many), Literal(-1))
    rows: list[dict[str, object]] = [{"age": value} for value in (0, 1998, 1999, 5_000, None, 7)]
    assert evaluate_each(case, rows) == [1, 1999, -1, -1, -1, 8]


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**63, -(2**63), b"x", "a\0b", "\ud800", object(), 1j]
)
def test_values_of_no_universe_are_no_constants(value: object) -> None:
    assert type_of_value(value) is None
    with pytest.raises(InvalidParameter) as refusal:
        Literal(value)
    assert refusal.value.code == "bad_literal"


def test_quotients_are_bounded_only_away_from_zero() -> None:
    assert Call(DIVIDE, (COST, Literal(100))).domain.high == 500
    ratio = Call(DIVIDE, (COST, AGE))
    assert not ratio.domain.bounded
    with pytest.raises(InvalidParameter, match="least"):
        require_bounds(ratio.domain, "cost / age")
    with pytest.raises(InvalidParameter, match=r'columns=\{"weight": dp.Number\(0, 50_000\)\}'):
        require_bounds(WEIGHT.domain, "weight")
    require_bounds(COST.domain, "cost")


def test_crossed_and_senseless_bounds_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="bounds_crossed"):
        ColumnDomain(DataType.DOUBLE, 2, 1)
    with pytest.raises(InvalidParameter, match="bounds_not_ordered"):
        ColumnDomain(DataType.TEXT, "a", "b")


def test_bounds_take_the_type_of_their_kind() -> None:
    assert ColumnDomain(DataType.INTEGER, 0.5, 9.5) == ColumnDomain(DataType.INTEGER, 1, 9)
    assert type(ColumnDomain(DataType.DOUBLE, 0, 1).low) is float
    assert ColumnDomain(DataType.TIMESTAMP, date(2020, 1, 1)).low == datetime(2020, 1, 1)


def test_the_hull_of_nothing_but_null_is_null() -> None:
    null = Literal(None).domain
    assert hull(DataType.DOUBLE, [null, null]).empty
    assert hull(DataType.DOUBLE, [null, COST.domain]).high == 50_000


def test_columns_and_substitution() -> None:
    expression = translated("case when x > 0 then floor(a / 10) else w end")
    assert columns(expression) == {"x", "a", "w"}
    simple = Call(ADD, (WEIGHT, Literal(1)))
    replaced = substitute(simple, {"weight": COST})
    assert replaced.domain.high == 50_001
    assert replaced.domain.declared
    assert substitute(simple, {}) == simple
    assert evaluate(replaced, {"cost": 5.0}) == 6.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("x + y", "y + x"), ("x < y", "y > x"), ("p and q", "q and p"), ("x = y", "y = x")),
        *(("x <= 1", "1.0 >= x"), ("((x))", "x"), ("x is not null", "not (x is null)")),
        *(("least(x, y)", "LEAST(y, x)"), ("s like 'a%%'", "s like 'a%'"), ("pow(x, 2)", "x ^ 2")),
        *(("year(d)", "extract(year from d)"), ("ceil(x)", "ceiling(x)"), ("x*x", "x * x")),
        *(("d > '2020-01-01'", "d > date '2020-01-01'"), ("dow(d)", "dayofweek(d)")),
    ],
)
def test_the_same_question_has_one_canonical_text(one: str, other: str) -> None:
    assert canonical(translated(one)) == canonical(translated(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("x - y", "y - x"), ("x / y", "y / x"), ("s like 'a%'", "s like 'a!%' escape '!'")),
        *(("s = '1'", "s = '2'"), ("round(x, 1)", "round(x, 2)"), ("x < y", "x <= y")),
        *(("bin(x, 0, 10, 5)", "bin(x, 0, 10, 2)"), ("w = 1", "x = 1"), ("'a,b'", "'a'',''b'")),
        *(("cast(s as date)", "cast(s as timestamp)"), ("case when p then 1 end", "p")),
    ],
)
def test_different_questions_have_different_canonical_texts(one: str, other: str) -> None:
    assert canonical(translated(one)) != canonical(translated(other))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("j // 2 * 2", (0, 2, 4, 6)),
        ("j - j % 2", (0, 2, 4, 6)),
        ("floor(a / 100)", (-1, 0, 1)),
        ("round(b, -1)", (0, 10, 20)),
        ("sign(a)", (-1, 0, 1)),
        ("year(e)", (2019, 2020, 2021, 2022, 2023, 2024)),
        ("date_trunc('year', n)", tuple(datetime(year, 1, 1) for year in range(2019, 2025))),
        ("quarter(m)", (1, 2, 3, 4)),
        ("lower(c)", ("a", "b", "é")),
        ("c || '!'", ("A!", "b!", "É!")),
        ("case when x > 0 then 'up' else 'down' end", ("down", "up")),
        ("coalesce(c, 'none')", ("A", "b", "none", "É")),
        ("bin(b, 0, 20, 4)", (0, 5, 10, 15)),
        ("width_bucket(b, 5, 10, 2)", (0, 1, 2, 3)),
        ("if(p, j // 4, -1)", (-1, 0, 1)),
        ("p", (False, True)),
        ("c", ("A", "b", "É")),
        ("x", None),
        ("s", None),
        ("exp(j)", None),
    ],
)
def test_keys_have_a_finite_list_of_values(text: str, values: tuple[object, ...] | None) -> None:
    assert possible_values(translated(text)) == values


def test_wide_steps_have_long_lists() -> None:
    tens = Call(MULTIPLY, (Call(FLOOR, (Call(DIVIDE, (COST, Literal(10))),)), Literal(10)))
    assert possible_values(tens) == tuple(range(0, 50_001, 10))
    assert possible_values(tens, limit=100) is None


def test_names_are_quoted() -> None:
    assert DIALECT.identifier('a"; DROP TABLE t; --') == '"a""; DROP TABLE t; --"'
    for name in ("", "a\0b", "\ud800"):
        with pytest.raises(InvalidParameter, match="bad_name"):
            DIALECT.identifier(name)
    assert DIALECT.literal("it's; --") == "'it''s; --'"
