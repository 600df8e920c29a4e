"""Words of a public alphabet as numbers: letters are digits, and short words are padded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.parameters import count
from discreet.local.domain import MOST_VALUES

PADDING = "\N{MIDDLE DOT}"


@dataclass(frozen=True)
class Words:
    """All words of at most ``length`` letters; longer ones are cut.

    >>> words = Words("abc", 3)
    >>> words.word(int(words.numbers(["cab"])[0]))
    'cab'
    """

    letters: str
    length: int

    def __post_init__(self) -> None:
        """Refuse alphabets with a letter twice, and more words than hashes can tell apart."""
        count("length", self.length)
        own = set(self.letters)
        if len(own) < len(self.letters) or not own or PADDING in own:
            raise InvalidParameter(
                code="local_alphabet",
                expectation=f"an alphabet of different letters, without {PADDING!r}",
                received=self.letters,
                remedy="List each letter once.",
            )
        if self.base**self.length > MOST_VALUES:
            raise InvalidParameter(
                code="local_words_too_long",
                expectation=f"at most {MOST_VALUES} words",
                received=self.length,
                remedy="Use fewer letters or shorter words.",
            )

    @property
    def base(self) -> int:
        """Letters and the padding, which is digit zero."""
        return len(self.letters) + 1

    @property
    def size(self) -> int:
        """How many words there are."""
        return int(self.base**self.length)

    def numbers(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of words; a letter outside the alphabet is refused, and not shown."""
        digits = {letter: place for place, letter in enumerate(PADDING + self.letters)}
        found = []
        for word in words:
            number = 0
            for letter in word[: self.length].ljust(self.length, PADDING):
                if letter not in digits:
                    raise InvalidData(
                        code="local_letter_outside",
                        expectation="words of the declared alphabet",
                        remedy="Replace or drop other letters on the device.",
                    )
                number = number * self.base + digits[letter]
            found.append(number)
        return np.array(found, dtype=np.int64)

    def word(self, number: int, length: int | None = None) -> str:
        """The word, or prefix of so many letters, that a number stands for, padding removed."""
        letters = PADDING + self.letters
        found = ""
        for _ in range(self.length if length is None else length):
            number, digit = divmod(number, self.base)
            found = letters[digit] + found
        return found.rstrip(PADDING)

    def divisor(self, length: int) -> int:
        """What a number is divided by to leave its first ``length`` letters."""
        return int(self.base ** (self.length - length))
