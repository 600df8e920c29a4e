"""Randomized response: each person's own answer, protected before it leaves them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import RandomizedResponse as RandomizedResponseEvent
from discreet.core.parameters import Number, count, exact, finite, positive, probability, rounded_up
from discreet.mechanisms import grid
from discreet.mechanisms.additive import least_spend, mark_unprotected_event
from discreet.noise import SYSTEM, Noiseless, Source, bernoulli, uniform_integers
from discreet.noise.enclosure import exp_minus, log_inverse
from discreet.noise.randomness import require_source
from discreet.noise.table import GuideTable, OutcomeWeights


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse:
    """Tells the truth with odds ``exp(epsilon)`` against each of the other categories.

    Assumptions: each answer is a category number from 0 to ``categories - 1`` of one person;
    replacing that person's answer is the neighbouring relation (``Replace``, or the local
    model). Guarantee: every answer is epsilon-differentially private, exactly; with two
    categories the truth is kept with probability exp(epsilon) / (1 + exp(epsilon)).

    >>> RandomizedResponse(epsilon=1, categories=2).event
    RandomizedResponse(epsilon=1, categories=2)

    Source: 000a:C1, 004a:B2, 004a:C5 (direct encoding). Proof: ``proofs/randomized_response.md``.
    """

    epsilon: Number
    categories: int
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse fewer than two categories and an epsilon that is not positive."""
        require_source(self.randomness)
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "categories", count("categories", self.categories, least=2))

    @property
    def event(self) -> Event:
        """What one answer of one person costs."""
        event = RandomizedResponseEvent(epsilon=self.epsilon, categories=self.categories)
        return mark_unprotected_event(event, self.randomness)

    @property
    def truth(self) -> float:
        """Probability of a true answer: exp(e) / (exp(e) + k - 1)."""
        return 1 / (1 + (self.categories - 1) * math.exp(-float(self.epsilon)))

    def release(self, answers: Any) -> Any:
        """Noisy answers, one for each person; a single category number gives a single one."""
        truth, scalar = _categories(answers, self.categories)
        if isinstance(self.randomness, Noiseless):
            noisy = truth
        else:
            lies = _table(exact(self.epsilon), self.categories).draw(truth.size, self.randomness)
            shift = 1 + uniform_integers(self.categories - 1, truth.size, self.randomness)
            noisy = np.where(
                lies.reshape(truth.shape) == 1, truth + shift.reshape(truth.shape), truth
            )
            noisy %= self.categories
        return int(noisy[0]) if scalar else noisy

    def estimate(self, reports: Any) -> NDArray[np.float64]:
        """Unbiased frequencies of the categories among the people who reported.

        (share - q) / (p - q), with p the chance of a true answer and q of each other one. The
        book's form lacks the factor N on its correction (004a:B2).
        """
        noisy, _ = _categories(reports, self.categories)
        shares = np.bincount(noisy.reshape(-1), minlength=self.categories) / noisy.size
        lie = (1 - self.truth) / (self.categories - 1)
        return (shares - lie) / self._contrast()

    def error(self, *, confidence: float, people: int) -> float:
        """Bound on one estimated frequency, whatever the truth: the better of two that hold.

        By :func:`reach_of_count`, close to the exact law of many people; and Chebyshev's, which
        with two categories is 1 / (2 (2p - 1) sqrt(n (1 - confidence))) (004a:B2), for few.
        """
        tail = 1 - float(probability("confidence", confidence))
        lie = (1 - self.truth) / (self.categories - 1)
        worst = max(p * (1 - p) for p in (self.truth, lie, min(max(0.5, lie), self.truth)))
        chebyshev = math.sqrt(worst * count("people", people) / tail)
        return min(chebyshev, reach_of_count(people, tail)) / people / self._contrast()

    @classmethod
    def for_error(
        cls, error: float, *, confidence: float, people: int, categories: int
    ) -> RandomizedResponse:
        """The cheapest epsilon whose stated error on a frequency is at most ``error``."""
        wanted = float(positive("error", error))

        def narrow(epsilon: float) -> bool:
            mechanism = cls(epsilon=epsilon, categories=categories)
            return mechanism.error(confidence=confidence, people=people) <= wanted

        return cls(epsilon=least_spend(narrow), categories=categories)

    def people_for(self, error: float, *, confidence: float) -> int:
        """How many people make the stated error at most ``error``: so many, and any more."""
        wanted = float(positive("error", error))
        few, many = 0, 1
        while self.error(confidence=confidence, people=many) > wanted:
            few, many = many, 2 * many
        while many - few > 1:
            middle = (few + many) // 2
            narrow = self.error(confidence=confidence, people=middle) <= wanted
            few, many = (few, middle) if narrow else (middle, many)
        return many

    def _contrast(self) -> float:
        """By how much a true answer is likelier than each lie, without cancellation."""
        return -math.expm1(-float(self.epsilon)) * self.truth


@dataclass(frozen=True, kw_only=True)
class Warner:
    """Yes-or-no answers kept with a rational probability, such as two tosses of a coin.

    ``keep=Fraction(3, 4)`` is the coin of the survey: tails, the truth; heads, a second toss
    answers. Assumptions: as for :class:`RandomizedResponse` with two categories.

    Guarantee: epsilon = ln(keep / (1 - keep)), which is ln 3 for the coin, exactly attained.

    >>> round(Warner(keep=Fraction(3, 4)).event.epsilon(delta=0), 5)
    1.09861

    Source: 000a:C1, 004a:B1, 004a:B2. Proof: ``proofs/randomized_response.md``.
    """

    keep: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse probabilities of keeping that are not between one half and one."""
        require_source(self.randomness)
        object.__setattr__(self, "keep", probability("keep", self.keep))
        if not 2 * exact(self.keep) > 1:
            raise InvalidParameter(
                code="keep_out_of_range",
                expectation="a probability of keeping the truth strictly between 1/2 and 1",
                received=self.keep,
                remedy="At 1/2 answers say nothing; pass for instance Fraction(3, 4).",
            )

    @property
    def event(self) -> Event:
        """What one answer of one person costs, its epsilon rounded up."""
        keep = exact(self.keep)
        odds = (1 - keep) / keep
        # The logarithm is at least 1 - odds, hence at least one over the denominator.
        bits = 64 + 2 * odds.denominator.bit_length()
        low = (odds.numerator << bits) // odds.denominator
        _, high = log_inverse(low, low + 1, bits)
        epsilon = rounded_up(Fraction(high, 1 << bits))
        return mark_unprotected_event(
            RandomizedResponseEvent(epsilon=epsilon, categories=2), self.randomness
        )

    def release(self, answers: Any) -> Any:
        """Noisy answers 0 or 1 (booleans are welcome), one for each person."""
        truth, scalar = _categories(answers, 2)
        if isinstance(self.randomness, Noiseless):
            noisy = truth
        else:
            kept = bernoulli(self.keep, truth.size, self.randomness).reshape(truth.shape)
            noisy = np.where(kept, truth, 1 - truth)
        return int(noisy[0]) if scalar else noisy

    def estimate(self, reports: Any) -> float:
        """Unbiased share of yes: (mean - (1 - keep)) / (2 keep - 1)."""
        noisy, _ = _categories(reports, 2)
        keep = float(self.keep)
        return float((noisy.mean() - (1 - keep)) / (2 * keep - 1))

    def standard_error(self, *, share: float, people: int) -> float:
        """Standard deviation of the estimate when ``share`` of the people would say yes."""
        keep = float(self.keep)
        if not 0 <= finite("share", share) <= 1:
            raise InvalidParameter(
                code="not_a_probability",
                expectation="share to lie in [0, 1]",
                received=share,
                remedy="Pass the share of people who would say yes.",
            )
        yes = share * keep + (1 - share) * (1 - keep)
        return math.sqrt(yes * (1 - yes) / count("people", people)) / (2 * keep - 1)

    def error(self, *, confidence: float, people: int) -> float:
        """Bound on the estimate, whatever the share: the better of two that hold.

        Chebyshev's for few people, :func:`reach_of_count` for many.
        """
        tail = 1 - float(probability("confidence", confidence))
        return _reach(count("people", people), tail) / people / (2 * float(self.keep) - 1)

    @classmethod
    def for_error(cls, error: float, *, confidence: float, people: int) -> Warner:
        """The coin that keeps the truth least often and whose stated error is at most ``error``.

        The error of so many people is in proportion to 1 / (2 keep - 1), solved for ``keep``.

        >>> round(float(Warner.for_error(0.05, confidence=0.95, people=10_000).keep), 4)
        0.599
        """
        tail = 1 - float(probability("confidence", confidence))
        reach = _reach(count("people", people), tail)
        contrast = reach / people / float(positive("error", error))
        keep = (1 + contrast * (1 + 2.0**-40)) / 2  # a little more, for what was rounded
        if not keep < 1:
            raise InvalidParameter(
                code="error_out_of_reach",
                expectation="an error that answers of so many people can have",
                received=f"error {error} with {people} people",
                remedy="Ask for a larger error, or ask more people.",
            )
        return cls(keep=keep)


def _reach(people: int, tail: float) -> float:
    """How far a count of yes may be from its mean: the better of two bounds that hold."""
    return min(0.5 * math.sqrt(people / tail), reach_of_count(people, tail))


def reach_of_count(people: int, tail: float) -> float:
    """How far a count of independent answers, yes or no, is from its mean but for ``tail``.

    1 + z sqrt(n) / 2 with z the normal quantile of 1 - tail / 2, whatever the chances of the
    answers, which may differ: of normal width, plus one. Rounded up.

    >>> round(reach_of_count(10_000, 0.05), 3)  # the best bound of this kind is 98.0
    98.998

    Source: Hoeffding 1956 (unlike chances are no worse than their mean); Zubkov and Serov 2013
    (binomial tails by the normal law); Pinsker. Proof: ``proofs/randomized_response.md``.
    """
    from scipy.special import ndtri  # loaded on first use: SciPy is slow to import

    quantile = -float(ndtri(tail / 2))
    return (1 + quantile * math.sqrt(people) / 2) * (1 + 2.0**-40)


def _categories(answers: Any, categories: int) -> tuple[NDArray[np.int64], bool]:
    array = np.asarray(answers)
    inside = array.dtype.kind in "iub" and array.size > 0
    if not inside or int(array.min()) < 0 or int(array.max()) >= categories:
        raise InvalidData(
            code="not_a_category",
            expectation=f"category numbers from 0 to {categories - 1}, at least one",
            remedy="Encode each answer as its position in the public list of categories.",
        )
    return np.atleast_1d(array).astype(np.int64), array.ndim == 0


@dataclass(frozen=True)
class _TruthOrLie:
    """Two outcomes: truth weighs 1, the lies together (k - 1) exp(-epsilon)."""

    epsilon: Fraction
    categories: int

    def weights(self, bits: int) -> OutcomeWeights:
        work = bits + 32
        low, high = exp_minus(self.epsilon, work)
        others = self.categories - 1
        return OutcomeWeights([1 << work, others * low], [1 << work, others * high], 0)

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)


@lru_cache(maxsize=64)
def _table(epsilon: Fraction, categories: int) -> GuideTable:
    return GuideTable(_TruthOrLie(epsilon, categories))
