r"""Regular expressions of a small language, which mean the same everywhere and take little time.

Understood are letters, ``.`` (all but a line's end), classes ``[a-z]`` and ``[^,]``, ``\d \w \s``
and their capitals (of ASCII), groups ``(a|b)``, ``^`` and ``$`` at the ends, and the repetitions
``? * + {2} {2,} {2,5}`` of one letter or class. A text fits if the pattern is found anywhere in it.

*Time.* Engines with automata read each letter a few times. A matcher that comes back, such as
Java's, could try a power of the length. So a repetition whose letters cannot begin what follows
takes as many as there are and never gives one back (``a*+`` in Java's and Python's words): that
changes nothing in what fits. Of others, which have to come back, there may be one in a pattern,
and nothing that repeats without end may stand behind it. Nothing nests repetitions, and
alternatives stand for few sequences in all. So a text of n letters takes at most a multiple of n
squared, and n is at most ``TEXT_LIMIT``.

Source: contract, "What may be seen" (resources).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.comparison import truth
from discreet.relational.functions.function import Function
from discreet.relational.functions.patterns import MAX_PATTERN
from discreet.relational.functions.signature import takes
from discreet.relational.types.data_type import DataType, type_of_value

MAX_REPEATED = 255
"""Repetitions written in numbers, all together: each is a state of the engine's machine."""
MAX_BRANCHES = 20
MAX_WAYS = 100
"""Sequences that alternatives one after the other may stand for."""
_DEEPEST = 10
_LAST = 0x10FFFF
_NAMED = "dws"
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

Range = tuple[int, int]


@dataclass(frozen=True)
class Letters:
    """One letter of a set: ranges of code points, or all others."""

    ranges: tuple[Range, ...]
    others: bool = False

    def meets(self, other: Letters) -> bool:
        """Whether some letter is in both."""
        return any(max(a, c) <= min(b, d) for a, b in self._inside() for c, d in other._inside())

    def _inside(self) -> list[Range]:
        if not self.others:
            return list(self.ranges)
        found, start = [], 0
        for low, high in sorted(self.ranges):
            if start < low:
                found.append((start, low - 1))
            start = max(start, high + 1)
        return [*found, *([(start, _LAST)] if start <= _LAST else [])]

    def write_letter_set(self) -> str:
        """In the words that all engines share."""
        if not self.others and len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]:
            return _letter(self.ranges[0][0])
        inside = "".join(
            _letter(low) if low == high else f"{_letter(low)}-{_letter(high)}"
            for low, high in self.ranges
        )
        return f"[{'^' if self.others else ''}{inside}]"


@dataclass(frozen=True)
class LetterTimes:
    """A letter so many times; ``most`` is None where there is no end."""

    letters: Letters
    least: int = 1
    most: int | None = 1
    kept: bool = False

    def write_pattern(self, mark: str) -> str:
        """In all engines' words; ``mark`` stands after what never gives a letter back."""
        times = (self.least, self.most)
        if times == (1, 1):
            return self.letters.write_letter_set()
        sign = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get(times)
        if sign is None:
            end = "" if self.most is None else self.most
            sign = f"{{{self.least}}}" if self.least == self.most else f"{{{self.least},{end}}}"
        return f"{self.letters.write_letter_set()}{sign}{mark if self.kept else ''}"


@dataclass(frozen=True)
class Group:
    """One of several sequences."""

    branches: tuple[tuple[LetterTimes | Group, ...], ...]

    def write_pattern(self, mark: str) -> str:
        """In all engines' words, without a number of its own."""
        inside = "|".join(
            "".join(each.write_pattern(mark) for each in seq) for seq in self.branches
        )
        return f"(?:{inside})"


Item = LetterTimes | Group


@dataclass(frozen=True)
class RegularExpression:
    """What was read: branches, each of which may be bound to the beginning or the end."""

    branches: tuple[tuple[bool, tuple[Item, ...], bool], ...]

    def text(self, first: str, last: str, mark: str = "") -> str:
        """In an engine's words for both ends of a text, and for what never comes back."""
        return "|".join(
            f"{first if begins else ''}{''.join(each.write_pattern(mark) for each in items)}"
            f"{last if ends else ''}"
            for begins, items, ends in self.branches
        )


def parse_pattern(pattern: str) -> RegularExpression:
    """A pattern in this language; any other is refused, with a reason."""
    if type_of_value(pattern) is not DataType.TEXT or not 0 < len(pattern) <= MAX_PATTERN:
        raise _refused(pattern, f"a pattern of 1 to {MAX_PATTERN} letters")
    return _Reading(pattern).whole()


def matches(pattern: str) -> Function:
    """The test whether the pattern is found somewhere in a text.

    >>> matches("^[A-Z]{2}-[0-9]+$").apply(["AB-17"], DataType.BOOLEAN)
    True
    """
    compiled = re.compile(parse_pattern(pattern).text(r"\A", r"\Z", "+"))
    return Function(
        "regexp_matches",
        accept=takes("regexp_matches", DataType.TEXT),
        result=truth,
        compute=lambda text: compiled.search(text) is not None,
        parameters=(pattern,),
    )


class _Reading:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.repeated = pattern, 0, 0

    def whole(self) -> RegularExpression:
        branches = []
        while True:
            begins = self._take_sign_if_next("^")
            items = self._sequence(0)
            ends = self._take_sign_if_next("$")
            branches.append((begins, _mark_possessive_repeats(items, last=True), ends))
            if not self._take_sign_if_next("|"):
                break
        if self.at < len(self.pattern):
            raise self._fault(wanted="^ and $ at the ends, and brackets in pairs")
        if len(branches) > MAX_BRANCHES:
            raise self._fault(wanted=f"at most {MAX_BRANCHES} alternatives")
        for _, items, _ in branches:
            _require_quick(items, self.pattern)
        if any(not items for _, items, _ in branches):
            raise self._fault(wanted="something in every alternative")
        return RegularExpression(tuple(branches))

    def _sequence(self, depth: int) -> tuple[Item, ...]:
        items: list[Item] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)$^":
            if self._take_sign_if_next("("):
                items.append(self._group(depth + 1))
                continue
            items.append(self._repetition(self._one()))
        return tuple(items)

    def _group(self, depth: int) -> Group:
        if depth > _DEEPEST:
            raise self._fault(wanted=f"brackets at most {_DEEPEST} deep")
        if self._take_sign_if_next("?") and not self._take_sign_if_next(":"):
            raise self._fault(wanted="no (?...) but (?:...)")
        branches = [self._sequence(depth)]
        while self._take_sign_if_next("|"):
            branches.append(self._sequence(depth))
        if not self._take_sign_if_next(")") or not all(branches):
            raise self._fault(wanted="brackets in pairs, with something inside")
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
            raise self._fault(wanted="repetitions of one letter or class, not of a group")
        if len(branches) > MAX_BRANCHES:
            raise self._fault(wanted=f"at most {MAX_BRANCHES} alternatives")
        return Group(tuple(_mark_possessive_repeats(each, last=False) for each in branches))

    def _repetition(self, letters: Letters) -> LetterTimes:
        least, most = 1, 1
        sign = self.pattern[self.at : self.at + 1]
        if sign and sign in "*+?":
            self.at += 1
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]  # type: ignore[assignment]
        elif sign == "{":
            found = re.compile(r"\{(\d{1,3})(,(\d{1,3})?)?\}", re.ASCII).match(
                self.pattern, self.at
            )
            if found is None:
                raise self._fault(wanted="{2}, {2,} or {2,5}")
            self.at = found.end()
            least = int(found[1])
            most = least if found[2] is None else None if found[3] is None else int(found[3])  # type: ignore[assignment]
            if most is not None and most < least:
                raise self._fault(wanted="the smaller number first in {2,5}")
            self.repeated += max(least, most or 0)
            if self.repeated > MAX_REPEATED:
                raise self._fault(wanted=f"at most {MAX_REPEATED} repetitions in all")
        if self.pattern[self.at : self.at + 1] in ("*", "+", "?", "{"):
            raise self._fault(wanted="one sign of repetition after a letter")
        return LetterTimes(letters, least, most)

    def _one(self) -> Letters:
        letter = self.pattern[self.at]
        self.at += 1
        if letter == ".":
            return Letters(((10, 10),), others=True)
        if letter == "[":
            return self._class()
        if letter == "\\":
            return self._escaped()
        if letter in "*+?{}]":
            raise self._fault(wanted=f"\\{letter} for the sign itself")
        return Letters(((ord(letter), ord(letter)),))

    def _escaped(self) -> Letters:
        letter = self.pattern[self.at : self.at + 1]
        self.at += 1
        if letter.lower() in _NAMED and letter:
            return Letters(_ranges(letter.lower()), others=letter.isupper())
        if letter in _CONTROLS and letter:
            return Letters(((ord(_CONTROLS[letter]),) * 2,))
        if not letter or letter.isalnum() or not letter.isascii():
            raise self._fault(
                wanted=r"of words with a backslash only \d \w \s \D \W \S \t \n \r \f"
            )
        return Letters(((ord(letter), ord(letter)),))

    def _class(self) -> Letters:
        others, ranges, first = self._take_sign_if_next("^"), list[Range](), True
        while self.at < len(self.pattern) and (self.pattern[self.at] != "]"):
            if self.pattern[self.at] == "[":
                raise self._fault(wanted=r"\[ inside of brackets")
            low = self._member()
            if self.pattern[self.at : self.at + 1] == "-" and self.pattern[
                self.at + 1 : self.at + 2
            ] not in ("]", ""):
                self.at += 1
                high = self._member()
                if len(low) > 1 or len(high) > 1 or high[0][1] < low[0][0]:
                    raise self._fault(wanted="ranges of letters in their order")
                ranges.append((low[0][0], high[0][1]))
            else:
                ranges += low
            first = False
        if first or not self._take_sign_if_next("]"):
            raise self._fault(wanted="a class in brackets, with something inside")
        return Letters(tuple(ranges), others)

    def _member(self) -> tuple[Range, ...]:
        letter = self.pattern[self.at]
        self.at += 1
        if letter != "\\":
            return ((ord(letter), ord(letter)),)
        found = self._escaped()
        if found.others:
            raise self._fault(wanted=r"\D, \W and \S outside of brackets")
        return found.ranges

    def _take_sign_if_next(self, sign: str) -> bool:
        found = self.pattern[self.at : self.at + 1] == sign
        self.at += found
        return found

    def _fault(self, *, wanted: str) -> InvalidParameter:
        return _refused(self.pattern, f"a regular expression with {wanted}")


def _ranges(name: str) -> tuple[Range, ...]:
    return {
        "d": ((48, 57),),
        "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
        "s": ((9, 10), (12, 13), (32, 32)),
    }[name]


def _mark_possessive_repeats(items: tuple[Item, ...], *, last: bool) -> tuple[Item, ...]:
    """Repetitions that need not give anything back are marked; ``last``: nothing follows."""
    made: list[Item] = []
    for place, item in enumerate(items):
        following = items[place + 1] if place + 1 < len(items) else None
        if isinstance(item, LetterTimes) and item.least != item.most:
            alone = following is None and last
            apart = (
                isinstance(following, LetterTimes)
                and following.least > 0
                and not following.letters.meets(item.letters)
            )
            made.append(LetterTimes(item.letters, item.least, item.most, kept=alone or apart))
        else:
            made.append(item)
    return tuple(made)


def _require_quick(items: tuple[Item, ...], pattern: str) -> None:
    """At most one repetition comes back, nothing without end stands behind it, few ways in all."""
    if _ways(items) > MAX_WAYS:
        raise _refused(pattern, f"at most {MAX_WAYS} ways through its alternatives")
    flat = list(_flat(items))
    returning = [
        place for place, item in enumerate(flat) if item.least != item.most and not item.kept
    ]
    if len(returning) > 1 or any(
        item.most is None for place in returning for item in flat[place + 1 :]
    ):
        raise _refused(
            pattern,
            "at most one repetition of letters with which what follows can begin, "
            "and none without end behind it",
        )


def _ways(items: tuple[Item, ...]) -> int:
    """In how many ways alternatives can be taken one after the other."""
    return math.prod(sum(map(_ways, item.branches)) for item in items if isinstance(item, Group))


def _flat(items: tuple[Item, ...]) -> list[LetterTimes]:
    found: list[LetterTimes] = []
    for item in items:
        if isinstance(item, LetterTimes):
            found.append(item)
        else:
            for branch in item.branches:
                found += _flat(branch)
    return found


def _letter(number: int) -> str:
    """A letter that means itself in and outside of brackets, for every engine."""
    letter = chr(number)
    if letter in _CONTROLS.values():
        return "\\" + next(name for name, each in _CONTROLS.items() if each == letter)
    if letter.isascii() and letter.isprintable() and not letter.isalnum() and letter not in " _":
        return f"\\{letter}"
    return letter


def _refused(pattern: str, expectation: str) -> InvalidParameter:
    return InvalidParameter(
        code="bad_argument",
        expectation=expectation,
        received=pattern,
        remedy="Write for instance regexp_matches(x, '^[A-Z]{2}-[0-9]+$'); LIKE, starts_with and "
        "split_part do much of the rest.",
    )
