"""Composition of loss tables by one tilted Fourier transform, with all errors on the books.

Masses are first tilted by exp(t z), with t chosen so that the losses that matter for the wanted
delta become typical. Rounding errors are then relative to the answer, however small delta is.
The window of the transform is so wide that what wraps around, bounded by Chernoff's inequality,
is below rounding. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.pld.discretise import LossTable
from discreet.core.arrays import Floats
from discreet.core.errors import Unpriced
from discreet.core.parameters import rounded_down, rounded_up

Parts: TypeAlias = tuple[tuple[LossTable, int], ...]
"""Loss tables and how often each is taken."""

_ULP = 2.0**-52
_WRAP = 46.0  # exp(-46) < 2**-66
_LARGEST = 1 << 23
_MOST_COPIES = 1 << 36
_DROPPED = 60.0
_FACTORS = (0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0)


@dataclass(frozen=True)
class Tilted:
    """Tables tilted by exp(t z) and normalised, one behind the other; logarithms of their sums."""

    masses: Floats
    logs: Floats


@dataclass(frozen=True)
class Cumulant:
    """ln E exp(t Z) of a composed loss Z, with its first two derivatives."""

    parts: Parts

    @cached_property
    def losses(self) -> Floats:
        """All losses of all tables."""
        return np.concatenate([table.losses for table, _ in self.parts])

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many losses each table has."""
        return np.array([len(table.masses) for table, _ in self.parts], dtype=np.intp)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where each table begins."""
        return np.concatenate(([0], np.cumsum(self.sizes)[:-1])).astype(np.intp)

    @cached_property
    def times(self) -> Floats:
        """How often each table is taken."""
        return np.array([times for _, times in self.parts], dtype=np.float64)

    @cached_property
    def _masses(self) -> Floats:
        return np.concatenate([table.masses for table, _ in self.parts])

    def tilted(self, t: float) -> Tilted:
        """All tables tilted by ``t``."""
        exponents = t * self.losses
        peaks = np.maximum.reduceat(exponents, self.starts)
        masses = self._masses * np.exp(exponents - np.repeat(peaks, self.sizes))
        sums = np.add.reduceat(masses, self.starts)
        return Tilted(masses / np.repeat(sums, self.sizes), peaks + np.log(sums))

    def value(self, t: float) -> float:
        """The cumulant generating function."""
        return math.fsum(self.times * self.tilted(t).logs)

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Value, mean and variance of the loss tilted by ``t``."""
        tilted = self.tilted(t)
        means = np.add.reduceat(tilted.masses * self.losses, self.starts)
        spread = (self.losses - np.repeat(means, self.sizes)) ** 2
        variances = np.add.reduceat(tilted.masses * spread, self.starts)
        times = self.times
        return float(times @ tilted.logs), float(times @ means), float(times @ variances)

    def bound(self, t: float, epsilon: float) -> float:
        """A bound of ln delta for every t: K(t) - t epsilon + t ln t - (t + 1) ln(t + 1)."""
        return self.value(t) - t * epsilon - t * math.log1p(1 / t) - math.log1p(t)

    def tilt_for(self, log_delta: float) -> float:
        """The tilt of the least epsilon at which the bound is delta."""

        def excess(t: float) -> float:
            value, mean, _ = self(t)
            return t * mean - value + math.log1p(t) + log_delta

        variance = self(0.0)[2]
        start = math.sqrt(-2 * log_delta / variance) if variance > 0 else 1.0
        return self._crossing(excess, start)

    def tilt_at(self, epsilon: float) -> float:
        """The tilt at which the bound is least."""
        _, mean, variance = self(0.0)
        start = (epsilon - mean) / variance if variance > 0 and epsilon > mean else 1.0
        return self._crossing(lambda t: self(t)[1] - math.log1p(1 / t) - epsilon, start)

    def _crossing(self, function: Callable[[float], float], start: float) -> float:
        """Where an increasing function crosses zero, within two per cent; need not be exact."""
        # Beyond this the tilted law is its largest atom, for all that floats can tell.
        most = 20.0 / self.parts[0][0].step
        low = high = min(max(start, 1e-6), most)
        while function(high) < 0 and high < most:
            low, high = high, min(high * 3, most)
        while function(low) > 0 and low > 1e-9:
            low, high = low / 3, low
        while high > low * 1.02:
            middle = math.sqrt(low * high)
            if function(middle) < 0:
                low = middle
            else:
                high = middle
        return high

    def far(self, tilt: float) -> tuple[float, float]:
        """How much further to tilt, up and down, for the best bounds in :meth:`window`."""
        value, _, variance = self(tilt)
        spread = math.sqrt(2 * _WRAP / max(variance, 1e-300))
        further = [min(factor * spread, 1e18) for factor in _FACTORS]
        up = min(further, key=lambda t: (self.value(tilt + t) - value + _WRAP) / t)
        down = min(further, key=lambda t: (self.value(tilt - t) - value + _WRAP) / t)
        return up, down

    def window(self, tilt: float, far: tuple[float, float]) -> tuple[float, float]:
        """Losses beyond which the tilted law has at most exp(-46), by Chernoff's inequality."""
        value = self.value(tilt)
        up, down = far
        upper = (self.value(tilt + up) - value + _WRAP) / up
        lower = -(self.value(tilt - down) - value + _WRAP) / down
        return lower, upper


@dataclass(frozen=True)
class ComposedLoss:
    """The composed law near the losses that matter, tilted by ``exp(tilt z)``.

    ``log_mass`` is the logarithm of the tilting's normaliser, ``error`` bounds the error of each
    tilted mass, ``wobble`` the relative error of all of them, ``infinite`` is the mass at
    infinity. Nothing finite is above ``top``. ``sign`` is +1 for a bound from above, which adds
    all errors, else -1.
    """

    sign: int
    step: float
    start: float
    top: float
    masses: Floats
    tilt: float
    log_mass: float
    error: float
    wobble: float
    infinite: float

    def delta(self, epsilon: float) -> float:
        """Delta at ``epsilon``."""
        return self._delta(epsilon, self.sign)

    def _delta(self, epsilon: float, sign: int) -> float:
        if epsilon >= self.top:
            return self.infinite
        first = max(0, math.floor((epsilon - self.start) / self.step) - 1)
        # Weights fall like exp(-tilt * distance): beyond this they are below exp(-46).
        last = min(len(self.masses), first + 4 + math.ceil(_WRAP / (self.tilt * self.step)))
        blur = 4 * _ULP * (abs(self.start) + epsilon + self.step * len(self.masses))
        ahead = (self.start - epsilon) + self.step * np.arange(first, last)
        ahead = np.maximum(ahead + sign * blur, 0.0)
        weights = np.exp(-self.tilt * ahead) * -np.expm1(-ahead)
        masses = np.maximum(self.masses[first:last] + sign * self.error, 0.0)
        value = float((masses * weights).sum()) + sign * 4 * math.exp(-_WRAP)
        if value <= 0:
            return self.infinite
        exponent = self.log_mass - self.tilt * epsilon + math.log(value)
        margin = self.wobble + 8 * _ULP * (8 + abs(self.log_mass) + self.tilt * epsilon)
        exponent += sign * (margin + 2 * self.tilt * blur + 1e-13)
        finite = math.exp(min(exponent, 0.0))
        return min(1.0, (finite + self.infinite) * (1 + sign * 4 * _ULP))

    def epsilon(self, delta: float, guess: float) -> float:
        """Epsilon at ``delta``."""
        if delta <= self.infinite:
            return math.inf
        most = max(self.top, 0.0)
        found = self._solve(delta, min(max(guess, 0.0), most))
        nudge = max(1e-12, 1e-12 * found)
        for _ in range(80):
            if self.sign > 0 and self.delta(found) <= delta:
                return found
            if self.sign < 0 and (found == 0 or self.delta(found) > delta):
                return found
            found = min(max(found + self.sign * nudge, 0.0), most)
            nudge *= 2
        return most if self.sign > 0 else 0.0

    def _solve(self, delta: float, guess: float) -> float:
        """Where ln delta, from above, crosses the target; the caller checks it.

        Newton's steps with the slope of the last secant, kept within a bracket.
        """
        target = math.log(delta - self.infinite)
        low, high, here, slope = 0.0, max(self.top, 0.0), guess, self.tilt
        previous = None
        for _ in range(60):
            gap = self._delta(here, 1) - self.infinite
            excess = math.log(gap) - target if gap > 0 else -math.inf
            low, high = (here, high) if excess > 0 else (low, here)
            if abs(excess) < 1e-9 or high - low <= 1e-13 * high:
                break
            if previous is not None and math.isfinite(excess) and here != previous[0]:
                slope = max((previous[1] - excess) / (here - previous[0]), 1e-3 * self.tilt)
            previous = (here, excess) if math.isfinite(excess) else None
            step = here + excess / slope if math.isfinite(excess) else low
            here = step if low < step < high else (low + high) / 2
        return here


def compose(parts: Parts, tilt: float, far: tuple[float, float], *, sign: int) -> ComposedLoss:
    """The law of the sum of losses of all parts, each taken as often as said."""
    step = parts[0][0].step
    cumulant = Cumulant(parts)
    tilted = cumulant.tilted(tilt)
    low, high = cumulant.window(tilt, far)
    # With more copies the margins of their spectra would swallow the answer.
    cells = (high - low) / step
    if not 0 <= cells <= _LARGEST - 4 or sum(times for _, times in parts) > _MOST_COPIES:
        raise Unpriced(
            code="too_fine",
            expectation="a composition that fits a transform of 2**23 points",
            received=cells,
            remedy="Use the Rényi accountant.",
        )
    points = math.ceil(cells) + 4
    shift = sum(times * table.first for table, times in parts)
    last = sum(times * (table.first + len(table.masses) - 1) for table, times in parts)
    offset = sum((times * Fraction(table.offset) for table, times in parts), Fraction(0))
    if len(parts) == 1 and parts[0][1] == 1:
        first, masses, error = shift, tilted.masses, 0.0
    else:
        first = math.floor((low - float(offset)) / step) - 1
        masses, error = _convolved(parts, cumulant.sizes, tilted.masses, _fast_length(points))
        masses = np.roll(masses, -((first - shift) % len(masses)))
    start, top = (
        rounded_up(at) if sign > 0 else rounded_down(at)
        for at in (offset + first * Fraction(step), offset + last * Fraction(step))
    )
    excess = math.fsum(
        times * (abs(float(table.masses.sum()) + table.infinite - 1) + 8 * _ULP)
        for table, times in parts
    )
    kept = math.fsum(times * math.log1p(-min(table.infinite, 0.5)) for table, times in parts)
    surely = sign > 0 and any(table.infinite > 0.5 for table, _ in parts)
    return ComposedLoss(
        sign,
        step,
        start,
        top,
        masses,
        tilt,
        math.fsum(cumulant.times * tilted.logs),
        error,
        _wobble(cumulant, tilt, tilted),
        1.0 if surely else min(abs(math.expm1(kept)) * math.exp(sign * min(excess, 700.0)), 1.0),
    )


def _wobble(cumulant: Cumulant, tilt: float, tilted: Tilted) -> float:
    """What rounding in tilting and normalising does to a product of so many masses."""
    farthest = np.maximum.reduceat(np.abs(tilt * cumulant.losses), cumulant.starts)
    each = _ULP * (8 + 3 * farthest + 2 * np.log2(cumulant.sizes + 1) + np.abs(tilted.logs))
    return float(cumulant.times @ each) * (1 + 1e-6)


def _convolved(
    parts: Parts, sizes: NDArray[np.intp], tilted: Floats, length: int
) -> tuple[Floats, float]:
    """The convolution of all tables, modulo ``length``, and a bound of each mass's error.

    Spectra are off by a few ulps of one per level of the transform. What that does to a product
    is at most this, times the number of factors, times the largest product without one factor.
    """
    transform = np.ones(length // 2 + 1, dtype=np.complex128)
    product = np.ones(length // 2 + 1)  # squares of magnitudes, of the product of all
    without = np.zeros(length // 2 + 1)  # and of the largest product of all but one
    unit = (16 + 4 * math.log2(length)) * _ULP
    begin = 0
    for (_, times), size in zip(parts, sizes.tolist(), strict=True):
        spectrum = np.fft.rfft(_fold(tilted[begin : begin + size], length))
        begin += size
        square = spectrum.real**2 + spectrum.imag**2
        # At least the square of the true magnitude, and of any value between the two.
        square = square * (1 + 1e-9) + 1e9 * unit**2
        if times == 1:
            transform *= spectrum
            np.maximum(without * square, product, out=without)
        else:
            power, rest = _power(spectrum, square, times)
            transform *= power
            square *= rest
            np.maximum(without * square, product * rest, out=without)
        product *= square
    count = sum(times for _, times in parts)
    error = unit * (
        count * _average(without, length) + (1 + len(parts)) * _average(product, length)
    )
    return np.fft.irfft(transform, length), error * (1 + 1e-6) + 2 * math.exp(-_DROPPED)


def _average(squares: Floats, length: int) -> float:
    """The mean magnitude over all frequencies, of which only half are listed."""
    return 2 * float(np.sqrt(squares).sum()) / length


def _power(
    spectrum: NDArray[np.complex128], square: Floats, times: int
) -> tuple[NDArray[np.complex128], Floats]:
    """The spectrum of ``times`` copies, and the squares for one copy less.

    What falls below exp(-60) is dropped, and counted as an error.
    """
    there = np.flatnonzero(square > math.exp(-2 * _DROPPED / times))
    power = np.zeros_like(spectrum)
    power[there] = spectrum[there] ** times
    rest = np.full(len(square), math.exp(-2 * _DROPPED * (times - 1) / times))
    rest[there] = square[there] ** (times - 1)
    return power, rest


def _fold(masses: Floats, length: int) -> Floats:
    """Masses added up modulo the length of the transform."""
    rows = -(-len(masses) // length)
    padded = np.zeros(rows * length)
    padded[: len(masses)] = masses
    folded: Floats = padded.reshape(rows, length).sum(axis=0)
    return folded


def _fast_length(least: int) -> int:
    """The next even length with small factors."""
    candidates = []
    for odd in (1, 3, 5, 9, 15):
        power = max(1, (-(-least // odd) - 1).bit_length())
        candidates.append(odd << power)
    return min(candidates)
