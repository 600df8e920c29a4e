"""Protocols through which queries, synthesis and learning see data, whoever holds it.

Arrays, relational engines and the curator implement them; a synopsis or a learner asks for
counts, moments or batches and never for rows it does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

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


@runtime_checkable
class MomentSource(Protocol):
    """Can add up clamped columns and their products in exact integers."""

    @property
    def records(self) -> int:
        """The most rows of one unit that count."""

    def moments(self) -> NDArray[np.object_]:
        """Sums of products of (1, columns) in units of their bounds, in steps of 2**-72."""


@runtime_checkable
class FitsMoments(Protocol):
    """A learner that needs sums of products and nothing else of the data."""

    def fit_moments(
        self, privacy: Any, bounds: Any, target_bounds: Any, moments: Callable[[], Any]
    ) -> tuple[Any, Callable[[], Any]]:
        """The event of fitting, and what fits; ``moments`` is called only then."""


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
