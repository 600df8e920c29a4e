"""Private multiplicative weights, online, and how accurate it is before it begins.

Source: 000a:F5; 004b:A10. Errata: the leading 32 of Thm 4.14 is 36; the root of the threshold for
delta > 0 covers c ln(2/delta) alone; all noise is divided by n. Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.multiplicative_updaters import GapUpdater, MultiplicativeUpdater
from discreet.queries.record_count import PublicCount, RecordCount


def private_multiplicative_weights(
    *,
    cells: int,
    spend: Guarantee,
    size: RecordCount,
    questions: int,
    confidence: float,
    about: int | None = None,
    start: ArrayLike | None = None,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> OnlineConstruction:
    """The mechanism with the least alpha such that all answers are within 3 alpha.

    That holds for ``questions`` queries at ``confidence`` where there are at least ``about``
    records; a public number of records is taken as it is. ``updater.error`` of what is returned is
    alpha. The conversation itself has no limit on questions.
    """
    known = _about(size, about)

    def planned(alpha: float) -> tuple[OnlineConstruction, float]:
        updater = MultiplicativeUpdater(cells, alpha, start)
        plan = OnlineConstruction(
            updater, spend, size, 2 * alpha * known, records=records, randomness=randomness
        )
        return plan, plan.noise_error(confidence=confidence, questions=questions) / known

    alpha = least_error(lambda alpha: planned(alpha)[1])
    return planned(alpha)[0]


def private_gap_weights(
    *,
    cells: int,
    spend: Guarantee,
    size: RecordCount,
    questions: int,
    confidence: float,
    about: int | None = None,
    updates: int | None = None,
    start: ArrayLike | None = None,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> OnlineConstruction:
    """The same with steps set by the gap; all answers are within 5/3 of ``updater.error``.

    Noise is a third of that error, and the threshold four thirds. By default all updates are paid
    for that there can be. With ``updates`` fewer are: then answers are far more accurate until
    these are used up, which on most data is long after they have learnt what matters.
    """
    known = _about(size, about)
    paid = 0 if updates is None else count("updates", updates)

    def planned(error: float) -> tuple[OnlineConstruction, float]:
        updater = GapUpdater(cells, error, start)
        far = (1 + 1 / updater.exactness) * error * known
        plan = OnlineConstruction(
            *(updater, spend, size, far, paid), records=records, randomness=randomness
        )
        noise = plan.noise_error(confidence=confidence, questions=questions)
        return plan, updater.exactness * noise / known

    error = least_error(lambda error: planned(error)[1])
    return planned(error)[0]


def _about(size: RecordCount, about: int | None) -> int:
    """The number of records to plan for."""
    if isinstance(size, PublicCount):
        return size.records
    if about is None:
        raise InvalidParameter(
            code="records_unknown",
            expectation="about=, a public guess of the number of records to plan for",
            remedy="Guess low; privacy does not depend on it.",
        )
    return about


def least_error(noise: Callable[[float], float]) -> float:
    """The least alpha below one at which the noise is at most alpha; the noise falls in alpha."""
    low, high = 0.0, 1 - 2.0**-20
    if noise(high) > high:
        raise InvalidParameter(
            code="accuracy_unreachable",
            expectation="enough records for an error below one",
            remedy="Spend more, ask fewer questions, or use coarser attributes.",
        )
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if noise(middle) <= middle else (middle, high)
    return high
