"""A_samp: release what most Poisson subsamples agree on. Elegant, and very expensive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms.robust.ballots import canonical, lead
from discreet.mechanisms.robust.blocks import Function, outcome
from discreet.mechanisms.robust.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.robust.noisy_test import NoisyTest, log_inverse_above
from discreet.mechanisms.robust.stability import Stable
from discreet.noise import SYSTEM, Source, poisson_sample


@dataclass(frozen=True, kw_only=True)
class SampledConsensus(Stable):
    """Any function of rows, released exactly if it is stable under subsampling (A_samp).

    Each of ``runs`` Poisson subsamples of rate q casts a vote; if no row lies in more than twice
    its share of subsamples, the vote ahead is released if its lead passes the test. With the
    constants of the theorem, q = epsilon / 64 ln(1/delta) and ln(size/delta)/q**2 runs, at epsilon
    1, delta 1e-6 and 1e5 rows that is 20 million runs; use :class:`BlockConsensus` instead.

    Assumptions: a row is a person; neighbours differ by one row *added or removed*, the others
    keeping their order. ``function`` looks at nothing but its subsample and keeps no memory.
    ``size`` is a public guess at the number of rows: privacy does not depend on its being right.

    Contract: votes as for :class:`BlockConsensus`. More than ``most_runs`` runs are refused when
    built, before any data is seen.

    Guarantee: (epsilon, delta)-differential privacy. If at least 3/4 of all subsamples give f(x),
    the answer is f(x) with probability at least 1 - 3 delta, whatever the size of the range.

    Source: 000b:B8 (Dwork and Roth, Algorithm 14; Poisson subsamples, not "with replacement").
    Proof: ``proofs/robust-stability.md``.
    """

    function: Function
    size: int
    most_runs: int = 10_000

    def __post_init__(self) -> None:
        """Refuse parameters out of range, and more work than allowed."""
        object.__setattr__(self, "size", count("size", self.size, least=2))
        object.__setattr__(self, "most_runs", count("most_runs", self.most_runs))
        super().__post_init__()
        if self.runs > self.most_runs:
            raise InvalidParameter(
                code="too_many_runs",
                expectation=f"at most {self.most_runs} runs of the function",
                received=self.runs,
                remedy="Use BlockConsensus, which runs the function once per block; or raise "
                "most_runs if the function really is that cheap.",
            )

    @property
    def rate(self) -> Fraction:
        """q = epsilon / 64 ln(1/delta), rounded down, and at most 1/8."""
        return sampling_rate(self.epsilon, self.delta)

    @property
    def runs(self) -> int:
        """m = ceil(ln(size/delta) / q**2)."""
        return number_of_runs(self.epsilon, self.delta, self.size)

    @property
    def test(self) -> NoisyTest:
        """lead/4mq - 1 + Lap(1/epsilon) > ln(1/delta)/epsilon, in votes: all times 4mq."""
        moved = 4 * self.runs * self.rate
        return NoisyTest.with_false_pass(
            epsilon=self.epsilon, chance=exact(self.delta) / 2, limit=moved, sensitivity=moved
        )

    def release(self, rows: Any) -> Any | NoAnswer:
        """The consensus itself, or no answer."""
        table = rows if isinstance(rows, np.ndarray) else list(rows)
        used = np.zeros(len(table), dtype=np.int64)
        votes = []
        for _ in range(self.runs):
            chosen = poisson_sample(self.rate, len(table), self.randomness)
            used[chosen] += 1
            votes.append(outcome(self.function, _picked(table, chosen)))
        crowded = int(used.max(initial=0)) > 2 * self.runs * self.rate
        first = lead(votes)
        passed = self.test.passes(first.gap, self.randomness)
        return first.winner if passed and first.any_votes and not crowded else NO_ANSWER


def sampling_rate(epsilon: Number, delta: Number) -> Fraction:
    """q of the theorem, at most 1/8, which the proof needs too.

    >>> round(float(sampling_rate(1, 1e-6)), 6)
    0.001131
    """
    length = log_inverse_above(exact(delta))
    return min(exact(epsilon) / (64 * length), Fraction(1, 8))


def number_of_runs(epsilon: Number, delta: Number, size: int) -> int:
    """m of the theorem.

    >>> f"{number_of_runs(1, 1e-6, 100_000):.3g}"
    '1.98e+07'
    """
    return math.ceil(log_inverse_above(exact(delta) / size) / sampling_rate(epsilon, delta) ** 2)


def subsampling_stability(
    function: Function, rows: Any, *, rate: Number, runs: int, source: Source = SYSTEM
) -> float:
    """The share of Poisson subsamples on which the function gives what it gives on all rows.

    For the owner's eyes: *not private*. From 3/4 on, consensus mechanisms answer reliably.
    """
    table = rows if isinstance(rows, np.ndarray) else list(rows)
    whole = canonical(outcome(function, table))
    samples = (poisson_sample(rate, len(table), source) for _ in range(count("runs", runs)))
    same = sum(canonical(outcome(function, _picked(table, s))) == whole for s in samples)
    return same / runs


def _picked(table: Any, chosen: Any) -> Any:
    return table[chosen] if isinstance(table, np.ndarray) else [table[i] for i in chosen.tolist()]
