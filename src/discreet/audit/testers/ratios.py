"""Black-box audit of a privacy claim by sampling on two neighbouring inputs.

Source: Ding et al. 2018 (StatDP), Bichsel et al. 2021 (DP-Sniper), Clopper and Pearson 1934;
004d:A8, F26.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.audit.testers.events import EventSearch, OutcomeEvent
from discreet.audit.testers.intervals import lower_limit, upper_limit
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import (
    Number,
    count,
    delta_parameter,
    nonnegative,
    probability,
)

Input = TypeVar("Input")
Releases: TypeAlias = Sequence[Any] | NDArray[Any]
Mechanism: TypeAlias = Callable[[Input, int], Releases]


@dataclass(frozen=True)
class Finding:
    """What an audit found: with the stated confidence the true epsilon is at least the bound.

    ``passes`` means only that the claim was not refuted.
    """

    epsilon: float
    delta: float
    confidence: float
    lower_bound: float
    witness: OutcomeEvent | None

    @property
    def passes(self) -> bool:
        """Whether the claim survives."""
        return self.lower_bound <= self.epsilon


def epsilon_lower_bound(
    hits: int, others: int, trials: int, *, delta: Number, confidence: float
) -> float:
    """A lower confidence bound on epsilon from one event fixed in advance.

    Contract: of ``trials`` independent releases on each of two neighbouring inputs, ``hits``
    and ``others`` fell in the event. One direction only: the first input likelier.
    Guarantee: if the mechanism is (ε, δ)-private the bound exceeds ε with probability at most
    1 − confidence, which is shared equally by the two Clopper-Pearson limits.

    >>> round(epsilon_lower_bound(7500, 2500, 10000, delta=0, confidence=0.99), 3)
    1.039
    """
    alpha = (1 - float(probability("confidence", confidence))) / 2
    slack = float(delta_parameter("delta", delta))
    likely = lower_limit(hits, trials, alpha=alpha) - slack
    unlikely = upper_limit(others, trials, alpha=alpha)
    return max(0.0, math.log(likely / unlikely)) if likely > 0 else 0.0


def audit(
    mechanism: Mechanism[Input],
    x: Input,
    y: Input,
    *,
    epsilon: Number,
    delta: Number,
    events: EventSearch,
    trials: int,
    confidence: float,
) -> Finding:
    """Try to refute the claim that ``mechanism`` is (ε, δ)-private on the pair (x, y).

    Contract: ``mechanism(x, n)`` returns n independent releases on x. ``events`` may look at
    the first part of the sample; what it chooses is tested on the rest.
    Guarantee: a true claim is refuted with probability at most 1 − confidence, by a union
    bound over the chosen events and both directions.
    """
    count("trials", trials, least=2)
    claim = float(nonnegative("epsilon", epsilon))
    slack = float(delta_parameter("delta", delta))
    studied = int(trials * events.share)
    first, second = _draws(mechanism, x, trials), _draws(mechanism, y, trials)
    chosen = events.choose(first[:studied], second[:studied], delta=slack)
    kept = trials - studied
    each = 1 - (1 - float(probability("confidence", confidence))) / max(1, 2 * len(chosen))
    best, witness = 0.0, None
    for event in chosen:
        hits, others = event.count(first[studied:]), event.count(second[studied:])
        bound = max(
            epsilon_lower_bound(hits, others, kept, delta=delta, confidence=each),
            epsilon_lower_bound(others, hits, kept, delta=delta, confidence=each),
        )
        if bound > best:
            best, witness = bound, event
    return Finding(claim, slack, confidence, best, witness)


def repeated(release: Callable[[Input], Hashable]) -> Mechanism[Input]:
    """Turn a function that releases once into one that releases many times."""
    return lambda data, trials: [release(data) for _ in range(trials)]


def _draws(mechanism: Mechanism[Input], data: Input, trials: int) -> list[Hashable]:
    released = mechanism(data, trials)
    plain = released.tolist() if isinstance(released, np.ndarray) else list(released)
    draws = [tuple(item) if isinstance(item, list) else item for item in plain]
    if len(draws) != trials:
        raise InvalidParameter(
            code="wrong_number_of_releases",
            expectation=f"{trials} releases",
            received=len(draws),
            remedy="Let mechanism(data, trials) return one release per trial.",
        )
    return draws
