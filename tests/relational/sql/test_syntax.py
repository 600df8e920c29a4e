"""Errors in a text: the line, a caret under the place, and the analyst's own words."""

from __future__ import annotations

import re

import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.relational.sql.statement import parse
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.tables import visits
from tests.relational.neighbours.worlds import Stand
from tests.relational.sql.test_reading import catalog


@pytest.mark.parametrize(
    ("text", "line", "pointed", "words"),
    [
        ("SELECT TOP 5 a FROM t LIMIT 2", 1, "5", "near 5"),
        ("SELECT a,\n  strftime() AS x\nFROM t", 2, ")", "too few arguments for strftime"),
        ("SELECT Date_Trunc('month') FROM t", 1, ")", "too few arguments for Date_Trunc"),
        ("SELECT f(g(1), ROUND()) FROM t", 1, "))", "too few arguments for ROUND"),
        ("SELECT a FROM t WHERE (a > 3", 1, "3", "a bracket that is not closed"),
        ("SELECT 'abc FROM t", 1, "'abc", "text that begins with ' and does not end"),
        ('SELECT a,\n\t"b FROM t', 2, '"b', 'text that begins with " and does not end'),
        ("SELECT a\nFROM t /* what", 2, "/*", "a comment that begins with /*"),
        ("SELECT CAST(a) FROM t", 1, ")", "expected AS after CAST"),
        ("SELECT a FROM t WHERE a = = 3", 1, "= 3", "something is missing near ="),
        ("SELECT a FROM", 1, "FROM", "something is missing near FROM"),
        ("SELECT a\nFROM t\nGROUP ward", 3, "ward", "near ward"),
    ],
)
def test_a_caret_points_at_the_place(text: str, line: int, pointed: str, words: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        parse(text)
    assert refusal.value.code == "sql_syntax"
    received = str(refusal.value.received)
    assert received.startswith(f"line {line}, column ")
    assert words in received
    *_, shown, caret = str(refusal.value).split("\n")
    assert shown[caret.index("^") :].startswith(pointed)
    assert caret.strip() == "^"
    assert "sqlglot" not in str(refusal.value)
    assert "class" not in str(refusal.value)


def test_a_text_that_is_too_long_is_told_what_to_do_with_a_list() -> None:
    with pytest.raises(InvalidParameter, match=r"sql_syntax.*characters.*public table"):
        parse("SELECT COUNT(*) AS n FROM t WHERE a IN (" + "1, " * 40_000 + "1)")


def test_a_long_line_is_cut_around_the_caret() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        parse(f"SELECT {'a, ' * 200} b c d FROM t")
    *_, shown, caret = str(refusal.value).split("\n")
    assert len(shown) <= 90
    assert shown[caret.index("^")] == "d"


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("JSON_Extract(ward, '$.a')", "json_extract"),
        ("List_Value(age)", "list_value"),
        ("Levenshtein(ward, 'a')", "levenshtein"),
        ("ward[1]", "ward[1]"),
        ("age & 3", "age & 3"),
        ("ward COLLATE nocase", "COLLATE"),
        ("EXISTS (SELECT 1)", "EXISTS"),
        ("{'a': age}", "{'a': age}"),
        ("?", "placeholder"),
        ("SUM(age) OVER (ORDER BY age)", "window"),
        ("CAST(age AS DECIMAL(9, 2))", "CAST to DECIMAL(9, 2)"),
        ("Age.Foo.Bar", "three parts"),
        ("Regexp_Full_Match(ward, 'a')", "regexp_full_match"),
    ],
)
def test_what_is_not_understood_is_named_as_it_was_written(expression: str, named: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        query_from(f"SELECT COUNT(*) AS n FROM visits WHERE {expression} = 1", catalog())
    assert named.lower() in str(refusal.value.received).lower()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("DELETE FROM visits", "DELETE"),
        ("TRUNCATE TABLE visits", "TRUNCATE"),
        ("CREATE TABLE x AS SELECT 1", "CREATE"),
        ("PRAGMA version", "PRAGMA"),
        ("SET x = 1", "SET"),
        ("DESCRIBE visits", "DESCRIBE"),
        ("VALUES (1, 2)", "VALUES"),
    ],
)
def test_other_statements_are_named_by_their_word(text: str, word: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        query_from(text, catalog())
    assert str(refusal.value.received).startswith(word)


WORDS = {
    "SELECT STRING_AGG(w, ',') AS a FROM t": ("STRING_AGG", "Use COUNT"),
    "SELECT GROUP_CONCAT(w) AS a FROM t": ("STRING_AGG", "Use COUNT"),
    "SELECT COUNT(*) AS n FROM t WHERE w ~ 'a'": ("x ~ pattern", "regexp_matches"),
    "SELECT COUNT(*) AS n FROM t WHERE w IN 'A'": ("IN without", "IN ('A', 'B')"),
    'SELECT COUNT(*) AS n FROM t WHERE w = "Zq9"': ('"Zq9"', "'Zq9'"),
    "SELECT IFF(w = 'A', 1, 0) AS k, COUNT(*) AS n FROM t GROUP BY k": ("iff", "CASE WHEN"),
    "SELECT TO_CHAR(d, 'YYYY') AS k, COUNT(*) AS n FROM t GROUP BY k": ("to_char", "strftime"),
    "SELECT PERCENTILE(x, 50) AS p FROM t": ("percentile", "QUANTILE(x, 0.5)"),
    "SELECT COUNT(*) AS n FROM t PIVOT (COUNT(*) FOR w IN ('A'))": ("PIVOT", "Group by"),
    "SELECT COUNT(*) AS n FROM t TABLESAMPLE 10%": ("a sample", "earns nothing"),
    "SELECT COUNT(*) AS n FROM t WHERE x > (SELECT AVG(x) FROM t)": ("a subquery", "ask for it"),
    "SELECT TOP 5 PERCENT w, COUNT(*) AS n FROM t GROUP BY w": ("near 5", "caret"),
    "  ": ("an empty text", "SELECT"),
}


@pytest.mark.parametrize("sql", WORDS)
def test_a_refusal_names_what_was_written_and_what_to_write(sql: str) -> None:
    stand = Stand(visits([], dp.Person("pid", max_rows=2)))
    try:
        with pytest.raises(DiscreetError) as refused:
            query_from(sql, stand.database)
    finally:
        stand.close()
    said = f"{refused.value}"
    assert all(word in said for word in WORDS[sql]), said
    assert not re.search(r"exp\.|sqlglot|Anonymous|LISTAGG", said)
