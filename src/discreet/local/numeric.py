"""Numbers: their mean from one bit each, and their distribution.

Values are whole numbers of steps, so that devices need no floating point.

Source: 004a:C25. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.direct import answered
from discreet.local.frequencies import Frequencies
from discreet.local.oracle import Columns, FrequencyOracle, Numbers, whole, width_of
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.noise import bernoulli, uniform_integers


@dataclass(frozen=True)
class MeanEstimate:
    """A mean with its standard error, in the units of the values."""

    mean: float
    standard_error: float


@dataclass(frozen=True, kw_only=True)
class MeanResponse(FrequencyOracle):
    """The mean of values 0 to ``domain - 1``: rounded to one end at random, then one noisy bit.

    On the scale from -1 to 1 the variance per person is ((e + 1) / (e - 1))**2 - r**2 with e
    standing for e^epsilon.

    >>> round(MeanResponse(epsilon=1, domain=101).scale, 5)
    2.16395
    """

    @cached_property
    def keep(self) -> int:
        """Chance of the true bit over 2**64."""
        return largest_chance(exact(self.epsilon))

    @property
    def scale(self) -> float:
        """What a bit of ±1 is multiplied by to be unbiased."""
        p, q = self.support_chances
        return float(1 / (p - q))

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Chances of the true and of the wrong bit."""
        keep = Fraction(self.keep, WHOLE)
        return keep, 1 - keep

    def describe_randomiser(self) -> dict[str, Any]:
        return {"kind": "mean", "size": self.size, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("bit", "u1"),)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        return (payload,) if whole(payload, 2) else None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        return np.asarray(batch.columns["bit"] < 2)

    def _draw_reports(self, numbers: Numbers) -> Columns:
        high = uniform_integers(self.size - 1, len(numbers), self.randomness) < numbers
        told = answered(high.astype(np.int64), 2, self.keep, self.randomness)
        return {"bit": told.astype("u1")}

    def _table(self, batch: ReportBatch) -> Numbers:
        return np.bincount(batch.columns["bit"], minlength=2).astype(np.int64)

    def mean(self, tally: Tally) -> MeanEstimate:
        """The mean of the values, unbiased, with the standard error of noise and rounding."""
        self._check(tally)
        n = tally.people
        middle = self.scale * float(tally.table[1] - tally.table[0]) / n
        spread = max(self.scale**2 - min(abs(middle), 1.0) ** 2, 0.0) / n
        half = (self.size - 1) / 2
        return MeanEstimate(half * (1 + middle), half * spread**0.5)

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Refused: there is a mean and no shares."""
        raise InvalidParameter(
            code="local_mean_only",
            expectation="a question about the mean",
            remedy="Call mean(tally); for shares use SquareWave.",
        )


@dataclass(frozen=True, kw_only=True)
class SquareWave(FrequencyOracle):
    """The distribution of ordered values: a value nearby with odds e^epsilon, else one far away.

    A report is a place from 0 to size + 2 reach - 1, within ``reach`` of the value with odds
    e^epsilon against each other place. Near values are told alike, which suits smooth
    distributions; shares follow by expectation and maximisation (``estimate``), which smooths and
    is biased, so that it states no variances. ``unbiased`` is linear in the reports, with variances
    from their law, which are far larger where values are many.
    """

    @cached_property
    def reach(self) -> int:
        """How far from the value a near place may be, where information is largest."""
        e = float(self.epsilon)
        x = exp(min(e, 30.0))
        half = (e * x - x + 1) / (2 * x * (x - 1 - e))
        return max(1, ceil(half * self.size)) if e > 0.01 else max(1, self.size // 2)

    @cached_property
    def keep(self) -> int:
        """Chance of a near place over 2**64."""
        return largest_chance(exact(self.epsilon), Fraction(2 * self.reach + 1, self.size - 1))

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.size + 2 * self.reach

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Chances of each near and of each far place."""
        keep = Fraction(self.keep, WHOLE)
        return keep / (2 * self.reach + 1), (1 - keep) / (self.size - 1)

    def describe_randomiser(self) -> dict[str, Any]:
        return {"kind": "wave", "size": self.size, "reach": self.reach, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("place", width_of(self.places)),)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        return (payload,) if whole(payload, self.places) else None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        return np.asarray(batch.columns["place"] < self.places)

    def _draw_reports(self, numbers: Numbers) -> Columns:
        near = 2 * self.reach + 1
        kept = bernoulli(Fraction(self.keep, WHOLE), len(numbers), self.randomness)
        close = numbers + uniform_integers(near, len(numbers), self.randomness)
        far = uniform_integers(self.size - 1, len(numbers), self.randomness)
        told = np.where(kept, close, far + near * (far >= numbers))
        return {"place": told.astype(width_of(self.places))}

    def _table(self, batch: ReportBatch) -> Numbers:
        return np.bincount(batch.columns["place"], minlength=self.places).astype(np.int64)

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Shares by maximum likelihood, smoothed over neighbours in each round.

        Biased by the smoothing, and stopped early: it states no variances.
        """
        self._check(tally)
        channel = self._channel
        shares = np.full(self.size, 1 / self.size)
        before = -np.inf
        for _ in range(2000):
            expected = channel @ shares
            shares = shares * (channel.T @ (tally.table / expected)) / tally.people
            padded = np.pad(shares, 1, mode="edge")
            shares = (padded[:-2] + 2 * shares + padded[2:]) / 4
            shares /= shares.sum()
            now = float(tally.table @ np.log(expected))
            if now - before < 1e-3 * exp(float(self.epsilon)) and now > before - log(2):
                break
            before = now
        wanted = self._wanted(tally, values)
        return Frequencies(shares[wanted], None, tally.people, self._labels(wanted))

    def unbiased(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Shares by least squares from the chances of all places: unbiased, with their variances.

        With M the chances of places given values, t the shares of places among n reports and π
        their expectation, the estimate is M⁺ t, linear in the reports, and its covariance at most
        M⁺ (diag(π) - π πᵀ) M⁺ᵀ / n, at people drawn anew; π is estimated by t, but no place has
        less than the chance of a far one, whether it was seen or not, and no share is beyond 0 and
        1. M has full rank: its columns sum to one, so M x = 0 has no sum, and then nothing near any
        place; but each value has a last near place that no smaller one has.
        """
        self._check(tally)
        told = tally.table / tally.people
        solve = np.linalg.pinv(self._channel)
        shares = solve @ told
        likely = np.maximum(told, float(self.support_chances[1]))
        squares = solve**2 @ likely - np.clip(shares, 0, 1) ** 2
        variances = np.maximum(squares, 0.0) / tally.people
        wanted = self._wanted(tally, values)
        labels = self._labels(wanted)
        return Frequencies(shares[wanted], variances[wanted], tally.people, labels)

    @property
    def _channel(self) -> NDArray[np.float64]:
        """The chance of each place, a row each, given each value."""
        p, q = (float(chance) for chance in self.support_chances)
        place, value = np.arange(self.places)[:, None], np.arange(self.size)[None, :]
        return np.where((place >= value) & (place <= value + 2 * self.reach), p, q)
