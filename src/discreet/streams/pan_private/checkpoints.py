"""A saved state is an intrusion: pan-private streams keep none, or account for the one they keep.

The guarantee covers one look at the memory, at a moment that nobody announced. A checkpoint is such
a look for whoever finds the file, and so is every copy of it. A stream therefore says when it is
opened which of the two it is: :data:`NO_CHECKPOINT` refuses to write its state, and a crash ends
it; :data:`ONE_CHECKPOINT` writes it once, and from then on promises nothing about a second look.

Source: 000b:B36, B42; contract, "Spending" (pan-private noise).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import Exhausted, InvalidParameter
from discreet.mechanisms.sparse_vector.above_threshold import Live


@dataclass(frozen=True)
class Checkpoints:
    """How many times a pan-private stream writes its state: never, or once."""

    allowed: int

    def __post_init__(self) -> None:
        """Refuse more than one: there is no guarantee for two looks at the memory."""
        if self.allowed not in (0, 1):
            raise InvalidParameter(
                code="checkpoints_not_covered",
                expectation="NO_CHECKPOINT or ONE_CHECKPOINT",
                received=self.allowed,
                remedy="Two looks at the memory are not covered; open a second stream instead.",
            )

    def statement(self) -> str:
        """What holds, in one sentence."""
        if not self.allowed:
            return "Covers one look at the memory at any moment; no state is ever written."
        return "Covers one look at the memory; writing the state, which can be done once, is it."


NO_CHECKPOINT = Checkpoints(0)
"""The state is never written; a crash ends the stream."""

ONE_CHECKPOINT = Checkpoints(1)
"""The state is written at most once, and this is the one intrusion that is covered."""


class Seizable(Live):
    """What live pan-private streams share: they write their state as often as was accounted for."""

    def __init__(self, checkpoints: Checkpoints, written: int = 0) -> None:
        """Begin with what was accounted for, less what was written before."""
        super().__init__()
        self._checkpoints = checkpoints
        self._written = written

    @property
    def statement(self) -> str:
        """What is covered now."""
        if self._written:
            return "The state was written: that was the one look that is covered, no other is."
        return self._checkpoints.statement()

    def _count_checkpoint(self) -> None:
        """Account for writing the state, or refuse it."""
        if self._written >= self._checkpoints.allowed:
            raise Exhausted(
                code="checkpoint_not_covered",
                expectation="a stream that accounts for one more look at its memory",
                received=self._checkpoints.allowed,
                remedy="Open it with checkpoints=ONE_CHECKPOINT, and write the state once.",
            )
        self._written += 1
