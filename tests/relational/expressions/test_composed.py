"""Functions of functions: guards, bounds and conversions hold however expressions are nested."""

from __future__ import annotations

import random

import pytest

from discreet.core.errors import DiscreetError
from discreet.relational.types.expression import Expression, possible_values
from tests.relational.expressions.engine import computed, reference, same, translated
from tests.relational.expressions.rows import awkward_rows
from tests.relational.expressions.test_engine_agrees import holds

LEAVES = {
    "number": ("w", "v", "i", "j", "x", "y", "a", "b", "0", "1", "-2.5", "1e200", "null", "7"),
    "text": ("s", "t", "c", "'a'", "''", "null"),
    "truth": ("p", "q", "true", "null"),
    "day": ("d", "e", "m", "n", "date '2020-02-29'"),
}
GROWN = {
    "number": (
        *("({number} + {number})", "({number} - {number})", "({number} * {number})"),
        *("({number} / {number})", "({number} % {number})", "(- {number})", "abs({number})"),
        *("sign({number})", "floor({number})", "ceil({number})", "round({number})"),
        *("round({number}, 2)", "round({number}, -1)", "sqrt({number})", "trunc({number})"),
        *("least({number}, {number})", "greatest({number}, {number}, 3)", "length({text})"),
        *("coalesce({number}, {number})", "nullif({number}, {number})", "year({day})"),
        *("case when {truth} then {number} else {number} end", "cast({number} as bigint)"),
        *("cast({text} as double)", "bin({number}, -10, 10, 4)", "date_diff('week', {day}, {day})"),
        *("width_bucket({number}, 0, 1e9, 3)", "cast({truth} as integer)", "isodow({day})"),
    ),
    "text": (
        *("lower({text})", "upper({text})", "({text} || {text})", "substring({text}, 2, 3)"),
        *("trim({text})", "coalesce({text}, 'none')", "cast({truth} as varchar)"),
        *("case when {truth} then {text} end", "replace({text}, 'a', 'b')", "nullif({text}, 'a')"),
    ),
    "truth": (
        *("({number} < {number})", "({number} = {number})", "({truth} and {truth})"),
        *("({truth} or {truth})", "(not {truth})", "({number} is null)", "({text} like '%a%')"),
        *("({number} between {number} and {number})", "({text} >= {text})", "({day} < {day})"),
        *("({number} in (0, 1, 2.5))", "({truth} is true)", "({number} is distinct from {number})"),
    ),
    "day": (
        *("date_trunc('month', {day})", "({day} + interval 40 day)", "({day} - interval 1 month)"),
        *("coalesce({day}, {day})", "least({day}, {day})", "cast({day} as date)"),
        *("make_date(cast({number} as bigint), j, 3)", "cast({text} as timestamp)"),
    ),
}


def grown(draw: random.Random, kind: str, depth: int) -> str:
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(LEAVES[kind])
    text = draw.choice(GROWN[kind])
    for part in GROWN:
        while f"{{{part}}}" in text:
            text = text.replace(f"{{{part}}}", grown(draw, part, depth - 1), 1)
    return text


def forest(count: int, seed: int) -> list[tuple[str, Expression]]:
    """Random expressions, without those that are rightly refused."""
    draw = random.Random(seed)
    found: list[tuple[str, Expression]] = []
    while len(found) < count:
        text = grown(draw, draw.choice(list(GROWN)), draw.randint(2, 4))
        try:
            found.append((text, translated(text)))
        except DiscreetError as refusal:
            assert refusal.code in ("type_clash", "bad_literal")  # noqa: PT017
    return found


def check(count: int, seed: int) -> None:
    texts, expressions = zip(*forest(count, seed), strict=True)
    rows = awkward_rows(120)
    for ours, theirs in zip(reference(expressions, rows), computed(expressions, rows), strict=True):
        for text, expression, mine, other in zip(texts, expressions, ours, theirs, strict=True):
            assert same(mine, other), text
            assert holds(expression.domain, None, other), text


@pytest.mark.parametrize("seed", range(4))
def test_nested_expressions_agree_and_their_facts_hold(seed: int) -> None:
    check(100, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_nested_expressions_agree_and_their_facts_hold(seed: int) -> None:
    check(150, seed)


def test_lists_of_values_hold_for_nested_expressions() -> None:
    rows = awkward_rows(300)
    for text, expression in forest(150, 50):
        listed = possible_values(expression, limit=2_000)
        if listed is not None:
            found = {row[0] for row in reference([expression], rows)} - {None}
            assert found <= set(listed), text
