"""Protocols through which queries, synthesis and learning see data, whoever holds it.

Arrays, relational engines and the curator implement them; a synopsis or a learner asks for
counts, moments or batches and never for rows it does not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from discreet.core.domain import Domain
    from discreet.core.unit import PrivacyUnit


@runtime_checkable
class Described(Protocol):
    """Data whose columns and privacy unit are public knowledge."""

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is at stake."""

    def domain(self, column: str) -> Domain:
        """Declared domain of a column."""


@runtime_checkable
class CountSource(Described, Protocol):
    """Can count rows by the declared values of some columns."""

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Exact contingency table over the product of the columns' finite domains."""


@runtime_checkable
class BlockCountSource(CountSource, Protocol):
    """Can count some cells of a table that is too large to be counted at once."""

    def block_counts(
        self, columns: Sequence[str], within: Mapping[str, Sequence[int]]
    ) -> NDArray[np.int64]:
        """As :meth:`counts`, of the values at some places alone; other columns have all theirs."""


class TargetKind(Enum):
    """What a learner reads beside features: nothing, a number, or a label from a public list."""

    NONE = "none"
    NUMBER = "number"
    LABEL = "label"


class Products(Enum):
    """Which sums of products a learner needs beside the sums of columns."""

    NONE = "none"
    SQUARES = "squares"
    ALL = "all"

    def pairs(self, columns: int) -> tuple[tuple[int, int], ...]:
        """Places in (1, columns) whose products are added up: each column alone, then products.

        >>> Products.SQUARES.pairs(2)
        ((0, 1), (0, 2), (1, 1), (2, 2))
        """
        places = range(1, columns + 1)
        alone = tuple((0, place) for place in places)
        match self:
            case Products.NONE:
                return alone
            case Products.SQUARES:
                return (*alone, *((place, place) for place in places))
        return (*alone, *combinations_with_replacement(places, 2))


@dataclass(frozen=True)
class FitColumns:
    """What is known of the columns that a model is fitted to, without their rows.

    Attributes:
        features: Their names.
        bounds: The lower and the upper bound of each.
        target_bounds: Those of a target that is a number.
        classes: The labels of a target that is one of a list, in the order of the sums.
    """

    features: tuple[str, ...]
    bounds: tuple[list[float], list[float]]
    target_bounds: tuple[float, float] | None = None
    classes: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class Moments:
    """Exact sums over rows, one block for each class, or one for all rows.

    Attributes:
        products: Of each block the sums of products of (1, columns) in units of their bounds, in
            steps of 2**-72; a target that is a number is the first column.
        there: Of each block how many values of each column there are.
    """

    products: NDArray[Any]
    there: NDArray[Any]


@runtime_checkable
class MomentSource(Protocol):
    """Can add up clamped columns and their products in exact integers."""

    @property
    def records(self) -> int:
        """The most rows of one unit that count."""

    def moments(self) -> Moments:
        """The sums. Private: only noise may follow."""


@runtime_checkable
class FitsMoments(Protocol):
    """A learner that needs sums of products and nothing else of the data."""

    target_kind: TargetKind
    products: Products

    def fit_moments(
        self, privacy: Any, columns: FitColumns, moments: Callable[[], Moments]
    ) -> tuple[Any, Callable[[], Any]]:
        """The event of fitting, and what fits; ``moments`` is called only then."""


def not_from_moments(estimator: object) -> InvalidParameter:
    """What needs more than sums of products cannot be fitted where rows are not handed out."""
    return InvalidParameter(
        code="not_from_moments",
        expectation="an estimator that fits from sums of products",
        received=type(estimator).__name__,
        remedy="Use dp.learn.LinearRegression, Ridge, GaussianNB, PCA, StandardScaler or "
        "SimpleImputer.",
    )


@runtime_checkable
class BatchSource(Described, Protocol):
    """Can hand out batches of rows for training, sampled as the caller's event says."""

    def batches(self, columns: Sequence[str], *, rate: float) -> Iterator[Any]:
        """Poisson batches in which each unit appears independently with probability ``rate``."""


@runtime_checkable
class ColumnSource(Protocol):
    """Can hand out columns a piece at a time: of public rows, or of reports already private."""

    def pieces(self, columns: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Equally long arrays by name, one piece after the other; each row comes once."""
