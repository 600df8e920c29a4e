"""Completing text: the next tag from two tags, the next word from its tag and the last word.

Two small tables stand for a language: trigrams of tags (kinds of words), and triples of word, tag
and next word. People are split between the two, each with all of epsilon, so that both are learnt
from what many share; words that few use are never suggested.

Source: 004a:C21.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count
from discreet.local.domain import MOST_VALUES
from discreet.local.hadamard import HadamardResponse, best_bits
from discreet.local.split import QuestionPart, SplitPeople
from discreet.local.tally import Tally

_LARGEST_TABLE = 1 << 24


@dataclass(frozen=True, kw_only=True)
class NextWords:
    """``tags`` kinds of words and ``words`` words, both numbered from zero.

    A person's record is three tags in a row, and the last two of their words.
    """

    epsilon: Number
    tags: int
    words: int

    def __post_init__(self) -> None:
        """Refuse vocabularies whose triples do not fit a table."""
        count("tags", self.tags, least=2)
        count("words", self.words, least=2)
        triples = self.words**2 * self.tags
        if triples > _LARGEST_TABLE or self.tags**3 * self.words**2 > MOST_VALUES:
            raise InvalidParameter(
                code="local_vocabulary",
                expectation="few enough words and tags for tables of their triples",
                received=(self.tags, self.words),
                remedy="Keep the most frequent words, and one that stands for all others.",
            )

    @cached_property
    def oracle(self) -> SplitPeople:
        """What people are asked: the trigram of tags, or word, tag and next word."""
        t, w = self.tags, self.words
        shapes = (
            ((t * t * w * w, t), (t * w * w, t), (w * w, t)),
            ((w, w), (w * w, t), (1, w)),
        )
        parts = tuple(
            QuestionPart(
                digits,
                HadamardResponse(
                    epsilon=self.epsilon,
                    domain=int(np.prod([size for _, size in digits])),
                    bits=best_bits(self.epsilon),
                ),
            )
            for digits in shapes
        )
        return SplitPeople(epsilon=self.epsilon, domain=t**3 * w**2, parts=parts)

    def numbers(self, tags: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Records as clients take them, from rows of three tags and of two words."""
        found = np.zeros(len(tags), dtype=np.int64)
        for column in tags.T:
            found = found * self.tags + column
        for column in words.T:
            found = found * self.words + column
        return found

    def predictor(self, tally: Tally, *, confidence: float) -> NextWordTables:
        """Tables from the reports; what noise alone might have made is zero."""
        trigrams, triples = (
            each.base_cut(confidence=confidence).shares for each in self.oracle.estimates(tally)
        )
        return NextWordTables(
            trigrams.reshape((self.tags,) * 3),
            triples.reshape(self.words, self.tags, self.words),
        )


@dataclass(frozen=True, eq=False)
class NextWordTables:
    """Shares of trigrams of tags, and of word, tag and next word."""

    trigrams: NDArray[np.float64]
    triples: NDArray[np.float64]

    def tag(self, before: int, last: int) -> int | None:
        """The likeliest tag after two; None where nothing is known."""
        return _largest(self.trigrams[before, last])

    def word(self, last: int, tag: int) -> int | None:
        """The likeliest word of a tag after a word; None where nothing is known."""
        return _largest(self.triples[last, tag])

    def complete(self, before: int, last: int, word: int) -> int | None:
        """The word to suggest after two tags and the last word."""
        tag = self.tag(before, last)
        return None if tag is None else self.word(word, tag)


def _largest(shares: NDArray[np.float64]) -> int | None:
    best = int(np.argmax(shares))
    return best if shares[best] > 0 else None
