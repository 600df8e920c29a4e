"""A contest charges every contender and the choice, and the better one mostly wins."""

import json
from functools import cached_property, partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.mechanisms import PermuteAndFlip
from discreet.queries.independent import IndependentNoise
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.planning.contest import Contest, Won, _score
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.synopses.synopsis import HistogramSynopsis, synopsis_from_dict
from discreet.queries.workload.families import Prefixes
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SQUARE = Universe.of(a=range(4), b=range(4))
BOTH = Workload.marginals(SQUARE, 1)
COUNTS = np.arange(16) * 100


def contest(epsilon: float = 1.0) -> Contest:
    few = partial(MWEM, rounds=2)
    return Contest(BOTH, dp.PureDP(epsilon=epsilon), NoisyRecordCount(), (IndependentNoise, few))


def test_all_contenders_and_the_choice_are_charged() -> None:
    asked = contest()
    assert asked.event.epsilon(delta=0) == pytest.approx(1, rel=1e-9)
    assert asked.event.epsilon(delta=0) <= 1
    parts = [each.event.epsilon(delta=0) for each in asked.mechanisms]
    assert parts == pytest.approx([0.45, 0.45])
    assert asked.selector.event.epsilon(delta=0) == pytest.approx(0.1)


def test_a_concentrated_spend_is_kept() -> None:
    asked = Contest(
        BOTH, dp.ZCDP(rho=0.2), NoisyRecordCount(), (IndependentNoise, IndependentNoise)
    )
    assert asked.event.zcdp().rho <= 0.2
    assert asked.event.zcdp().rho == pytest.approx(0.2, rel=1e-6)


def test_the_released_synopsis_bears_the_whole_price() -> None:
    found = contest().release(COUNTS)
    assert isinstance(found, Won)
    assert found.event == contest().event
    assert found.answers(BOTH).shape == (8,)


def test_one_record_moves_a_score_by_no_more_than_declared() -> None:
    numbers = np.random.default_rng(3)
    moved = contest().workload.queries * (256 + 1)
    for _ in range(200):
        answers = numbers.normal(0, 10.0 ** numbers.integers(0, 12), 8)
        truth = BOTH.answers(COUNTS)
        cell = numbers.integers(0, 16)
        near = BOTH.answers(COUNTS + np.eye(16, dtype=int)[cell])
        assert abs(_score(answers, truth) - _score(answers, near)) <= moved


def test_the_better_mechanism_mostly_wins() -> None:
    # Exact answers against zeros: 100 choices, all right but with probability e**-100.
    class Zeros:
        event = dp.events.Nothing()

        def __init__(self, **_: object) -> None:
            pass

        def release(self, counts: object) -> HistogramSynopsis:
            return HistogramSynopsis(SQUARE, np.zeros(16), self.event)

    asked = Contest(BOTH, dp.PureDP(epsilon=10), NoisyRecordCount(), (Zeros, IndependentNoise))
    wins = [isinstance(asked.release(COUNTS).winner, HistogramSynopsis) for _ in range(100)]
    assert sum(wins) == 0


def test_a_contest_needs_rivals_and_an_explicit_universe() -> None:
    with pytest.raises(InvalidParameter, match="at least two"):
        Contest(BOTH, dp.PureDP(epsilon=1), PublicCount(10), (IndependentNoise,))
    wide = Universe.of(**{f"a{i}": range(2) for i in range(30)})
    with pytest.raises(InvalidParameter) as refused:
        Contest(
            Workload.marginals(wide, 1),
            dp.PureDP(epsilon=1),
            NoisyRecordCount(),
            (IndependentNoise, IndependentNoise),
        )
    assert refused.value.code == "universe_too_large"


def test_a_kept_winner_is_read_back_with_its_price() -> None:
    found = contest().release(COUNTS)
    again = synopsis_from_dict(json.loads(json.dumps(found.to_dict())), SQUARE, found.event)
    assert (again.answers(BOTH) == found.answers(BOTH)).all()
    assert isinstance(again, Won)
    assert again.event == found.event
    assert again.winner.event == found.winner.event


class PerQuery(Contest):
    """A twin: the sensitivity of one query's error for that of the sum over all of them."""

    @cached_property
    def selector(self) -> PermuteAndFlip:
        return PermuteAndFlip(epsilon=self._shares[0].epsilon, sensitivity=256 + 1)  # type: ignore[union-attr]


def largest_loss(kind: type[Contest]) -> float:
    """Of the winner's exact law, over neighbours that move all errors; answers 0 against 2n."""
    line = Universe.of(x=range(16))
    prefixes = Workload.of(line, {"x": Prefixes(16)})
    asked = kind(prefixes, dp.PureDP(epsilon=10), NoisyRecordCount(), (IndependentNoise,) * 2)
    answers = np.zeros(16), np.full(16, 200.0)

    def law(records: int) -> NDArray[np.float64]:
        truth = np.full(16, float(records))  # all of them in the first cell
        scores = np.array([_score(each, truth) for each in answers], dtype=float)
        flipped = np.exp(float(asked.selector.rate()) * (scores.min() - scores.max()))
        first, second = (1 - flipped / 2, flipped / 2)[:: 1 if scores[0] >= scores[1] else -1]
        return np.array([first, second])

    pairs = [(law(n), law(n + 1)) for n in range(90, 110)]
    return max(float(np.abs(np.log(one / two)).max()) for one, two in pairs)


def test_the_choice_costs_what_is_charged_and_a_twin_that_forgets_the_queries_does_not() -> None:
    assert 0.3 < largest_loss(Contest) <= 1  # a tenth of the spend pays for the choice
    assert largest_loss(PerQuery) > 3


def test_a_contender_that_forgets_how_many_records_a_person_has_is_refused() -> None:
    def forgetful(*, workload: Workload, spend: Any, **_: Any) -> IndependentNoise:
        return IndependentNoise(workload, spend)

    asked = Contest(
        BOTH, dp.PureDP(epsilon=1), NoisyRecordCount(), (IndependentNoise, forgetful), records=2
    )
    with pytest.raises(InvalidParameter, match="mechanism_forgets"):
        _ = asked.event


def test_sums_of_very_many_large_errors_do_not_wrap_around() -> None:
    many = 1 << 22
    assert _score(np.full(many, 2.0**32), np.zeros(many)) < -(1 << 61)
    assert _score(np.full(many, -(2.0**32)), np.full(many, 2.0**32)) < -(1 << 61)
