"""Valid texts spoilt: tokens exchanged, lost, doubled, replaced by extremes, nested, spliced."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from discreet.relational.aggregates.registry import NAMES
from tests.fuzz.grammar import KINDS, Grammar

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\d+\.?\d*(?:[eE][+-]?\d+)?|\w+|\s+|<>|<=|>=|\|\||//|::|.", re.DOTALL
)
NUMBERS = (
    *("0", "-0.0", "1e300", "1e3-2", "1e999", "5e-324", "9" * 30, "9" * 5_000, "0x10", "1_000"),
    *("9223372036854775808", "-1", "1.5", ".5", "5.", "1e", "00012", "15", "NULL", "''", "1e-400"),
)
STRINGS = (
    *("''", "'a'", "'\u0000'", "'%%%%%%'", "'2024-02-30'", "'9999-12-31 23:59:59.999999'"),
    *(
        "'\\'",
        "'é\u0301👨‍👩‍👧'",
        "'" + "x" * 20_000 + "'",
        "''''",
        "'nan'",
        "'month'",
        "'-'",
        "date '0001-01-01'",
    ),
)
ODD = (
    *(
        "\u202e",
        "\ufeff",
        "\u0000",
        "\ud800",
        "é",
        "''",
        '"',
        "`",
        ";",
        "--",
        "/*",
        "*/",
        "?",
        "$1",
    ),
    *(
        "\\",
        "[",
        "]",
        "{",
        "}",
        "@",
        "#",
        "!",
        "~",
        ":",
        "::",
        "->",
        "=>",
        "..",
        ".",
        ",",
        "(",
        ")",
    ),
)
WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET", "DISTINCT"),
    *("UNION", "ALL", "JOIN", "LEFT", "ON", "USING", "AS", "CASE", "WHEN", "THEN", "ELSE", "END"),
    *("CAST", "INTERVAL", "DAY", "NOT", "IN", "IS", "NULL", "BETWEEN", "LIKE", "ESCAPE", "FILTER"),
    *("WITH", "OVER", "EXTRACT", "COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "CORR", "EXISTS"),
    *("STDDEV", "MIN", "MAX", "FIRST", "LAST", "COUNT_IF", "NULLS", "DESC", "QUALIFY", "WINDOW"),
    *NAMES,
    *("LATERAL", "VALUES", "TABLESAMPLE", "CROSS", "NATURAL", "FULL", "EXCEPT", "ARRAY", "*", "1"),
)
_LEAVES = {
    "number": ("x", "y", "cost"),
    "whole": ("x", "age"),
    "text": ("w", "ward", "note"),
    "truth": ("f",),
    "day": ("d", "day"),
}
Tokens = list[str]


def _swap(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    form = draw.choice((r"\w", r"\w", r"\W"))
    places = [place for place, token in enumerate(tokens) if re.match(form, token)] or [0]
    a, b = draw.choice(places), draw.choice(places)
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return tokens


def _lose(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    place = draw.randrange(len(tokens))
    del tokens[place : place + draw.choice((1, 1, 1, 2, 5))]
    return tokens or ["SELECT"]


def _double(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    place, size = draw.randrange(len(tokens)), draw.choice((1, 1, 3, 9))
    return tokens[:place] + tokens[place : place + size] * 2 + tokens[place + size :]


def _insert(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    tokens.insert(draw.randrange(len(tokens)), f" {draw.choice((*WORDS, *ODD))} ")
    return tokens


def _like(draw: random.Random, tokens: Tokens, form: str, replacements: Sequence[str]) -> Tokens:
    places = [place for place, token in enumerate(tokens) if re.match(form, token)]
    if places:
        tokens[draw.choice(places)] = draw.choice(replacements)
    return tokens


def _number(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    return _like(draw, tokens, r"\d", NUMBERS)


def _string(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    return _like(draw, tokens, "'", STRINGS)


def _word(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    known = [token for token in tokens if re.match(r"[A-Za-z]", token)]
    return _like(draw, tokens, r"[A-Za-z]", (*known, *WORDS, *NUMBERS[:6], *STRINGS[:6]))


def _expression(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    grown = Grammar(draw, _LEAVES).grown(draw.choice(KINDS), draw.randint(1, 3))
    return _like(draw, tokens, r"[a-z]\w*$", [f"({grown})"])


def _splice(draw: random.Random, tokens: Tokens, corpus: Sequence[str]) -> Tokens:
    other = _TOKEN.findall(draw.choice(corpus))
    a, b = draw.randrange(len(tokens)), draw.randrange(len(other))
    size = draw.choice((2, 5, 20))
    return [*tokens[:a], *other[b : b + size], *tokens[a + draw.choice((0, 2, size)) :]]


def _nest(draw: random.Random, tokens: Tokens, _: Sequence[str]) -> Tokens:
    depth = draw.choice((1, 3, 40, 400))
    before, after = draw.choice(
        (
            ("(", ")"),
            ("abs(", ")"),
            ("(- ", ")"),
            ("(SELECT * FROM (", ") AS n)"),
            ("CASE WHEN ", " THEN 1 END"),
        )
    )
    places = [place for place, token in enumerate(tokens) if re.match(r"[a-z]\w*$", token)]
    if places:
        place = draw.choice(places)
        tokens[place] = before * depth + tokens[place] + after * depth
    return tokens


MUTATIONS: Sequence[Callable[[random.Random, Tokens, Sequence[str]], Tokens]] = (
    *(_swap, _lose, _double, _insert, _splice, _nest),
    *(_number, _string, _word, _expression) * 2,
)


def mutated(draw: random.Random, corpus: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A text of the corpus after a few mutations, and which they were."""
    tokens = _TOKEN.findall(draw.choice(corpus))
    names = []
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 5))):
        change = draw.choice(MUTATIONS)
        tokens = change(draw, tokens, corpus)
        names.append(change.__name__.strip("_"))
    return "".join(tokens), tuple(names)
