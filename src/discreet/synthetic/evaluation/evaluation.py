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

FORM = "synthetic-evaluation/1"
NOT_PRIVATE = "NOT PRIVATE: computed from the real rows without noise; for the data owner alone"


@dataclass(frozen=True)
class TableScores:
    """How near one table is to the real one.

    Attributes:
        marginals: The mean total variation of marginals, by their number of columns.
        worst: The largest one, by their number of columns.
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


@dataclass(frozen=True, eq=False)
class NonPrivateEvaluation:
    """A comparison of a synthetic table with the real one, which shows real numbers. NOT PRIVATE.

    Contract: for the data owner alone. The service and its publications refuse it.

    Attributes:
        scores: Of the synthetic table.
        references: Of other tables: a 40 % subsample, independent columns, 25-anonymity.
        pairs: The total variation of each pair of columns, by their names.
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

    @property
    def private(self) -> bool:
        """Always false: real rows were read and nothing was paid."""
        return False

    @property
    def warning(self) -> str:
        """What every form of it says first."""
        return NOT_PRIVATE

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
        tables = {"synthetic": self.scores, **self.references}
        wide = max(map(len, tables))
        ways = sorted(self.scores.marginals)
        head = "".join(f"  {k}-way TV" for k in ways) + "  classifier  told apart"
        lines = [NOT_PRIVATE, " " * wide + head]
        for name, scores in tables.items():
            errors = "".join(f"  {scores.marginals[k]:8.4f}" for k in ways)
            learnt = "" if scores.classifier is None else f"{scores.classifier.synthetic:.3f}"
            told = "" if scores.discriminator is None else f"{scores.discriminator:.3f}"
            lines.append(f"{name:<{wide}}{errors}  {learnt:>10}  {told:>10}")
        if self.scores.classifier is not None:
            best = self.scores.classifier
            lines.append(
                f"predicting {best.target}: {best.real:.3f} from real rows, "
                f"{best.majority:.3f} by its most frequent value"
            )
        lines += [f"{words}: {number} rows" for words, number in self.scores.violations.items()]
        return "\n".join(lines)

    __repr__ = __str__


def _plain(scores: TableScores) -> dict[str, Any]:
    plain: dict[str, Any] = asdict(scores)
    for name in ("marginals", "worst"):
        plain[name] = {str(ways): value for ways, value in plain[name].items()}
    return plain
