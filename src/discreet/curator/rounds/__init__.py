"""Rounds: many analysts' queries answered by one release that hides them from each other.

Opening, submitting, running once and resuming, with the pages that a ledger keeps. The mechanisms
are in :mod:`discreet.queries.analysts`.
"""

from discreet.curator.rounds.results import AnalystResults, RoundResults
from discreet.curator.rounds.round import Round

__all__ = ["AnalystResults", "Round", "RoundResults"]
