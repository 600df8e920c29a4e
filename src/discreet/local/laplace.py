"""The baseline of local privacy: every person adds Laplace noise to a number, for all of its range.

The sum of N answers from 0 to 1 then has variance 2N / epsilon**2, where one party that is trusted
adds noise of variance 2 / epsilon**2. One noisy bit of :class:`~discreet.local.MeanResponse` does
better at small epsilons and is one bit long; this is what both are measured against.

Noise is discrete Laplace but for the rounding of its coins. Its size, less one, is written in
binary: low digits are independent coins, and above them leading heads of equal coins are counted.
So a device draws the same number of words for every noise, where counting would tell it by time.

Source: 004a:C2. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.parameters import exact
from discreet.local.chances import WHOLE
from discreet.local.domain import Choices
from discreet.local.numeric import MeanEstimate
from discreet.local.randomiser import LocalRandomiser, Numbers, whole, width_of
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.noise import bernoulli
from discreet.noise.enclosure import exp_minus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.local.frequencies import Frequencies

_WIDEST = 1 << 31
"""Reports fit 32 bits."""


@dataclass(frozen=True, kw_only=True)
class LaplaceMean(LocalRandomiser):
    """The mean of values 0 to ``domain - 1``, each told with noise.

    Assumptions: each person tells one number. Guarantee: ``event`` for each person, any value
    against any other; the ratio for neighbouring values is at most that of ``step``. A report is
    the noisy number, moved to the nearest of ``places`` public places that begin ``reach`` below
    0. Noise beyond has a chance below e^-45, and biases a mean by less than e^-45 deviations.

    >>> question = LaplaceMean(epsilon=1, domain=2)
    >>> round(question.deviation / 1000, 6)  # of a share, a million people
    0.001357

    Source: 004a:C2. Numerics: whole numbers; chances over 2**64, rounded towards privacy; means in
    doubles.
    """

    domain: int | Choices

    def __post_init__(self) -> None:
        """Refuse an epsilon out of range, labels, and domains too wide for their epsilon."""
        super().__post_init__()
        choices = Choices.of(self.domain)
        object.__setattr__(self, "domain", choices)
        if choices.text or choices.labels is not None:
            raise InvalidParameter(
                code="local_laplace_numbers",
                expectation="how many numbers may be told, and no labels",
                remedy="Number the values, or ask a frequency oracle.",
            )
        if self._sizes > _WIDEST:
            raise InvalidParameter(
                code="local_laplace_range",
                expectation="noise of at most 31 bits: about 48 million values at epsilon 1",
                received=self.size,
                remedy="Round values to fewer steps, or use MeanResponse.",
            )

    @property
    def size(self) -> int:
        """How many numbers may be told."""
        assert isinstance(self.domain, Choices)
        return self.domain.size

    @property
    def _fall(self) -> Fraction:
        """What one step more of noise costs in epsilon."""
        return exact(self.epsilon) / (self.size - 1)

    @cached_property
    def _digits(self) -> int:
        """How many binary digits are drawn as such: steps of about one more epsilon above them."""
        return (ceil(1 / self._fall) - 1).bit_length()

    @property
    def _tail(self) -> int:
        """Noise reaches beyond the domain with a chance below e to minus this."""
        return 45

    @cached_property
    def coins(self) -> int:
        """How many equal coins may lead above the binary digits."""
        return ceil((self.size + self._tail / self._fall) / (1 << self._digits))

    @property
    def _sizes(self) -> int:
        """The largest size of noise that is told apart."""
        return self.coins << self._digits

    @property
    def reach(self) -> int:
        """How far beyond the domain reports may lie."""
        return self._sizes - self.size

    @property
    def places(self) -> int:
        """How many reports there are."""
        return self.size + 2 * self.reach

    @cached_property
    def step(self) -> int:
        """How much rarer noise may be for one step more, over 2**64: exp(-fall), rounded up."""
        return -(-exp_minus(self._fall, 128)[1] >> 64)

    @cached_property
    def digits(self) -> tuple[int, ...]:
        """The chance of each binary digit over 2**64, so that no next size is too rare."""
        found: list[int] = []
        for _ in range(self._digits):
            found.append(_least(Fraction(self.step, WHOLE) * _odds(found)))
        return tuple(found)

    @cached_property
    def more(self) -> int:
        """The chance of one more head that leads, over 2**64."""
        return ceil(self.step * _odds(self.digits))

    @cached_property
    def noise(self) -> int:
        """The chance of any noise, over 2**64: so that its least size is not too rare."""
        least = Fraction(WHOLE - self.more, WHOLE)
        least *= prod((Fraction(WHOLE - each, WHOLE) for each in self.digits), start=Fraction(1))
        return _least(Fraction(2 * self.step, WHOLE) / least)

    def written_domain(self) -> dict[str, Any]:
        return {"size": self.size}

    def describe_randomiser(self) -> dict[str, Any]:
        return {
            "kind": "laplace",
            "size": self.size,
            "step": str(self.step),
            "noise": str(self.noise),
            "digits": [str(each) for each in self.digits],
            "more": str(self.more),
            "coins": self.coins,
        }

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("place", width_of(self.places)),)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        return (payload,) if whole(payload, self.places) else None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        return np.asarray(batch.columns["place"] < self.places)

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of one answer."""
        mean, variance = Fraction(1), Fraction(0)
        for place, digit in enumerate(self.digits):
            chance = Fraction(digit, WHOLE)
            mean += chance * 2**place
            variance += chance * (1 - chance) * 4**place
        lead = Fraction(self.more, WHOLE)
        mean += lead / (1 - lead) * 2**self._digits
        variance += lead / (1 - lead) ** 2 * 4**self._digits
        return sqrt(Fraction(self.noise, WHOLE) * (variance + mean**2))

    def nearest(self, values: Any) -> Numbers:
        """The number of the domain that is nearest to each value; NaN counts as 0."""
        given = np.nan_to_num(np.asarray(values, dtype=np.float64))
        if given.ndim != 1:
            raise InvalidData(
                code="local_numbers",
                expectation="one number for each person",
                remedy="Pass a list of numbers.",
            )
        return np.rint(np.clip(given, 0, self.size - 1)).astype(np.int64)

    def privatize_many(self, values: Any) -> ReportBatch:
        """One report for each value, by the law of the clients, in one go: for trials and tests.

        Values beyond the domain are clamped, and NaN counts as 0; devices refuse them.
        """
        numbers = self.nearest(values)
        told = np.clip(numbers + self._draw_noise(len(numbers)) + self.reach, 0, self.places - 1)
        return ReportBatch({"place": told.astype(width_of(self.places))})

    def _draw_noise(self, people: int) -> Numbers:
        """The noise of so many people."""

        def coins(chance: int) -> NDArray[np.bool_]:
            return bernoulli(Fraction(chance, WHOLE), people, self.randomness)

        sizes, leads = np.ones(people, dtype=np.int64), np.ones(people, dtype=np.bool_)
        for place, digit in enumerate(self.digits):
            sizes += coins(digit).astype(np.int64) << place
        for _ in range(self.coins):
            leads &= coins(self.more)
            sizes += leads.astype(np.int64) << self._digits
        signs = 1 - 2 * coins(WHOLE >> 1).astype(np.int64)
        return coins(self.noise) * signs * sizes

    def _table(self, batch: ReportBatch) -> Numbers:
        return np.array([batch.columns["place"].sum(dtype=np.int64)], dtype=np.int64)

    def mean(self, tally: Tally) -> MeanEstimate:
        """The mean of the values, unbiased, with the standard error of the noise."""
        self._check(tally)
        middle = float(Fraction(int(tally.table[0]), tally.people) - self.reach)
        return MeanEstimate(middle, self.deviation / tally.people**0.5)

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Refused: there is a mean and no shares."""
        raise InvalidParameter(
            code="local_mean_only",
            expectation="a question about the mean",
            remedy="Call mean(tally); for shares use SquareWave.",
        )


def _odds(chances: Sequence[int]) -> Fraction:
    """The odds that independent coins all show heads against that all show tails."""
    return prod((Fraction(each, WHOLE - each) for each in chances), start=Fraction(1))


def _least(odds: Fraction) -> int:
    """The least chance over 2**64 whose odds are not below these."""
    return ceil(WHOLE * odds / (1 + odds))
