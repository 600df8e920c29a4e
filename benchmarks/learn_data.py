"""Real tables for learning, with bounds that both sides are given, and their splits.

Rules of estimators were adjusted while looking at some of the tables of :func:`tasks` and
:data:`LATER`; at those of :data:`FRESH` nobody looked before all rules stood.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from peers import Peer
from sklearn import datasets
from sklearn.model_selection import train_test_split

sys.path.append(str(Path(__file__).resolve().parent.parent / "examples"))


@dataclass(frozen=True)
class Task:
    """Features, target, and whether the target is a class."""

    name: str
    x: Any
    y: Any
    classes: int

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The same for both sides; a column that is constant is given some room."""
        low, high = self.x.min(axis=0), self.x.max(axis=0)
        return low, np.where(high > low, high, low + 1)

    def split(self, seed: int, path: Path) -> Path:
        """One split as a file that both sides read."""
        parts = train_test_split(self.x, self.y, test_size=0.2, random_state=seed)
        low, high = self.bounds
        target = np.array([self.y.min(), self.y.max()], dtype=float)
        names = ("x_fit", "x_test", "y_fit", "y_test")
        given = dict(zip(names, parts, strict=True))
        np.savez(path, **given, low=low, high=high, target=target, classes=self.classes)
        return path


def tasks() -> Iterator[Task]:
    """Five tables for classification, four for regression."""
    for name in ("breast_cancer", "wine", "iris", "digits"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield Task(name, x.astype(float), y, int(y.max()) + 1)
    numbers, income = adult()
    yield Task("adult", numbers, income, 2)
    x, y = datasets.load_diabetes(return_X_y=True)
    yield Task("diabetes", x, y, 0)
    yield Task("adult hours", np.delete(numbers, 2, axis=1), numbers[:, 2], 0)
    x, _ = datasets.load_iris(return_X_y=True)
    yield Task("iris petals", x[:, :3], x[:, 3], 0)
    x, _ = datasets.load_breast_cancer(return_X_y=True)
    yield Task("tumour area", x[:, [0, 1, 4, 5, 6]], x[:, 3], 0)


LATER = ("penguins", "pima", "insurance", "spam", "vote", "wages", "penguin_mass")
"""Five tables for classification, two for regression: fresh until spam and insurance were missed,
which led to centring and to the weight of a forest's trees."""
FRESH = ("credit", "titanic", "labour", "default", "diamonds", "pay")
"""Four for classification, two for regression; fixed before anything was fitted to them."""


def packaged_tasks(names: tuple[str, ...]) -> list[Task]:
    """Tables of a package by their names; ``Missing`` where it is not there."""
    with Peer("datasets", "peer_datasets_learn.py") as peer, TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        peer.seconds(to=str(path))
        with np.load(path) as found:
            tables = {name: (found[f"x_{name}"], found[f"y_{name}"]) for name in names}
    return [
        Task(name.replace("_", " "), x, y, int(y.max()) + 1 if y.dtype == np.int64 else 0)
        for name, (x, y) in tables.items()
    ]


def adult() -> tuple[Any, Any]:
    """Age, years of education, hours, sex, and whether married, of 32 561 people; and income."""
    import adult as source

    data = source.load()
    columns = [
        data.age,
        data.education_years,
        data.hours_per_week,
        [source.SEXES.index(each) for each in data.sex],
        [each.startswith("Married") for each in data.marital_status],
    ]
    income = [source.INCOMES.index(each) for each in data.income]
    return np.array(columns, dtype=float).T, np.array(income)
