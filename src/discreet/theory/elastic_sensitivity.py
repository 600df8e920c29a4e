"""Elastic and smooth sensitivity of joins, as Flex has them: a comparison for truncation.

A row that comes changes the count of a join by at most the frequency of its key on the other side.
Elastic sensitivity takes the greatest frequency of any key, and k more of it for data that k rows
more could have made; smooth sensitivity is the largest of these over all k, each divided by
exp(beta k). Noise in proportion to it is private. But frequencies are data, and so is the scale:
neither it nor an error may be shown, and nothing forecasts it. So no question is answered by it
here; ``benchmarks/join_sensitivity.py`` measures what that costs, or saves.

Neighbours have one row more or one fewer.

Source: 004b:A21(c), 004d:A14; Johnson, Near and Song 2018. Oracle: at least the local sensitivity
of every small pair of tables, and of all within k rows of it.
"""

from __future__ import annotations

import math

from discreet.core.parameters import Number, count, positive
from discreet.theory.calculator import calculator


@calculator
def elastic_join(*, left: int, right: int, distance: int = 0) -> int:
    """How far one row moves the count of a join of two tables, ``distance`` rows away.

    ``left`` and ``right`` are the greatest frequencies of the key on either side; the row is in
    one table, and meets the other.

    >>> elastic_join(left=575, right=1)
    575
    """
    most = max(count("left", left, least=0), count("right", right, least=0))
    return most + count("distance", distance, least=0)


@calculator
def elastic_self_join(*, most: int, distance: int = 0) -> int:
    """The same of a table joined with itself: the row meets the others twice, and itself.

    >>> elastic_self_join(most=24)
    49
    """
    return 2 * (count("most", most, least=0) + count("distance", distance, least=0)) + 1


@calculator
def smooth_linear(*, start: Number, slope: Number, beta: Number) -> float:
    """The largest of (start + slope k) exp(-beta k) over whole k from 0.

    For real k it is at 1/beta - start/slope; before it the product rises, after it it falls.

    >>> round(smooth_linear(start=11, slope=2, beta=0.034462), 1)
    25.8
    """
    first, step = float(positive("start", start)), float(positive("slope", slope))
    rate = float(positive("beta", beta))
    best = max(0.0, 1 / rate - first / step)
    return max(
        (first + step * k) * math.exp(-rate * k) for k in (math.floor(best), math.ceil(best))
    )
