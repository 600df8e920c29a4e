"""How sure an interval may be asked to be: tails below 1e-12 are not computed with care.

Formulas of several noises share the risk among them, and each share must still be a number that
can be taken from one.
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability

HIGHEST = 1 - 1e-12


def confidence_level(confidence: object) -> float:
    """A confidence as intervals take it, refused where no interval could keep it."""
    level = float(probability("confidence", confidence))
    if level > HIGHEST:
        raise InvalidParameter(
            code="confidence_too_high",
            expectation="a confidence of at most 1 - 1e-12",
            received=level,
            remedy="Choose one such as 0.95 or 0.999999.",
        )
    return level
