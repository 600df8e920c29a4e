"""Scores over several runs: means, intervals that hold, and nothing from a single one."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.synthetic import evaluate, repeated_scores
from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation, TableScores


def run(score: float, gap: float | None = None) -> NonPrivateEvaluation:
    scores = TableScores({1: score}, {1: score}, correlation=gap)
    return NonPrivateEvaluation(scores, {}, {}, {}, (), (10, 10))


def test_means_and_intervals_are_those_of_student() -> None:
    found = repeated_scores([run(0.1, 0.2), run(0.2, 0.2), run(0.3)])
    assert set(found.scores) == {"1-way TV"}  # one run has no pairs
    score = found.scores["1-way TV"]
    assert (score.mean, score.deviation) == pytest.approx((0.2, 0.1))
    assert score.high - score.mean == pytest.approx(4.302653 * 0.1 / math.sqrt(3))
    assert score.mean - score.low == pytest.approx(score.high - score.mean)
    assert not found.private
    assert str(found).startswith("NOT PRIVATE")


@pytest.mark.parametrize("runs", [2, 5])
def test_intervals_hold_as_often_as_they_say(runs: int) -> None:
    """2 000 times at .9: fewer than 1 735 or more than 1 865 have chances below 1e-6."""
    rng, held = np.random.default_rng(runs), 0
    for _ in range(2000):
        found = repeated_scores([run(x) for x in rng.normal(0.3, 0.05, runs)], confidence=0.9)
        score = found.scores["1-way TV"]
        held += score.low <= 0.3 <= score.high
    assert 1735 < held < 1865


@pytest.mark.parametrize("runs", [0, 1])
def test_one_run_does_not_say_how_runs_differ(runs: int) -> None:
    with pytest.raises(DiscreetError) as refused:
        repeated_scores([run(0.1)] * runs)
    assert refused.value.code == "too_few_runs"


def test_evaluations_of_tables_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.synthetic.evaluation.evaluate.can_learn", lambda: False)
    rng, columns = np.random.default_rng(1), {"a": dp.Number(0, 10), "b": dp.Number(0, 10)}
    tables = [{"a": rng.random(200) * 10, "b": rng.random(200) * 10} for _ in range(4)]
    evaluations = []
    for other in tables[1:]:
        found = evaluate(tables[0], other, columns=columns)
        assert isinstance(found, NonPrivateEvaluation)
        evaluations.append(found)
    together = repeated_scores(evaluations)
    assert together.runs == 3
    assert {"1-way TV", "2-way TV", "correlation gap"} <= set(together.scores)


@pytest.mark.parametrize(("real", "other"), [(0, 5), (5, 0), (0, 0)])
def test_tables_without_rows_are_evaluated_too(real: int, other: int) -> None:
    rows = [{"a": np.arange(float(many))} for many in (real, other)]
    found = evaluate(rows[0], rows[1], columns={"a": dp.Number(0, 10)})
    assert isinstance(found, NonPrivateEvaluation)
    assert found.rows == (real, other)
