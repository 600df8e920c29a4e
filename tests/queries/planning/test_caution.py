"""What is only predicted by a trial must be clearly better than what is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.noise.randomness import SYSTEM, Seeded
from discreet.queries.planning.options import Basis, MechanismOption, Predicted, _Tried
from discreet.queries.planning.plan import ReleasePlan, plan
from discreet.queries.planning.request import MechanismBuilder, ReleaseRequest
from discreet.queries.planning.surrogate import surrogate
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


class Drifting(_Tried):
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


def test_of_three_trials_the_middle_one_counts() -> None:
    request = ReleaseRequest(LINE, dp.PureDP(epsilon=1), about=100)
    assert Drifting().predict(request).error == pytest.approx(1.0)
    # Without a seed there is no drift, so the errors above are those of the trials.
    counts = surrogate(LINE.universe, 100)
    sure = request.made(Drifting().build(request), SYSTEM).release(counts)
    assert np.asarray(sure.answers(LINE)) == pytest.approx(counts)
