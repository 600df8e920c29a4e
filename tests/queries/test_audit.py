"""Black-box audits of whole releases: claims are not refuted, and those of broken twins are.

A true claim is refuted with probability at most 1e-6 in each audit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import (
    BrokenTwin,
    Finding,
    LearnedEvents,
    audit,
    check_pair,
    min_epsilon,
    outcome,
    repeated,
)
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.mechanisms import AboveThreshold
from discreet.queries.boosting.base import BaseGenerator, ExponentialNet, NoisySample
from discreet.queries.boosting.boosting import BoostingForQueries
from discreet.queries.boosting.fits import LeastSquaresFit
from discreet.queries.boosting.reweighting import STEPS, Reweighting, in_steps
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.mwem.fitting import NoisyMeasurement
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.mwem.rounds import MarginalRound, Noise
from discreet.queries.net import NetMechanism, small_databases
from discreet.queries.online.comparisons import Comparisons
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.iterative_construction import IterativeConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.families import Prefixes
from discreet.queries.workload.linear_query import Region
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

TWO = Universe.of(x=range(2))
CELLS = Workload.marginals(TWO, 1)
PREFIXES = Workload.of(TWO, {"x": Prefixes(2)})
FOUR_CELLS = Workload.marginals(Universe.of(x=range(4)), 1)
FIRST = Region((2,), (slice(0, 1),))


Release = Callable[[NDArray[np.int64]], object]


def audited(
    release: Release, x: list[int], y: list[int], epsilon: float, trials: int = 1200
) -> Finding:
    return audit(
        repeated(release),
        np.array(x),
        np.array(y),
        epsilon=epsilon,
        delta=0,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=1 - 1e-6,
    )


@dataclass(frozen=True)
class Forgetful(MarginalRound):
    """A twin that measures without noise."""

    def measure(
        self,
        workload: Workload,
        place: int,
        truth: list[NDArray[np.float64]],
        noise: Noise,
        spread: float,
    ) -> NoisyMeasurement:
        class Silent:
            def release(self, value: NDArray[np.int64]) -> NDArray[np.int64]:
                return value

        return super().measure(workload, place, truth, Silent(), spread)


def test_mwem_keeps_its_claim_and_the_twin_without_noise_does_not() -> None:
    honest = MWEM(CELLS, dp.PureDP(epsilon=1), PublicCount(4), 2)
    twin = replace(honest, each=Forgetful())

    def release(mechanism: MWEM, counts: NDArray[np.int64]) -> float:
        return round(float(mechanism.release(counts).counts[0]), 1)

    assert audited(lambda counts: release(honest, counts), [4, 0], [3, 1], 1).passes
    assert not audited(lambda counts: release(twin, counts), [4, 0], [3, 1], 1).passes


def test_a_bought_number_of_records_is_part_of_the_claim() -> None:
    honest = MWEM(CELLS, dp.PureDP(epsilon=1), NoisyRecordCount(), 2)
    assert audited(
        lambda counts: round(float(honest.release(counts).counts.sum())), [2, 0], [3, 0], 1
    ).passes


def test_a_conversation_keeps_its_claim() -> None:
    """Four questions; the transcript is which of them were answered from the hypothesis."""
    plan = OnlineConstruction(
        MultiplicativeUpdater(2, 0.4), dp.PureDP(epsilon=1), PublicCount(4), 1, cutoff=1
    )

    def transcript(counts: NDArray[np.int64]) -> tuple[int, ...]:
        session = plan.open(counts)
        said = []
        for _ in range(4):
            session.ask(FIRST)
            said.append(session.updates_left)
        return tuple(said)

    assert audited(transcript, [4, 0], [3, 1], 1).passes


def test_a_twin_with_the_noise_of_means_under_counts_is_refuted() -> None:
    """Twenty records: a mean moves by a twentieth, a count by one."""

    def compared(sensitivity: float, counts: NDArray[np.int64]) -> bool:
        rounds = Comparisons(AboveThreshold(epsilon=1, threshold=1, sensitivity=sensitivity))
        return rounds.above(abs(float(counts[0]) - 5))

    assert audited(lambda counts: compared(1, counts), [7, 3], [6, 4], 1).passes
    assert not audited(lambda counts: compared(0.05, counts), [7, 3], [6, 4], 1).passes


class Unattenuated(Reweighting):
    """A twin in which an error counts in full as soon as it passes the threshold."""

    def excess(self, truth: NDArray[np.int64], answers: NDArray[np.float64]) -> NDArray[np.int64]:
        beyond = np.abs(truth - in_steps(answers)) > int(Fraction(self.within) * STEPS)
        return np.where(beyond, int(Fraction(self.slack) * STEPS), 0)


class Leaky(BoostingForQueries):
    """Boosting with that reweighting."""

    @cached_property
    def reweighting(self) -> Reweighting:
        sound = BoostingForQueries.reweighting.func(self)  # type: ignore[attr-defined]
        return Unattenuated(sound.within, sound.slack, sound.advantage)


def _second_sample(kind: type[BoostingForQueries]) -> Release:
    """Which cells the second round's table takes from noise: what was drawn shows in it."""
    plan = kind(
        FOUR_CELLS,
        dp.PureDP(epsilon=1),
        PublicCount(400),
        sample=3,
        base=NoisySample(LeastSquaresFit()),
        rounds=2,
        advantage=0.45,
        within=30,
        drawing=0.25,
    )
    return lambda counts: tuple((np.abs(plan.release(counts).tables[1] - 100) > 0.5).tolist())


@pytest.mark.audit
def test_boosting_keeps_its_claim_and_the_twin_without_attenuation_does_not() -> None:
    """One record takes a query's error past the threshold, unless it was measured at first."""
    x, y = [131, 90, 90, 89], [130, 91, 90, 89]
    assert audited(_second_sample(BoostingForQueries), x, y, 1, trials=3000).passes
    assert not audited(_second_sample(Leaky), x, y, 1, trials=3000).passes


def test_small_databases_are_chosen_within_their_claim_exactly() -> None:
    """All pairs of neighbours, by the exact law; with the score's sensitivity halved, not."""
    tables = [np.array([a, b, 4 - a - b]) for a in range(5) for b in range(5 - a)]
    asked = Workload.marginals(Universe.of(x=range(3)), 1)

    def loss(epsilon: float) -> float:
        chooser = NetMechanism(asked, small_databases(3, 4), epsilon, PublicCount(4))
        pairs = [(x, y) for x in tables for y in tables if np.abs(x - y).sum() == 2]
        return max(min_epsilon(chooser.distribution(x), chooser.distribution(y)) for x, y in pairs)

    assert loss(1) <= 1
    assert loss(2) > 1


@pytest.mark.parametrize("given", [{"records": 0.5}, {"records": 0}, {"size": NoisyRecordCount()}])
def test_a_choice_from_a_net_refuses_what_would_understate_its_sensitivity(
    given: dict[str, object],
) -> None:
    usual = {"workload": CELLS, "net": small_databases(2, 4), "epsilon": 1, "size": PublicCount(4)}
    with pytest.raises(InvalidParameter):
        NetMechanism(**(usual | given))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Attack:
    """A release by epsilon, a pair of neighbours, and what is claimed.

    The twin spends ``factor`` times as much: more where a release shows little of what it spends.
    """

    name: str
    at: Callable[[float], Release]
    x: tuple[int, ...]
    y: tuple[int, ...]
    epsilon: float = 1.0
    delta: float = 0.0
    factor: int = 6
    trials: int = 4000


def _mwem(epsilon: float) -> Release:
    plan = MWEM(CELLS, dp.PureDP(epsilon=epsilon), PublicCount(4), 2)
    return lambda counts: round(float(plan.release(counts).counts[0]))


def _bought(epsilon: float) -> Release:
    plan = MWEM(CELLS, dp.PureDP(epsilon=epsilon), NoisyRecordCount(Fraction(1, 2)), 1, passes=1)
    return lambda counts: min(round(float(plan.release(counts).counts.sum())), 9)


def _matrix(spend: Guarantee) -> Release:
    plan = MatrixMechanism(PREFIXES, spend)
    return lambda counts: min(max(round(float(plan.release(counts).answers(PREFIXES)[0])), -3), 8)


def _constructed(epsilon: float) -> Release:
    """It ends at once where the measured share of a cell is near one half."""
    updater = MultiplicativeUpdater(2, 0.3)
    plan = IterativeConstruction(CELLS, updater, dp.PureDP(epsilon=epsilon), PublicCount(4))
    return lambda counts: round(float(plan.release(counts).answers(CELLS)[0]), 1)


def _conversation(epsilon: float) -> Release:
    """The answers to four questions, coarsely, and after which of them an update was paid."""
    updater = MultiplicativeUpdater(2, 0.4)
    plan = OnlineConstruction(updater, dp.PureDP(epsilon=epsilon), PublicCount(4), 1, cutoff=1)

    def transcript(counts: NDArray[np.int64]) -> object:
        session = plan.open(counts)
        return tuple((round(session.ask(FIRST), 0), session.updates_left) for _ in range(2))

    return transcript


def _small_database(epsilon: float) -> Release:
    plan = NetMechanism(CELLS, small_databases(2, 4), epsilon, PublicCount(4))
    return lambda counts: float(plan.release(counts).counts[0])


def _boosted(epsilon: float, base: BaseGenerator) -> Release:
    plan = BoostingForQueries(
        CELLS,
        dp.PureDP(epsilon=epsilon),
        PublicCount(4),
        sample=2,
        base=base,
        rounds=2,
        within=0,
        drawing=0.1,
    )
    return lambda counts: min(max(round(float(plan.release(counts).tables.sum(0)[0])), -4), 12)


ATTACKS = [
    Attack("MWEM", _mwem, (4, 0), (3, 1)),
    Attack("MWEM, bought", _bought, (2, 0), (3, 0)),
    Attack("Matrix", lambda e: _matrix(dp.PureDP(epsilon=e)), (4, 0), (3, 0)),
    Attack(
        "Matrix, normal",
        lambda e: _matrix(dp.ApproxDP(epsilon=e, delta=0.01)),
        (4, 0),
        (3, 0),
        delta=0.01,
    ),
    Attack("IterativeConstruction", _constructed, (4, 0), (3, 1), factor=600, trials=1000),
    Attack("OnlineConstruction", _conversation, (4, 0), (3, 1), factor=12),
    Attack("SmallDB", _small_database, (4, 0), (3, 1)),
    Attack(
        "Boosting", lambda e: _boosted(e, NoisySample(LeastSquaresFit())), (4, 0), (3, 1), factor=12
    ),
    Attack(
        "Boosting, net",
        lambda e: _boosted(e, ExponentialNet(small_databases(2, 4))),
        (4, 0),
        (3, 1),
    ),
]


@pytest.mark.audit
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_claim_survives_and_that_of_a_spendthrift_twin_does_not(attack: Attack) -> None:
    """False alarms: 1e-9 per case."""

    def auditor(release: Release) -> Finding:
        return audit(
            repeated(release),
            np.array(attack.x),
            np.array(attack.y),
            epsilon=attack.epsilon,
            delta=attack.delta,
            events=LearnedEvents(outcome),
            trials=attack.trials,
            confidence=1 - 1e-9,
        )

    twin = BrokenTwin(
        attack.name,
        sound=attack.at(attack.epsilon),
        broken=attack.at(attack.factor * attack.epsilon),
        why=f"spends {attack.factor} times what it claims",
    )
    check_pair(twin, auditor)
