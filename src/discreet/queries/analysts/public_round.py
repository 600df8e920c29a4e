"""What is public about a round: all that a plan may depend on.

Source: analysts-verified:H1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.guarantee import AnalystUnit, require_public_count
from discreet.queries.analysts.query_class import AnyQuery, QueryClass
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe


@dataclass(frozen=True)
class PublicRound:
    """Everything that is public about a round before it opens.

    ``analysts`` and ``most``, the places for queries of each, are padded and fixed. ``promise`` is
    what an analyst's unit of privacy may cost at most. ``topics`` is a public guess of how many
    sets of attributes will be asked about. ``rounds`` limits a game's time.

    Assumptions: all of it is public, and fixed before the round opens.

    Guarantee: whatever is planned from it tells nothing of data or of queries.

    Source: analysts-verified:H1.
    """

    universe: Universe
    size: PublicCount
    analysts: int
    most: int
    spend: Guarantee
    protects: AnalystUnit
    promise: ApproxDP
    asked: QueryClass = field(default_factory=AnyQuery)
    topics: int | None = None
    rounds: int = 1500
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse empty rounds, and people who come and go."""
        require_public_count(self.size)
        for name in ("analysts", "most", "rounds", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))

    @property
    def queries(self) -> int:
        """All places for queries."""
        return self.analysts * self.most
