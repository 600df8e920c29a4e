"""Protocols through which queries, synthesis and learning see data, whoever holds it.

Arrays, relational engines and the curator implement them; a synopsis or a learner asks for
counts, for moments or for bounded rows, and never for rows it does not need.
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
        classes: The labels of a target that is one of a list, in order.
        target: The name of the target, if there is one.
    """

    features: tuple[str, ...]
    bounds: tuple[list[float], list[float]]
    target_bounds: tuple[float, float] | None = None
    classes: tuple[Any, ...] | None = None
    target: str | None = None


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


@dataclass(frozen=True, eq=False)
class BoundedRows:
    """The rows that a learner may look at several times: clamped, and bounded for each unit.

    Their order means nothing: what a learner answers must have the same law in any order.

    Attributes:
        features: One line for each row, within the bounds; NaN where a value is missing.
        target: A number within its bounds, the place of a label among the classes, or nothing.
    """

    features: NDArray[np.float64]
    target: NDArray[Any] | None = None


@runtime_checkable
class RowSource(Protocol):
    """Can hand over the rows of a question, cut down to what one unit may have of them."""

    @property
    def records(self) -> int:
        """The most rows of one unit that are handed over."""

    def bounded_rows(self) -> BoundedRows:
        """The rows. Private: only what an event is paid for may follow."""


@runtime_checkable
class FitsRows(Protocol):
    """A learner that looks at rows several times, at a price known before the first look."""

    target_kind: TargetKind

    def fit_rows(
        self, privacy: Any, columns: FitColumns, rows: Callable[[], BoundedRows]
    ) -> tuple[Any, Callable[[], Any]]:
        """The event of fitting, and what fits; ``rows`` is called only then, and once."""

    def known_ahead(self, privacy: Any, columns: FitColumns) -> Mapping[str, float]:
        """Noise, and what follows from it, as far as public numbers tell; by name."""


def not_from_moments(estimator: object) -> InvalidParameter:
    """What states no price before it sees rows is not fitted where a budget pays."""
    several = hasattr(estimator, "steps") and hasattr(estimator, "named_steps")
    if isinstance(estimator, type):
        return InvalidParameter(
            code="not_from_moments",
            expectation="an estimator of dp.learn, which says what it costs before it sees rows",
            received=f"the class {estimator.__name__}",
            remedy=f"Write parentheses behind it: {estimator.__name__}().",
        )
    return InvalidParameter(
        code="not_from_moments",
        expectation="an estimator of dp.learn, which says what it costs before it sees rows",
        received=type(estimator).__name__,
        remedy="Fit one estimator of dp.learn; it maps features to their bounds by itself, so that "
        "no scaler needs to stand before it."
        if several
        else "Use dp.learn.LinearRegression, LogisticRegression, RandomForestClassifier or another "
        "of them; searches and scores are for rows in memory.",
    )


@runtime_checkable
class ColumnSource(Protocol):
    """Can hand out columns a piece at a time: of public rows, or of reports already private."""

    def pieces(self, columns: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Equally long arrays by name, one piece after the other; each row comes once."""
