"""The privacy-loss accountant: the tightest price of events fixed in advance.

Price of an event: its dominating pairs with multiplicities. The pairs are put on a grid whose
step is chosen for the wanted tightness, composed by a tilted Fourier transform, and read off as
certified bounds from above and from below. Both directions of change are composed and the worse
one counts. Not a filter: never use it to decide adaptively.

Source: 004a:D1–D5, 004a:D14. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.pld.composition import Cumulant, Parts, compose
from discreet.accounting.pld.discretise import from_above, from_below
from discreet.accounting.pld.pair import NormalPair, Pair, Removed, Replaced
from discreet.core.errors import Unpriced
from discreet.core.event import Composed, Event, FixedSizeSampled, Nothing, PoissonSampled, Repeated
from discreet.core.parameters import exact, rounded_up
from discreet.core.pricing import Accountant

TIGHTNESS = 5e-5
"""Wanted relative excess of epsilon over the truth; steps are chosen for it."""

_COARSE = 400
_MOST_POINTS = 1 << 21
_TAILS = (1e-20, 1e-60, 1e-150, 1e-300)


@dataclass(frozen=True)
class Losses:
    """Dominating pairs and how often each occurs, in the direction of removing a unit."""

    parts: tuple[tuple[Pair, int], ...]

    def __add__(self, other: Losses) -> Losses:
        """Composition; equal pairs are counted together, normal pairs become one."""
        counts: Counter[Pair] = Counter()
        squares = 0.0
        for pair, times in (*self.parts, *other.parts):
            if isinstance(pair, NormalPair):
                squares += times * pair.mu**2
            else:
                counts[pair] += times
        normal = ((NormalPair(math.sqrt(squares) * (1 + 4e-16)), 1),) if squares else ()
        return Losses((*normal, *counts.items()))

    def times(self, k: int) -> Losses:
        """``k``-fold composition."""
        return Losses(tuple((pair, k * times) for pair, times in self.parts)) + Losses(())

    def reversed(self) -> Losses:
        """The direction of adding a unit."""
        return Losses(tuple((pair.reversed(), times) for pair, times in self.parts))

    def directions(self) -> tuple[Losses, ...]:
        """Both directions, or one if they are the same."""
        back = self.reversed()
        return (self,) if back == self else (self, back)

    def single(self) -> Pair | None:
        """The one pair that happens once, if that is all there is."""
        return self.parts[0][0] if len(self.parts) == 1 and self.parts[0][1] == 1 else None


class PrivacyLossAccountant(Accountant[Losses]):
    """Price: :class:`Losses`. Guarantee: epsilon and delta from above; ``bounds`` both sides."""

    def epsilon(self, event: Event, delta: float) -> float:
        """The least certified epsilon; infinite where delta does not cover what is unbounded."""
        losses = self.price(event)
        if not losses.parts:
            return 0.0
        if delta == 0:
            return math.inf
        return max(_epsilon(direction, delta, 1) for direction in losses.directions())

    def epsilon_bounds(self, event: Event, delta: float) -> tuple[float, float]:
        """Certified lower and upper values between which the true epsilon of the pairs lies."""
        losses = self.price(event)
        if not losses.parts:
            return 0.0, 0.0
        if delta == 0:
            return 0.0, math.inf
        upper = max(_epsilon(direction, delta, 1) for direction in losses.directions())
        lower = max(_epsilon(direction, delta, -1) for direction in losses.directions())
        return min(lower, upper), upper

    def delta(self, event: Event, epsilon: float) -> float:
        """The least certified delta."""
        losses = self.price(event)
        if not losses.parts:
            return 0.0
        return max(_delta(direction, epsilon, 1) for direction in losses.directions())


PRIVACY_LOSS = PrivacyLossAccountant()


@lru_cache(maxsize=256)
def _epsilon(losses: Losses, delta: float, sign: int) -> float:
    step, tail, tilt, guess = _plan(losses, math.log(delta))
    table = from_above if sign > 0 else from_below
    parts = tuple((table(pair, step, tail), times) for pair, times in losses.parts)
    return compose(parts, tilt).epsilon(delta, guess, sign=sign)


@lru_cache(maxsize=256)
def _delta(losses: Losses, epsilon: float, sign: int) -> float:
    log_delta, tilt = _chernoff(losses, epsilon)
    step, tail, _, _ = _plan(losses, min(max(log_delta, -690.0), -1e-3))
    table = from_above if sign > 0 else from_below
    fine = tuple((table(pair, step, tail), times) for pair, times in losses.parts)
    return compose(fine, min(tilt, 100 / step)).delta(epsilon, sign=sign)


def _chernoff(losses: Losses, epsilon: float) -> tuple[float, float]:
    """Chernoff's bound of ln delta at ``epsilon``, and its tilt.

    Pairs are cut off at growing distances until what is cut off no longer matters.
    """
    total = sum(times for _, times in losses.parts)
    for tail in _TAILS:
        cumulant = Cumulant(_coarse(losses, tail))
        tilt = cumulant.tilt_at(max(epsilon, 1e-6))
        log_delta = cumulant(tilt)[0] - tilt * epsilon
        if math.log(tail * total) < log_delta - 10:
            break
    return log_delta, tilt


def _coarse(losses: Losses, tail: float) -> Parts:
    spans = [high - low for low, high in (pair.reach(tail) for pair, _ in losses.parts)]
    step = max(spans) / _COARSE
    return tuple((from_above(pair, step, tail), times) for pair, times in losses.parts)


def _plan(losses: Losses, log_delta: float) -> tuple[float, float, float, float]:
    """Step, tail, tilt and a first guess of epsilon, from a coarse composition.

    Splitting a cell of width h adds at most h**2/4, on average h**2/6, to the variance of a
    loss, and a variance v shifts epsilon by about tilt * v / 2: the step follows.
    """
    total = sum(times for _, times in losses.parts)
    tail = math.exp(max(log_delta - math.log(total) - 10, -740.0))
    coarse = _coarse(losses, tail)
    cumulant = Cumulant(coarse)
    tilt = cumulant.tilt_for(log_delta)
    guess = (cumulant(tilt)[0] - log_delta) / tilt
    wanted = math.sqrt(12 * TIGHTNESS * max(guess, 1e-9) / (tilt * total))
    low, high = cumulant.window(tilt)
    least = (high - low) / _MOST_POINTS
    step = max(min(coarse[0][0].step, wanted), least)
    return _aligned(losses, step), tail, tilt, guess


def _aligned(losses: Losses, step: float) -> float:
    """A step that puts all atoms of a lone atomic pair on the grid, where one is near."""
    if len(losses.parts) != 1:
        return step
    atoms = losses.parts[0][0].atoms()
    if len(atoms) != 2:
        return step
    gap = float(atoms[:, 0].max() - atoms[:, 0].min())
    if losses.parts[0][0].purely_atomic:
        return gap
    return gap / math.ceil(gap / step)


@PRIVACY_LOSS.prices(Nothing)
def _nothing(event: Nothing) -> Losses:
    return Losses(())


@PRIVACY_LOSS.prices(Composed)
def _composed(event: Composed) -> Losses:
    return sum((PRIVACY_LOSS.price(part) for part in event.parts), Losses(()))


@PRIVACY_LOSS.prices(Repeated)
def _repeated(event: Repeated) -> Losses:
    return PRIVACY_LOSS.price(event.event).times(event.times)


@PRIVACY_LOSS.prices(PoissonSampled)
def _poisson(event: PoissonSampled) -> Losses:
    base = _one_pair(event)
    if base is None:
        return Losses(())
    rate = rounded_up(exact(event.rate))
    if isinstance(base, Removed):  # a sample of a sample is a sample
        return Losses(((Removed(base.base, base.rate * rate * (1 + 4e-16)), 1),))
    return Losses(((base if rate == 1 else Removed(base, rate), 1),))


@PRIVACY_LOSS.prices(FixedSizeSampled)
def _fixed_size(event: FixedSizeSampled) -> Losses:
    base = _one_pair(event)
    if base is None:
        return Losses(())
    rate = rounded_up(Fraction(event.size, event.of))
    return Losses(((base if event.size == event.of else Replaced(base, rate), 1),))


def _one_pair(event: PoissonSampled | FixedSizeSampled) -> Pair | None:
    inner = PRIVACY_LOSS.price(event.event)
    pair = inner.single()
    if pair is None and inner.parts:
        raise Unpriced(
            code="unpriced",
            expectation="a sample on which one mechanism runs once",
            received=event.event.kind,
            remedy="Sample afresh for every step: (event.subsample(rate=...)) * steps.",
        )
    return pair
