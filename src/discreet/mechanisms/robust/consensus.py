"""Release what most random blocks of rows agree on, exactly, from a range of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.parameters import count, exact
from discreet.mechanisms.robust.ballots import lead
from discreet.mechanisms.robust.blocks import Function, apply, split
from discreet.mechanisms.robust.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.robust.noisy_test import NoisyTest
from discreet.mechanisms.robust.stability import Stable


@dataclass(frozen=True, kw_only=True)
class BlockConsensus(Stable):
    """Any function of rows, released exactly if disjoint random blocks clearly agree on it.

    Rows go to ``blocks`` random blocks, each block casts one vote, ``function`` of its rows. The
    vote that is ahead is released if its lead, halved and less one, passes the test. Unlike
    :class:`SubsampleVote` the range need not be known, and its size does not matter.

    Assumptions: a row is a person; neighbours differ by one row added, removed or replaced, the
    others keeping their order. ``function`` looks at nothing but its block and keeps no memory.

    Contract: votes are numbers, text, bytes, booleans, or tuples or frozensets of these; a block
    whose function raises or returns anything else abstains.

    Guarantee: (epsilon, delta)-differential privacy (in truth delta/2), for every function. A
    failed test is :class:`NoAnswer` at the same price.

    >>> consensus = BlockConsensus(function=max, blocks=50, epsilon=1, delta=1e-6)
    >>> consensus.lead_needed(confidence=0.95)
    35

    Source: 000b:B8, the practical variant of A_samp. Proof: ``proofs/robust-stability.md``.
    """

    function: Function
    blocks: int

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        super().__post_init__()
        object.__setattr__(self, "blocks", count("blocks", self.blocks))

    @property
    def test(self) -> NoisyTest:
        """lead/2 - 1 + Lap(1/epsilon) > ln(1/delta)/epsilon, in votes: all of it doubled."""
        return NoisyTest.with_false_pass(
            epsilon=self.epsilon, chance=exact(self.delta) / 2, limit=2, sensitivity=2
        )

    def release(self, rows: Any) -> Any | NoAnswer:
        """The consensus itself, or no answer."""
        first = lead(apply(self.function, split(rows, self.blocks, self.randomness)))
        passed = self.test.passes(first.gap, self.randomness)
        return first.winner if passed and first.any_votes else NO_ANSWER

    def lead_needed(self, *, confidence: float) -> int:
        """How many votes the first must be ahead of the second to be answered."""
        return self.test.least_value(confidence=confidence)
