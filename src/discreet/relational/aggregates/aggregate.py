"""The aggregates of SQL, as measures with noise and a formula applied to them afterwards.

Each aggregate names its measures and how much its error depends on each of them, relative to
that measure's own bound; the split of the spend follows from these weights, which are public.

Source: modern-data:C2, Q2; contract, "Columns" (AVG), "Numbers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Measure,
    Ranks,
    Total,
)

_PRESENCE = 0.375
"""Weight of a count that only divides: as if the mean lay well off the midpoint.

At this weight a mean at its very bound is at most 4 % worse than with equal shares, and one in
the middle a seventh better."""


@dataclass(frozen=True)
class Count:
    """COUNT(*), COUNT(x), COUNT(DISTINCT person), COUNT(DISTINCT x)."""

    measure: CountRows | CountPeople | CountValues

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The count itself."""
        return (self.measure,)

    @property
    def weights(self) -> tuple[float, ...]:
        """The whole budget for its one measure."""
        return (1.0,)


@dataclass(frozen=True)
class Sum:
    """SUM(x), clamped to derived bounds."""

    total: Total

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The total itself."""
        return (self.total,)

    @property
    def weights(self) -> tuple[float, ...]:
        """The whole budget for its one measure."""
        return (1.0,)


@dataclass(frozen=True)
class Average:
    """AVG(x): the midpoint plus the centred total over the number of values."""

    present: CountRows
    total: Total

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of values, centred total."""
        return (self.present, self.total)

    @property
    def weights(self) -> tuple[float, ...]:
        """The total matters most."""
        return (_PRESENCE, 1.0)


@dataclass(frozen=True)
class Spread:
    """VARIANCE and STDDEV: from the number of values, their centred total and squares.

    ``freedom`` is 1 for the sample version and 0 for that of the population.
    """

    present: CountRows
    total: Total
    squares: Total
    freedom: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of values, centred total, centred squares."""
        return (self.present, self.total, self.squares)

    @property
    def weights(self) -> tuple[float, ...]:
        """Squares matter most."""
        return (_PRESENCE, 0.5, 1.0)


@dataclass(frozen=True)
class Deviation(Spread):
    """STDDEV: the root of the variance."""


@dataclass(frozen=True)
class Covariance:
    """COVAR_SAMP and COVAR_POP over rows in which both are present."""

    present: CountRows
    first: Total
    second: Total
    products: Total
    freedom: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of pairs, centred totals, products of the centred values."""
        return (self.present, self.first, self.second, self.products)

    @property
    def weights(self) -> tuple[float, ...]:
        """Products matter most."""
        return (_PRESENCE, 0.25, 0.25, 1.0)


@dataclass(frozen=True)
class Correlation:
    """CORR over rows in which both are present."""

    present: CountRows
    first: Total
    second: Total
    products: Total
    first_squares: Total
    second_squares: Total

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of pairs, centred totals, products, squares."""
        return (
            *(self.present, self.first, self.second, self.products),
            *(self.first_squares, self.second_squares),
        )

    @property
    def weights(self) -> tuple[float, ...]:
        """Products matter most."""
        return (_PRESENCE, 0.25, 0.25, 1.0, 0.25, 0.25)


@dataclass(frozen=True)
class Quantile:
    """MEDIAN and QUANTILE(x, q): a candidate chosen by its rank."""

    ranks: Ranks
    q: float

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The histogram of ranks."""
        return (self.ranks,)

    @property
    def weights(self) -> tuple[float, ...]:
        """The whole budget for its one measure."""
        return (1.0,)


@dataclass(frozen=True)
class Minimum(Quantile):
    """MIN(x): a low candidate with few values below it."""


@dataclass(frozen=True)
class Maximum(Quantile):
    """MAX(x): a high candidate with few values above it."""


Aggregate: TypeAlias = Count | Sum | Average | Spread | Covariance | Correlation | Quantile
