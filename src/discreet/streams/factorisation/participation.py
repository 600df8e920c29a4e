"""How far a record moves measurements that it takes part in several times, some ticks apart.

For training: a record is used at most k times, at least ``separation`` ticks apart, as in so many
epochs over data in a fixed order. With coefficients that are not negative and never rise, the inner
product of two columns of C falls with their distance and with their place; so the first k columns
that are ``separation`` apart are the worst, all uses in one direction.

Source: modern-learn:6 (trap: one participation's norm used for several epochs). Proof:
``proofs/streams.md``.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count


def participation_norm(
    coefficients: Floats, *, horizon: int, participations: int, separation: int
) -> float:
    """The L2 norm that noise for so many uses of one record is scaled to; a margin is added.

    ``coefficients`` are the first column of C, in any unit, as ``ToeplitzCounter.coefficients``.

    >>> from discreet.streams.factorisation.series import square_root
    >>> root = square_root(1024)
    >>> round(participation_norm(root, horizon=1024, participations=4, separation=256), 5)
    4.38783
    """
    ticks, apart = count("horizon", horizon), count("separation", separation)
    uses = min(count("participations", participations), -(-ticks // apart))
    column = np.zeros(ticks)
    given = np.asarray(coefficients, dtype=np.float64)[:ticks]
    if (given < 0).any() or (np.diff(given) > 0).any():
        raise InvalidParameter(
            code="coefficients_rise",
            expectation="coefficients that are not negative and never rise",
            remedy="Use those of the square root, or of ToeplitzCounter.",
        )
    column[: len(given)] = given
    moved = np.zeros(ticks)
    for use in range(uses):
        moved[use * apart :] += column[: ticks - use * apart]
    return float(np.sqrt(np.sum(moved**2))) * (1 + 1e-12)
