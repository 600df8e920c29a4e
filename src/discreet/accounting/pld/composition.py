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
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.pld.discretise import LossTable
from discreet.accounting.pld.pair import Array
from discreet.core.errors import InvalidParameter

Parts: TypeAlias = tuple[tuple[LossTable, int], ...]
"""Loss tables and how often each is taken."""

_ULP = 2.0**-52
_WRAP = 46.0  # exp(-46) < 2**-66
_LARGEST = 1 << 23


@dataclass(frozen=True)
class Cumulant:
    """ln E exp(t Z) of a composed loss Z, with its first two derivatives."""

    parts: Parts

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Value, mean and variance of the loss tilted by ``t``."""
        value = mean = variance = 0.0
        for table, times in self.parts:
            exponents = t * table.losses
            peak = float(exponents.max())
            weights = table.masses * np.exp(exponents - peak)
            total = float(weights.sum())
            centre = float((weights * table.losses).sum()) / total
            value += times * (peak + math.log(total))
            mean += times * centre
            variance += times * max(
                0.0, float((weights * (table.losses - centre) ** 2).sum()) / total
            )
        return value, mean, variance

    def tilt_for(self, log_delta: float) -> float:
        """The tilt at which Chernoff's bound is best for delta: t K'(t) - K(t) = -ln delta."""

        def excess(t: float) -> float:
            value, mean, _ = self(t)
            return t * mean - value + log_delta

        variance = self(0.0)[2]
        start = math.sqrt(-2 * log_delta / variance) if variance > 0 else 1.0
        return _crossing(excess, min(max(start, 1e-6), _most_tilt(self.parts)), self.parts)

    def tilt_at(self, loss: float) -> float:
        """The tilt that makes ``loss`` the mean."""
        _, mean, variance = self(0.0)
        start = (loss - mean) / variance if variance > 0 and loss > mean else 1.0
        return _crossing(
            lambda t: self(t)[1] - loss, min(max(start, 1e-6), _most_tilt(self.parts)), self.parts
        )

    def window(self, tilt: float) -> tuple[float, float]:
        """Losses beyond which the tilted law has at most exp(-46), by Chernoff's inequality."""
        value, mean, variance = self(tilt)
        spread = math.sqrt(2 * _WRAP / max(variance, 1e-300))
        upper, lower = math.inf, -math.inf
        for factor in (0.1, 0.3, 0.6, 1.0, 2.0):
            t = min(factor * spread, 1e5)
            upper = min(upper, (self(tilt + t)[0] - value + _WRAP) / t)
            lower = max(lower, -(self(tilt - t)[0] - value + _WRAP) / t)
        return min(lower, mean), max(upper, mean)


def _most_tilt(parts: Parts) -> float:
    """Beyond this the tilted law is its largest atom, for all that floats can tell."""
    return 100.0 / min(table.step for table, _ in parts)


def _crossing(function: Callable[[float], float], start: float, parts: Parts) -> float:
    """Where an increasing function crosses zero, within two per cent; need not be exact."""
    most = _most_tilt(parts)
    low = high = start
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


@dataclass(frozen=True)
class ComposedLoss:
    """The composed law near the losses that matter, tilted by ``exp(tilt z)``.

    ``log_mass`` is the logarithm of the tilting's normaliser, ``error`` bounds the error of each
    tilted mass, ``infinite`` is the mass at infinity.
    """

    step: float
    start: float
    masses: Array
    tilt: float
    log_mass: float
    error: float
    infinite: float

    def delta(self, epsilon: float, *, sign: int) -> float:
        """Delta at ``epsilon``; ``sign`` +1 adds all errors, -1 takes them away."""
        first = max(0, math.floor((epsilon - self.start) / self.step))
        # Weights fall like exp(-tilt * distance): beyond this they are below exp(-46).
        last = min(len(self.masses), first + 2 + math.ceil(_WRAP / (self.tilt * self.step)))
        ahead = self.start + self.step * np.arange(first, last) - epsilon
        ahead = np.maximum(ahead, 0.0)
        fading = np.exp(-ahead)
        weights = np.exp(-self.tilt * ahead) * (1 - fading)
        masses = np.maximum(self.masses[first:last] + sign * self.error, 0.0)
        value = float((masses * weights).sum())
        if sign > 0:
            value += 3 * math.exp(-_WRAP)
        if value <= 0:
            return self.infinite
        exponent = self.log_mass - self.tilt * epsilon + math.log(value)
        return min(1.0, math.exp(min(exponent, 0.0)) * (1 + sign * 1e-11) + self.infinite)

    def epsilon(self, delta: float, guess: float, *, sign: int) -> float:
        """Epsilon at ``delta``: certified from above for +1, from below for -1."""
        if delta <= self.infinite:
            return math.inf
        found = self._solve(delta, guess, sign)
        if found <= 0:
            return 0.0
        nudge = max(1e-12, 1e-12 * found)
        for _ in range(60):
            if sign > 0 and self.delta(found, sign=sign) <= delta:
                return found
            if sign < 0 and (found <= 0 or self.delta(found, sign=sign) > delta):
                return max(found, 0.0)
            found += sign * nudge
            nudge *= 2
        return math.inf if sign > 0 else 0.0

    def _solve(self, delta: float, guess: float, sign: int) -> float:
        """Solve on the grid by suffix sums, and within a cell in closed form."""
        losses = self.start + self.step * np.arange(len(self.masses))
        masses = np.maximum(self.masses + sign * self.error, 0.0)
        ahead = losses - guess
        plain = masses * np.exp(np.minimum(-self.tilt * ahead, 600.0))
        faded = masses * np.exp(np.minimum(-(self.tilt + 1) * ahead, 600.0))
        above = np.cumsum(plain[::-1])[::-1]
        weighted = np.cumsum(faded[::-1])[::-1]
        with np.errstate(over="ignore", invalid="ignore"):
            curve = above - np.exp(np.minimum(ahead, 600.0)) * weighted
        target = math.exp(
            min(math.log(delta - self.infinite) - self.log_mass + self.tilt * guess, 700.0)
        )
        k = int(np.searchsorted(-curve, -target))
        if k >= len(losses):
            return float(losses[-1])
        # Between grid points k-1 and k the curve is above[k] - exp(e - guess) * weighted[k].
        if weighted[k] > 0 and above[k] > target:
            return guess + math.log((above[k] - target) / weighted[k])
        return float(losses[k])


def compose(parts: Parts, tilt: float) -> ComposedLoss:
    """The law of the sum of losses of all parts, each taken as often as said."""
    step = parts[0][0].step
    cumulant = Cumulant(parts)
    log_mass, _, _ = cumulant(tilt)
    low, high = cumulant.window(tilt)
    if (high - low) / step > _LARGEST:
        raise InvalidParameter(
            code="too_fine",
            expectation="a composition that fits a transform of 2**23 points",
            received=round((high - low) / step),
            remedy="Ask for less tightness, or use the Rényi accountant.",
        )
    length = _fast_length(max(16, math.ceil((high - low) / step) + 2))
    transform = np.ones(length // 2 + 1, dtype=np.complex128)
    shift, offset, count = 0, 0.0, 0
    for table, times in parts:
        exponents = tilt * table.losses
        tilted = table.masses * np.exp(exponents - exponents.max())
        spectrum = np.fft.rfft(_fold(tilted / tilted.sum(), length))
        transform *= _power(spectrum, times)
        shift += times * table.first
        offset += times * table.offset
        count += times
    first = math.floor((low - offset) / step)
    masses = np.roll(np.fft.irfft(transform, length), -((first - shift) % length))
    size = np.abs(transform)
    average = float(2 * size.sum() - size[0]) / length
    error = (16 + 4 * math.log2(length)) * _ULP * (count + len(parts)) * average
    kept = sum(times * math.log1p(-min(table.infinite, 0.5)) for table, times in parts)
    surely = any(table.infinite > 0.5 for table, _ in parts)
    infinite = 1.0 if surely else -math.expm1(kept)
    return ComposedLoss(step, offset + first * step, masses, tilt, log_mass, error, infinite)


def _power(spectrum: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """The spectrum of ``times`` copies; what falls below exp(-100) is dropped as rounding."""
    if times == 1:
        return spectrum
    there = np.abs(spectrum) > math.exp(-100 / times)
    power = np.zeros_like(spectrum)
    power[there] = spectrum[there] ** times
    return power


def _fold(masses: Array, length: int) -> Array:
    """Masses added up modulo the length of the transform."""
    rows = -(-len(masses) // length)
    padded = np.zeros(rows * length)
    padded[: len(masses)] = masses
    folded: Array = padded.reshape(rows, length).sum(axis=0)
    return folded


def _fast_length(least: int) -> int:
    """The next even length with small factors."""
    candidates = []
    for odd in (1, 3, 5, 9, 15):
        power = max(1, (-(-least // odd) - 1).bit_length())
        candidates.append(odd << power)
    return min(candidates)
