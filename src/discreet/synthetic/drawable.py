"""Whether a spend buys what can be drawn: looked at before any data is read or anything is charged.

Noise may be too wide for 64 bits, or so narrow that there is none, and a price too large or too
small for its law. The curator charges before it draws, so what cannot be drawn has to be refused
when a mechanism is made.

Source: contract, "What may be seen" (refusals before data is opened are free).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.selection import Selection
from discreet.noise.randomness import SYSTEM


def require_drawable(*steps: object) -> None:
    """Draw each of them once for nothing; refused as it would be when data is open.

    What is neither noise nor a selection of ours is left to whoever brings it.
    """
    for step in steps:
        if isinstance(step, Selection):
            replace(step, randomness=SYSTEM).release(np.array([0, 1]))
        elif isinstance(step, Additive):
            replace(step, randomness=SYSTEM).release(0)
            if not float(distribution_of(step, step=1.0).std):
                raise InvalidParameter(
                    code="noise_beyond_grid",
                    expectation="noise that can be told from none",
                    remedy="Choose a usual epsilon.",
                )
