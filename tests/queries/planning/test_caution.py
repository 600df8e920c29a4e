"""What is only predicted by a trial must be clearly better than what is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.noise.randomness import SYSTEM, Seeded
from discreet.queries.planning.option import Basis, MechanismOption, Predicted
from discreet.queries.planning.plan import ReleasePlan, plan
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest
from discreet.queries.planning.surrogate import surrogate
from discreet.queries.planning.tried_options import TriedOption
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

LINE = Workload.marginals(Universe.of(x=range(4)), 1)


class Stated(MechanismOption):
    """Errs by so much, takes so long, and says where that is known from."""

    def __init__(self, name: str, error: float, basis: Basis, seconds: float = 1.0) -> None:
        self.name = name
        self._predicted = Predicted(error, seconds, basis)

    def unfit(self, request: ReleaseRequest) -> str | None:
        return None

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        raise AssertionError

    def seconds(self, request: ReleaseRequest) -> float:
        return self._predicted.seconds

    def predict(self, request: ReleaseRequest) -> Predicted:
        return self._predicted


def planned(*options: MechanismOption, within: float | None = None) -> ReleasePlan:
    return plan(LINE, spend=dp.PureDP(epsilon=1), about=100, within=within, options=options)


@pytest.mark.parametrize("basis", [Basis.COMPUTED, Basis.BOUND])
def test_a_trial_outranks_what_is_proved_only_where_it_is_a_tenth_better(basis: Basis) -> None:
    proved = Stated("proved", 1.0, basis)
    assert planned(proved, Stated("tried", 0.95, Basis.TRIAL)).chosen.name == "proved"
    assert planned(proved, Stated("tried", 0.9, Basis.TRIAL)).chosen.name == "tried"
    assert planned(proved, Stated("other", 0.95, basis)).chosen.name == "other"


def test_a_trial_reaches_a_wanted_error_only_with_a_tenth_to_spare() -> None:
    """Both would do; the faster comes first unless its error is too doubtful."""
    slow = Stated("slow", 0.5, Basis.COMPUTED, seconds=9)
    assert planned(slow, Stated("fast", 0.95, Basis.TRIAL), within=1).chosen.name == "slow"
    assert planned(slow, Stated("fast", 0.9, Basis.TRIAL), within=1).chosen.name == "fast"


class Drifting(TriedOption):
    """A mechanism whose error in a trial is known: the trial's own number."""

    name = "drifting"

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        def made(*, randomness: Any, **_: Any) -> Any:
            class Made:
                event = dp.events.Nothing()

                def release(self, counts: Any) -> HistogramSynopsis:
                    off = float(randomness.seed) if isinstance(randomness, Seeded) else 0.0
                    return HistogramSynopsis(request.workload.universe, counts + off, self.event)

            return Made()

        return made

    def seconds(self, request: ReleaseRequest) -> float:
        return 0.0


def test_trials_count_by_the_root_of_their_mean_square_with_its_standard_error() -> None:
    """Errors 0, 1, 2, 3: squares of mean 3.5 and deviation 4.041."""
    request = ReleaseRequest(LINE, dp.PureDP(epsilon=1), about=100)
    found = Drifting().predict(request)
    assert found.error == pytest.approx(3.5**0.5)
    assert found.standard_error == pytest.approx(4.041 / 2 / (2 * 3.5**0.5), rel=1e-3)
    assert found.trials == 4
    # Without a seed there is no drift, so the errors above are those of the trials.
    counts = surrogate(LINE.universe, 100)
    sure = request.make_mechanism(Drifting().build(request), SYSTEM).release(counts)
    assert np.asarray(sure.answers(LINE)) == pytest.approx(counts)


class Scattered(TriedOption):
    """An error with a standard error that falls with the number of trials."""

    def __init__(self, name: str, centre: float, scatter: float) -> None:
        self.name, self._centre, self._scatter = name, centre, scatter

    def seconds(self, request: ReleaseRequest) -> float:
        return 0.0

    def build(self, request: ReleaseRequest) -> MechanismBuilder:
        raise AssertionError

    def _tried(self, request: ReleaseRequest, many: int) -> Predicted:
        spread = self._scatter / many**0.5
        return Predicted(self._centre, 0.0, Basis.TRIAL, standard_error=spread, trials=many)


def test_trials_go_on_until_neighbours_in_the_ranking_are_told_apart() -> None:
    far = planned(Scattered("far", 1.0, 0.05), Scattered("further", 3.0, 0.05))
    assert [each.predicted.trials for each in far.ranked] == [4, 4]
    near = planned(Scattered("near", 1.0, 0.2), Scattered("nearer", 1.15, 0.2))
    assert max(each.predicted.trials for each in near.ranked) == 32
    assert [each.name for each in near.ranked] == ["near", "nearer"]
    equal = planned(Scattered("one", 1.0, 0.0001), Scattered("two", 1.001, 0.0001))
    assert [each.predicted.trials for each in equal.ranked] == [4, 4]
    hopeless = planned(Scattered("a", 1.0, 9.0), Scattered("bc", 1.2, 9.0))
    assert max(each.predicted.trials for each in hopeless.ranked) == 64


def test_a_trial_is_shown_with_its_standard_error_and_how_often_it_was_run() -> None:
    told = planned(Scattered("far", 1.0, 0.05), Stated("sure", 0.5, Basis.COMPUTED)).explain()
    assert " ± 0.025 " in told
    assert "trial on invented data, 4 times" in told
    assert "sure" in told.splitlines()[1]
    assert "±" not in told.splitlines()[1]
