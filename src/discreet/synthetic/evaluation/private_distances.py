"""How far the marginals of a synthetic table lie from the real ones, with noise, for a price.

For each number of columns one number is released: the sum, over all such marginals and their cells,
of the differences between real and synthetic counts. A record lies in one cell of each marginal, so
it moves the sum by at most the number of marginals, and their mean by one: hardly any noise.

Guarantee: the event of one additive release for each number of columns, composed.

Source: 000a:C3; 004d:D7. Proof: ``proofs/marginal_distances.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import WholeNoise, noise_for, share_of
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import NoisyRecordCount, RecordCount, require_size
from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.universe import Universe
from discreet.release.guarantee import guarantee_text, protection_text
from discreet.synthetic.drawable import require_drawable
from discreet.synthetic.encoding.encoded_column import Codes
from discreet.synthetic.evaluation.marginal_error import Sets, cell_counts_of, marginal_sets

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class MarginalDistances:
    """The mean distance of marginals of each of ``ways`` columns from those of ``synthetic`` rows.

    Assumptions: the synthetic rows are public: post-processing of a release. ``size`` says whether
    records are exchanged or added and removed, ``records`` bounds how many one unit has.

    Guarantee: the event of one additive release for each of ``ways``.

    Source: 000a:C3. Proof: ``proofs/marginal_distances.md``.
    """

    universe: Universe
    synthetic: Codes
    ways: tuple[int, ...]
    spend: Guarantee
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be measured, before any data is seen."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        object.__setattr__(self, "ways", tuple(count("ways", each) for each in self.ways))
        if not self.ways or not len(self.synthetic):
            raise InvalidParameter(
                code="evaluation_empty",
                expectation="synthetic rows, and at least one number of columns",
                received=(len(self.synthetic), self.ways),
                remedy="Sample some rows first.",
            )
        require_drawable(*self.noises.values())

    @cached_property
    def sets(self) -> dict[int, Sets]:
        """The marginals that are looked at; by the shape of the universe alone."""
        return {ways: marginal_sets(self.universe.shape, ways) for ways in self.ways}

    @cached_property
    def noises(self) -> dict[int, WholeNoise]:
        """What is added to each sum of differences."""
        each = share_of(self.spend, Fraction(1, len(self.ways)))
        moved = self.records * self.size.changed_cells
        return {
            ways: noise_for(
                each, l1=moved * len(sets), l2=moved * len(sets), randomness=self.randomness
            )
            for ways, sets in self.sets.items()
        }

    @property
    def event(self) -> Event:
        """What one release costs."""
        return reduce(lambda a, b: a + b, (noise.event for noise in self.noises.values()))

    def release(self, counts: Counted) -> dict[int, int]:
        """The noisy sum of differences for each number of columns."""
        found = {}
        for ways, sets in self.sets.items():
            total = 0
            for places in sets:
                names = [self.universe.names[place] for place in places]
                real = marginal_counts(counts, self.universe, names).ravel()
                made = cell_counts_of(self.synthetic, places, self.universe.shape)
                total += int(np.abs(real - made).sum())
            found[ways] = int(self.noises[ways].release(np.array([total]))[0])
        return found

    def distance(self, ways: int, total: int) -> tuple[float, float]:
        """A noisy sum as a mean distance, a share of all rows, and its half-width at 95 %."""
        scale = 2 * len(self.sets[ways]) * len(self.synthetic)
        law = distribution_of(self.noises[ways], step=1.0)
        return max(0.0, total / scale), float(law.half_width(CONFIDENCE)) / scale


@dataclass(frozen=True, eq=False)
class PrivateEvaluation:
    """Noisy distances between the marginals of a synthetic table and the real one. Private.

    ``distances`` has, for each number of columns, the mean distance as a share of the synthetic
    table's rows, about the total variation, and the half-width of its 95 % interval; ``columns``
    are those that were compared, each by itself and with the others.
    """

    distances: Mapping[int, tuple[float, float]]
    columns: tuple[str, ...]
    guarantee: Guarantee
    event: Event
    private: bool

    def to_json(self) -> str:
        """The distances for machines."""
        plain: dict[str, Any] = {
            "private": self.private,
            "columns": list(self.columns),
            "distances": {str(ways): list(each) for ways, each in self.distances.items()},
        }
        return json.dumps({"evaluation": plain}, sort_keys=True)

    def __str__(self) -> str:
        lines = [
            f"{_of(ways)}: mean distance {value:.4f} ± {half:.4f} of all rows"
            for ways, (value, half) in self.distances.items()
        ]
        compared = f"compared: {', '.join(self.columns)}; 0 is equal, 1 is nothing in common"
        if any(value - half > 1 for value, half in self.distances.values()):
            compared += (
                "\nwarning: more than 1 says that there are many more or fewer synthetic rows than "
                "real ones; compare release.sample() without a number"
            )
        unit = protection_text(self.guarantee.unit)
        return "\n".join([*lines, compared, f"{guarantee_text(self.guarantee)} for {unit}"])

    __repr__ = __str__


def _of(ways: int) -> str:
    return {1: "single columns", 2: "pairs of columns"}.get(ways, f"every {ways} columns")


def private_evaluation(
    distances: MarginalDistances, released: Mapping[int, int], guarantee: Guarantee
) -> PrivateEvaluation:
    """What was released, as distances: post-processing."""
    return PrivateEvaluation(
        {ways: distances.distance(ways, total) for ways, total in released.items()},
        distances.universe.names,
        guarantee,
        distances.event,
        distances.randomness.private,
    )
