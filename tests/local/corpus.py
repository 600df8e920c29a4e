"""A corpus of invented words of six letters whose frequencies fall as those of a language do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.local.heavy_hitters import FrequentWord

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Corpus:
    """Words of a million people, and which are truly the most frequent."""

    words: list[str]
    ranked: list[str]


def corpus(
    people: int, *, vocabulary: int = 20_000, exponent: float = 1.1, seed: int = 0
) -> Corpus:
    """Syllables of a consonant and a vowel, three to a word; Zipf's law over the vocabulary."""
    generator = np.random.default_rng(seed)
    consonants, vowels = list("bcdfghjklmnprstvz"), list("aeiouy")
    listed: dict[str, None] = {}
    while len(listed) < vocabulary:
        parts = [generator.choice(consonants) + generator.choice(vowels) for _ in range(3)]
        listed["".join(parts)] = None
    names = list(listed)
    chances = 1 / np.arange(1, vocabulary + 1) ** exponent
    drawn = generator.choice(vocabulary, people, p=chances / chances.sum())
    counts = np.bincount(drawn, minlength=vocabulary)
    order = np.argsort(-counts, kind="stable")
    return Corpus([names[i] for i in drawn], [names[i] for i in order])


def precision_and_recall(
    found: list[FrequentWord], ranked: list[str], top: int
) -> tuple[float, float]:
    """Of the found, how many are in the first ``2 * top``; of the top, how many are found."""
    named = [each.word for each in found]
    likely = set(ranked[: 2 * top])
    right = sum(word in likely for word in named)
    precision = right / len(named) if named else 1.0
    return precision, len(set(ranked[:top]) & set(named)) / top
