"""Frequent words without a list of them: prefixes first, or fragments joined by a hash.

Both ask every person one question, by which they are divided, and look only at candidates that
passed before. A threshold that noise alone passes with a stated small chance keeps candidates few
and finds honest; what is never looked at cannot be found.

Source: 004a:C10, C11, C12.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, probability
from discreet.local.frequencies import Frequencies
from discreet.local.hadamard import HadamardResponse, best_bits
from discreet.local.hashing import OptimalLocalHashing
from discreet.local.public_hashes import PublicHashes
from discreet.local.reports import ReportBatch
from discreet.local.split import QuestionPart, SplitPeople
from discreet.local.words import Words


@dataclass(frozen=True)
class FrequentWord:
    """A word that was found, its share, and the standard error of it."""

    word: str
    share: float
    standard_error: float


@dataclass(frozen=True, kw_only=True)
class PrefixTree:
    """People report a prefix of one of ``lengths`` letters; only frequent prefixes are continued.

    >>> tree = PrefixTree(epsilon=2, words=Words("abc", 6), lengths=(2, 4, 6))
    >>> tree.oracle.event.epsilon(delta=0)
    2.0

    Source: 004a:C12.
    """

    epsilon: Number
    words: Words
    lengths: tuple[int, ...]
    most: int = 100

    def __post_init__(self) -> None:
        """Refuse lengths that do not ascend to that of the words."""
        rising = list(self.lengths) == sorted(set(self.lengths))
        if not self.lengths or not rising or self.lengths[-1] != self.words.length:
            raise InvalidParameter(
                code="local_prefix_lengths",
                expectation="lengths that ascend and end with that of the words",
                received=self.lengths,
                remedy="For words of six letters pass for instance (2, 4, 6).",
            )
        count("most", self.most)

    @cached_property
    def oracle(self) -> SplitPeople:
        """What people are asked: one part for each length."""
        parts = tuple(
            QuestionPart(
                ((self.words.divisor(length), self.words.base**length),),
                OptimalLocalHashing(epsilon=self.epsilon, domain=self.words.base**length),
            )
            for length in self.lengths
        )
        return SplitPeople(epsilon=self.epsilon, domain=self.words.size, parts=parts)

    def privatize_many(self, words: Any) -> ReportBatch:
        """One report for each word, for trials."""
        return self.oracle.privatize_many(self.words.numbers(words))

    def find(self, batch: ReportBatch, *, confidence: float) -> list[FrequentWord]:
        """Frequent words, the most frequent first.

        At each length a prefix goes on if noise alone would take one of the candidates over the
        threshold with a chance of at most ``1 - confidence``; of more than ``most`` the largest do.
        """
        probability("confidence", confidence)
        candidates = np.zeros(1, dtype=np.int64)
        before = 0
        for place, length in enumerate(self.lengths):
            many = self.words.base ** (length - before)
            candidates = (candidates[:, None] * many + np.arange(many)).ravel()
            shares = self._shares(batch, place, candidates)
            kept = shares.base_cut(confidence=confidence).shares
            order = np.argsort(-kept, kind="stable")[: self.most]
            order = order[kept[order] > 0]
            candidates = candidates[order]
            if not len(candidates):
                return []
            before = length
        return [
            FrequentWord(
                self.words.word(int(value)),
                float(shares.shares[i]),
                float(shares.standard_errors[i]),
            )
            for value, i in zip(candidates, order, strict=True)
        ]

    def _shares(self, batch: ReportBatch, place: int, candidates: NDArray[np.int64]) -> Frequencies:
        oracle = self.oracle.parts[place].oracle
        assert isinstance(oracle, OptimalLocalHashing)
        return oracle.estimate(oracle.aggregate_for(self.oracle.batch_of(batch, place), candidates))


@dataclass(frozen=True, kw_only=True)
class SequenceFragments:
    """People report one fragment together with a short hash of the word, or the whole word's hash.

    Fragments that share a hash value are joined, and joined words are checked against reports about
    whole words. ``width`` letters make a fragment, ``marks`` is the number of hash values.

    Source: 004a:C11 (each person sends one of the two, at full epsilon).
    """

    epsilon: Number
    words: Words
    width: int
    marks: int
    seed: int
    most: int = 1000

    def __post_init__(self) -> None:
        """Refuse fragments that do not make up a word."""
        count("marks", self.marks, least=2)
        count("most", self.most)
        if self.words.length % count("width", self.width):
            raise InvalidParameter(
                code="local_fragment_width",
                expectation="fragments of equal width that make up a word",
                received=self.width,
                remedy="Choose a divisor of the length of the words.",
            )

    @property
    def positions(self) -> int:
        """How many fragments a word has."""
        return self.words.length // self.width

    @cached_property
    def mark(self) -> tuple[int, int, int, int]:
        """The public hash of a word, as a digit of a part."""
        from discreet.local.primes import prime_from

        prime = prime_from(self.words.size)
        a, b = PublicHashes.from_seed(self.seed, prime=prime, shape=(1, 2)).numbers[0]
        return int(a), int(b), prime, self.marks

    @cached_property
    def fragments(self) -> SplitPeople:
        """The question about fragments."""
        size = self.words.base**self.width
        parts = tuple(
            QuestionPart(
                ((self.words.divisor((place + 1) * self.width), size), self.mark),
                HadamardResponse(
                    epsilon=self.epsilon, domain=size * self.marks, bits=best_bits(self.epsilon)
                ),
            )
            for place in range(self.positions)
        )
        return SplitPeople(epsilon=self.epsilon, domain=self.words.size, parts=parts)

    @cached_property
    def whole(self) -> OptimalLocalHashing:
        """The question about whole words."""
        return OptimalLocalHashing(epsilon=self.epsilon, domain=self.words.size)

    def joined(self, marked: list[list[int]]) -> list[int]:
        """Words whose fragments, each with its mark, were all found under one mark, their own.

        ``marked`` lists for each position the numbers ``fragment * marks + mark``.
        """
        a, b, prime, _ = self.mark
        size = self.words.base**self.width
        found = []
        for mark in range(self.marks):
            columns = [
                [each // self.marks for each in place if each % self.marks == mark]
                for place in marked
            ]
            for parts in product(*columns):
                number = 0
                for fragment in parts:
                    number = number * size + fragment
                if (a * number + b) % prime % self.marks == mark:
                    found.append(number)
        return found

    def find(
        self, fragments: ReportBatch, whole: ReportBatch, *, confidence: float
    ) -> list[FrequentWord]:
        """Frequent words from reports about fragments and, of other people, about whole words."""
        probability("confidence", confidence)
        marked = []
        for place, part in enumerate(self.fragments.parts):
            shares = part.oracle.estimate(
                part.oracle.aggregate(self.fragments.batch_of(fragments, place))
            )
            kept = shares.base_cut(confidence=confidence).shares
            order = np.argsort(-kept, kind="stable")[: self.most]
            marked.append([int(each) for each in order if kept[each] > 0])
        candidates = self.joined(marked)[: self.most]
        if not candidates:
            return []
        shares = self.whole.estimate(self.whole.aggregate_for(whole, candidates))
        kept = shares.base_cut(confidence=confidence).shares
        return [
            FrequentWord(
                self.words.word(candidates[i]), float(kept[i]), float(shares.standard_errors[i])
            )
            for i in np.argsort(-kept, kind="stable")
            if kept[i] > 0
        ]
