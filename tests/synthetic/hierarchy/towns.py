"""A small country: eight towns in three regions of two parts, people by sex and age."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.hierarchy.levels import Hierarchy, Level

TOWNS = [f"t{number}" for number in range(8)]
REGIONS = dict(
    zip(TOWNS, ["north", "east", "north", "west", "west", "west", "east", "north"], strict=True)
)
PARTS = {town: "upper" if REGIONS[town] == "north" else "lower" for town in TOWNS}
COUNTRY = Universe.of(sex=["f", "m"], town=TOWNS, age=range(3))
PLACES = Universe.of(town=TOWNS)


def levels(**totals: Any) -> Hierarchy:
    """Nation, part, region, town; with some public totals, by level."""
    return Hierarchy(
        (
            Level("nation", totals=totals.get("nation", ())),
            Level("part", by="town", groups=PARTS, totals=totals.get("part", ())),
            Level("region", by="town", groups=REGIONS, totals=totals.get("region", ())),
            Level("town", by="town", totals=totals.get("town", ())),
        )
    )


def people(universe: Universe, seed: int = 0, mean: float = 3.0) -> NDArray[np.int64]:
    """Counts of all cells; many of them small."""
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.5, 2 * mean, universe.shape)).astype(np.int64)


def given(universe: Universe = COUNTRY, epsilon: float = 1.0, **others: Any) -> dict[str, Any]:
    """What a mechanism is made with."""
    return {
        "workload": Workload.marginal(universe, ["town"]),
        "spend": dp.PureDP(epsilon=epsilon),
        "size": NoisyRecordCount(),
        "hierarchy": levels(),
        **others,
    }
