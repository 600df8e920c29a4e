"""What the games for many analysts cost, in closed form and summed over rounds, in zCDP.

Given the hidden queries the points are free of data; a query drawn in round t has log-weights that
a replaced record moves within a range of eta_q (t-1) / n, and costs an eighth of its square. In the
expected game no query is drawn, and the points themselves pay: their log-weights follow the query
player's distribution, whose total variation moves by tanh(range / 4) for a record and by the share
1/s for a query or an analyst.

Each cost has an exact sum over rounds and a closed form that is never below it, up to the rounding
of doubles. Vocabulary as in :mod:`discreet.queries.analysts.accuracy`; ``share`` is 1/s. The games
themselves are charged their exact events.

Source: analysts-verified:H4. Oracle: T = 3, n = 4, one draw, step 1: .0390625. Proofs:
``proofs/analysts-sampled-game.md``, ``proofs/analysts-expected-game.md``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import Number, exact, rounded_up
from discreet.queries.analysts.accuracy import Numbers
from discreet.queries.analysts.expected_game import expected_data_ranges
from discreet.theory.calculator import calculator

_UP = 1 + 2.0**-40
"""More than the rounding of any sum below loses."""


@calculator
def sampled_data_rho(*, draws: Numbers, reach: Numbers, records: Numbers) -> Floats:
    """A1 at most: J H_q**2 / 24 n**2."""
    ratio = np.asarray(reach, dtype=np.float64) / np.asarray(records, dtype=np.float64)
    return np.asarray(np.asarray(draws, dtype=np.float64) * ratio**2 / 24)


@calculator
def sampled_data_sum(*, rounds: int, batch: int, step: Number, records: int) -> float:
    """A1 in full: b_q eta_q**2 (T-1) T (2T-1) / 48 n**2, rounded up.

    >>> sampled_data_sum(rounds=3, batch=1, step=1, records=4)
    0.0390625
    """
    squares = Fraction((rounds - 1) * rounds * (2 * rounds - 1), 6)
    return rounded_up(batch * exact(step) ** 2 * squares / (8 * Fraction(records) ** 2))


@calculator
def expected_data_rho(
    *, points: Numbers, reach_x: Numbers, reach_q: Numbers, records: Numbers
) -> Floats:
    """A2 at most: M (H_x H_q)**2 / 2560 n**2."""
    pulls = np.asarray(reach_x, dtype=np.float64) * np.asarray(reach_q, dtype=np.float64)
    square = (pulls / np.asarray(records, dtype=np.float64)) ** 2
    return np.asarray(np.asarray(points, dtype=np.float64) * square / 2560)


@calculator
def expected_data_sum(
    *, rounds: int, batch: int, step_x: float, step_q: float, records: int
) -> float:
    """A2 in full, rounded up."""
    ranges = expected_data_ranges(rounds=rounds, step_x=step_x, step_q=step_q, records=records)
    return float(batch * (ranges**2).sum() / 8 * _UP)


@calculator
def expected_analyst_rho(*, points: Numbers, reach: Numbers, share: Numbers) -> Floats:
    """A2's price to a query (or analyst) at most: M (H_x / s)**2 / 24."""
    pull = np.asarray(reach, dtype=np.float64) * np.asarray(share, dtype=np.float64)
    return np.asarray(np.asarray(points, dtype=np.float64) * pull**2 / 24)


@calculator
def expected_analyst_sum(*, rounds: int, batch: int, step: Number, share: Number) -> float:
    """A2's price to a query (or analyst) in full: b_x (eta_x / s)**2 (T-1) T (2T-1) / 48."""
    squares = Fraction((rounds - 1) * rounds * (2 * rounds - 1), 6)
    return rounded_up(batch * (exact(step) * exact(share)) ** 2 * squares / 8)
