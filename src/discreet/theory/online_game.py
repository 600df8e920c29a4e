"""The online mechanism of the paper, as a calculator of its sketch. No guarantee is offered.

Queries arrive one by one; a batch of hypotheses is sampled, hard queries are answered with fresh
noise and collected in a pool of about s, which moves the hypothesis T times. The source checks
signs and orders of magnitude of this construction but not the constants of its potential argument,
and its counters of hard queries depend on everyone's questions. So there is no class to run here:
only the error that the sketch's constants would give, for comparison with what is offered.

Constants, for an error alpha: T = 8 ln|X| / alpha**2 updates, each of 8 ln(80 k) / alpha**2 sampled
cells at step alpha / 2; half of the analysts' rho pays for the cells, T n' step**2 / 32 s**2, which
fixes s; the data pay for R = 2 s T hard answers with normal noise that stays below alpha / 6.

Source: analysts-verified:H6 (a sketch), H8 (slope -.40).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.parameters import count, positive
from discreet.theory.calculator import calculator

_BETA = 0.05
_NOISE_PART = 6


@dataclass(frozen=True)
class OnlineSketch:
    """What the sketch's constants give; not a promise."""

    alpha: float
    updates: float
    cells: float
    s: float
    hard: float


@calculator
def online_sketch(
    *, cells: int, questions: float, records: float, data_rho: float, analyst_rho: float
) -> OnlineSketch:
    """The least alpha that the sketch's constants allow; above one it says nothing.

    >>> found = online_sketch(
    ...     cells=4096, questions=1e6, records=1e6, data_rho=0.024356, analyst_rho=0.024356
    ... )
    >>> round(found.alpha, 2), found.hard > 1e6
    (0.19, True)
    """
    count("cells", cells)
    reach = math.sqrt(2 * math.log(2 * float(positive("questions", questions)) / _BETA))
    low, high = 1e-12, 1e3
    while high / low > 1 + 1e-12:
        alpha = math.sqrt(low * high)
        noise = math.sqrt(_at(alpha, cells, questions, analyst_rho).hard / (2 * data_rho))
        fits = _NOISE_PART * reach * noise / records <= alpha
        low, high = (low, alpha) if fits else (alpha, high)
    return _at(high, cells, questions, analyst_rho)


def _at(alpha: float, cells: int, questions: float, analyst_rho: float) -> OnlineSketch:
    updates = 8 * math.log(cells) / alpha**2
    sampled = 8 * math.log(80 * questions) / alpha**2
    s = alpha / 2 * math.sqrt(updates * sampled / (32 * analyst_rho / 2))
    return OnlineSketch(alpha, updates, sampled, s, 2 * s * updates)
