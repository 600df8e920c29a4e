"""Closed forms and integrals of what the mechanisms release, written without the library."""

import math
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import ndtr

Floats = NDArray[np.float64]
Mass = Callable[[int], float]
Tail = Callable[[int], float]
ATOL = 1e-9


def laplace_density(x: float, scale: float) -> float:
    return math.exp(-abs(x) / scale) / (2 * scale)


def laplace_cdf(x: float, scale: float) -> float:
    return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def laplace_survival(x: float, scale: float) -> float:
    return laplace_cdf(-x, scale)


def rounded_laplace(scale: float) -> tuple[Mass, Tail]:
    """Mass at k and probability of at least k, of a continuous Laplace variable rounded."""

    def mass(k: int) -> float:
        if k == 0:
            return -math.expm1(-0.5 / scale)
        return math.exp(-(abs(k) - 0.5) / scale) * -math.expm1(-1 / scale) / 2

    return mass, lambda k: laplace_survival(k - 0.5, scale)


def discrete_laplace(scale: float) -> tuple[Mass, Tail]:
    a = math.exp(-1 / scale)

    def at_least(k: int) -> float:
        return a**k / (1 + a) if k > 0 else 1 - a ** (1 - k) / (1 + a)

    return lambda k: (1 - a) / (1 + a) * a ** abs(k), at_least


def rounded_gaussian(sigma: float) -> tuple[Mass, Tail]:
    def mass(k: int) -> float:
        far = abs(k)
        return float(ndtr(-(far - 0.5) / sigma) - ndtr(-(far + 0.5) / sigma))

    return mass, lambda k: float(ndtr(-(k - 0.5) / sigma))


def discrete_gaussian(sigma: float) -> tuple[Mass, Tail]:
    reach = math.ceil(40 * sigma) + 5
    total = math.fsum(math.exp(-z * z / (2 * sigma * sigma)) for z in range(-reach, reach + 1))

    def mass(k: int) -> float:
        return math.exp(-k * k / (2 * sigma * sigma)) / total

    return mass, lambda k: math.fsum(mass(z) for z in range(k, reach + 1))


def windowed(law: tuple[Mass, Tail], centre: int, low: int, high: int) -> dict[Hashable, float]:
    """The law of ``centre + noise`` with everything outside (low, high) in two outcomes."""
    mass, at_least = law
    inside: dict[Hashable, float] = {z: mass(z - centre) for z in range(low + 1, high)}
    # The noise is symmetric, so the lower tail is an upper one.
    return {"low": at_least(centre - low), **inside, "high": at_least(high - centre)}


def exponential(scores: Sequence[float], rate: float) -> list[float]:
    weights = [math.exp(rate * (score - max(scores))) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def permute_and_flip(scores: Sequence[float], rate: float) -> list[float]:
    """Candidate i comes at a uniform time t, and nobody with heads came before it."""
    heads = [math.exp(rate * (score - max(scores))) for score in scores]
    law = []
    for i, mine in enumerate(heads):
        product = Polynomial([mine])
        for j, other in enumerate(heads):
            if j != i:
                product *= Polynomial([1, -other])
        law.append(float(product.integ()(1.0)))
    return law


def argmax_with_exponential_noise(scores: Sequence[float], rate: float) -> list[float]:
    """The same law by integration, for scores with independent exponential noise."""
    best = max(scores)

    def density(x: float, i: int) -> float:
        others = (max(0.0, -math.expm1(-rate * (x - s))) for j, s in enumerate(scores) if j != i)
        return rate * math.exp(-rate * (x - scores[i])) * math.prod(others)

    return [quad(density, best, best + 60 / rate, args=(i,))[0] for i in range(len(scores))]


def integral(function: Callable[[float], float], corners: Sequence[float], scale: float) -> float:
    """Integrate over the line a function with corners and exponential tails."""
    edges = [min(corners) - 60 * scale, *sorted(set(corners)), max(corners) + 60 * scale]
    return math.fsum(
        quad(function, low, high, epsabs=1e-13, epsrel=1e-12)[0] for low, high in pairwise(edges)
    )


def noisy_max(scores: Sequence[float], scale: float) -> list[float]:
    """Which score with Laplace noise is the largest."""

    def density(x: float, i: int) -> float:
        below = (laplace_cdf(x - s, scale) for j, s in enumerate(scores) if j != i)
        return laplace_density(x - scores[i], scale) * math.prod(below)

    return [
        integral(lambda x, i=i: density(x, i), scores, scale)  # type: ignore[misc]
        for i in range(len(scores))
    ]


def noisy_max_with_gap(
    scores: Sequence[float], scale: float, *, cells: int
) -> dict[Hashable, float]:
    """Winner and whole part of its lead, from ``cells`` on in one outcome: for two scores."""
    first, second = scores

    def ahead(lead: float, mine: float, other: float) -> float:
        """P(mine + noise - other - noise > lead): the difference of two Laplace variables."""
        x = (lead - (mine - other)) / scale
        upper = 0.5 * (1 + abs(x) / 2) * math.exp(-abs(x))
        return upper if x >= 0 else 1 - upper

    law: dict[Hashable, float] = {}
    for index, (mine, other) in enumerate(((first, second), (second, first))):
        for cell in range(cells):
            law[index, cell] = ahead(cell, mine, other) - ahead(cell + 1, mine, other)
        law[index, cells] = ahead(cells, mine, other)
    return law


def above_threshold(
    values: Sequence[float], threshold: float, *, secret: float, each: float
) -> dict[Hashable, float]:
    """Where AboveThreshold halts: the position, or None if it does not."""

    def transcript(answers: Sequence[bool]) -> float:
        def density(t: float) -> float:
            product = laplace_density(t - threshold, secret)
            for value, above in zip(values, answers, strict=False):
                survival = laplace_survival(t - value, each)
                product *= survival if above else 1 - survival
            return product

        return integral(density, [threshold, *values], max(secret, each))

    law: dict[Hashable, float] = {k: transcript([False] * k + [True]) for k in range(len(values))}
    return {**law, None: transcript([False] * len(values))}


def above_threshold_on_grid(
    values: Sequence[int], *, secret: float, each: float
) -> dict[Hashable, float]:
    """The same with threshold 0 and noise rounded to whole steps, summed without integrals."""
    mass, _ = rounded_laplace(secret)
    _, at_least = rounded_laplace(each)
    reach = range(-round(45 * secret), round(45 * secret) + 1)
    law: dict[Hashable, float] = {}
    for k in range(len(values) + 1):
        terms = []
        for t in reach:
            product = mass(t)
            for value in values[:k]:
                product *= 1 - at_least(t - value)
            if k < len(values):
                product *= at_least(t - values[k])
            terms.append(product)
        law[k if k < len(values) else None] = math.fsum(terms)
    return law
