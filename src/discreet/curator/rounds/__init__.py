"""Rounds: many analysts' queries answered by one release that hides them from each other."""

from discreet.curator.rounds.results import AnalystResults, RoundResults
from discreet.curator.rounds.round import Round

__all__ = ["AnalystResults", "Round", "RoundResults"]
