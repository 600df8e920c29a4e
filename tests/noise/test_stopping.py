"""Numbers of runs are drawn exactly."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import DiscreteLaw, accepts
from discreet.core.errors import InvalidParameter
from discreet.core.events.tuned import PoissonRuns, StoppingLaw, TruncatedNegativeBinomial
from discreet.noise.randomness import Noiseless, Seeded
from discreet.noise.stopping import NegativeBinomialSteps, PoissonSteps, stopping_times

ALPHA = 1e-9
LAWS: list[StoppingLaw] = [
    TruncatedNegativeBinomial(eta=Fraction(-1, 2), gamma=Fraction(1, 10)),
    TruncatedNegativeBinomial(eta=0, gamma=0.05),
    TruncatedNegativeBinomial(eta=1, gamma=0.1),
    TruncatedNegativeBinomial(eta=2.5, gamma=0.3),
    PoissonRuns(mean=Fraction(1, 3)),
    PoissonRuns(mean=7.5),
]


def law_of(law: StoppingLaw) -> DiscreteLaw:
    if isinstance(law, PoissonRuns):
        mean = float(law.mean)
        masses = {k: math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(60)}
    else:
        masses = {1: 1.0}
        for k in range(1, 600):
            masses[k + 1] = masses[k] * (1 - float(law.gamma)) * (k + float(law.eta)) / (k + 1)
        total = math.fsum(masses.values())
        masses = {k: mass / total for k, mass in masses.items()}
    return DiscreteLaw.on_integers(lambda k: masses.get(k, 0.0), low=min(masses), high=max(masses))


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_draws_have_the_law(law: StoppingLaw) -> None:
    drawn = stopping_times(law, 200_000, Seeded(5))
    assert accepts(drawn, law_of(law), alpha=ALPHA).passes


def test_twins_are_caught() -> None:
    drawn = stopping_times(LAWS[1], 200_000, Seeded(5))
    assert not accepts(drawn, law_of(LAWS[2]), alpha=ALPHA).passes
    assert not accepts(drawn + 1, law_of(LAWS[1]), alpha=ALPHA).passes


@pytest.mark.parametrize("bits", [8, 64, 128])
def test_weights_enclose_the_law(bits: int) -> None:
    for eta, gamma in [(Fraction(-1, 2), Fraction(1, 10)), (Fraction(5), Fraction(2, 5))]:
        weights = NegativeBinomialSteps(eta, gamma).weights(bits)
        value = Fraction(weights.low[0])
        for k, (low, high) in enumerate(zip(weights.low, weights.high, strict=True), start=1):
            assert low <= value <= high
            value *= (1 - gamma) * (k + eta) / (k + 1)
        rest = Fraction(0)
        for k in itertools.islice(itertools.count(len(weights.low) + 1), 300):
            rest += value
            value *= (1 - gamma) * (k + eta) / (k + 1)
        assert rest <= weights.tail <= sum(weights.low) >> bits
    weights = PoissonSteps(Fraction(9, 2)).weights(bits)
    value = Fraction(weights.low[0])
    for k, (low, high) in enumerate(zip(weights.low, weights.high, strict=True)):
        assert low <= value <= high
        value *= Fraction(9, 2) / (k + 1)
    assert 2 * value <= 2 * weights.tail <= sum(weights.low) >> (bits - 1)


def test_extremes() -> None:
    assert stopping_times(LAWS[0], 3, Noiseless()).tolist() == [1, 1, 1]
    assert len(stopping_times(LAWS[0], 0, Seeded(1))) == 0
    many = stopping_times(PoissonRuns(mean=4096), 1000, Seeded(1))
    assert abs(float(np.mean(many)) - 4096) < 20
    for law in (TruncatedNegativeBinomial(eta=0, gamma=1e-9), PoissonRuns(mean=10**6)):
        with pytest.raises(InvalidParameter, match="too_many_runs"):
            stopping_times(law, 1)
