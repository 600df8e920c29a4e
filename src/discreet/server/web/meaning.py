"""What a budget means for one person, in numbers for a page.

All of them are upper bounds, from :mod:`discreet.release.statement.meaning`: what somebody may
believe afterwards who believed something before, how often a guess is right, how many are found
by a test. Without a delta, what is expected of anything that is never negative changes by a factor
between e^-epsilon and e^epsilon, whatever is done with the answer; so does the risk of any harm.

Source: 000a:A3, A6, A8; 004d:P4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.guarantee import Guarantee
from discreet.release.format import above, at_most, below
from discreet.release.guarantee import guarantee_text
from discreet.release.statement.meaning import EpsilonDelta, pairs

PRIORS = (0.001, 0.01, 0.1, 0.5, 0.9)
FALSE_ALARMS = 0.05
_NEAR = 1e-12
"""Shares that lie above a short decimal by less than this, relative to it, are shown as that."""
EXPECTED = 1000.0
"""What is expected without somebody's data, in the example of a page."""


@dataclass(frozen=True)
class Belief:
    """What somebody believed before, and at most afterwards; None where a delta allows more.

    ``blind`` is how often a guess is right without any answer, ``guess`` how often at most with it.
    """

    prior: str
    posterior: str | None
    blind: str
    guess: str


@dataclass(frozen=True)
class Meaning:
    """One reading of a guarantee.

    Attributes:
        numbers: Epsilon and delta, in words.
        factor: By which a risk grows at most.
        least, most: What is expected of 1,000 afterwards, without a delta.
        delta: What comes on top of a risk, in words; empty without one.
        beliefs: At several priors.
        found: How many of those who are there a test finds that accuses 5 % of the innocent.
    """

    numbers: str
    factor: str
    least: str
    most: str
    delta: str
    beliefs: tuple[Belief, ...]
    found: str


def meanings(guarantee: Guarantee) -> list[Meaning]:
    """What a guarantee means: once, or at each of several deltas where it has none of its own."""
    return [_meaning(pair) for pair in pairs(guarantee)]


def words_of(guarantee: Guarantee) -> str:
    """The guarantee itself."""
    return guarantee_text(guarantee)


def _meaning(pair: EpsilonDelta) -> Meaning:
    factor = math.exp(min(pair.epsilon, 700.0))
    delta = at_most(pair.delta) if pair.delta > 0 else ""
    return Meaning(
        numbers=f"ε {at_most(pair.epsilon)}" + (f", δ {delta}" if delta else ""),
        factor=_large(factor),
        least=below(EXPECTED / factor, 0),
        most=_large(EXPECTED * factor),
        delta=delta,
        beliefs=tuple(_belief(pair, prior) for prior in PRIORS),
        found=_share(pair.power(FALSE_ALARMS)),
    )


def _belief(pair: EpsilonDelta, prior: float) -> Belief:
    after = pair.posterior(prior)
    return Belief(
        prior=f"{100 * prior:g} %",
        posterior=None if after is None else _share(after),
        blind=_share(max(prior, 1 - prior)),
        guess=_share(pair.guess(prior)),
    )


def _share(value: float) -> str:
    """A share, rounded up; never all of it where a doubt is left.

    >>> _share(0.52497), _share(0.999), _share(0.99999999), _share(1.0)
    ('52.5 %', '99.9 %', 'all but one in a million', '100 %')
    """
    if value >= 1:
        return "100 %"
    doubt = min(value, 1 - value)
    if 1 - value < 1e-6:
        return "all but one in a million"
    places = min(6, max(1, math.ceil(-math.log10(doubt)) - 1))
    steps = math.ceil(100 * value * 10**places * (1 - _NEAR))
    return f"{steps / 10**places:.{places}f}".rstrip("0").rstrip(".") + " %"


def _large(value: float) -> str:
    """A factor, rounded up to what people read."""
    if value < 100:
        return above(value, 2)
    return f"{math.ceil(value):,}" if value < 1e9 else "more than a billion"
