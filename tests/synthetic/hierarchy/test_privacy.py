"""What TopDown hides, and its twins do not: measured on neighbours, and attacked.

The first test cannot fail by chance; audits refute a true claim with probability at most 1e-6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.guarantee import Guarantee
from discreet.events import Composed
from discreet.queries.record_count import NoisyRecordCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.hierarchy.level_noise import LevelNoises
from discreet.synthetic.hierarchy.levels import Hierarchy, Level
from discreet.synthetic.hierarchy.topdown import TopDown, ToyDown
from tests.queries.mechanism_rows import COME_OR_GO, EXCHANGED, PURE, RECORDS, RHO, Row, check
from tests.queries.transcripts import Tape, taped

SQUARE = Universe.of(town=["a", "b", "c"], sex=["f", "m"])
GROUPS = {"a": "north", "b": "south", "c": "south"}
LEVELS = Hierarchy(
    (Level("all"), Level("region", by="town", groups=GROUPS, share=2), Level("town", by="town"))
)
PAIR = Universe.of(town=["a", "b"])
FOUR = Hierarchy(
    (
        Level("all"),
        Level("part", by="town", groups={"a": 1, "b": 2}),
        Level("region", by="town", groups={"a": 1, "b": 2}),
        Level("town", by="town"),
    )
)


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("relation", [COME_OR_GO, EXCHANGED])
@pytest.mark.parametrize("spend", [PURE, RHO], ids=["PureDP", "ZCDP"])
@pytest.mark.parametrize("kind", [TopDown, ToyDown])
def test_all_records_of_a_person_are_hidden_for_the_price(
    kind: type[TopDown], spend: Guarantee, relation: str, records: int
) -> None:
    def build(paid: Guarantee, size: RecordCount, most: int) -> Any:
        asked = Workload.marginal(SQUARE, ["town"])
        return kind(asked, paid, size, LEVELS, records=most)

    noise = "DiscreteLaplace" if spend is PURE else "DiscreteGaussian"
    check(Row(kind.__name__, "", build, {noise: 0.99}, spend), relation, records)


@pytest.mark.parametrize("kind", [TopDown, ToyDown])
def test_the_price_is_that_of_the_noise_that_was_drawn(kind: type[TopDown]) -> None:
    mechanism = kind(Workload.marginal(SQUARE, ["town"]), PURE, NoisyRecordCount(), LEVELS)
    tape = Tape(np.random.default_rng(0))
    with taped(tape):
        mechanism.release(np.arange(6))
    steps = tape.rewind()
    assert isinstance(mechanism.event, Composed)
    assert sorted(map(str, mechanism.event.parts)) == sorted(str(step.paid) for step in steps)
    by_size = {step.values.size: step.values.tolist() for step in steps}
    assert by_size == {2: [6, 9], 4: [0, 1, 6, 8], 6: [0, 1, 2, 3, 4, 5]}


@dataclass(frozen=True)
class PaidOnce(TopDown):
    """A twin that gives every level the whole spend, and charges it once."""

    @cached_property
    def noises(self) -> LevelNoises:
        once = Hierarchy((Level("all", share=0), Level("town", by="town")))
        last = TopDown(self.workload, self.spend, self.size, once).noises[-1]
        return (last,) * 4

    @property
    def event(self) -> Any:
        assert self.noises[-1] is not None
        return self.noises[-1].event


def audited(mechanism: TopDown, here: list[int], there: list[int], epsilon: float) -> Finding:
    def release(counts: NDArray[np.int64]) -> object:
        first = int(mechanism.release(counts).marginal(["town"])[0])
        return min(max(first, 3), 8)

    return audit(
        repeated(release),
        np.array(here),
        np.array(there),
        epsilon=epsilon,
        delta=0,
        events=LearnedEvents(outcome),
        trials=5000,
        confidence=1 - 1e-6,
    )


@pytest.mark.audit
def test_the_claim_stands_and_that_of_a_twin_that_pays_once_does_not() -> None:
    """One record lies in a node of each level, and each tells as much as the whole price."""
    asked, spend = Workload.marginal(PAIR, ["town"]), dp.PureDP(epsilon=1)
    honest = TopDown(asked, spend, NoisyRecordCount(), FOUR)
    twin = PaidOnce(asked, spend, NoisyRecordCount(), FOUR)
    assert honest.event.epsilon(delta=0) == twin.event.epsilon(delta=0) == 1
    assert audited(honest, [6, 0], [5, 0], 1).passes
    assert not audited(twin, [6, 0], [5, 0], 1).passes
