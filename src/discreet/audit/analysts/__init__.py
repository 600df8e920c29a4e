"""Audits of what analysts learn about each other: neighbouring query sets, joint views, bounds.

The mechanisms under audit are in :mod:`discreet.queries.analysts`.
"""

from discreet.audit.analysts.claim import AnalystFinding, audit_analysts
from discreet.audit.analysts.neighbours import (
    QueryWorlds,
    among_fakes,
    analyst_replaced,
    query_changed,
)
from discreet.audit.analysts.rounds import (
    corrected_game_round,
    correction_round,
    game_round,
    independent_round,
    profile_round,
)
from discreet.audit.analysts.views import (
    JointView,
    RoundView,
    answers_within,
    corrections_seen,
    points_in,
)

__all__ = [
    "AnalystFinding",
    "JointView",
    "QueryWorlds",
    "RoundView",
    "among_fakes",
    "analyst_replaced",
    "answers_within",
    "audit_analysts",
    "corrected_game_round",
    "correction_round",
    "corrections_seen",
    "game_round",
    "independent_round",
    "points_in",
    "profile_round",
    "query_changed",
]
