"""A metric space: a domain with a metric that makes sense on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.errors import Mismatch

if TYPE_CHECKING:
    from discreet.core.domain import Domain
    from discreet.core.metric import Metric


@dataclass(frozen=True)
class Space:
    """A domain and a metric, checked to fit when built."""

    domain: Domain
    metric: Metric

    def __post_init__(self) -> None:
        """Refuse a metric that makes no sense on the domain."""
        if not self.metric.fits(self.domain):
            raise Mismatch(
                code="metric_does_not_fit",
                expectation=f"a metric for {type(self.domain).__name__}",
                received=self.metric,
                remedy="Use AddRemove where the number of rows is private, ChangeOne where it is "
                "public, and a norm on numbers.",
            )

    def require(self, other: Space) -> None:
        """Refuse to chain into ``other`` unless domain and metric are the same."""
        if self.metric != other.metric:
            raise Mismatch(
                code="metric_mismatch",
                expectation=f"an input metric of {self.metric!r}",
                received=other.metric,
                remedy="Insert a conversion, e.g. change_one_to_add_remove.",
            )
        if self.domain != other.domain:
            raise Mismatch(
                code="domain_mismatch",
                expectation=f"an input domain of {self.domain!r}",
                received=other.domain,
                remedy="Make the output domain of one step the input domain of the next.",
            )
