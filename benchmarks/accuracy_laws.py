"""How the peers of the suite ``accuracy`` make their answers, as laws that can be drawn from.

A law starts from the noise that the peer itself states, distributions and scales, and repeats its
published arithmetic on exact statistics of the table; ``accuracy_record.py`` compares its draws
with the peer's own answers. The error of counts and sums is exact; that of other answers is that of
many draws, with its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from accuracy_groups import Array, Group
from accuracy_queries import Query

Noise = list[dict[str, Any]]
Generator = np.random.Generator
FAR = 60.0
"""Candidates this many scales of noise behind the best are never chosen."""
PART = 10_000


@dataclass(frozen=True)
class Law:
    """The answers of a peer to a query about one group."""

    peer: str
    query: Query
    group: Group
    noise: Noise

    def draws(self, generator: Generator, size: int) -> Array:
        """Answers as the peer gives them; one that is no number is left out."""
        kinds = {"count": self.additive, "people": self.additive, "sum": self.additive}
        kinds |= {"mean": self.mean, "variance": self.variance, "deviation": self.deviation}
        kinds |= {"quantile": self.candidate if self.peer == "opendp" else self.between}
        with np.errstate(divide="ignore", invalid="ignore"):
            answers = kinds[self.query.what](generator, size)
        return np.asarray(answers[np.isfinite(answers)])

    @property
    def error(self) -> float | None:
        """The root mean squared error of a count or a sum, from the variance of the noise."""
        if self.query.what not in ("count", "people", "sum"):
            return None
        kind, scale = self.noise[0]["distribution"].lower(), float(self.noise[0]["scale"])
        if kind in ("integer laplace", "geometric"):
            return math.sqrt(2 * math.exp(-1 / scale)) / -math.expm1(-1 / scale)
        if kind in ("integer gaussian", "discrete_gaussian"):
            support, weights = discrete_gaussian(kind, scale)
            return math.sqrt(weights @ support**2)
        if not self.cuts:
            return math.sqrt(2) * scale
        q, p = math.exp(-1 / scale), -math.expm1(-1 / scale)  # noise rounded down
        return math.sqrt(q * (1 + q) / p**2 + q / p + 0.5)

    @property
    def cuts(self) -> bool:
        """SmartNoise cuts off what follows the point where it shows integers."""
        return self.peer == "smartnoise" and (self.query.whole or not self.query.column)

    @property
    def centre(self) -> float:
        """From where sums are measured; Tumult rounds it for integers."""
        if self.peer not in ("tumult", "pipelinedp"):
            return 0.0
        middle = self.query.middle
        return float(round(middle)) if self.peer == "tumult" and self.query.whole else middle

    def additive(self, generator: Generator, size: int) -> Array:
        """Counts and sums; OpenDP's counts stop at zero."""
        answers = self.group.truth(self.query) + draw(self.noise[0], generator, size)
        if self.peer == "opendp" and not self.query.column:
            return np.maximum(answers, 0)
        return np.trunc(answers) if self.cuts else answers

    def mean(self, generator: Generator, size: int) -> Array:
        """A noisy sum over a noisy count."""
        total, count = (draw(row, generator, size) for row in self.noise)
        total = total + self.group.total(self.centre)
        count = count + self.group.size
        if self.peer != "smartnoise":
            count = np.maximum(count, 0 if self.peer == "opendp" else 1)
        return np.asarray(total / count + self.centre)

    def variance(self, generator: Generator, size: int) -> Array:
        """From a noisy count, sum and sum of squares, each at a third of the price."""
        drawn = [draw(row, generator, size) for row in self.noise]
        query, group = self.query, self.group
        if self.peer == "pipelinedp":
            count = np.maximum(drawn[0] + group.size, 1)
            first = (drawn[1] + group.total(query.middle)) / count
            return np.asarray((drawn[2] + group.total(query.middle, 2)) / count - first**2)
        if self.peer == "smartnoise":
            squares, total = drawn[0] + group.total(power=2), drawn[2] + group.total()
            count = drawn[1] + group.size
            return np.maximum(squares / count - (total / count) ** 2, 0)
        count = drawn[2] + group.size
        middle = (query.low**2 + query.high**2) / 2
        middle = float(round(middle)) if query.whole else middle
        squares = drawn[1] + group.total(power=2) - group.size * middle
        first = (drawn[0] + group.total(self.centre)) / count + self.centre
        found = squares / (count - 1) + (middle - first**2) * count / (count - 1)
        most = (query.high - query.low) ** 2 / 4
        return np.where(count <= 1, np.nan, np.clip(found, 0, most))

    def deviation(self, generator: Generator, size: int) -> Array:
        """The root of the variance."""
        return np.asarray(np.sqrt(self.variance(generator, size)))

    def candidate(self, generator: Generator, size: int) -> Array:
        """The best of public candidates, each helped by exponential noise (OpenDP)."""
        query, values = self.query, self.group.values
        candidates = np.array(query.candidates, dtype=np.float64)
        less = np.searchsorted(values, candidates, side="left")
        equal = np.searchsorted(values, candidates, side="right") - less
        loss = np.abs(query.level * (self.group.size - equal) - less) * self.price
        near = loss - loss.min() < FAR
        chosen = [
            np.argmin(loss[near] - generator.exponential(1, (part, near.sum())), axis=1)
            for part in parts(size)
        ]
        return np.asarray(candidates[near][np.concatenate(chosen)])

    def between(self, generator: Generator, size: int) -> Array:
        """A point between neighbouring values, by the exponential mechanism (Tumult)."""
        query, values = self.query, self.group.values
        edges = np.unique(np.concatenate([[query.low], values, [query.high]]))
        rank = np.searchsorted(values, edges[1:], side="left")
        loss = np.abs(rank - query.level * self.group.size) * self.price
        weights = np.diff(edges) * np.exp(loss.min() - loss)
        chosen = generator.choice(len(weights), size, p=weights / weights.sum())
        return np.asarray(generator.uniform(edges[chosen], edges[chosen + 1]))

    @property
    def price(self) -> float:
        """What one rank is worth in the scales of the noise."""
        level = self.query.level
        return self.query.epsilon / self.query.l1 / (2 * max(level, 1 - level))


def draw(row: dict[str, Any], generator: Generator, size: int) -> Array:
    """Noise as a peer describes it."""
    kind, scale = row["distribution"].lower(), row["scale"]
    if kind in ("integer laplace", "geometric"):
        pair = generator.geometric(-math.expm1(-1 / scale), (2, size)).astype(np.float64)
        return np.asarray(pair[0] - pair[1])
    if kind in ("float laplace", "laplace"):
        return generator.laplace(0, scale, size)
    support, weights = discrete_gaussian(kind, scale)
    return generator.choice(support, size, p=weights)


def discrete_gaussian(kind: str, scale: float) -> tuple[Array, Array]:
    """Values and probabilities; Tumult states the variance, OpenDP its root."""
    if kind not in ("integer gaussian", "discrete_gaussian"):
        message = f"no law for {kind}"
        raise ValueError(message)
    sigma = math.sqrt(scale) if kind == "discrete_gaussian" else scale
    most = math.ceil(12 * sigma)
    support = np.arange(-most, most + 1, dtype=np.float64)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    return support, weights / weights.sum()


def parts(size: int) -> Iterator[int]:
    """Sizes of pieces that fit into memory."""
    for start in range(0, size, PART):
        yield min(PART, size - start)
