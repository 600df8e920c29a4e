"""The net mechanism: the exponential mechanism over whole databases, for tiny universes.

With all small databases as the net it is SmallDB. Its law is known exactly, by enumeration.

Source: 000a:F2, G1; 004b:A11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count, probability
from discreet.mechanisms import Exponential
from discreet.mechanisms.for_spend import additive_readings, epsilon_for
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.log_weights import relative
from discreet.queries.mwem.rounds import exact_answers
from discreet.queries.record_count import PublicCount, count_records, require_public
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import on_grid, rounded
from discreet.queries.workload.workload import Workload

MOST_CANDIDATES = 1 << 20
_DIGITS = 30


@dataclass(frozen=True, eq=False)
class NetMechanism:
    """Chooses a database of the net by how small its largest error is.

    ``net`` has a row for each database, a distribution over cells. The number of records is
    public: neighbours exchange records.

    Guarantee: pure epsilon-differential privacy.

    Assumptions: neighbours exchange the records of one person, at most ``records`` of them; their
    number is public. Data are exact counts over the universe. Queries, universe and all parameters
    are public. So is the net.

    Source: 000a:F2, G1.
    """

    workload: Workload
    net: Floats
    epsilon: Number
    size: PublicCount
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse a net that does not fit, and less than a record or a public number of them."""
        object.__setattr__(self, "workload", on_grid(self.workload))
        object.__setattr__(self, "records", count("records", self.records))
        require_public(self.size, method="a choice from a net")
        check_net(self.net, cells=self.workload.universe.size)

    @property
    def selector(self) -> Exponential:
        """The mechanism that chooses a member of the net."""
        return Exponential(
            epsilon=self.epsilon, sensitivity=self.records, randomness=self.randomness
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.selector.event

    @cached_property
    def _answers(self) -> Floats:
        total = self.size.records
        return np.array([rounded(total * shared_answers(self.workload, row)) for row in self.net])

    def scores(self, counts: Counted) -> Floats:
        """Minus the largest error of each database, in records, exactly."""
        table = cell_counts(counts, self.workload.universe)
        count_records(self.size, table, None)
        truth = np.concatenate(exact_answers(self.workload, table))
        return np.asarray(-np.abs(self._answers - truth).max(axis=1))

    def distribution(self, counts: Counted) -> Floats:
        """The probability of each database: for tests, since it is a function of the data."""
        logs = float(self.selector.rate()) * self.scores(counts)
        odds = relative(logs)
        return np.asarray(odds / odds.sum())

    def release(self, counts: Counted) -> HistogramSynopsis:
        """A database of the net, scaled to the number of records."""
        chosen = self.selector.release(self.scores(counts))
        return HistogramSynopsis(
            self.workload.universe, self.size.records * self.net[chosen], self.event
        )


def check_net(net: Floats, *, cells: int) -> None:
    """Refuse what is no list of distributions over the cells."""
    if (
        net.ndim != 2
        or 0 in net.shape
        or net.shape[1] != cells
        or not (np.isfinite(net).all() and net.min() >= 0 and net.sum(axis=1).max() <= 1 + 1e-9)
    ):
        raise InvalidParameter(
            code="net_misshapen",
            expectation=f"rows of {cells} probabilities",
            received=net.shape,
            remedy="Build it with small_databases(cells, rows).",
        )


def small_databases(cells: int, rows: int) -> Floats:
    """All multisets of ``rows`` records, as distributions.

    >>> small_databases(3, 6).shape
    (28, 3)
    """
    size, many = count("cells", cells), count("rows", rows)
    chosen_of = size + many - 1
    few = min(many, size - 1)
    # C(m, k) >= (m/k)^k: beyond all limits it is neither computed nor written out.
    digits = few * (math.log10(chosen_of) - math.log10(few)) if few else 0.0
    candidates = math.comb(chosen_of, few) if digits < _DIGITS else 0
    if candidates > MOST_CANDIDATES or digits >= _DIGITS:
        raise InvalidParameter(
            code="net_too_large",
            expectation=f"at most {MOST_CANDIDATES} small databases",
            received=candidates or f"more than 10**{int(digits)}",
            remedy="Use MWEM; this method is for tiny universes.",
        )
    net = np.zeros((candidates, size))
    for place, chosen in enumerate(combinations_with_replacement(range(size), many)):
        np.add.at(net[place], list(chosen), 1 / many)
    return net


def small_db(
    workload: Workload,
    *,
    error: float,
    size: PublicCount,
    epsilon: Number | None = None,
    spend: Guarantee | None = None,
    records: int = 1,
    randomness: Source = SYSTEM,
) -> NetMechanism:
    """SmallDB: all databases of ln|Q| / error**2 rows, at a pure ``epsilon`` or for a ``spend``.

    For the curator, which gives everything else:
    ``curator.synopsis(workload, mechanism=partial(small_db, error=0.3), spend=...)``.
    """
    if (epsilon is None) == (spend is None):
        raise InvalidParameter(
            code="spend_or_epsilon",
            expectation="either epsilon= or spend=; there is no default price",
            remedy="Write small_db(workload, error=0.3, epsilon=1, size=PublicCount(500)).",
        )
    require_public(size, method="a choice from a net")
    rows = sampling_rows(queries=workload.queries, error=error)
    net = small_databases(workload.universe.size, rows)
    paid = epsilon if spend is None else choosing_epsilon(spend, records=records)
    assert paid is not None
    return NetMechanism(workload, net, paid, size, records, randomness)


def choosing_epsilon(spend: Guarantee, *, records: int) -> Number:
    """The most epsilon at which one choice by the exponential mechanism costs no more.

    >>> from discreet.core.guarantee import ApproxDP
    >>> choosing_epsilon(ApproxDP(epsilon=1, delta=1e-6), records=1)
    Fraction(1, 1)
    """

    def event(epsilon: Number) -> Event:
        return Exponential(epsilon=epsilon, sensitivity=records).event

    return max(epsilon_for(reading, event) for reading in additive_readings(spend))


def sampling_rows(*, queries: int, error: float) -> int:
    """Rows of a random sample that is within ``error`` on all queries, most likely.

    >>> sampling_rows(queries=1000, error=0.05)
    2764
    """
    many = count("queries", queries)
    return max(1, math.ceil(math.log(many) / float(probability("error", error)) ** 2))
