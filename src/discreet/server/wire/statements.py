"""Statements as text: where one ends and the next begins, what it is, and where parameters stand.

Nothing here understands SQL; it finds words outside strings, names and comments. What a statement
means is found out by a worker, or by the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from discreet.core.errors import InvalidParameter

LONGEST = 100_000
"""Letters of a statement, as everywhere in the service."""
_TOKEN = re.compile(
    r"""
      (?P<space> \s+ | --[^\n]* )
    | (?P<comment> /\* )
    | (?P<escaped> [eE]'(?:[^'\\]|\\.|'')*(?:'|\Z) )
    | (?P<text> '(?:[^']|'')*(?:'|\Z) )
    | (?P<name> "(?:[^"]|"")*(?:"|\Z) | `[^`]*(?:`|\Z) )
    | (?P<place> \$\d{1,5}(?!\w) )
    | (?P<dollar> \$(?:[^\W\d]\w*)?\$ )
    | (?P<word> [^\W\d][\w$]* )
    | (?P<number> \d[\w.]* | \.\d[\w]* )
    | (?P<end> ; )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_ENDS = re.compile(r"/\*|\*/")


class StatementKind(Enum):
    """What a statement is, as far as its first words tell."""

    QUESTION = "question"
    """It names a price: the only kind that can be charged."""
    PREVIEW = "preview"
    """EXPLAIN of a question."""
    READING = "reading"
    """Any other SELECT: of the catalogue, or of no rows."""
    COMMAND = "command"
    """A word to the session, such as SET, SHOW or BEGIN."""


@dataclass(frozen=True)
class Token:
    """A part of a statement: what kind of part, its letters, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """In capitals, if it is a word or a sign; else nothing."""
        return self.text.upper() if self.kind in ("word", "sign", "number", "end") else ""


@dataclass(frozen=True)
class WireStatement:
    """One statement: its text, where it stood in what was sent, and its parts.

    ``as_sent`` is False once parameters were put in: then places in it are not the client's.
    """

    text: str
    offset: int
    tokens: tuple[Token, ...]
    as_sent: bool = True

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its first words, in capitals."""
        return tuple(token.word for token in self.tokens[:8])

    @cached_property
    def kind(self) -> StatementKind:
        """What it is."""
        if self._priced:
            first = self.words[0]
            return StatementKind.PREVIEW if first == "EXPLAIN" else StatementKind.QUESTION
        if self.words[0] in ("SELECT", "WITH", "VALUES", "TABLE", "("):
            return StatementKind.READING
        return StatementKind.COMMAND

    @property
    def _priced(self) -> bool:
        """Whether SELECT WITH DIFFERENTIAL_PRIVACY stands anywhere in it."""
        words = [token.word for token in self.tokens]
        return self.words[0] in ("SELECT", "WITH", "(", "EXPLAIN") and any(
            each in (("SELECT", "WITH", name) for name in ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION"))
            for each in zip(words, words[1:], words[2:], strict=False)
        )

    @cached_property
    def wants_no_rows(self) -> bool:
        """Whether it ends in LIMIT 0: then its columns are wanted, and nothing else."""
        words = [token.word for token in self.tokens[-4:]]
        return words[-2:] == ["LIMIT", "0"] or (words[:2] == ["LIMIT", "0"] and "OFFSET" in words)

    @cached_property
    def parameters(self) -> int:
        """How many parameters it has."""
        return max((_number(each) for each in self.tokens if each.kind == "place"), default=0)

    @cached_property
    def casts(self) -> dict[int, str]:
        """The types that are written behind parameters, as in ``$1::float8``, by number."""
        words = [token.word for token in self.tokens]
        return {
            _number(token): words[place + 3].lower()
            for place, token in enumerate(self.tokens[:-3])
            if token.kind == "place" and words[place + 1 : place + 3] == [":", ":"]
        }

    def bound(self, literals: Sequence[str]) -> WireStatement:
        """The statement with its parameters in their places."""
        if self.parameters != len(literals):
            raise InvalidParameter(
                code="wire_parameters",
                expectation=f"{self.parameters} parameters for this statement",
                received=len(literals),
                remedy="Number them $1, $2, … without gaps.",
            )
        if not literals:
            return self
        parts, last = [], 0
        for token in self.tokens:
            if token.kind == "place":
                parts += [self.text[last : token.start], literals[_number(token) - 1]]
                last = token.start + len(token.text)
        made = "".join([*parts, self.text[last:]])
        require_short(made)
        return replaced(made)


def _number(token: Token) -> int:
    return int(token.text[1:])


def require_short(text: str) -> None:
    """Refuse a statement that is too long to be looked at."""
    if len(text) > LONGEST:
        raise InvalidParameter(
            code="statement_too_long",
            expectation=f"statements of at most {LONGEST} letters",
            received=len(text),
            remedy="Ask for less at a time.",
        )


def statements(text: str) -> list[WireStatement]:
    """The statements of a text; empty ones are left out.

    >>> [each.text for each in statements("BEGIN; SELECT ';' /* ; */;")]
    ['BEGIN', " SELECT ';' /* ; */"]
    """
    require_short(text)
    found, begins = [], 0
    tokens: list[Token] = []
    for token in (*_tokens(text), Token("end", "", len(text))):
        if token.kind != "end":
            tokens.append(token)
            continue
        if tokens:
            here = tuple(Token(each.kind, each.text, each.start - begins) for each in tokens)
            found.append(WireStatement(text[begins : token.start], begins, here))
        tokens, begins = [], token.start + 1
    return found


def replaced(text: str) -> WireStatement:
    """A text that is one statement, however it reads."""
    return WireStatement(text, 0, tuple(_tokens(text)), as_sent=False)


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None
        kind, end = str(found.lastgroup), found.end()
        if kind == "comment":
            end = _comment_end(text, end)
        elif kind == "dollar":
            closing = text.find(found.group(), end)
            end = len(text) if closing < 0 else closing + len(found.group())
            kind = "text"
        if kind not in ("space", "comment"):
            yield Token("text" if kind == "escaped" else kind, text[place:end], place)
        place = end


def _comment_end(text: str, place: int) -> int:
    """Where a comment ends, in which there may be others."""
    depth = 1
    for found in _COMMENT_ENDS.finditer(text, place):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)
