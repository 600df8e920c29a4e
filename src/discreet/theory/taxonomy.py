"""What kind of problem it is: five questions that every request answers, and who can help.

No mechanism is best for all. What is wanted (synthetic records or answers), how many cells there
are, whether queries are linear, whether they come one by one, and whether answers must agree with
each other decide which mechanisms are worth comparing.

Source: 004b:A22. Errata: the chapter's overview numbers its sections one too low.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ReleasePurpose(Enum):
    """What the release is for."""

    ANSWERS = "answers to stated queries"
    RECORDS = "synthetic records, for queries not stated yet"


class Dimension(Enum):
    """Whether one number for each cell fits into memory."""

    LOW = "low"
    HIGH = "high"


class QueryKind(Enum):
    """What a query is."""

    LINEAR = "sums over records of a weight in [0, 1]"
    OTHER = "medians, ratios and whatever one record can move far"


class Arrival(Enum):
    """When queries are known."""

    OFFLINE = "all known in advance"
    ONLINE = "one by one, each perhaps chosen in view of the last answer"


class Agreement(Enum):
    """Whether answers must be those of one table."""

    REQUIRED = "required"
    WAIVED = "waived"


@dataclass(frozen=True)
class Taxonomy:
    """One answer to each of the five questions."""

    wanted: ReleasePurpose
    dimension: Dimension
    queries: QueryKind
    arrival: Arrival
    agreement: Agreement

    def mechanisms(self) -> tuple[str, ...]:
        """Public names of the mechanisms to compare, the usual favourite first.

        >>> Taxonomy(
        ...     ReleasePurpose.ANSWERS,
        ...     Dimension.LOW,
        ...     QueryKind.LINEAR,
        ...     Arrival.ONLINE,
        ...     Agreement.WAIVED,
        ... ).mechanisms()
        ('queries.private_multiplicative_weights', 'queries.OnlineConstruction')
        """
        match self.queries, self.arrival, self.dimension:
            case QueryKind.OTHER, Arrival.OFFLINE, _:
                return _ANYTHING
            case (QueryKind.OTHER, _, _) | (_, Arrival.ONLINE, Dimension.HIGH):
                return ("mechanisms.NumericSparse",)
            case _, Arrival.ONLINE, _:
                return ("queries.private_multiplicative_weights", "queries.OnlineConstruction")
            case _, _, Dimension.HIGH:
                return ("queries.MarginalMechanism",)
        if self.wanted is ReleasePurpose.RECORDS:
            return ("queries.MWEM", "queries.small_db", "queries.PrivTree")
        alone = () if self.agreement is Agreement.REQUIRED else ("queries.IndependentNoise",)
        return (*alone, *_AGREEING)


_ANYTHING = (
    "Curator.sql",
    "mechanisms.robust.SmoothMedian",
    "mechanisms.robust.SubsampleAggregate",
)
_AGREEING = (
    *("queries.MatrixMechanism", "queries.MarginalMechanism", "queries.MWEM"),
    *("queries.DAWA", "queries.PrivTree", "queries.QuadTree"),
)
