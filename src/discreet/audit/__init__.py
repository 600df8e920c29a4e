"""Attack what the library claims: exact checks, statistical tests, black-box audits.

The names a privacy engineer needs are here; ``discreet.audit.testers`` holds the whole test
kit: neighbours, distances, sensitivities, hypothesis strategies, concentration bounds.
"""

from discreet.audit import testers
from discreet.audit.testers import (
    BrokenTwin,
    ContinuousLaw,
    DiscreteLaw,
    FalseAlarms,
    Finding,
    FiniteMechanism,
    GivenEvents,
    LearnedEvents,
    Verdict,
    Violation,
    accepts,
    audit,
    bins,
    check_pair,
    hockey_stick,
    min_delta,
    min_epsilon,
    outcome,
    repeated,
    three_sided,
    violates,
)

__all__ = [
    "BrokenTwin",
    "ContinuousLaw",
    "DiscreteLaw",
    "FalseAlarms",
    "Finding",
    "FiniteMechanism",
    "GivenEvents",
    "LearnedEvents",
    "Verdict",
    "Violation",
    "accepts",
    "audit",
    "bins",
    "check_pair",
    "hockey_stick",
    "min_delta",
    "min_epsilon",
    "outcome",
    "repeated",
    "testers",
    "three_sided",
    "violates",
]
