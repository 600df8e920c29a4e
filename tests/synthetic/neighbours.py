"""Two neighbouring tables under the same outcomes: what may differ, and what may not.

A release is made of each table while a tape decides all noise alike. Then both worlds have released
the same noisy values, so everything else must be the same as well, to the last byte: the model, the
facts, the warnings, the refusal, how many steps there were and what they promised. What differs is
what noise was put on, and that must be within what was paid for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.core.events.event import Nothing, compose
from discreet.core.guarantee import Guarantee
from tests.queries.mechanism_rows import allowed, priced
from tests.queries.transcripts import Step, Tape, shares, taped

ROUNDING = 1 + 1e-9
Told = tuple[str, ...]


def compare(
    here: Callable[[], Told], there: Callable[[], Told], *, spend: Guarantee, seed: int
) -> dict[str, float]:
    """The largest share of its promise that each kind of noise lost; refusals lose nothing.

    ``here`` and ``there`` release, and tell all that anybody gets to see.
    """
    tape = Tape(np.random.default_rng(seed))
    with taped(tape):
        one = _told(here)
        first = tape.rewind()
        other = _told(there)
        second = tape.rewind()
    assert one == other
    assert _price(first, spend) <= allowed(spend) * ROUNDING
    lost = shares(first, second)
    assert max(lost.values(), default=0.0) <= ROUNDING, lost
    return lost


def _told(release: Callable[[], Told]) -> Any:
    """What is seen of a release, with warnings; of a refusal its code and all its words."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            told: Any = release()
        except DiscreetError as refusal:
            told = (refusal.code, str(refusal))
    return told, [str(each.message) for each in warned]


def _price(steps: list[Step], spend: Guarantee) -> float:
    """What was paid, but for what was drawn to see that it can be: that hid a public zero."""
    paid = [step.paid for step in steps if not _for_nothing(step)]
    return priced(compose(tuple(paid)), spend) if paid else 0.0


def _for_nothing(step: Step) -> bool:
    public = np.array_equal(step.values, [0]) or np.array_equal(step.values, [0, 1])
    return isinstance(step.paid, Nothing) or public
