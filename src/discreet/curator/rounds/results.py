"""What a closed round hands out: to each analyst the shared synopsis and their own answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.curator.rounds.run import Outcome
from discreet.curator.rounds.submission import Held
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.queries.analysts.guarantee import AnalystGuarantee


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AnalystResults:
    """One analyst's share of a round.

    Contract: a function of the public plan, the shared synopsis and this analyst's own queries;
    what it tells about others is what ``analysts`` prices.

    Attributes:
        analyst: Whose.
        answers: Estimated counts of the analyst's own queries, in the order they were submitted.
        corrected: Which of them were corrected: answered afresh, since the synopsis was far off.
        exhausted: Whether all corrections were used, so that later answers were not checked.
        synopsis: What everybody gets; None where there are only answers of one's own.
        guarantee: What was promised to the data's people, with its unit.
        event: What was done to the data.
        analysts: What all others together learn about one query, or one analyst.
    """

    analyst: str
    answers: NDArray[np.float64]
    corrected: NDArray[np.bool_]
    exhausted: bool
    synopsis: SynopsisRelease | None
    guarantee: Guarantee
    event: Event
    analysts: AnalystGuarantee

    def __repr__(self) -> str:
        """How many answers, and whether there is a synopsis."""
        more = "" if self.synopsis is None else " and a synopsis"
        return f"AnalystResults({self.analyst!r}: {len(self.answers)} answers{more})"


@dataclass(frozen=True, eq=False, repr=False)
class RoundResults:
    """What a round left behind; reading it is free. For the owner, who hands it out.

    ``synopsis`` is what everybody gets; None where there are only answers of one's own.
    """

    outcome: Outcome
    synopsis: SynopsisRelease | None
    queries: Callable[[str], Sequence[Held]]
    guarantee: Guarantee
    event: Event
    analysts: AnalystGuarantee

    def for_analyst(self, analyst: str) -> AnalystResults:
        """One analyst's share; refused to those who are not in the round."""
        own = self.outcome.for_analyst(analyst, self.queries(analyst))
        return AnalystResults(
            analyst=analyst,
            answers=own.answers,
            corrected=own.corrected,
            exhausted=own.exhausted,
            synopsis=self.synopsis,
            guarantee=self.guarantee,
            event=self.event,
            analysts=self.analysts,
        )

    def __repr__(self) -> str:
        """Nothing about anybody."""
        shared = "with a synopsis for everybody" if self.outcome.shared else "own answers only"
        return f"RoundResults({shared})"
