"""The names under which releases for several analysts are written down, for ever.

As in :mod:`discreet.mechanisms.tags`.
"""

from __future__ import annotations

from dataclasses import is_dataclass

from discreet.core.written import Form
from discreet.queries.analysts import (
    baselines,
    correction,
    expected_game,
    failing_analysts,
    guarantee,
    planning,
    profile,
    profiled_marginals,
    public_marginals,
    public_round,
    query_class,
    query_set,
    sampled_game,
)

FORMS: dict[object, Form] = {
    correction.Correction: Form(
        "queries.analysts.correction.Correction",
        "shape size epsilon cutoff threshold records randomness",
    ),
    expected_game.ExpectedGame: Form(
        "queries.analysts.expected_game.ExpectedGame",
        "shape size s rounds batch_x step_x step_q protects records randomness",
    ),
    failing_analysts.AnalystRuns: Form("queries.analysts.failing_analysts.AnalystRuns", "analysts"),
    failing_analysts.FailingAnalysts: Form(
        "queries.analysts.failing_analysts.FailingAnalysts",
        "shape size runs threshold bits each records randomness",
    ),
    guarantee.AnalystGuarantee: Form("queries.analysts.guarantee.AnalystGuarantee", "unit event"),
    guarantee.OneAnalyst: Form("queries.analysts.guarantee.OneAnalyst"),
    guarantee.OneQuery: Form("queries.analysts.guarantee.OneQuery"),
    baselines.NoisyHistogram: Form(
        "queries.analysts.histogram.NoisyHistogram",
        "universe spend size records randomness",
        later="choice",
    ),
    baselines.PaddedNoise: Form(
        "queries.analysts.independent.IndependentNoise",
        "universe queries spend size records randomness",
        later="choice",
    ),
    planning.plan_round: Form("queries.analysts.planning.plan_round", "facts"),
    profile.ProfileRelease: Form(
        "queries.analysts.profile.ProfileRelease",
        "universe asked spend each randomness",
        later="choice",
    ),
    profiled_marginals.ProfiledMarginals: Form(
        "queries.analysts.profiled_marginals.ProfiledMarginals",
        "universe asked spend size protects promise records randomness",
    ),
    public_marginals.PublicMarginals: Form(
        "queries.analysts.public_marginals.PublicMarginals",
        "universe ways spend size importance records randomness",
        later="choice",
    ),
    public_round.PublicRound: Form(
        "queries.analysts.public_round.PublicRound",
        "universe size analysts most spend protects promise asked topics rounds records randomness",
    ),
    query_class.AnyQuery: Form("queries.analysts.query_class.AnyQuery"),
    query_class.Conjunctions: Form("queries.analysts.query_class.Conjunctions", "ways"),
    query_set.QuerySet: Form("queries.analysts.query_set.QuerySet", "shape rows"),
    query_set.RoundShape: Form(
        "queries.analysts.query_set.RoundShape", "universe analysts most levels"
    ),
    sampled_game.SampledGame: Form(
        "queries.analysts.sampled_game.SampledGame",
        "shape size s rounds batch_x step_x step_q protects records randomness batch_q promise",
    ),
}

for _kind, _form in FORMS.items():
    if is_dataclass(_kind) and isinstance(_kind, type):
        _form.require_all(_kind, compared=False)
