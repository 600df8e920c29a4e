"""The online mechanism of the paper with constants that are proved, as a calculator.

Queries arrive one by one. A batch of cells is sampled from the hypothesis and answers what is easy;
a query that seems far off on it, by a noisy comparison, is hard: it gets a fresh noisy answer, and
joins a pool with the sign of its error. A pool of s to 2s queries moves the hypothesis: D(x) falls
by exp(-step f(x)), f being the sum of the pool's signed queries over s. Let sampling err by at most
a and comparisons by at most v, and be hard what seems off by g + a + v. Then a hard query is off by
at least g on the hypothesis, and an easy one's answer by at most alpha = g + a + 2v.

*Updates.* The relative entropy from the data to the hypothesis begins at ln|X| at most and is never
negative. A pool of r s queries lowers it by at least step (f(D) - f(data)) - step**2 r**2 / 8
(Hoeffding's lemma: a signed query has a range of one), hence by step g r - step**2 r**2 / 8. For r
from 1 to 2 and a step of at most 8 g / 3 that is least at r = 1: there are at most
ln|X| / (step g - step**2 / 8) updates.

*Shares.* A query that comes or goes moves later samples' log-ratios within a range of step / s, so
T updates of n' cells cost the analysts T n' step**2 / (8 s**2) in rho, which fixes s. Hard queries
are R = 2 s T, in proportion to step T**1.5 / a. For a given gap that is least at step = 2 g, where
R is in proportion to 1 / (g**2 a). Comparisons err by v in proportion to R**.5, so that the error
is least where g v a**.5 is largest: g = .4 alpha, v = a = .2 alpha. No other shares and no other
step do better in this argument, while comparisons cost more than answers.

*Comparisons* are a sparse vector of R rounds at epsilon' each, R epsilon'**2 / 2 in rho: Laplace
noise of 2 / epsilon' for thresholds, of 4 / epsilon' for queries. Each of the three ways to err has
a chance of .05 / 3.

What no rho here pays for is that closing a pool, and the ends of R and T, depend on everybody's
questions; the source charges their probability. So this is no guarantee of an analyst's privacy
either, but no constant of it is guessed.

Source: analysts-verified:H6 (whose potential argument is proved here).
"""

from __future__ import annotations

import math

from discreet.core.parameters import count, positive
from discreet.theory.calculator import calculator
from discreet.theory.online_game import OnlineSketch

GAP, NOISE, SAMPLING = 0.4, 0.2, 0.2
_BETA = 0.05 / 3


@calculator
def online_updates(*, cells: int, gap: float, step: float) -> float:
    """How often a hypothesis moves at most, by queries that are off by ``gap`` or more; proved.

    ln|X| / (step gap - step**2 / 8), least at a step of 4 gap; infinite from 8 gap on, where a move
    may be too far.

    >>> round(online_updates(cells=4096, gap=0.1, step=0.4))
    416
    """
    wide, far = float(positive("gap", gap)), float(positive("step", step))
    fall = far * wide - far * far / 8
    return math.log(count("cells", cells)) / fall if fall > 0 else math.inf


@calculator
def online_bound(
    *, cells: int, questions: float, records: float, data_rho: float, analyst_rho: float
) -> OnlineSketch:
    """The least alpha that proved constants allow; above one it says nothing.

    The data's rho pays for hard answers and for finding them, half of the analysts' for the cells.

    >>> found = online_bound(
    ...     cells=4096, questions=1e6, records=1e7, data_rho=0.024356, analyst_rho=0.024356
    ... )
    >>> round(found.alpha, 2), round(found.updates)
    (0.25, 545)
    """
    count("cells", cells)
    asked, people = float(positive("questions", questions)), float(positive("records", records))
    data, told = float(positive("data_rho", data_rho)), float(positive("analyst_rho", analyst_rho))
    low, high = 1e-12, 1e6
    while high / low > 1 + 1e-12:
        alpha = math.sqrt(low * high)
        found = _at(alpha, cells, asked, told)
        spent = found.hard * _of_one(found.hard, asked, alpha * people)
        low, high = (low, alpha) if spent <= data else (alpha, high)
    return _at(high, cells, asked, told)


def _of_one(rounds: float, questions: float, error: float) -> float:
    """The rho of one hard query, found and answered; ``error`` counts records."""
    found = 2 * math.log(2 * rounds / _BETA) + 4 * math.log(2 * questions / _BETA)
    answered = 2 * math.log(2 * rounds / _BETA)
    return ((found / (NOISE * error)) ** 2 + answered / error**2) / 2


def _at(alpha: float, cells: int, questions: float, analyst_rho: float) -> OnlineSketch:
    gap = GAP * alpha
    updates = online_updates(cells=cells, gap=gap, step=2 * gap)
    sampled = math.log(2 * questions / _BETA) / (2 * (SAMPLING * alpha) ** 2)
    s = 2 * gap * math.sqrt(updates * sampled / (8 * analyst_rho / 2))
    return OnlineSketch(alpha, updates, sampled, s, 2 * s * updates)
