"""What other systems write differently, found among the tokens and written as DuckDB has it.

- ``SELECT TOP 5 …`` and ``TOP (5)``, of SQL Server, as ``LIMIT 5`` at the end of that SELECT;
- ``[name]``, of SQL Server, as ``"name"``, where it cannot be a list or an index;
- ```` `schema.table` ````, of BigQuery, as each name in quotes of its own;
- ``DATE_TRUNC(day, MONTH)``, of BigQuery, as ``DATE_TRUNC('MONTH', day)``.

Nothing inside strings and comments is touched. What does not have exactly such a form stays as it
was written, and is refused by whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import Token, TokenType

from discreet.relational.functions.shifts import MULTIPLES
from discreet.relational.sql.dialect import QueryDialect

_SIGNS = re.compile(r"\btop\b|_trunc\b|\[|`[^`]*\.", re.IGNORECASE)
_UNITS = frozenset({*MULTIPLES, "quarter", "year", "isoweek", "isoyear"})
_TRUNCATING = frozenset({"date_trunc", "datetime_trunc", "timestamp_trunc"})
_ENDS = (TokenType.LIMIT, TokenType.OFFSET, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_BEFORE_NAMES = (
    *(TokenType.SELECT, TokenType.DISTINCT, TokenType.COMMA, TokenType.L_PAREN, TokenType.DOT),
    *(TokenType.FROM, TokenType.JOIN, TokenType.ON, TokenType.WHERE, TokenType.HAVING),
    *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.AND, TokenType.OR, TokenType.NOT),
    *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE),
    *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.ALIAS),
    *(TokenType.BETWEEN, TokenType.CASE, TokenType.WHEN, TokenType.THEN, TokenType.ELSE),
)
"""After these no index of a list can stand."""
Edit = tuple[int, int, str]
"""From where to where in the text, and what stands there instead."""


def in_duckdbs_words(text: str) -> str:
    """The text as DuckDB would have it written; unchanged where nothing of this kind stands."""
    if _SIGNS.search(text) is None:
        return text
    try:
        tokens = sqlglot.tokenize(text, read=QueryDialect)
    except sqlglot.errors.SqlglotError:
        return text  # refused as any other text that cannot be read
    made, place = list[str](), 0
    edits = [*_tops(tokens, text), *_brackets(tokens), *_paths(tokens), *_truncations(tokens, text)]
    for start, end, inserted in sorted(edits):
        if start < place:
            return text  # one inside the other: left to the parser
        made += [text[place:start], inserted]
        place = end
    return "".join([*made, text[place:]])


def _tops(tokens: Sequence[Token], text: str) -> Iterator[Edit]:
    for at, token in enumerate(tokens[:-2]):
        if token.token_type is not TokenType.SELECT or tokens[at + 1].text.upper() != "TOP":
            continue
        bracket = tokens[at + 2].token_type is TokenType.L_PAREN
        number = tokens[at + 3] if bracket and at + 4 < len(tokens) else tokens[at + 2]
        last = tokens[at + 4] if bracket and at + 4 < len(tokens) else number
        end = _end_of_select(tokens, at)
        after = tokens[min(tokens.index(last, at) + 1, len(tokens) - 1)].text.upper()
        plain = number.token_type is TokenType.NUMBER and number.text.isdigit()
        plain = plain and after not in ("PERCENT", "WITH")
        if plain and end is not None:
            yield tokens[at + 1].start, last.end + 1, ""
            place = len(text) if end == len(tokens) else tokens[end].start
            yield place, place, f"\nLIMIT {number.text}"


def _end_of_select(tokens: Sequence[Token], at: int) -> int | None:
    """The token at which a SELECT ends; None where it has a LIMIT, or is a part of a union."""
    depth = 0
    for place in range(at, len(tokens)):
        kind = tokens[place].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth < 0 or (depth == 0 and kind is TokenType.SEMICOLON):
            return place
        if depth == 0 and kind in _ENDS:
            return None
    return len(tokens)


def _brackets(tokens: Sequence[Token]) -> Iterator[Edit]:
    for at in range(len(tokens) - 2):
        opening, name, closing = tokens[at : at + 3]
        before = tokens[at - 1].token_type if at else None
        if (
            opening.token_type is TokenType.L_BRACKET
            and closing.token_type is TokenType.R_BRACKET
            and re.fullmatch(r"[A-Za-z_]\w*", name.text, re.ASCII)
            and name.token_type is not TokenType.STRING
            and before in _BEFORE_NAMES
        ):
            yield opening.start, closing.end + 1, f'"{name.text}"'


def _paths(tokens: Sequence[Token]) -> Iterator[Edit]:
    for before, token in zip((None, *tokens), tokens, strict=False):
        named = token.token_type is TokenType.IDENTIFIER and re.fullmatch(r"[\w.-]+", token.text)
        table = before is not None and before.token_type in (TokenType.FROM, TokenType.JOIN)
        if named and table and "." in token.text.strip("."):
            parts = token.text.split(".")
            if all(parts):
                yield token.start, token.end + 1, ".".join(f'"{part}"' for part in parts)


def _truncations(tokens: Sequence[Token], text: str) -> Iterator[Edit]:
    for at, token in enumerate(tokens[:-5]):
        if (
            token.text.lower() not in _TRUNCATING
            or tokens[at + 1].token_type is not TokenType.L_PAREN
            or tokens[at + 2].token_type is TokenType.STRING
        ):
            continue
        depth, comma = 0, None
        for place in range(at + 1, len(tokens)):
            kind = tokens[place].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if depth == 1 and kind is TokenType.COMMA:
                comma = place
            if depth == 0:
                unit = tokens[place - 1]
                if comma == place - 2 and unit.text.lower() in _UNITS and _word(unit):
                    inside = text[tokens[at + 2].start : tokens[comma].start]
                    start, end = token.start, tokens[place].end + 1
                    yield start, end, f"date_trunc('{unit.text.lower()}', {inside})"
                break


def _word(token: Token) -> bool:
    return token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER)
