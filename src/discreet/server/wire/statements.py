"""Statements as text: where one ends and the next begins, what it is, and where parameters stand.

Nothing here understands SQL; it finds words outside strings, names and comments. What a statement
means is found out by a worker, or by the catalogue. A text is read in steps, between which others
have their turn, and of its parts only the first are kept.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import TypeVar

from discreet.core.errors import InvalidParameter

LONGEST = 100_000
"""Letters of a statement, as everywhere in the service."""
MOST_AT_ONCE, MOST_PLACES, MOST_PARTS = 100, 4_000, 1_000
"""Statements of one message, places of parameters in a statement, and parts of a command."""
_STEP = 500
"""Parts of a text that are read before others have their turn."""
Result = TypeVar("Result")
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


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a statement: what kind of part, its letters, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """In capitals, if it is a word or a sign; else nothing."""
        return self.text.upper() if self.kind in ("word", "sign", "number", "end") else ""


@dataclass(frozen=True, slots=True)
class ParameterPlace:
    """Where a parameter stands, and its number."""

    start: int
    end: int
    number: int


@dataclass(frozen=True)
class WireStatement:
    """One statement: its text, where it stood in what was sent, and what was found in it.

    ``tokens`` are its first parts, all of them for a command; ``last`` its last four. ``casts`` are
    the types that are written behind parameters, as in ``$1::float8``, by number. ``as_sent`` is
    False once parameters were put in: then places in it are not the client's.
    """

    text: str
    offset: int
    tokens: tuple[Token, ...]
    last: tuple[Token, ...]
    places: tuple[ParameterPlace, ...]
    casts: dict[int, str]
    priced: bool
    as_sent: bool = True

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its first words, in capitals."""
        return tuple(token.word for token in self.tokens[:8])

    @cached_property
    def kind(self) -> StatementKind:
        """What it is."""
        first = self.words[0]
        if self.priced and first in ("SELECT", "WITH", "(", "EXPLAIN"):
            return StatementKind.PREVIEW if first == "EXPLAIN" else StatementKind.QUESTION
        if first in ("SELECT", "WITH", "VALUES", "TABLE", "("):
            return StatementKind.READING
        return StatementKind.COMMAND

    @cached_property
    def wants_no_rows(self) -> bool:
        """Whether it ends in LIMIT 0: then its columns are wanted, and nothing else."""
        words = [token.word for token in self.last]
        return words[-2:] == ["LIMIT", "0"] or (words[:2] == ["LIMIT", "0"] and "OFFSET" in words)

    @cached_property
    def parameters(self) -> int:
        """How many parameters it has."""
        return max((each.number for each in self.places), default=0)

    def binding(self, literals: Sequence[str]) -> Generator[None, None, WireStatement]:
        """The statement with its parameters in their places, in steps."""
        if self.parameters != len(literals):
            raise InvalidParameter(
                code="wire_parameters",
                expectation=f"{self.parameters} parameters for this statement",
                received=len(literals),
                remedy="Number them $1, $2, … without gaps.",
            )
        if not literals:
            return self
        grown = (len(literals[each.number - 1]) - each.end + each.start for each in self.places)
        require_short(len(self.text) + sum(grown))  # before any of it is made
        parts, last = [], 0
        for place in self.places:
            parts += [self.text[last : place.start], literals[place.number - 1]]
            last = place.end
        return (yield from _replacing("".join([*parts, self.text[last:]])))

    def bound(self, literals: Sequence[str]) -> WireStatement:
        """:meth:`binding`, all at once."""
        return _all_at_once(self.binding(literals))


@dataclass
class _UnfinishedStatement:
    """What was found of a statement so far."""

    begins: int
    tokens: list[Token] = field(default_factory=list)
    last: deque[Token] = field(default_factory=lambda: deque(maxlen=4))
    places: list[ParameterPlace] = field(default_factory=list)
    casts: dict[int, str] = field(default_factory=dict)
    priced: bool = False
    count: int = 0

    def add(self, token: Token) -> None:
        """One more part."""
        if self.count < MOST_PARTS:
            self.tokens.append(token)
        self.count += 1
        last = self.last
        last.append(token)
        if token.kind == "word" and token.word in ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION"):
            before = [each.word for each in last][-3:-1]
            self.priced = self.priced or before == ["SELECT", "WITH"]
        cast = last[0].kind == "place" and len(last) == last.maxlen
        if cast and last[1].word == last[2].word == ":":
            self.casts[int(last[0].text[1:])] = token.word.lower()
        if token.kind == "place":
            self._place(token)

    def _place(self, token: Token) -> None:
        end = token.start + len(token.text)
        self.places.append(ParameterPlace(token.start, end, int(token.text[1:])))
        if len(self.places) > MOST_PLACES:
            raise InvalidParameter(
                code="wire_parameters",
                expectation=f"at most {MOST_PLACES} places of parameters in a statement",
                remedy="Ask for less at a time.",
            )

    def finish_statement(self, text: str, end: int, *, as_sent: bool) -> WireStatement:
        """The statement, which ends here."""
        made = WireStatement(
            text=text[self.begins : end],
            offset=self.begins,
            tokens=tuple(self.tokens),
            last=tuple(self.last),
            places=tuple(self.places),
            casts=self.casts,
            priced=self.priced,
            as_sent=as_sent,
        )
        if self.count > MOST_PARTS and made.kind is StatementKind.COMMAND:
            raise InvalidParameter(
                code="statement_too_long",
                expectation=f"words to the session of at most {MOST_PARTS} parts",
                remedy="Ask for less at a time.",
            )
        return made


def require_short(letters: int) -> None:
    """Refuse a statement that is too long to be looked at."""
    if letters > LONGEST:
        raise InvalidParameter(
            code="statement_too_long",
            expectation=f"statements of at most {LONGEST} letters",
            received=letters,
            remedy="Ask for less at a time.",
        )


def reading(text: str) -> Generator[None, None, list[WireStatement]]:
    """The statements of a text, in steps; empty ones are left out."""
    require_short(len(text))
    found: list[WireStatement] = []
    unfinished = _UnfinishedStatement(0)
    end_of_text = ("end", len(text), len(text))
    for step, (kind, start, end) in enumerate(chain(_tokens(text), (end_of_text,))):
        if step % _STEP == _STEP - 1:
            yield
        if kind == "end":
            if unfinished.count:
                found.append(unfinished.finish_statement(text, start, as_sent=True))
            if len(found) > MOST_AT_ONCE:
                raise _too_many()
            unfinished = _UnfinishedStatement(end)
        elif kind not in ("space", "comment"):
            unfinished.add(Token(kind, text[start:end], start - unfinished.begins))
    return found


def statements(text: str) -> list[WireStatement]:
    """:func:`reading`, all at once.

    >>> [each.text for each in statements("BEGIN; SELECT ';' /* ; */;")]
    ['BEGIN', " SELECT ';' /* ; */"]
    """
    return _all_at_once(reading(text))


def replaced(text: str) -> WireStatement:
    """A text that is one statement, however it reads."""
    return _all_at_once(_replacing(text))


def _replacing(text: str) -> Generator[None, None, WireStatement]:
    unfinished = _UnfinishedStatement(0)
    for step, (kind, start, end) in enumerate(_tokens(text)):
        if step % _STEP == _STEP - 1:
            yield
        if kind not in ("space", "comment"):
            unfinished.add(Token(kind, text[start:end], start))
    return unfinished.finish_statement(text, len(text), as_sent=False)


def _all_at_once(steps: Generator[None, None, Result]) -> Result:
    while True:
        try:
            next(steps)
        except StopIteration as over:
            found: Result = over.value
            return found


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Every part of a text, spaces and comments too: its kind, beginning and end."""
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
        yield "text" if kind == "escaped" else kind, place, end
        place = end


def _comment_end(text: str, place: int) -> int:
    """Where a comment ends, in which there may be others."""
    depth = 1
    for found in _COMMENT_ENDS.finditer(text, place):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def _too_many() -> InvalidParameter:
    return InvalidParameter(
        code="statement_too_long",
        expectation=f"at most {MOST_AT_ONCE} statements in one message",
        remedy="Send them one after the other.",
    )
