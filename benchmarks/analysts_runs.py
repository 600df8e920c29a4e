"""A hundred games at full size: the s-th largest error never passes the promised alpha.

Runs only when asked for: ``make bench only=analysts_runs``; half an hour on two quiet cores.
"""

from __future__ import annotations

import sys

from analysts_data import reference_counts
from analysts_releases import Trial
from timing import Figure

from discreet.queries.analysts.planning_game import BETA
from discreet.queries.analysts.sampled_game import SampledGame

RECORDS = 100_000
RUNS = 100


def figures() -> list[Figure]:
    """Ratios to the bound, the largest of them, and the errors."""
    trial = Trial(reference_counts(RECORDS))
    option = next(each for each in trial.plan().ranked if each.name == "sampled game")
    game = option.mechanism
    assert isinstance(game, SampledGame)
    alpha = game.alpha(beta=BETA)
    print(f"analysts_runs alpha {alpha:.3f} ", end="", file=sys.stderr, flush=True)
    ranked, largest, mean = [], [], []
    for _ in range(RUNS):
        errors = trial.game(game)
        ranked.append(errors.ranked(game.s) / alpha)
        largest.append(errors.largest)
        mean.append(errors.mean)
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    name = "analysts_runs/sampled game"
    return [
        Figure(name=f"{name}/s-th over alpha", values=ranked, unit="x"),
        Figure(name=f"{name}/worst s-th over alpha", values=(max(ranked),), unit="x", at_most=1),
        Figure(name=f"{name}/largest", values=largest, unit="share", at_most=0.15),
        Figure(name=f"{name}/worst largest", values=(max(largest),), unit="share", at_most=0.15),
        Figure(name=f"{name}/mean", values=mean, unit="share", at_most=0.02),
    ]
