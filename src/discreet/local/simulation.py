"""Before a deployment: how many people a wanted error takes, and a trial on invented values.

Nothing here reads data. Errors are those of a rare value's share, whose estimate is the least
certain but for very frequent ones.

Source: 004a:C4, C32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet.core.parameters import Number, count, positive, probability
from discreet.local.oracle import SupportOracle
from discreet.local.planner import plans


@dataclass(frozen=True)
class PeopleNeeded:
    """An oracle at an epsilon, and how many people bring its error down to the one wanted."""

    epsilon: float
    oracle: SupportOracle
    message_bits: int
    people: int

    @property
    def name(self) -> str:
        """What the oracle is called."""
        bits = f" of {self.oracle.bits} bits" if hasattr(self.oracle, "bits") else ""
        return type(self.oracle).__name__ + bits


def people_needed(
    *,
    epsilons: Sequence[Number],
    domain: int | Sequence[str],
    error: float,
    confidence: float,
    message_bits: int | None = None,
) -> list[PeopleNeeded]:
    """For each epsilon and oracle, the people with whom a share is within ``error``.

    >>> needed = people_needed(epsilons=[1], domain=1024, error=0.01, confidence=0.95)
    >>> needed[0].name, needed[0].people
    ('SubsetSelection', 141119)
    """
    reach = float(ndtri(0.5 + float(probability("confidence", confidence)) / 2))
    wanted = float(positive("error", error))
    return [
        PeopleNeeded(
            float(epsilon),
            plan.oracle,
            plan.message_bits,
            math.ceil(plan.variance * (reach / wanted) ** 2),
        )
        for epsilon in epsilons
        for plan in plans(epsilon=epsilon, domain=domain, message_bits=message_bits)
    ]


@dataclass(frozen=True)
class Trial:
    """What a collection of invented values came to."""

    people: int
    within: float
    worst: float
    stated: float


def trial(oracle: SupportOracle, *, people: int, error: float) -> Trial:
    """Randomise, aggregate and estimate values of invented people; shares fall as 1 / rank.

    ``within`` is the part of the values whose share is off by at most ``error``.
    """
    chances = 1 / np.arange(1, oracle.size + 1)
    counts = np.floor(chances / chances.sum() * count("people", people)).astype(np.int64)
    counts[0] += people - int(counts.sum())
    found = oracle.estimate(
        oracle.aggregate(oracle.privatize_many(np.repeat(np.arange(oracle.size), counts)))
    )
    off = np.abs(found.shares - counts / people)
    stated = float(np.sqrt(oracle.variance / people))
    return Trial(people, float((off <= error).mean()), float(off.max()), stated)


def plot_people(found: Sequence[PeopleNeeded], *, error: float) -> Any:
    """People against epsilon, one line for each oracle, as an Altair chart (extra ``plots``)."""
    from discreet.core.plotting import plotting

    alt = plotting()
    rows = [{"epsilon": each.epsilon, "people": each.people, "oracle": each.name} for each in found]
    scale = alt.Scale(type="log")
    return (
        alt.Chart(alt.Data(values=rows), title=f"People for shares within {error:g}")
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon:Q", scale=scale, title="epsilon of each person"),
            y=alt.Y("people:Q", scale=scale, title="people needed"),
            color=alt.Color("oracle:N", title=None),
        )
    )
