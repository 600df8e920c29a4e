"""What an evaluation found. One that read the real rows without a price is marked not private."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

from discreet.core.arrays import Floats
from discreet.synthetic.evaluation.classifiers import ClassifierScores
from discreet.synthetic.evaluation.rare_groups import RareGroup
from discreet.synthetic.evaluation.score_table import score_table

FORM = "synthetic-evaluation/1"
NOT_PRIVATE = "NOT PRIVATE: computed from the real rows without noise; for the data owner alone"


@dataclass(frozen=True)
class TableScores:
    """How near one table is to the real one.

    Attributes:
        marginals: The mean total variation of marginals, by their number of columns.
        worst: The largest one, by their number of columns.
        correlation: The mean distance of correlations of pairs of columns, if there are pairs.
        workload: The mean error of the queries that were asked for, as a share of all rows.
        classifier: Training on this table and testing on real rows, if a target was named.
        discriminator: The area under the curve of a classifier that tells it from the real table.
        violations: Rows that break each constraint.
    """

    marginals: Mapping[int, float]
    worst: Mapping[int, float]
    workload: float | None = None
    classifier: ClassifierScores | None = None
    discriminator: float | None = None
    violations: Mapping[str, int] = field(default_factory=dict)
    correlation: float | None = None

    def list_scores(self) -> dict[str, float | None]:
        """The scores that are numbers, by what they are called in tables; the worst apart."""
        learnt = None if self.classifier is None else self.classifier.synthetic
        agreed = None if self.classifier is None else self.classifier.agreement
        return {
            **{f"{k}-way TV": self.marginals[k] for k in sorted(self.marginals)},
            "correlation gap": self.correlation,
            "workload": self.workload,
            "classifier": learnt,
            "importance": agreed,
            "told apart": self.discriminator,
        }


@dataclass(frozen=True, eq=False)
class NonPrivateEvaluation:
    """A comparison of a synthetic table with the real one, which shows real numbers. NOT PRIVATE.

    Contract: for the data owner alone. The service and its publications refuse it.

    Attributes:
        scores: Of the synthetic table.
        references: Of other tables: a 40 % subsample, independent columns, 25-anonymity.
        pairs: The total variation of each pair of columns, by their names.
        correlations: Of each pair of columns, in the real and in the synthetic table.
        columns: For each column its labels, and shares in the real and the synthetic table.
        rare: Rare values in both tables.
        rows: How many real and synthetic rows there were.
    """

    scores: TableScores
    references: Mapping[str, TableScores]
    pairs: Mapping[tuple[str, str], float]
    columns: Mapping[str, tuple[tuple[str, ...], Floats, Floats]]
    rare: tuple[RareGroup, ...]
    rows: tuple[int, int]
    correlations: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Always false: real rows were read and nothing was paid."""
        return False

    @property
    def tables(self) -> dict[str, TableScores]:
        """The synthetic table and those it is compared with, by name."""
        return {"synthetic": self.scores, **self.references}

    @property
    def warning(self) -> str:
        """What every form of it says first."""
        return NOT_PRIVATE

    @property
    def meaning(self) -> tuple[str, ...]:
        """What is good, for each kind of score that there is."""
        told = ["TV, total variation of marginals: 0 is best, 1 is nothing in common."]
        if self.scores.correlation is not None:
            told.append("Correlation gap, the mean distance of correlations of pairs: 0 is best.")
        if self.scores.workload is not None:
            told.append("Workload, the mean error of its queries as a share of rows: 0 is best.")
        if self.scores.classifier is not None:
            best = self.scores.classifier
            told.append(
                f"Classifier of {best.target}, tested on real rows that nothing learnt from: "
                f"{best.real:.3f} right after training on real rows is what to come near to, "
                f"{best.majority:.3f} by always saying its most frequent value is nothing learnt."
            )
            if best.agreement is not None:
                told.append(
                    "Importance, the rank correlation of how much that classifier and one of real "
                    "rows use each column: 1 is best, 0 is none; of few columns it says little."
                )
        if any(each.discriminator is not None for each in self.tables.values()):
            told.append(
                "Told apart from real rows by a classifier (AUC): 0.5 is best, 1 is always."
            )
        return tuple(told)

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write a report with pictures: one file that needs nothing else."""
        from discreet.synthetic.evaluation.report import save_html

        save_html(self, path)

    def to_json(self) -> str:
        """The scores for machines, marked as not private."""
        plain = {
            "evaluation": {
                "form": FORM,
                "private": False,
                "scores": _plain(self.scores),
                "references": {name: _plain(each) for name, each in self.references.items()},
                "rare": [asdict(each) for each in self.rare],
            }
        }
        return json.dumps(plain, sort_keys=True)

    def __str__(self) -> str:
        """A table of scores, under the warning."""
        heads, rows = score_table({name: each.list_scores() for name, each in self.tables.items()})
        wide = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [NOT_PRIVATE, f"compared: {', '.join(self.columns)}"]
        for first, *others in (heads, *rows):
            told = (f"{each:>{size}}" for each, size in zip(others, wide[1:], strict=True))
            lines.append("  ".join([f"{first:<{wide[0]}}", *told]).rstrip())
        lines += self.meaning
        lines += [f"{words}: {number} rows" for words, number in self.scores.violations.items()]
        return "\n".join(lines)

    __repr__ = __str__


def _plain(scores: TableScores) -> dict[str, Any]:
    plain: dict[str, Any] = asdict(scores)
    for name in ("marginals", "worst"):
        plain[name] = {str(ways): value for ways, value in plain[name].items()}
    return plain
