"""Scores of several releases of the same data: their means, and how sure the means are.

One release's score holds the luck of its noise and of the rows that were sampled from it. Releases
that were made independently differ by that luck alone, so the mean over runs has an interval by
Student's law. What all runs share has none: the data set itself, and whatever the scores do not
see.

Source: 004d:D8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from discreet.core.errors import InvalidData
from discreet.core.parameters import Number, probability
from discreet.synthetic.evaluation.evaluation import NOT_PRIVATE, NonPrivateEvaluation


@dataclass(frozen=True)
class RepeatedScore:
    """The mean of a score over runs, the interval of that mean, and the deviation of one run."""

    mean: float
    low: float
    high: float
    deviation: float


@dataclass(frozen=True)
class RepeatedScores:
    """Scores over several runs, by what they are called in tables. NOT PRIVATE.

    Assumptions: runs are independent, on the same data.

    Guarantee: none of privacy: real rows were read. For the data owner alone.

    Source: 004d:D8.
    """

    scores: Mapping[str, RepeatedScore]
    runs: int
    confidence: float

    @property
    def private(self) -> bool:
        """Always false: real rows were read and nothing was paid."""
        return False

    def __str__(self) -> str:
        """A line for each score, under the warning."""
        heads = [NOT_PRIVATE, f"means of {self.runs} runs, with {self.confidence:.0%} intervals"]
        lines = [
            f"{name}  {each.mean:.4f}  ({each.low:.4f} to {each.high:.4f})"
            for name, each in self.scores.items()
        ]
        return "\n".join(heads + lines)


def repeated_scores(
    evaluations: Sequence[NonPrivateEvaluation], *, confidence: Number = 0.95
) -> RepeatedScores:
    """What evaluations of several releases say together; not private, for the owner alone.

    Contract: releases of one mechanism, made independently of each other from the same rows.

    A score that any of them lacks is left out. Intervals are of the mean over all runs that could
    be made on these rows, each by itself.
    """
    if len(evaluations) < 2:
        raise InvalidData(
            code="too_few_runs",
            expectation="evaluations of at least two releases",
            received=len(evaluations),
            remedy="Make the release again, and evaluate each.",
        )
    level, runs = float(probability("confidence", confidence)), len(evaluations)
    listed = [each.scores.list_scores() for each in evaluations]
    found = {}
    for name in listed[0]:
        values = [value for each in listed if (value := each.get(name)) is not None]
        if len(values) == runs:
            mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
            half = float(t.ppf((1 + level) / 2, runs - 1)) * deviation / math.sqrt(runs)
            found[name] = RepeatedScore(mean, mean - half, mean + half, deviation)
    return RepeatedScores(found, runs, level)
