"""Three-sided tests of samplers: the true law is accepted, wrong ones are rejected.

A test that only accepts the truth may be too weak to notice anything; the sample size here
is computed so that the named wrong laws are noticed too.

Source: 000a:A11, 004d:A8, F26.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.audit.testers.laws import Evidence, StatedLaw, Values, as_values
from discreet.audit.testers.multinomial import divergence, miss, tail
from discreet.audit.testers.partition import IMPOSSIBLE, CellPartition, coarse_levels, fine_levels
from discreet.core.arrays import Ints
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, probability

_LARGEST = 10**8
_MOST_TESTS = 4  # cells, two lags, Kolmogorov-Smirnov


@dataclass(frozen=True)
class Verdict:
    """What several tests said of one sample, united by Bonferroni's inequality."""

    evidence: tuple[Evidence, ...]
    alpha: float
    size: int

    @property
    def strongest(self) -> Evidence:
        """The test that speaks most against the law."""
        return min(self.evidence, key=lambda item: item.p_value)

    @property
    def p_value(self) -> float:
        """A valid p-value of the hypothesis that draws are independent and of this law."""
        return min(1.0, _MOST_TESTS * self.strongest.p_value)

    @property
    def passes(self) -> bool:
        """Whether the law is not rejected at level ``alpha``."""
        return self.p_value > self.alpha


@dataclass(frozen=True)
class ThreeSided:
    """The verdict on the true law and on each wrong one, for the same sample."""

    truth: Verdict
    wrong: tuple[Verdict, ...]

    @property
    def passes(self) -> bool:
        """Whether the truth was accepted and every wrong law rejected."""
        return self.truth.passes and not any(verdict.passes for verdict in self.wrong)


def accepts(sample: object, law: StatedLaw, *, alpha: float) -> Verdict:
    """Judge whether a sample may be independent draws of the law.

    Contract: the sample is in the order drawn; cells, lags and level do not depend on it.
    Guarantee: a correct sampler is rejected with probability at most ``alpha``, at any size.
    """
    probability("alpha", alpha)
    values = as_values(sample)
    evidence = (
        _cells(values, law.partition(fine_levels(len(values)))),
        *law.own_tests(values),
        *_repetition(values, law.partition(coarse_levels())),
    )
    return Verdict(evidence, alpha, len(values))


def sample_size(law: StatedLaw, wrong: StatedLaw, *, alpha: float, power: float) -> int:
    """A number of draws of ``law`` with which ``wrong`` is rejected at level ``alpha``.

    Guarantee: the rejection happens with probability at least ``power`` (a proved bound, up
    to the mass of a discrete law outside its window).
    """
    probability("alpha", alpha)
    probability("power", power)
    size = 64
    while size <= _LARGEST:
        cells = wrong.partition(fine_levels(size))
        truth = law.weigh(cells)
        if miss(truth, cells.masses, size=size, alpha=alpha / _MOST_TESTS) <= 1 - power:
            return size
        size += max(1, size // 10)
    raise InvalidParameter(
        code="laws_too_close",
        expectation=f"a wrong law that {_LARGEST} draws can tell from the true one",
        remedy="Choose a wrong law farther away, such as 0.8 or 1.25 times the scale.",
    )


def three_sided(
    sampler: Callable[[int], object],
    law: StatedLaw,
    wrong_laws: Sequence[StatedLaw],
    *,
    alpha: float,
    size: int | None = None,
) -> ThreeSided:
    """Draw once; accept ``law`` and reject each of ``wrong_laws`` on the same sample.

    Contract: ``sampler(size)`` returns that many draws. ``size`` may enlarge the sample that
    the power demands, never shrink it.
    Guarantee: a correct sampler fails with probability at most ``alpha`` in total.
    """
    count("wrong_laws", len(wrong_laws))
    level, power = alpha / 2, 1 - alpha / (2 * len(wrong_laws))
    needed = max(sample_size(law, wrong, alpha=level, power=power) for wrong in wrong_laws)
    if size is not None and count("size", size) < needed:
        raise InvalidParameter(
            code="sample_too_small",
            expectation=f"at least {needed} draws for the wanted power",
            received=size,
            remedy="Leave `size` out, or choose wrong laws that are easier to tell apart.",
        )
    values = as_values(sampler(size or needed))
    wrong = tuple(accepts(values, law, alpha=level) for law in wrong_laws)
    return ThreeSided(accepts(values, law, alpha=level), wrong)


def _cells(values: Values, partition: CellPartition) -> Evidence:
    return _fit("cells", partition.locate(values), partition.masses)


def _repetition(values: Values, partition: CellPartition) -> tuple[Evidence, ...]:
    """Pairs of draws, next to each other and half the sample apart, against independence."""
    cells, half = partition.locate(values), len(values) // 2
    pairs = np.outer(partition.masses, partition.masses).ravel()
    width = len(partition.masses)
    nearby = _pair(cells[0 : 2 * half : 2], cells[1 : 2 * half : 2], width)
    apart = _pair(cells[:half], cells[half : 2 * half], width)
    return _fit("neighbouring draws", nearby, pairs), _fit("draws half apart", apart, pairs)


def _pair(first: Ints, second: Ints, width: int) -> Ints:
    possible = (first != IMPOSSIBLE) & (second != IMPOSSIBLE)
    return np.where(possible, first * width + second, IMPOSSIBLE)


def _fit(test: str, cells: Ints, masses: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Evidence:
    if np.any(cells == IMPOSSIBLE):
        return Evidence(test, float("inf"), 0.0)
    counts = np.bincount(cells, minlength=len(masses))
    statistic = divergence(counts, masses)
    return Evidence(test, statistic, tail(statistic, cells=len(masses)))
