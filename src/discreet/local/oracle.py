"""What all frequency oracles have in common: one law for client and server, one estimator.

An oracle is made of public parameters alone. From them follow the chances that clients use, the
event that a report costs, and p and q: a report *supports* its sender's own value with chance p and
each other value with chance q. The share of a value is then estimated by (C/n - q) / (p - q), C
being the number of reports that support it.

Source: 004a:C1, C4; modern-learn:9.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.domain import Choices
from discreet.local.frequencies import Frequencies
from discreet.local.randomiser import Columns, LocalRandomiser, Numbers, whole, width_of
from discreet.local.reports import ReportBatch

if TYPE_CHECKING:
    from discreet.local.tally import Tally

__all__ = [
    "Columns",
    "FrequencyOracle",
    "Numbers",
    "SupportOracle",
    "whole",
    "width_of",
]


@dataclass(frozen=True, kw_only=True)
class FrequencyOracle(LocalRandomiser):
    """How often each value occurs, from reports that hide each person's own.

    Contract: each person sends one report about one value of ``domain``; a second report, or one
    about a second value, costs its own epsilon. Guarantee: for any two values of one person every
    report is at most ``exp(epsilon)`` times as likely under one as under the other, exactly.
    """

    domain: int | Sequence[str] | Choices

    def __post_init__(self) -> None:
        """Refuse an epsilon out of range and domains with fewer than two values."""
        super().__post_init__()
        object.__setattr__(self, "domain", Choices.of(self.domain))

    @property
    def choices(self) -> Choices:
        """The domain with its labels."""
        assert isinstance(self.domain, Choices)
        return self.domain

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.choices.size

    def written_domain(self) -> dict[str, Any]:
        return self.choices.describe_domain()

    @property
    @abstractmethod
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """p and q, as exact fractions."""

    @abstractmethod
    def _draw_reports(self, numbers: Numbers) -> Columns:
        """Fresh reports about so many values."""

    def privatize_many(self, values: Any) -> ReportBatch:
        """One report for each value, by the law of the clients, in one go: for trials and tests.

        Also where a trusted party randomises before it passes on. Values are numbers or labels.
        """
        return ReportBatch(self._draw_reports(self.choices.numbers(values)))

    @abstractmethod
    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Unbiased shares with their variances, of all values or of those given: free."""

    def _labels(self, wanted: Numbers) -> tuple[str, ...] | None:
        labels = self.choices.labels
        return None if labels is None else tuple(labels[int(place)] for place in wanted)

    def _wanted(self, tally: Tally, values: Any) -> Numbers:
        if values is not None:
            return self.choices.numbers(values)
        if tally.candidates is not None:
            return tally.candidates
        return np.arange(self.size, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class SupportOracle(FrequencyOracle):
    """An oracle whose estimates are counts of reports that support a value, set right.

    Var = (q (1 - q) / (p - q)**2 + f (1 - p - q) / (p - q)) / n for a share of f.
    """

    @abstractmethod
    def _supports(self, tally: Tally, wanted: Numbers) -> NDArray[np.float64]:
        """How many reports support each wanted value."""

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Unbiased shares with their variances, of all values or of those given."""
        self._check(tally)
        wanted = self._wanted(tally, values)
        p, q = self.support_chances
        people = tally.people
        supports = self._supports(tally, wanted)
        shares = (supports / people - float(q)) / float(p - q)
        noise = float(q * (1 - q) / (p - q) ** 2)
        own = float((1 - p - q) / (p - q))
        variances = (noise + np.clip(shares, 0, 1) * own) / people
        return Frequencies(shares, variances, people, self._labels(wanted), noise / people)

    def both_supported(self, either: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance that a report supports two given values, from the sum of their two chances.

        Nought where it is not known: variances of differences are upper bounds then.
        """
        return np.zeros_like(either)

    def _independent_pairs(self, either: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where supports of two values are independent for whoever has a third: q (p1 + p2 - q)."""
        q = float(self.support_chances[1])
        return q * (either - q)

    @property
    def variance(self) -> float:
        """Of the estimate of a value that nobody has, for one person: divide by how many report."""
        p, q = self.support_chances
        return float(q * (1 - q) / (p - q) ** 2)
