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
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting.pld.composition import ComposedLoss, Cumulant, compose
from discreet.accounting.pld.curve import curve_bounds, curve_delta
from discreet.accounting.pld.discretise import exact_step, from_above, from_below
from discreet.accounting.pld.pair import DominatingPair, NormalPair
from discreet.accounting.pld.sampled_pair import Removed, Replaced
from discreet.core.accountant import Accountant
from discreet.core.errors import Unpriced
from discreet.core.events.event import (
    Composed,
    Event,
    FixedSizeSampled,
    Nothing,
    PoissonSampled,
    Repeated,
)
from discreet.core.parameters import exact, rounded_up

TIGHTNESS = 1e-4
"""Wanted relative excess of epsilon over the truth; steps are chosen for it."""

_ABSOLUTE = 1e-7

_ALONE = 1e-5
"""One pair whose own curve is known this well needs no grid."""

_COARSE = 8000
_FEWEST = 80
_MOST = 400
_FINEST = 16**3
_LEAST_POINTS = 20
_COARSER = 64
_STEEPEST = 20.0
_MOST_POINTS = 1 << 21
_TAILS = (1e-20, 1e-60, 1e-150, 1e-300)
_WIDEST = 600.0
_WIDE_NORMAL = 8.0
_WIDEST_NORMAL = 1e4
_PARAMETERS = 1e-12
"""Pairs have their parameters rounded up: so much less is a lower bound of the event itself."""


@dataclass(frozen=True)
class Losses:
    """Dominating pairs and how often each occurs, in the direction of removing a unit."""

    parts: tuple[tuple[DominatingPair, int], ...]

    def __add__(self, other: Losses) -> Losses:
        """Composition; equal pairs are counted together, normal pairs become one."""
        return _gathered((*self.parts, *other.parts))

    def times(self, k: int) -> Losses:
        """The losses of ``k`` equal events."""
        return _gathered(tuple((pair, k * times) for pair, times in self.parts))

    def reversed(self) -> Losses:
        """The direction of adding a unit."""
        return Losses(tuple((pair.reversed(), times) for pair, times in self.parts))

    def directions(self) -> tuple[Losses, ...]:
        """Both directions, or one if they are the same."""
        back = self.reversed()
        return (self,) if back == self else (self, back)

    def single(self) -> DominatingPair | None:
        """The one pair that happens once, if that is all there is."""
        return self.parts[0][0] if len(self.parts) == 1 and self.parts[0][1] == 1 else None

    def narrow(self) -> Losses:
        """The same, with a wide normal pair as many narrow ones."""
        parts: list[tuple[DominatingPair, int]] = []
        for pair, times in self.parts:
            if isinstance(pair, NormalPair) and _WIDE_NORMAL < pair.mu < _WIDEST_NORMAL:
                copies = math.ceil((pair.mu / _WIDE_NORMAL) ** 2)
                narrow = NormalPair(pair.mu / math.sqrt(copies) * (1 + 4e-16))
                parts.append((narrow, times * copies))
            else:
                parts.append((pair, times))
        return Losses(tuple(parts))


def _gathered(parts: tuple[tuple[DominatingPair, int], ...]) -> Losses:
    counts: Counter[DominatingPair] = Counter()
    squares = []
    for pair, times in parts:
        if isinstance(pair, NormalPair):
            squares.append(rounded_up(Fraction(times)) * pair.mu * pair.mu)
        else:
            counts[pair] += times
    normal = ((NormalPair(math.sqrt(math.fsum(squares)) * (1 + 1e-15)), 1),) if squares else ()
    return Losses((*normal, *counts.items()))


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
        return max(_delta(direction, epsilon) for direction in losses.directions())


PRIVACY_LOSS = PrivacyLossAccountant()


@lru_cache(maxsize=256)
def _epsilon(losses: Losses, delta: float, sign: int) -> float:
    pair = losses.single()
    low, high = (0.0, math.inf) if pair is None else curve_bounds(pair, delta)
    if high * (1 - _ALONE) > low:
        found = _on_grid(losses, delta, sign)
        low, high = max(low, found), min(high, found)
    return high if sign > 0 else low * (1 - _PARAMETERS)


def _on_grid(losses: Losses, delta: float, sign: int) -> float:
    losses = losses.narrow()
    tail = _tail(losses, math.log(delta))
    if _too_wide(losses, tail):
        return math.inf if sign > 0 else 0.0
    # Atoms off the grid cost a bound from below more than one from above.
    tightness = TIGHTNESS if sign > 0 else TIGHTNESS / 16
    plan = _plan(losses, math.log(delta), tail, tightness)
    return _composed(losses, plan, tail, sign).epsilon(delta, plan.epsilon)


@lru_cache(maxsize=256)
def _delta(losses: Losses, epsilon: float) -> float:
    pair = losses.single()
    if pair is None:
        return _delta_on_grid(losses, epsilon)
    low, high = (curve_delta(pair, epsilon, sign) for sign in (-1, 1))
    return high if high - low <= _ALONE * high else min(high, _delta_on_grid(losses, epsilon))


def _delta_on_grid(losses: Losses, epsilon: float) -> float:
    losses = losses.narrow()
    if _too_wide(losses, _TAILS[0]):
        return 1.0
    log_delta, tilt = _chernoff(losses, epsilon)
    log_delta = min(max(log_delta, -690.0), -1e-3)
    tail = _tail(losses, log_delta)
    if _too_wide(losses, tail):
        tail = _TAILS[0]
    plan = _plan(losses, log_delta, tail, TIGHTNESS)
    plan = replace(plan, tilt=min(tilt, _STEEPEST / plan.step))
    return _composed(losses, plan, tail, 1).delta(epsilon)


@dataclass(frozen=True)
class _Plan:
    """The grid's step, the tilt, a first guess of epsilon, and the coarse law they come from."""

    step: float
    tilt: float
    epsilon: float
    coarse: Cumulant


def _composed(losses: Losses, plan: _Plan, tail: float, sign: int) -> ComposedLoss:
    table = from_above if sign > 0 else from_below
    parts = tuple((table(pair, plan.step, tail), times) for pair, times in losses.parts)
    return compose(parts, plan.tilt, plan.coarse.far(plan.tilt), sign=sign)


def _tail(losses: Losses, log_delta: float) -> float:
    """What may be cut off each pair."""
    total = sum(times for _, times in losses.parts)
    return math.exp(max(log_delta - math.log(total) - 10, -740.0))


def _too_wide(losses: Losses, tail: float) -> bool:
    """Whether exp(loss) would leave the range of floats; prices that high tell nothing."""
    return any(not max(map(abs, pair.reach(tail))) <= _WIDEST for pair, _ in losses.parts)


def _chernoff(losses: Losses, epsilon: float) -> tuple[float, float]:
    """Chernoff's bound of ln delta at ``epsilon``, and its tilt.

    Pairs are cut off at growing distances until what is cut off no longer matters.
    """
    total = sum(times for _, times in losses.parts)
    for tail in _TAILS:
        if tail != _TAILS[0] and _too_wide(losses, tail):
            break
        cumulant = _coarse(losses, tail)
        tilt = cumulant.tilt_at(epsilon)
        log_delta = cumulant.bound(tilt, epsilon)
        if math.log(tail * total) < log_delta - 10:
            break
    return log_delta, tilt


def _coarse(losses: Losses, tail: float, finer: int = 1) -> Cumulant:
    farthest = _farthest(losses, tail)
    points = min(max(_COARSE // len(losses.parts), _FEWEST), _MOST) * finer
    step = exact_step(farthest / points, farthest)
    return Cumulant(tuple((from_above(pair, step, tail), times) for pair, times in losses.parts))


def _farthest(losses: Losses, tail: float) -> float:
    return max(max(map(abs, pair.reach(tail))) for pair, _ in losses.parts)


def _plan(losses: Losses, log_delta: float, tail: float, tightness: float) -> _Plan:
    """From a coarse composition.

    Splitting a cell of width h adds at most h**2/4, on average h**2/6, to the variance of a
    loss but keeps E exp(-Z), so that K(t) rises by t (t + 1) h**2/12 and epsilon by a t-th of it.
    """
    total = sum(times for _, times in losses.parts)
    farthest = _farthest(losses, tail)
    finer = 1
    while True:
        coarse = _coarse(losses, tail, finer)
        tilt = coarse.tilt_for(log_delta)
        guess = (coarse.bound(tilt, 0.0) - log_delta) / tilt
        wanted = math.sqrt(12 * max(tightness * guess, _ABSOLUTE) / ((1 + tilt) * total))
        if wanted > coarse.parts[0][0].step / _COARSER or finer >= _FINEST:
            break
        finer *= 16
    low, high = coarse.window(tilt, coarse.far(tilt))
    least = max(high - low, 2 * farthest) / _MOST_POINTS
    step = max(min(farthest / _LEAST_POINTS, wanted, 1 / (1 + tilt)), least)
    step = exact_step(_aligned(losses, step, least), farthest)
    return _Plan(step, min(tilt, _STEEPEST / step), guess, coarse)


def _aligned(losses: Losses, step: float, least: float) -> float:
    """A step that puts all atoms of a lone pair on the grid, where they are evenly spaced."""
    if len(losses.parts) != 1:
        return step
    pair = losses.parts[0][0]
    lattice = pair.lattice()
    if lattice is not None:
        return max(lattice[1] * (1 + 2e-14), step)
    places = np.unique(pair.atoms()[:, 0])
    if len(places) < 2:
        return step
    gap = float(np.diff(places).min())
    numbers = (places - places[0]) / gap
    if gap < least or np.abs(numbers - np.rint(numbers)).max() > 1e-9:
        return step
    # A little more, so that from the largest atom down no atom falls short of its grid point.
    gap *= 1 + 2e-14
    return gap if pair.purely_atomic else gap / math.ceil(gap / step)


@PRIVACY_LOSS.prices(Nothing)
def _nothing(event: Nothing) -> Losses:
    return Losses(())


@PRIVACY_LOSS.prices(Composed)
def _sum(event: Composed) -> Losses:
    parts = [part for each in event.parts for part in PRIVACY_LOSS.price(each).parts]
    return _gathered(tuple(parts))


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
        rate, base = base.rate * rate * (1 + 4e-16), base.base
    return Losses(((base if rate >= 1 else Removed(base, rate), 1),))


@PRIVACY_LOSS.prices(FixedSizeSampled)
def _fixed_size(event: FixedSizeSampled) -> Losses:
    base = _one_pair(event)
    if base is None:
        return Losses(())
    rate = rounded_up(Fraction(event.size, event.of))
    return Losses(((base if rate >= 1 else Replaced(base, rate), 1),))


def _one_pair(event: PoissonSampled | FixedSizeSampled) -> DominatingPair | None:
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
