"""Exact compositions of finite pairs: all outcomes listed, fifty digits, no grid, no transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import product

DIGITS = 50
Law = list[tuple[Decimal, Decimal]]
"""Pairs (loss, P-mass)."""


@dataclass(frozen=True)
class Finite:
    """Losses with their P-masses, and P's mass at infinity."""

    law: tuple[tuple[Decimal, Decimal], ...]
    infinite: Decimal = Decimal(0)

    def delta(self, epsilon: Decimal | float) -> Decimal:
        with localcontext() as context:
            context.prec = DIGITS
            e = Decimal(epsilon)
            gap = sum((p * (1 - (e - z).exp()) for z, p in self.law if z > e), Decimal(0))
            return self.infinite + gap

    def epsilon(self, delta: float) -> Decimal:
        """Where the curve crosses ``delta``, to thirty digits."""
        with localcontext() as context:
            context.prec = DIGITS
            low, high = Decimal(0), max(z for z, _ in self.law)
            if self.delta(low) <= Decimal(delta):
                return low
            while high - low > Decimal("1e-30") * high:
                middle = (low + high) / 2
                low, high = (
                    (low, middle) if self.delta(middle) <= Decimal(delta) else (middle, high)
                )
            return high

    def __add__(self, other: Finite) -> Finite:
        with localcontext() as context:
            context.prec = DIGITS
            law = tuple((a + b, p * q) for (a, p), (b, q) in product(self.law, other.law))
            return Finite(law, 1 - (1 - self.infinite) * (1 - other.infinite))

    def __mul__(self, times: int) -> Finite:
        """Multinomial: as many terms as there are ways to split ``times``."""
        with localcontext() as context:
            context.prec = DIGITS
            law = []
            for counts in _splits(times, len(self.law)):
                ways = Decimal(math.factorial(times))
                z = Decimal(0)
                for count, (loss, mass) in zip(counts, self.law, strict=True):
                    ways *= mass**count / math.factorial(count)
                    z += count * loss
                law.append((z, ways))
            return Finite(tuple(law), 1 - (1 - self.infinite) ** times)

    def sampled(self, rate: float) -> Finite:
        """(1 - q) Q + q P against Q."""
        with localcontext() as context:
            context.prec = DIGITS
            q = Decimal(rate)
            law = [
                (((1 + q * (z.exp() - 1)).ln()), p * (q + (1 - q) * (-z).exp()))
                for z, p in self.law
            ]
            if self.infinite:  # by symmetry, what Q has where P has nothing
                law.append(((1 - q).ln(), (1 - q) * self.infinite))
            return Finite(tuple(law), q * self.infinite)

    def reversed(self) -> Finite:
        """(Q, P), for a pair in which P is nowhere zero."""
        with localcontext() as context:
            context.prec = DIGITS
            return Finite(tuple((-z, p * (-z).exp()) for z, p in self.law))


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(k, *rest) for k in range(total + 1) for rest in _splits(total - k, parts - 1)]


def response(epsilon: float, categories: int = 2, delta: float = 0.0) -> Finite:
    """Randomized response, preceded by a leak."""
    with localcontext() as context:
        context.prec = DIGITS
        e, kept = Decimal(epsilon), 1 - Decimal(delta)
        others = categories - 1
        truth = kept / (1 + others * (-e).exp())
        law = [(e, truth), (-e, truth * (-e).exp())]
        if others > 1:
            law.append((Decimal(0), (others - 1) * truth * (-e).exp()))
        return Finite(tuple(law), Decimal(delta))


def geometric(epsilon: float, steps: int) -> Finite:
    """Two-sided geometric noise shifted by ``steps``, at scale ``steps / epsilon``."""
    with localcontext() as context:
        context.prec = DIGITS
        e = Decimal(epsilon)
        a = (-e / steps).exp()
        masses = [1 / (1 + a)]
        masses += [(1 - a) / (1 + a) * a**x for x in range(1, steps)]
        masses.append(a**steps / (1 + a))
        return Finite(tuple((e * (1 - Decimal(2 * x) / steps), p) for x, p in enumerate(masses)))
