"""How fast the sampled game's error falls with the number of records, where only data limits it.

Analysts are promised nothing here: with a promise, s grows until the error falls no further. All
1760 three-way conjunctions of the reference distribution, s = 20, one draw of each player a round.
"""

from __future__ import annotations

import math
import sys
from itertools import combinations, product

import numpy as np
from analysts_data import (
    BITS,
    conjunction_answers,
    query_rows,
    reference_counts,
    reference_universe,
)
from timing import Figure

from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount

RHO = 0.024356
S = 20
SIZES = ((4_000, 8), (16_000, 4), (64_000, 2), (256_000, 1))
"""Numbers of records, and how many games at each."""
WAYS = 3


def rates() -> list[Figure]:
    """Slopes of the mean and of the s-th largest error, per factor of ten in records."""
    places = np.array([each for each in combinations(range(BITS), WAYS) for _ in range(8)])
    values = np.array(
        [each for _ in combinations(range(BITS), WAYS) for each in product((0, 1), repeat=WAYS)],
        dtype=np.uint8,
    )
    rows = query_rows(places, values) * np.uint8(255)
    universe, entropy = reference_universe(), math.log(2 * len(places) / S)
    found: dict[str, list[float]] = {"mean": [], "s-th": [], "bound": []}
    print("analysts/data-limited ", end="", file=sys.stderr, flush=True)
    for records, times in SIZES:
        rounds = int(math.sqrt(24 * RHO) * records / math.sqrt(8 * entropy))
        game = SampledGame(
            shape=RoundShape(universe, len(places), 1),
            size=PublicCount(records),
            s=S,
            rounds=rounds,
            batch_x=1,
            batch_q=1,
            step_x=math.sqrt(8 * math.log(universe.size) / rounds),
            step_q=records * math.sqrt(24 * RHO / rounds) / rounds,
            protects=OneQuery(),
            promise=None,
        )
        logs = []
        for seed in range(times):
            counts = reference_counts(records, seed)
            truth = conjunction_answers(counts.astype(np.float64), places, values)
            released = game.release(counts, QuerySet(game.shape, rows))
            errors = np.sort(np.abs(conjunction_answers(released.counts, places, values) - truth))
            logs.append((math.log10(errors.mean()), math.log10(errors[-S])))
            print(".", end="", file=sys.stderr, flush=True)
        mean, ranked = np.mean(logs, axis=0)
        found["mean"].append(mean)
        found["s-th"].append(ranked)
        found["bound"].append(math.log10(game.alpha(beta=0.05)))
    print(file=sys.stderr)
    at = np.log10([records for records, _ in SIZES])
    return [
        Figure(
            name=f"analysts/data-limited/slope/{name}",
            values=(float(np.polyfit(at, logs, 1)[0]),),
            unit="/decade",
            at_least=-0.55,
            at_most=-0.45,
        )
        for name, logs in found.items()
    ]
