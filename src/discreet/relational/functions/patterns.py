"""LIKE with a constant pattern: ``%`` is any text, ``_`` any one letter.

There is no escape letter unless ESCAPE names one, as in the standard. A pattern is taken apart
when the question is read, so a bad escape is refused then and cannot fail on a row.

Between two ``%`` stands a piece of fixed length, so the first place where it fits is as good as
any later one: a matcher never has to come back to it. Where an engine's own LIKE would try all
places of all pieces (a time that grows with a power of the length), it is written as a regular
expression that does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.comparison import truth
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import takes
from discreet.relational.types.data_type import DataType, type_of_value

MAX_PATTERN = 1_000
MAX_WILDCARDS = 5


@dataclass(frozen=True)
class LikePattern:
    """A pattern in one spelling: ``!`` escapes itself and the wildcards, nothing else."""

    text: str

    @property
    def escaped(self) -> bool:
        """Whether an escape letter occurs."""
        return "!" in self.text

    @property
    def pieces(self) -> tuple[str, ...]:
        """What stands before, between and after the signs ``%``, as regular expressions."""
        pieces = [""]
        letters = iter(self.text)
        for letter in letters:
            match letter:
                case "%":
                    pieces.append("")
                case "_":
                    pieces[-1] += "."
                case "!":
                    pieces[-1] += _quoted(next(letters))
                case _:
                    pieces[-1] += _quoted(letter)
        return tuple(pieces)

    @property
    def searches(self) -> bool:
        """Whether a piece has to be found between two others, so that a matcher might return."""
        return len(self.pieces) > 2

    @property
    def plain(self) -> bool:
        """Whether every letter but ``%`` means itself."""
        return not self.escaped and "_" not in self.text

    def automaton(self) -> str:
        """A regular expression for a matcher that reads each letter once."""
        return f"(?s){'.*'.join(self.pieces)}"

    def committed(self) -> str:
        """A regular expression for a matcher that comes back: each piece where it is first found.

        Groups are atomic, so the time is that of one search for each piece.
        """
        first, *rest = self.pieces
        if not rest:
            return f"(?s){first}"
        found = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
        return f"(?s){first}{found}.*{rest[-1]}"


def like(pattern: str, escape: str = "") -> Function:
    """The test whether a whole text fits the pattern.

    >>> like("a%").apply(["abc"], DataType.BOOLEAN)
    True
    >>> like("a!%", "!").apply(["abc"], DataType.BOOLEAN)
    False
    """
    spelled = LikePattern(_respelled(pattern, escape))
    regex = re.compile(spelled.committed())
    return Function(
        "like",
        accept=takes("LIKE", DataType.TEXT),
        result=truth,
        compute=lambda text: regex.fullmatch(text) is not None,
        parameters=(spelled.text,),
    )


def _respelled(pattern: str, escape: str) -> str:
    if type_of_value(pattern) is not DataType.TEXT or len(pattern) > MAX_PATTERN or len(escape) > 1:
        raise _refused(pattern, f"a pattern of at most {MAX_PATTERN} letters and one escape")
    parts: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            following = next(letters, None)
            if following is None or following not in ("%", "_", escape):
                raise _refused(pattern, "an escape letter before %, _ or itself only")
            parts.append(_literal(following))
        elif letter in "%_":
            # Two in a row mean the same as one.
            if letter == "_" or parts[-1:] != ["%"]:
                parts.append(letter)
        else:
            parts.append(_literal(letter))
    if parts.count("%") > MAX_WILDCARDS:
        raise _refused(pattern, f"at most {MAX_WILDCARDS} signs % in a pattern")
    return "".join(parts)


def _literal(letter: str) -> str:
    return f"!{letter}" if letter in "!%_" else letter


def _quoted(letter: str) -> str:
    """A letter that means itself in Python's, Java's and RE2's regular expressions."""
    means_itself = letter.isalnum() or letter == " " or not letter.isascii()
    return letter if means_itself or not letter.isprintable() else f"\\{letter}"


def _refused(pattern: str, expectation: str) -> InvalidParameter:
    return InvalidParameter(
        code="bad_argument",
        expectation=expectation,
        received=pattern,
        remedy="Write x LIKE 'a%', or starts_with, ends_with and contains.",
    )
