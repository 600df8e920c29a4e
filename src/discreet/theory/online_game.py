"""The online mechanism of the paper, as a calculator of its sketch. No guarantee is offered.

Queries arrive one by one; a batch of hypotheses is sampled, hard queries are answered with fresh
noise and collected in a pool of about s, which moves the hypothesis T times. The source checks
signs and orders of magnitude of this construction but not the constants of its potential argument,
and its counters of hard queries depend on everyone's questions. So there is no class to run here:
only the error that the sketch's constants would give, for comparison with what is offered. What
proved constants give instead, about three times as much, is in ``online_proved``.

Constants, for an error alpha: T = 8 ln|X| / alpha**2 updates, each of 8 ln(80 k) / alpha**2 sampled
cells at step alpha / 2; half of the analysts' rho pays for the cells, T n' step**2 / 32 s**2, which
fixes s; the data pay for R = 2 s T hard answers with normal noise that stays below alpha / 6.

How much of the data's rho these answers get is not in the sketch. Which queries are hard must be
found as well, by noisy comparisons of every query with the hypothesis, and that costs data too. The
source gives answers .7 and comparisons the rest, as it does wherever a game is followed by a
sparse vector: .522, .208 and .083 for 1e5, 1e6 and 1e7 records (4096 cells, a million questions,
(1, 1e-6) for data and analysts). With all of it for answers, which leaves nothing to find them by,
it would be .486, .194 and .077. The error goes as the fifth root: .7 ** -.2 is 1.074.

Source: analysts-verified:H6 (a sketch), H8 (slope -.40).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, positive
from discreet.theory.calculator import calculator

ANSWERS = 0.7
"""What the data's rho has for hard answers; the rest is for finding out which they are."""
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
    *,
    cells: int,
    questions: float,
    records: float,
    data_rho: float,
    analyst_rho: float,
    answers: float = ANSWERS,
) -> OnlineSketch:
    """The least alpha that the sketch's constants allow; above one it says nothing.

    ``answers`` is the part of the data's rho that hard answers are paid from.

    >>> found = online_sketch(
    ...     cells=4096, questions=1e6, records=1e6, data_rho=0.024356, analyst_rho=0.024356
    ... )
    >>> round(found.alpha, 2), found.hard > 1e6
    (0.21, True)
    """
    count("cells", cells)
    reach = math.sqrt(2 * math.log(2 * float(positive("questions", questions)) / _BETA))
    part = float(positive("answers", answers))
    if part > 1:
        raise InvalidParameter(
            code="parameter_out_of_range",
            expectation="answers to be a part of the data's rho, at most all of it",
            received=part,
            remedy="The source gives them .7, and comparisons the rest.",
        )
    rho = part * float(positive("data_rho", data_rho))
    low, high = 1e-12, 1e3
    while high / low > 1 + 1e-12:
        alpha = math.sqrt(low * high)
        noise = math.sqrt(_at(alpha, cells, questions, analyst_rho).hard / (2 * rho))
        fits = _NOISE_PART * reach * noise / records <= alpha
        low, high = (low, alpha) if fits else (alpha, high)
    return _at(high, cells, questions, analyst_rho)


def _at(alpha: float, cells: int, questions: float, analyst_rho: float) -> OnlineSketch:
    updates = 8 * math.log(cells) / alpha**2
    sampled = 8 * math.log(80 * questions) / alpha**2
    s = alpha / 2 * math.sqrt(updates * sampled / (32 * analyst_rho / 2))
    return OnlineSketch(alpha, updates, sampled, s, 2 * s * updates)
