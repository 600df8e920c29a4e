"""One person has several records: every mechanism hides all of them at once, for its price.

Every public mechanism runs on tables from which one person's 1, 2 or 5 records were taken, and on
tables in which they were exchanged for others; ``transcripts`` measures what each of its noises
had to hide and compares that with what was paid. Some neighbours need all that was promised (how
nearly is stated with each mechanism), so noise for fewer records would be noticed. What a partition
or the shape of a tree tells is computed from its exact law. Nothing here can fail by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import queries
from discreet.core.guarantee import Guarantee
from discreet.queries.boosting.base import ExponentialNet, NoisySample
from discreet.queries.boosting.boosting import BoostingForQueries
from discreet.queries.boosting.fits import LeastSquaresFit
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import hierarchical
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.mwem.rounds import MarginalRound, QueryRound
from discreet.queries.net import NetMechanism, small_databases, small_db
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.iterative_construction import IterativeConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.online.pmw import private_gap_weights, private_multiplicative_weights
from discreet.queries.planning.contest import Contest
from discreet.queries.planning.plan import best_mechanism
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.trees.dawa import DAWA
from discreet.queries.trees.noisy_partition import STEPS
from discreet.queries.trees.privtree import PrivTree
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.families import Listed, Prefixes, Ranges
from discreet.queries.workload.linear_query import Region, Weights
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from tests.queries.mechanism_rows import (
    COME_OR_GO,
    COUNTS,
    EXCHANGED,
    LARGE_DELTA,
    PURE,
    RECORDS,
    RHO,
    SMALL_DELTA,
    Row,
    Wholes,
    check,
    hidden_mechanisms,
    mechanisms_of,
    size_of,
)
from tests.queries.trees.exact_partitions import Scale, from_median, loss, partition_law
from tests.queries.trees.exact_shapes import clamped, worst_way

SQUARE = Universe.of(a=range(3), b=range(2))
ONE_WAY = Workload.marginals(SQUARE, 1)
EVERY = Workload.union(ONE_WAY, Workload.marginals(SQUARE, 2))
LINE = Universe.of(x=range(6))
PREFIXES = Workload.of(LINE, {"x": Prefixes(6)})
RANGES = Workload.of(LINE, {"x": Ranges(6)})
UNEVEN = Workload.of(LINE, {"x": Listed([[1, 0.5, 0, 0, 0.25, 1], [0, 1, 1, 0.75, 0, 0]])})
SMALL = Workload.marginals(Universe.of(x=range(3)), 1)
FEW = np.array([7, 6, 8])

LAPLACE, NORMAL, ROUNDED = {"DiscreteLaplace": 0.99}, {"DiscreteGaussian": 0.99}, {"Gaussian": 0.99}
NAMES = {
    PURE: "PureDP",
    RHO: "ZCDP",
    SMALL_DELTA: "ApproxDP",
    LARGE_DELTA: "ApproxDP at a large delta",
}
COMPARED = {"AboveThreshold": 0.99, "Laplace": 0.99}


def made(kind: Callable[..., Any], workload: Workload, **others: Any) -> Callable[..., Any]:
    """Mechanisms that are made from workload, spend, size and records."""
    return lambda spend, size, records: kind(
        workload=workload, spend=spend, size=size, records=records, **others
    )


def boosting(base: Any, spend: Guarantee, size: RecordCount, records: int) -> BoostingForQueries:
    given = {"rounds": 3, "within": 1, "advantage": 0.45, "records": records}
    return BoostingForQueries(ONE_WAY, spend, size, sample=4, base=base, **given)  # type: ignore[arg-type]


def online(spend: Guarantee, size: RecordCount, records: int) -> OnlineConstruction:
    updater = MultiplicativeUpdater(6, 0.4)
    return OnlineConstruction(updater, spend, size, 3, cutoff=2, records=records)


def planned(
    kind: Callable[..., Any], spend: Guarantee, size: RecordCount, records: int
) -> OnlineConstruction:
    given = {"cells": 6, "questions": 2, "confidence": 0.9, "about": 100_000}
    found: OnlineConstruction = kind(spend=spend, size=size, records=records, **given)
    return found


def conversed(mechanism: OnlineConstruction, counts: Wholes) -> object:
    """Prefixes, single cells and weights, twice round."""
    session = mechanism.open(counts)
    asked = [Region((6,), (slice(0, end),)) for end in (1, 3, 6)]
    asked += [Region((6,), (slice(end, end + 1),)) for end in (2, 4)]
    return [session.ask(query) for query in (*asked, Weights([1, 0.5, 0, 1, 0, 0])) * 2]


def additive_rows(spend: Guarantee, reached: Mapping[str, float]) -> Iterator[Row]:
    """Those whose every noise is added to a vector."""
    said = NAMES[spend]
    # Two moved cells are priced at twice one, in both norms; in L2 they are nearer.
    triangle = {} if reached is LAPLACE else dict.fromkeys(reached, 0.49)
    uneven = dict.fromkeys(reached, 0.39)
    for name, title, build, exchanged in (
        ("IndependentNoise", "independent noise", made(IndependentNoise, EVERY), triangle),
        ("IndependentNoise", "noise on weights", made(IndependentNoise, UNEVEN), uneven),
        (
            "ProjectionMechanism",
            "projection",
            made(ProjectionMechanism, ONE_WAY, iterations=20),
            triangle,
        ),
        ("MatrixMechanism", "matrix mechanism", made(MatrixMechanism, PREFIXES), {}),
        (
            "MatrixMechanism",
            "matrix mechanism with a tree",
            made(MatrixMechanism, PREFIXES, strategy=ProductStrategy((hierarchical(6),))),
            dict.fromkeys(reached, 0.83),
        ),
        ("MarginalMechanism", "marginal mechanism", made(MarginalMechanism, EVERY), {}),
        ("QuadTree", "quad-tree", made(QuadTree, RANGES), {}),
    ):
        yield Row(name, f"{title}, {said}", build, reached, spend, exchanged)


def adaptive_rows(spend: Guarantee, reached: Mapping[str, float]) -> Iterator[Row]:
    """Those that choose, compare or split before they measure."""
    said = NAMES[spend]
    one = "PermuteAndFlip" if reached is LAPLACE else "Exponential"
    chosen = {**reached, one: 0.99}

    def row(name: str, title: str, build: Any, reached: Mapping[str, float], **others: Any) -> Row:
        return Row(name, f"{title}, {said}", build, reached, spend, **others)

    yield row("DAWA", "DAWA", made(DAWA, RANGES), reached)
    yield row("PrivTree", "PrivTree", made(PrivTree, RANGES), reached)
    yield row("MWEM", "MWEM by marginals", made(MWEM, EVERY, rounds=2), chosen)
    yield row("MWEM", "MWEM by queries", made(MWEM, ONE_WAY, rounds=3, each=QueryRound()), chosen)
    yield row("MWEM", "MWEM in turns", made(MWEM, ONE_WAY, rounds=2, each=MarginalRound()), reached)
    yield row(
        "IterativeConstruction",
        "iterative construction",
        lambda spend, size, records: IterativeConstruction(
            ONE_WAY, MultiplicativeUpdater(6, 0.4), spend, size, records=records
        ),
        {**LAPLACE, "Exponential": 0.65},
        relations=(EXCHANGED,),
    )
    yield row("OnlineConstruction", "online construction", online, COMPARED, play=conversed)
    for kind in (private_multiplicative_weights, private_gap_weights):
        yield row(
            kind.__name__,
            kind.__name__,
            partial(planned, kind),
            COMPARED,
            counts=2000 * COUNTS,
            play=conversed,
        )
    rivals = (partial(MWEM, rounds=2), IndependentNoise)
    yield row(
        "Contest", "contest", made(Contest, ONE_WAY, contenders=rivals), {**reached, one: 0.3}
    )
    sampled, net = NoisySample(LeastSquaresFit()), ExponentialNet(small_databases(6, 2))
    yield row(
        "BoostingForQueries", "boosting", partial(boosting, sampled), {**reached, "draw": 0.9}
    )
    yield row(
        "BoostingForQueries",
        "boosting by a net",
        partial(boosting, net),
        {"Exponential": 0.9, "draw": 0.9},
    )
    yield row(
        "best_mechanism",
        "the planned mechanism",
        lambda spend, size, records: best_mechanism(EVERY, spend, size, records, about=45),
        reached,
    )


def choosing_rows() -> Iterator[Row]:
    """Those of a few records that choose once."""
    few = {"counts": FEW, "relations": (EXCHANGED,)}
    yield Row(
        "NetMechanism",
        "choice from a net",
        lambda spend, size, records: NetMechanism(
            SMALL, small_databases(3, 4), spend.epsilon, size, records=records
        ),
        {"Exponential": 0.99},
        **few,  # type: ignore[arg-type]
    )
    yield Row(
        "small_db",
        "SmallDB",
        lambda spend, size, records: small_db(
            SMALL, error=0.6, epsilon=spend.epsilon, size=size, records=records
        ),
        {"Exponential": 0.99},
        **few,  # type: ignore[arg-type]
    )


ROWS = (
    *additive_rows(PURE, LAPLACE),
    *additive_rows(RHO, NORMAL),
    *additive_rows(SMALL_DELTA, LAPLACE),
    *additive_rows(LARGE_DELTA, ROUNDED),
    *adaptive_rows(PURE, LAPLACE),
    *adaptive_rows(RHO, NORMAL),
    *adaptive_rows(SMALL_DELTA, LAPLACE),
    *choosing_rows(),
)
CASES = [(row, relation) for row in ROWS for relation in row.relations]


def test_every_public_mechanism_has_a_row() -> None:
    assert {row.name for row in ROWS} == mechanisms_of(queries)


def test_no_mechanism_hides_inside_the_package() -> None:
    """Whatever releases for an event is public and has a row, or is a part of one that has."""
    parts = {"NoisyPartition", "SynopsisMechanism", "OnlineSession"}
    inside = hidden_mechanisms(queries, without="discreet.queries.analysts")
    assert inside - mechanisms_of(queries) <= parts


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize(
    ("row", "relation"), CASES, ids=[f"{row.title}, {relation}" for row, relation in CASES]
)
def test_all_records_of_a_person_are_hidden_for_the_price(
    row: Row, relation: str, records: int
) -> None:
    check(row, relation, records)


@pytest.mark.parametrize("row", [row for row in ROWS if row.spend is PURE], ids=lambda r: r.title)
def test_noise_for_one_record_is_noticed_where_a_person_has_two(row: Row) -> None:
    """The controls: mechanisms that are made for one record, on tables that differ in two."""
    forgetful = replace(row, build=lambda spend, size, _: row.build(spend, size, 1))
    with pytest.raises(AssertionError):
        check(forgetful, row.relations[0], 2)


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("relation", [COME_OR_GO, EXCHANGED])
def test_the_exact_law_of_partitions_hides_all_records(relation: str, records: int) -> None:
    """DAWA with a quarter of 16 for its partition; four cells, all of one person's in the first."""
    here = tuple(records * each for each in (2, 0, 4, 4))
    there = (here[0] + records, here[1], here[2] - records * (relation == EXCHANGED), here[3])
    line = Workload.of(Universe.of(x=range(4)), {"x": Ranges(4)})
    size = size_of(np.array(here), relation)
    partition = DAWA(line, dp.PureDP(epsilon=16), size, records=records).partition
    assert partition.epsilon == 4

    def lost(share: float) -> float:
        scale: Scale = lambda cells: share * partition.noise(cells).scale(kind=int) / STEPS  # noqa: E731
        laws = (
            partition_law(counts, from_median, scale, Fraction(10 * records))
            for counts in (here, there)
        )
        return loss(*laws)

    assert 0.8 * 4 < lost(1) <= 4
    assert lost(0.5) > 4


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_exact_law_of_shapes_hides_all_records(epsilon: float, records: int) -> None:
    """PrivTree with half of its spend for the shape; ways of forty nodes.

    An exchange adds what one node beside the way can tell: its records over the scale.
    """

    def rule(size: RecordCount) -> Any:
        tree = PrivTree(RANGES, dp.PureDP(epsilon=epsilon), size, records=records)
        assert tree._growing == Fraction(epsilon) / 2
        return tree.splitting

    gone, exchanged = rule(NoisyRecordCount()), rule(PublicCount(45))
    assert 0.8 * epsilon / 2 < worst_way(gone, clamped, records) <= epsilon / 2
    beside = records / float(exchanged.scale)
    assert 0.85 * epsilon / 2 < worst_way(exchanged, clamped, records) + beside <= epsilon / 2
