"""Testers: exact checks, statistical tests and black-box audits of privacy claims.

Nothing here draws randomness: samplers and mechanisms are passed in.
"""

from discreet.audit.testers.alarms import FalseAlarms
from discreet.audit.testers.broken_twin import BrokenTwin, check_pair
from discreet.audit.testers.distances import (
    changed_rows,
    discrete,
    l1,
    l2,
    linf,
    symmetric_difference,
)
from discreet.audit.testers.events import (
    EventSearch,
    GivenEvents,
    LearnedEvents,
    OutcomeEvent,
    bins,
    outcome,
)
from discreet.audit.testers.exact import Violation, exp_bounds, violates, worst_ratio
from discreet.audit.testers.finite import hockey_stick, min_delta, min_epsilon
from discreet.audit.testers.intervals import lower_limit, upper_limit
from discreet.audit.testers.laws import ContinuousLaw, DiscreteLaw, Evidence, StatedLaw, scaled
from discreet.audit.testers.mechanism import FiniteMechanism
from discreet.audit.testers.neighbours import (
    add_remove_pairs,
    awkward_numbers,
    awkward_values,
    replace_pairs,
)
from discreet.audit.testers.ratios import Finding, audit, epsilon_lower_bound, repeated
from discreet.audit.testers.samplers import (
    ThreeSided,
    Verdict,
    accepts,
    sample_size,
    three_sided,
)
from discreet.audit.testers.sensitivity import (
    SensitivityReport,
    add_remove_neighbours,
    data_sets,
    measure,
    replace_neighbours,
    steps,
    verify,
)

__all__ = [
    "BrokenTwin",
    "ContinuousLaw",
    "DiscreteLaw",
    "EventSearch",
    "Evidence",
    "FalseAlarms",
    "Finding",
    "FiniteMechanism",
    "GivenEvents",
    "LearnedEvents",
    "OutcomeEvent",
    "SensitivityReport",
    "StatedLaw",
    "ThreeSided",
    "Verdict",
    "Violation",
    "accepts",
    "add_remove_neighbours",
    "add_remove_pairs",
    "audit",
    "awkward_numbers",
    "awkward_values",
    "bins",
    "changed_rows",
    "check_pair",
    "data_sets",
    "discrete",
    "epsilon_lower_bound",
    "exp_bounds",
    "hockey_stick",
    "l1",
    "l2",
    "linf",
    "lower_limit",
    "measure",
    "min_delta",
    "min_epsilon",
    "outcome",
    "repeated",
    "replace_neighbours",
    "replace_pairs",
    "sample_size",
    "scaled",
    "steps",
    "symmetric_difference",
    "three_sided",
    "upper_limit",
    "verify",
    "violates",
    "worst_ratio",
]
