"""Black-box audits of whole releases: claims are not refuted, and those of broken twins are.

A true claim is refuted with probability at most 1e-6 in each audit.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import Finding, Learned, audit, outcome, repeated
from discreet.mechanisms import AboveThreshold
from discreet.queries.comparisons import Comparisons
from discreet.queries.fitting import Measured
from discreet.queries.linear_query import Region
from discreet.queries.mwem import MWEM
from discreet.queries.mwem_rounds import Noise, OneMarginal
from discreet.queries.online_construction import OnlineConstruction
from discreet.queries.record_count import BoughtCount, PublicCount
from discreet.queries.universe import Universe
from discreet.queries.updaters import MultiplicativeUpdater
from discreet.queries.workload import Workload

TWO = Universe.of(x=range(2))
CELLS = Workload.marginals(TWO, 1)
FIRST = Region((2,), (slice(0, 1),))


def audited(release: object, x: list[int], y: list[int], epsilon: float) -> Finding:
    return audit(
        repeated(release),  # type: ignore[arg-type]
        np.array(x),
        np.array(y),
        epsilon=epsilon,
        delta=0,
        events=Learned(outcome),
        trials=1200,
        confidence=1 - 1e-6,
    )


@dataclass(frozen=True)
class Forgetful(OneMarginal):
    """A twin that measures without noise."""

    def measure(
        self,
        workload: Workload,
        place: int,
        truth: list[NDArray[np.float64]],
        noise: Noise,
        spread: float,
    ) -> Measured:
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
    honest = MWEM(CELLS, dp.PureDP(epsilon=1), BoughtCount(), 2)
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
            said.append(session.left)
        return tuple(said)

    assert audited(transcript, [4, 0], [3, 1], 1).passes


def test_a_twin_with_the_noise_of_means_under_counts_is_refuted() -> None:
    """Twenty records: a mean moves by a twentieth, a count by one."""

    def compared(sensitivity: float, counts: NDArray[np.int64]) -> bool:
        rounds = Comparisons(AboveThreshold(epsilon=1, threshold=1, sensitivity=sensitivity))
        return rounds.above(abs(float(counts[0]) - 5))

    assert audited(lambda counts: compared(1, counts), [7, 3], [6, 4], 1).passes
    assert not audited(lambda counts: compared(0.05, counts), [7, 3], [6, 4], 1).passes
