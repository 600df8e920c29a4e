"""Arguments by name inside aggregates: ``SUM(x, contribution_bounds_per_row => (0, 9))``.

The parser has no place for them, nor for ``ANON_SUM(x CLAMPED BETWEEN 0 AND 9)``. They are found
among the tokens, never inside strings or comments, and moved around their call, as calls that the
parser reads: ``CONTRIBUTION_BOUNDS_PER_ROW(SUM(x), 0, 9)``. What they mean is said elsewhere
(``contribution_bounds.py``).

``report_format => 'JSON'`` asks for the interval beside the value, which every answer states: it
is read and needs nothing. Any other name, and any value that is not a constant, is refused.

Source: contract, "What may be seen" (nothing is ignored); GoogleSQL's and ZetaSQL's documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import Token, TokenType

from discreet.relational.functions.casts import REAL_FORM
from discreet.relational.sql.dialect import QueryDialect
from discreet.relational.sql.relation import unsupported

PER_ROW = "CONTRIBUTION_BOUNDS_PER_ROW"
PER_GROUP = "CONTRIBUTION_BOUNDS_PER_GROUP"
CLAMPED = "CLAMPED_BETWEEN"
"""ZetaSQL's former clause: of a person's total where there is one, else of each row."""

_REPORT = "REPORT_FORMAT"


def move_named_arguments(text: str) -> str:
    """The text with such arguments around their calls; unchanged where there are none."""
    if "=>" not in text and "clamped" not in text.lower() and "report" not in text.lower():
        return text
    try:
        tokens = sqlglot.tokenize(text, read=QueryDialect)
    except sqlglot.errors.SqlglotError:
        return text  # refused as any other text that cannot be read
    edits = sorted(edit for call in _calls(tokens) for edit in call.edits(text))
    made, place = [], 0
    for start, end, inserted in edits:
        made += [text[place:start], inserted]
        place = end
    return "".join([*made, text[place:]])


@dataclass
class _Call:
    """A call with arguments by name: its tokens, what is cut out of it, and its bounds."""

    first: Token
    last: Token | None = None
    cut: list[tuple[int, int]] = field(default_factory=list)
    bounds: list[tuple[str, str, str]] = field(default_factory=list)

    def edits(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Places of the text, and what stands there instead."""
        if not self.cut:
            return
        if self.last is None:
            return  # no closing bracket: refused by the parser
        if len(self.bounds) > 1:
            raise unsupported(
                construct="two bounds in one aggregate",
                remedy="Give contribution_bounds_per_row or contribution_bounds_per_group.",
            )
        for start, end in self.cut:
            yield start, end, ""
        for name, low, high in self.bounds:
            yield self.first.start, self.first.start, f"{name}("
            yield self.last.end + 1, self.last.end + 1, f", {low}, {high})"


def _calls(tokens: Sequence[Token]) -> list[_Call]:
    """All calls; those without arguments by name have nothing to cut."""
    found: list[_Call] = []
    open_calls: list[_Call] = []
    for place, token in enumerate(tokens):
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            open_calls.append(_Call(tokens[max(place - 1, 0)]))
            found.append(open_calls[-1])
        elif kind is TokenType.R_PAREN and open_calls:
            open_calls.pop().last = token
        elif _kinds(tokens, place, 2)[1:] == [TokenType.FARROW]:
            _by_name(tokens, place, open_calls[-1] if open_calls else None)
        elif token.text.upper() == "CLAMPED" and _kinds(tokens, place, 2)[1:] == [
            TokenType.BETWEEN
        ]:
            _clamped(tokens, place, open_calls[-1] if open_calls else None)
        elif kind is TokenType.WITH and _texts(tokens, place, 2)[1:] == ["REPORT"]:
            _report(tokens, place, open_calls[-1] if open_calls else None)
    return found


def _by_name(tokens: Sequence[Token], place: int, call: _Call | None) -> None:
    name = tokens[place].text.upper()
    after_comma = place > 0 and tokens[place - 1].token_type is TokenType.COMMA
    if call is None or not after_comma or name not in (PER_ROW, PER_GROUP, _REPORT):
        raise unsupported(
            construct=f"{tokens[place].text} => inside a call",
            remedy="Named arguments are contribution_bounds_per_row => (0, 100), "
            "contribution_bounds_per_group => (0, 100) and report_format => 'JSON', after the "
            "argument of an aggregate.",
        )
    start = tokens[place - 1].start
    if name == _REPORT:
        _require_format(tokens[place + 2 : place + 3])
        call.cut.append((start, tokens[place + 2].end + 1))
        return
    opening = place + 3 if _texts(tokens, place + 2, 1) == ["STRUCT"] else place + 2
    low, comma = _number(tokens, opening + 1)
    high, last = _number(tokens, comma + 1)
    form = [tokens[at].token_type for at in (opening, comma, last) if at < len(tokens)]
    if form != [TokenType.L_PAREN, TokenType.COMMA, TokenType.R_PAREN]:
        raise _not_constant()
    call.bounds.append((name, low, high))
    call.cut.append((start, tokens[last].end + 1))


def _clamped(tokens: Sequence[Token], place: int, call: _Call | None) -> None:
    low, between = _number(tokens, place + 2)
    high, last = _number(tokens, between + 1)
    if call is None or _kinds(tokens, between, 1) != [TokenType.AND]:
        raise _not_constant()
    call.bounds.append((CLAMPED, low, high))
    call.cut.append((tokens[place].start, tokens[last - 1].end + 1))


def _report(tokens: Sequence[Token], place: int, call: _Call | None) -> None:
    last = place + 1
    if _kinds(tokens, last + 1, 1) == [TokenType.L_PAREN]:
        if _texts(tokens, last + 2, 2) != ["FORMAT", "="]:
            raise _not_constant()
        _require_format(tokens[last + 4 : last + 5])
        last += 5
    if call is None or _kinds(tokens, last + 1, 1) != [TokenType.R_PAREN] or last >= len(tokens):
        raise _not_constant()
    call.cut.append((tokens[place].start, tokens[last].end + 1))


def _require_format(tokens: Sequence[Token]) -> None:
    if [token.text.upper() for token in tokens] != ["JSON"]:
        raise unsupported(
            construct="a report that is not JSON",
            remedy="Leave it out: every answer states its intervals, and to_json() writes them.",
        )


def _number(tokens: Sequence[Token], place: int) -> tuple[str, int]:
    """A constant, perhaps with a sign, and the place after it."""
    first, sign = place, ""
    if _kinds(tokens, place, 1) == [TokenType.DASH]:
        place, sign = place + 1, "-"
    text = ""
    while place - first < 4 and _kinds(tokens, place, 1) in ([TokenType.NUMBER], [TokenType.DOT]):
        text, place = text + tokens[place].text, place + 1
    if not re.fullmatch(REAL_FORM, text, re.ASCII):
        raise _not_constant()
    return sign + text, place


def _not_constant() -> Exception:
    return unsupported(
        construct="bounds that are not two constants",
        remedy="Write contribution_bounds_per_row => (0, 100).",
    )


def _kinds(tokens: Sequence[Token], place: int, size: int) -> list[TokenType]:
    return [token.token_type for token in tokens[place : place + size]]


def _texts(tokens: Sequence[Token], place: int, size: int) -> list[str]:
    return [token.text.upper() for token in tokens[place : place + size]]
