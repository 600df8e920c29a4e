"""One option of a plan, and how a plan is written down.

Source: analysts-verified:H10 ("Planner rows").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.core.events.event import Event
from discreet.core.guarantee import ApproxDP
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.guarantee import AnalystGuarantee, AnalystUnit
from discreet.queries.analysts.predicted_error import PredictedError
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.sampled_game import SampledGame

PerfectRelease: TypeAlias = PaddedNoise | NoisyHistogram | PublicMarginals
RoundRelease: TypeAlias = PerfectRelease | ProfiledMarginals | SampledGame | ExpectedGame

_HEADINGS = ("option", "largest error", "mean error", "known from", "analysts pay", "seconds", "")


@dataclass(frozen=True, kw_only=True)
class RoundOption:
    """A release, or why there is none.

    ``error`` is in shares of the records. ``basis`` says where it is known from: the law of the
    noise, a proved promise, or an assumption. A promise has no mean error.
    """

    name: str
    mechanism: RoundRelease | None
    error: PredictedError | None
    basis: str
    analysts: AnalystGuarantee
    seconds: float = math.nan
    refusal: str = ""

    @classmethod
    def perfect(
        cls,
        name: str,
        mechanism: PerfectRelease,
        error: PredictedError,
        *,
        unit: AnalystUnit,
        seconds: float,
    ) -> RoundOption:
        """A release that no query influences."""
        return cls(
            name=name,
            mechanism=mechanism,
            error=error,
            basis="law of noise",
            analysts=AnalystGuarantee(unit),
            seconds=seconds,
        )

    @property
    def largest(self) -> float:
        """The predicted largest error; infinite where nothing is predicted."""
        return math.inf if self.error is None else self.error.largest

    @property
    def event(self) -> Event | None:
        """What the data pays."""
        return None if self.mechanism is None else self.mechanism.event

    def row(self, promise: ApproxDP) -> tuple[str, ...]:
        """The option as a line of a table; whatever costs analysts keeps the promise."""
        if self.mechanism is None:
            paid = "-"
        elif self.analysts.perfect:
            paid = "nothing"
        else:
            paid = f"({float(promise.epsilon):g}, {float(promise.delta):g})"
        mean = math.nan if self.error is None else self.error.mean
        numbers = (self.largest, mean)
        shown = (f"{each:.2g}" if math.isfinite(each) else "-" for each in numbers)
        seconds = f"{self.seconds:.1f}" if math.isfinite(self.seconds) else "-"
        return (self.name, *shown, self.basis, paid, seconds, self.refusal)


def refused(
    name: str, unit: AnalystUnit, reason: str, error: PredictedError | None = None
) -> RoundOption:
    """An option that cannot help, and why."""
    basis = "promise" if error else "-"
    return RoundOption(
        name=name,
        mechanism=None,
        error=error,
        basis=basis,
        analysts=AnalystGuarantee(unit),
        refusal=f"refused: {reason}",
    )


def plan_text(head: str, options: Sequence[RoundOption], foot: str, *, promise: ApproxDP) -> str:
    """A head, aligned rows, and a foot."""
    rows = [_HEADINGS, *(option.row(promise) for option in options)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([head, "", *lines, "", foot])
