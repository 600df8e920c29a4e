"""LIKE with a constant pattern: ``%`` is any text, ``_`` any one letter.

There is no escape letter unless ESCAPE names one, as in the standard. A pattern is taken apart
when the question is read, so a bad escape is refused then and cannot fail on a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.comparison import truth
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import takes
from discreet.relational.kind import Kind, kind_of_value

MOST_PATTERN = 1_000
MOST_WILDCARDS = 5
"""More of them could keep a matcher busy for a time that depends on the row."""


@dataclass(frozen=True)
class Pattern:
    """A pattern in one spelling: ``!`` escapes itself and the wildcards, nothing else."""

    text: str

    @property
    def escaped(self) -> bool:
        """Whether an escape letter occurs."""
        return "!" in self.text

    def regex(self) -> re.Pattern[str]:
        """The same in Python's language."""
        parts = []
        letters = iter(self.text)
        for letter in letters:
            match letter:
                case "%":
                    parts.append(".*")
                case "_":
                    parts.append(".")
                case "!":
                    parts.append(re.escape(next(letters)))
                case _:
                    parts.append(re.escape(letter))
        return re.compile("".join(parts), re.DOTALL)


def like(pattern: str, escape: str = "") -> Function:
    """The test whether a whole text fits the pattern.

    >>> like("a%").apply(["abc"], Kind.TRUTH), like("a!%", "!").apply(["abc"], Kind.TRUTH)
    (True, False)
    """
    spelled = Pattern(_respelled(pattern, escape))
    regex = spelled.regex()
    return Function(
        "like",
        accept=takes("LIKE", Kind.TEXT),
        result=truth,
        compute=lambda text: regex.fullmatch(text) is not None,
        parameters=(spelled.text,),
    )


def _respelled(pattern: str, escape: str) -> str:
    if kind_of_value(pattern) is not Kind.TEXT or len(pattern) > MOST_PATTERN or len(escape) > 1:
        raise _refused(pattern, f"a pattern of at most {MOST_PATTERN} letters and one escape")
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
    if parts.count("%") > MOST_WILDCARDS:
        raise _refused(pattern, f"at most {MOST_WILDCARDS} signs % in a pattern")
    return "".join(parts)


def _literal(letter: str) -> str:
    return f"!{letter}" if letter in "!%_" else letter


def _refused(pattern: str, expectation: str) -> InvalidParameter:
    return InvalidParameter(
        code="bad_argument",
        expectation=expectation,
        received=pattern,
        remedy="Write x LIKE 'a%', or starts_with, ends_with and contains.",
    )
