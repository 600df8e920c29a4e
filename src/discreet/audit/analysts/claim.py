"""The audit of a promise between analysts, by sampling on two worlds of queries.

Source: analysts-verified:H1; 004d:A8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.audit.analysts.neighbours import Query, QueryWorlds, Submitted
from discreet.audit.analysts.views import JointView, RoundView, Watch, joint_view
from discreet.audit.testers import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.errors import Mismatch
from discreet.core.parameters import Number
from discreet.queries.analysts.guarantee import AnalystGuarantee, AnalystUnit, OneAnalyst

_WORDS = {True: "not refuted", False: "refuted"}


@dataclass(frozen=True)
class AnalystFinding:
    """What the joint view of all others showed about one query, or one analyst.

    ``passes`` means only that the promise was not refuted.
    """

    unit: AnalystUnit
    finding: Finding

    @property
    def claimed(self) -> float:
        """The epsilon that analysts were promised, at the audit's delta."""
        return self.finding.epsilon

    @property
    def lower_bound(self) -> float:
        """The epsilon that was realised at least, with the audit's confidence."""
        return self.finding.lower_bound

    @property
    def passes(self) -> bool:
        """Whether the promise survives."""
        return self.finding.passes

    def __str__(self) -> str:
        """The claim, the bound and the verdict in a line."""
        found = self.finding
        return (
            f"{self.unit!r}: claimed epsilon {found.epsilon:.3g} at delta {found.delta:.3g}, "
            f"at least {found.lower_bound:.3g} with confidence {found.confidence:g}: "
            f"{_WORDS[found.passes]}"
        )


def audit_analysts(
    play: Callable[[Submitted[Query]], RoundView],
    worlds: QueryWorlds[Query],
    *,
    promise: AnalystGuarantee,
    delta: Number,
    watch: Watch,
    trials: int,
    confidence: float,
) -> AnalystFinding:
    """Try to refute ``promise`` at ``delta`` by what all others see in two worlds of queries.

    Contract: ``play`` runs a whole round on everybody's queries, each time with fresh noise; data
    and all public settings stay the same. ``watch`` sorts joint views into not too many classes;
    half of the trials choose the events, the other half tests them.
    Guarantee: a true promise is refuted with probability at most 1 - confidence.
    """
    if not _covers(promise.unit, worlds.unit):
        raise Mismatch(
            code="analyst_units_differ",
            expectation=f"worlds that {promise.unit!r} covers",
            received=worlds.unit,
            remedy="Change one query only, or audit a promise for one analyst.",
        )

    def play_and_watch_round(submitted: Submitted[Query]) -> object:
        view: JointView = joint_view(play(submitted), worlds.victim)
        return watch(view)

    found = audit(
        repeated(play_and_watch_round),
        worlds.first,
        worlds.second,
        epsilon=promise.epsilon(delta=float(delta)),
        delta=delta,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=confidence,
    )
    return AnalystFinding(promise.unit, found)


def _covers(promised: AnalystUnit, changed: AnalystUnit) -> bool:
    """Replacing an analyst may replace one query; not the other way round."""
    return isinstance(promised, OneAnalyst) or promised == changed
