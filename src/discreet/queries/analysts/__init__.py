"""Answers to everyone's queries that hide each analyst's questions from all the others.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
    from discreet.queries.analysts.correction import Correction
    from discreet.queries.analysts.expected_game import ExpectedGame
    from discreet.queries.analysts.failing_analysts import AnalystRuns, FailingAnalysts
    from discreet.queries.analysts.guarantee import AnalystGuarantee, OneAnalyst, OneQuery
    from discreet.queries.analysts.planning import plan_round
    from discreet.queries.analysts.profile import ProfileRelease
    from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
    from discreet.queries.analysts.public_marginals import PublicMarginals
    from discreet.queries.analysts.public_round import PublicRound
    from discreet.queries.analysts.query_class import AnyQuery, Conjunctions
    from discreet.queries.analysts.query_set import QuerySet, RoundShape
    from discreet.queries.analysts.sampled_game import SampledGame

__all__ = [
    "AnalystGuarantee",
    "AnalystRuns",
    "AnyQuery",
    "Conjunctions",
    "Correction",
    "ExpectedGame",
    "FailingAnalysts",
    "NoisyHistogram",
    "OneAnalyst",
    "OneQuery",
    "PaddedNoise",
    "ProfileRelease",
    "ProfiledMarginals",
    "PublicMarginals",
    "PublicRound",
    "QuerySet",
    "RoundShape",
    "SampledGame",
    "plan_round",
]

_NAMES = {
    "baselines": ("NoisyHistogram", "PaddedNoise"),
    "correction": ("Correction",),
    "expected_game": ("ExpectedGame",),
    "failing_analysts": ("AnalystRuns", "FailingAnalysts"),
    "guarantee": ("AnalystGuarantee", "OneAnalyst", "OneQuery"),
    "planning": ("plan_round",),
    "profile": ("ProfileRelease",),
    "profiled_marginals": ("ProfiledMarginals",),
    "public_marginals": ("PublicMarginals",),
    "public_round": ("PublicRound",),
    "query_class": ("AnyQuery", "Conjunctions"),
    "query_set": ("QuerySet", "RoundShape"),
    "sampled_game": ("SampledGame",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
