"""One released column: its numbers, how wrong the noise may have made them, and in words why.

An answer holds a formula and an interval, both small; ``values``, ``lower``, ``upper`` and
``estimates`` are worked out when they are asked for.

>>> from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
>>> n = NoisyMeasure("r1", "n", DiscreteLaplaceDistribution(scale=2, step=1), (123, 4))
>>> answer = ReleasedColumn.linear("n", [(1, n)], within=(0, math.inf), confidence=0.95)
>>> answer.values, answer.lower, answer.upper
((123, 4), (117, 0), (129, 10))
>>> answer.note
'discrete Laplace noise of scale 2; 95 % intervals cover noise'
>>> answer.estimates[0]
123 ± 6 (95 %)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import probability
from discreet.release.draws import ANYWHERE, Range, Released
from discreet.release.estimate import Estimate, Ratio
from discreet.release.format import percent
from discreet.release.formula import (
    Formula,
    GivenValues,
    LinearFormula,
    NoisyMeasure,
    QuotientFormula,
    Shown,
    Values,
    convert_to_plain_values,
    require_lengths,
)

_EXACT = 2.0**53
"""Below it every whole number is a float."""


@dataclass(frozen=True)
class HalfWidth:
    """The same half-width on both sides of every number; for linear columns."""

    half_width: Released


@dataclass(frozen=True)
class Ends:
    """A lower and an upper end for every row; infinite where nothing can be said."""

    lower: Values
    upper: Values

    def __post_init__(self) -> None:
        """Keep plain numbers; refuse lengths that differ and ends that cross."""
        object.__setattr__(self, "lower", tuple(convert_to_plain_values(self.lower)))
        object.__setattr__(self, "upper", tuple(convert_to_plain_values(self.upper)))
        require_lengths({"lower": len(self.lower), "upper": len(self.upper)})
        in_order = all(map(operator.le, self.lower, self.upper))
        if not in_order or math.inf in self.lower or -math.inf in self.upper:
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="lower ends that are not above the upper ends",
                remedy="Swap them; where nothing can be said they are -inf and inf.",
            )


Interval: TypeAlias = HalfWidth | Ends | None


@dataclass(frozen=True, kw_only=True)
class ReleasedColumn:
    """A column of a release.

    Build it with :meth:`linear`, :meth:`quotient` or :meth:`from_given_values`.

    Contract: ``interval`` belongs to ``formula`` at the confidence of the release; it is None
    where no interval can be stated, and then ``note`` says what is stated instead. All of it is
    public, or a function of noisy numbers that were paid for. A ``whole`` column is shown in whole
    numbers, though fractions were measured: estimates keep them, and the interval has room for
    what rounding takes.
    """

    name: str
    formula: Formula
    interval: Interval
    note: str
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse an interval that does not fit its formula."""
        if isinstance(self.interval, HalfWidth) and not isinstance(self.formula, LinearFormula):
            raise InvalidParameter(
                code="interval_without_formula",
                expectation="ends for each row, where a column is not linear in its measures",
                received=type(self.formula).__name__,
                remedy="Pass Ends(lower, upper).",
            )
        if isinstance(self.interval, Ends):
            require_lengths({"values": len(self.values), "ends": len(self.interval.lower)})

    @classmethod
    def linear(
        cls,
        name: str,
        terms: Iterable[tuple[Released, NoisyMeasure]],
        *,
        confidence: float,
        constant: Released = 0,
        within: Range = ANYWHERE,
        note: str | None = None,
        whole: bool = False,
    ) -> ReleasedColumn:
        """A count, a sum, or another sum of measures; its interval follows from their laws.

        One measure that is ``whole`` but for fractions of rows is shown in whole numbers.

        >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
        >>> n = NoisyMeasure("r1", "n", RoundedLaplace(scale=2, step=2**-20), (123.25, 4.5))
        >>> answer = ReleasedColumn.linear("n", [(1, n)], confidence=0.95, whole=True)
        >>> answer.values, answer.lower, answer.upper
        ((123, 4), (116, -3), (130, 11))
        """
        formula = LinearFormula(tuple(terms), constant, within)
        level = float(probability("confidence", confidence))
        rows = len(formula.values)
        width = formula.estimate(0).half_width(confidence=level) if rows else 0
        rounded = whole and float in set(map(type, formula.values))
        if rounded:
            ((_, measure),) = formula.terms
            width = measure.distribution.whole_half_width(level)
        return cls(
            name=name,
            formula=formula,
            interval=HalfWidth(width),
            note=_note(formula, level) if note is None else note,
            whole=rounded,
        )

    @classmethod
    def quotient(
        cls,
        name: str,
        numerator: LinearFormula,
        denominator: LinearFormula,
        *,
        confidence: float,
        offset: float = 0.0,
        within: Range = ANYWHERE,
        note: str | None = None,
    ) -> ReleasedColumn:
        """A mean, a share, or another ratio; its interval is Fieller's, row by row."""
        formula = QuotientFormula(numerator, denominator, offset, within)
        level = float(probability("confidence", confidence))
        return cls(
            name=name,
            formula=formula,
            interval=Ends(*formula.ends(level)),
            note=_note(formula, level) if note is None else note,
        )

    @classmethod
    def from_given_values(
        cls, name: str, values: Sequence[Released | None], *, interval: Ends | None, note: str
    ) -> ReleasedColumn:
        """Numbers with no formula, such as quantiles; ``note`` says how wrong they may be."""
        return cls(name=name, formula=GivenValues(tuple(values)), interval=interval, note=note)

    @property
    def values(self) -> Shown:
        """The released numbers; None where there is none."""
        return self._rounded if self.whole else self.formula.values

    @cached_property
    def _rounded(self) -> Shown:
        values = self.formula.values
        if set(map(type, values)) == {float}:
            near = np.rint(np.array(values, dtype=np.float64))  # half to even, as ``round``
            if np.abs(near).max() < _EXACT:
                return tuple(near.astype(np.int64).tolist())
        return tuple([None if value is None else round(value) for value in values])

    @property
    def lower(self) -> Values | None:
        """The lower ends; None if the column has no interval."""
        return None if self._ends is None else self._ends.lower

    @property
    def upper(self) -> Values | None:
        """The upper ends; None if the column has no interval."""
        return None if self._ends is None else self._ends.upper

    @property
    def estimates(self) -> tuple[Estimate | Ratio, ...] | None:
        """Every number with its noise, ready for arithmetic; None where there is no formula."""
        if isinstance(self.formula, GivenValues):
            return None
        return tuple(self.formula.estimate(row) for row in range(len(self)))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _ends(self) -> Ends | None:
        if not isinstance(self.interval, HalfWidth):
            return self.interval
        assert isinstance(self.formula, LinearFormula)
        width, (low, high) = self.interval.half_width, self.formula.within
        values = [value for value in self.values if value is not None]
        if low > -math.inf:  # beyond what is possible: the interval of the nearest that is not
            values = [value if value > low else low for value in values]
        if high < math.inf:
            values = [value if value < high else high for value in values]
        lower, upper = [value - width for value in values], [value + width for value in values]
        if low > -math.inf:
            lower = [end if end > low else low for end in lower]
        if high < math.inf:
            upper = [end if end < high else high for end in upper]
        return Ends(tuple(lower), tuple(upper))


def _note(formula: Formula, confidence: float) -> str:
    noises = dict.fromkeys(described(measure) for measure in formula.measures())
    return f"{' and '.join(noises)}; {percent(confidence)} intervals cover noise"


def described(measure: NoisyMeasure) -> str:
    """The noise of a measure in words."""
    kind = measure.distribution.kind.removeprefix("rounded_").replace("_", " ")
    words = kind.replace("laplace", "Laplace").replace("gaussian", "Gaussian")
    parameter = "scale" if "laplace" in kind else "sigma"
    return f"{words} noise of {parameter} {measure.distribution.spread:.6g}"
