"""One person has several records: every release for analysts hides all of them, for its price.

As ``tests/queries/test_records_per_person.py``, for records that are exchanged: the releases of
this package are made for no others, and say so. The games' views are enumerated exactly. Nothing
here can fail by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.events.event import Nothing
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter
from discreet.mechanisms.noise_choice import AnyNoise, GaussianNoise, NoiseChoice
from discreet.noise import SYSTEM
from discreet.queries import analysts
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.correction import Correction
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.failing_analysts import FailingAnalysts
from discreet.queries.analysts.game import Game
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.planning import plan_round
from discreet.queries.analysts.planning_rounds import budget_of
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.linear_query import Weights
from discreet.queries.workload.universe import Universe
from tests.queries.analysts.small_games import (
    expected,
    expected_views,
    sampled,
    sampled_views,
    shape_of,
)
from tests.queries.mechanism_rows import (
    APPROX,
    EXCHANGED,
    PURE,
    RECORDS,
    RHO,
    Row,
    Wholes,
    check,
    hidden_mechanisms,
    mechanisms_of,
    priced,
)

SQUARE = Universe.of(a=range(3), b=range(2))
SHAPE = RoundShape(SQUARE, 2, 3)
FIRST, LAST, HALF = Weights([1, 0, 0, 0, 0, 0]), Weights([0, 0, 0, 0, 0, 1]), Weights([0.5] * 6)
QUERIES = QuerySet.of(
    SHAPE, ["ann", "bob"], {"ann": SHAPE.submit([FIRST, HALF, LAST]), "bob": SHAPE.submit([LAST])}
)
EVEN = HistogramSynopsis(SQUARE, np.full(6, 7.5), Nothing())
PROMISE = dp.ApproxDP(epsilon=1, delta=1e-3)


def corrected(mechanism: Correction | FailingAnalysts, counts: Wholes) -> object:
    return mechanism.release(counts, QUERIES, EVEN)


def correction(spend: Any, size: PublicCount, records: int) -> Correction:
    """Both analysts' streams share the spend."""
    epsilon = spend.epsilon / 2
    given = {"cutoff": 2, "threshold": 0.1, "records": records}
    return Correction(shape=SHAPE, size=size, epsilon=epsilon, **given)  # type: ignore[arg-type]


def failing(spend: Any, size: PublicCount, records: int) -> FailingAnalysts:
    """A run for either analyst."""
    bits, each = spend.rho / 2, spend.rho / 4
    given = {"runs": 2, "threshold": 0.1, "bits": bits, "each": each, "records": records}
    return FailingAnalysts(shape=SHAPE, size=size, **given)


def profiled(spend: Any, size: PublicCount, records: int) -> PublicMarginals:
    """What is measured after a profile; analysts pay for that, and not the data."""
    mechanism = ProfiledMarginals(
        SQUARE, Conjunctions(2), spend, size, OneQuery(), PROMISE, records=records
    )
    found = mechanism.marginals(mechanism._imagined([(0,), (0, 1)]))
    assert found.event == mechanism.event
    return found


def rows() -> Iterator[Row]:
    kinds: tuple[tuple[Guarantee, str, NoiseChoice], ...] = (
        (RHO, "DiscreteGaussian", AnyNoise()),
        (APPROX, "Gaussian", GaussianNoise()),
        (APPROX, "DiscreteLaplace", AnyNoise()),
        (PURE, "DiscreteLaplace", AnyNoise()),
    )
    for spend, noise, choice in kinds:

        def row(
            name: str, build: Any, spend: Guarantee = spend, noise: str = noise, **others: Any
        ) -> Row:
            title = f"{name}, {type(spend).__name__}, {noise}"
            reached = {noise: 0.99}
            return Row(name, title, build, reached, spend, relations=(EXCHANGED,), **others)

        def kept(choice: NoiseChoice = choice, **given: Any) -> dict[str, Any]:
            return {**given, "choice": choice}

        yield row(
            "PaddedNoise",
            lambda spend, size, records, kept=kept: PaddedNoise(
                SQUARE, 3, spend, size, **kept(records=records)
            ),
            play=lambda mechanism, counts: mechanism.release(counts, [FIRST] * 3),
        )
        yield row(
            "NoisyHistogram",
            lambda spend, size, records, kept=kept: NoisyHistogram(
                SQUARE, spend, size, **kept(records=records)
            ),
        )
        yield row(
            "PublicMarginals",
            lambda spend, size, records, kept=kept: PublicMarginals(
                SQUARE, 2, spend, size, **kept(records=records)
            ),
        )
        if noise != "DiscreteLaplace":
            yield row("ProfiledMarginals", profiled)
    yield Row(
        "Correction",
        "Correction",
        correction,
        {"AboveThreshold": 0.99, "Laplace": 0.99},
        PURE,
        play=corrected,
        relations=(EXCHANGED,),
    )
    yield Row(
        "FailingAnalysts",
        "FailingAnalysts",
        failing,
        {"DiscreteGaussian": 0.99},
        RHO,
        play=corrected,
        relations=(EXCHANGED,),
    )


ROWS = tuple(rows())
GAMES = {"SampledGame", "ExpectedGame"}
ANALYSTS_ONLY = {"ProfileRelease"}
"""What never sees a record."""
WITHIN = {"Game"}
"""What games share."""


def test_every_public_mechanism_has_a_row() -> None:
    assert {row.name for row in ROWS} | GAMES | ANALYSTS_ONLY == mechanisms_of(analysts)
    assert hidden_mechanisms(analysts) - mechanisms_of(analysts) == WITHIN


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_all_records_of_a_person_are_hidden_for_the_price(row: Row, records: int) -> None:
    check(row, EXCHANGED, records)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_noise_for_one_record_is_noticed_where_a_person_has_two(row: Row) -> None:
    """The controls: releases that are made for one record, on tables that differ in two."""
    forgetful = replace(row, build=lambda spend, size, _: row.build(spend, size, 1))
    with pytest.raises(AssertionError):
        check(forgetful, EXCHANGED, 2)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_records_that_come_or_go_are_refused(row: Row) -> None:
    with pytest.raises(InvalidParameter):
        row.build(row.spend, NoisyRecordCount(), 1)


def law(game: Game, queries: QuerySet, counts: Wholes) -> np.ndarray:
    """The exact law of all that a game does, its hidden draws included."""
    if isinstance(game, SampledGame):
        return np.array([chance for *_, chance in sampled_views(game, queries, counts)])
    assert isinstance(game, ExpectedGame)
    return expected_views(game, queries, counts)


def renyi(first: np.ndarray, second: np.ndarray, order: float) -> float:
    logs = order * np.log(first) + (1 - order) * np.log(second)
    return math.log(math.fsum(np.exp(logs).tolist())) / (order - 1)


def small_game(kind: str, records: int) -> Game:
    """Short steps of the query player, whose law stays near even: there its price is needed."""
    shape = shape_of(2, 1, 1)
    if kind == "SampledGame":
        return replace(sampled(shape, 10, 1, step_q=0.4, step_x=1), records=records)
    return replace(expected(shape, 10, 1, rounds=5, step_q=0.4, step_x=2), records=records)


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("kind", sorted(GAMES))
def test_a_game_s_exact_law_hides_all_records(kind: str, records: int) -> None:
    """All pairs of tables of ten records in two cells that differ in so many of them."""
    game = small_game(kind, records)
    queries = QuerySet(game.shape, np.array([[255, 0]], dtype=np.uint8))
    event = replace(game, randomness=SYSTEM).event
    rho, epsilon = float(event.zcdp().rho), float(event.epsilon(delta=0))
    needed, least = 0.0, 0.0
    for first in range(11 - records):
        here, there = (
            law(game, queries, np.array([cell, 10 - cell])) for cell in (first, first + records)
        )
        assert here.sum() == pytest.approx(1)
        least = max(least, float(np.abs(np.log(here / there)).max()))
        for order in (1.01, 2, 8):
            needed = max(needed, renyi(here, there, order) / order)
            needed = max(needed, renyi(there, here, order) / order)
    assert 0.85 * rho < needed <= rho
    assert 0.5 * epsilon < least <= epsilon


def facts(records: int) -> PublicRound:
    return PublicRound(
        universe=SQUARE,
        size=PublicCount(10**7),
        analysts=5000,
        most=2,
        spend=RHO,
        protects=OneQuery(),
        promise=PROMISE,
        asked=Conjunctions(2),
        rounds=20,
        records=records,
    )


@pytest.mark.parametrize("records", RECORDS)
def test_a_planned_round_is_planned_for_all_records(records: int) -> None:
    """Whatever is offered is made for them, and keeps the spend; games are planned from less."""
    options = [option for option in plan_round(facts(records)).ranked if not option.refusal]
    assert len(options) == 6
    for option in options:
        assert option.mechanism is not None
        assert option.mechanism.records == records
        assert priced(option.mechanism.event, RHO) <= 0.5 * (1 + 1e-9)
    assert budget_of(facts(records)).data_rho == pytest.approx(0.5 / records**2)
