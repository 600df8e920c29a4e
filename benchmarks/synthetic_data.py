"""The real tables of the suite ``synthetic``, each binned once and for all, in public.

Adult has all its columns but the sampling weight: 14 of them, 32 561 people; its published test
half, 16 281 people, is held out. The General Social Survey is that of the suite ``queries``, and
the insurance table is ``HealthInsurance`` of the R package AER, 11 columns; of both, a fifth
of the rows, chosen once at random, is held out. Nobody but the classifier's examiner sees these.
Settings of mechanisms were fixed before survey and insurance were looked at.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers import ROOT, Missing, Peer
from queries_data import Table, survey

from discreet.core.domain import Categories, Domain
from discreet.core.unit import PrivacyUnit, Row
from discreet.queries.workload.universe import Universe

sys.path.append(str(ROOT / "examples"))

ADULT = (
    *("age", "workclass", "weight", "education", "education_num", "marital", "occupation"),
    *("relationship", "race", "sex", "gain", "loss", "hours", "country", "income"),
)
GAINS = (0, 2000, 5000, 10_000, 20_000)
LOSSES = (0, 1500, 1800, 2000, 2500)
_ORDER = 11


@dataclass(frozen=True)
class Trial:
    """A table to be synthesised, people held out from it, and the column that they are asked."""

    table: Table
    held_out: Any
    target: str

    @property
    def name(self) -> str:
        """That of the table."""
        return self.table.name

    @property
    def place(self) -> int:
        """Where the target is."""
        return self.table.universe.place(self.target)


class CodedRows:
    """Rows of codes that count themselves: what a synthesiser sees of a table in memory."""

    def __init__(self, table: Table) -> None:
        """Codes by column, so that counting reads memory in order."""
        self._universe = table.universe
        self._columns = np.ascontiguousarray(table.codes.T)

    @property
    def unit(self) -> PrivacyUnit:
        """Each row is a person."""
        return Row()

    def domain(self, column: str) -> Domain:
        """The values of an attribute."""
        return Categories(self._universe.attributes[self._universe.place(column)].values)

    def counts(self, columns: Sequence[str]) -> Any:
        """Exact counts by some attributes."""
        places = [self._universe.place(name) for name in columns]
        shape = [self._universe.shape[place] for place in places]
        cells = np.zeros(self._columns.shape[1], dtype=np.int64)
        for place, size in zip(places, shape, strict=True):
            cells = cells * size + self._columns[place]
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def trials() -> list[Trial]:
    """Every table that can be had; the others are left out with a message."""
    found = []
    for name, load in (("adult", adult), ("survey", surveyed), ("insurance", insurance)):
        try:
            found.append(load())
        except (FileNotFoundError, Missing) as reason:
            print(f"MISSING {name}: {reason}", file=sys.stderr)
    return found


def adult() -> Trial:
    """Fourteen columns; numbers in fixed bins, words by their order in the alphabet."""
    import adult as source

    known, asked = (
        _adult_rows(source.locate()),
        _adult_rows(source.locate().with_name("adult.test")),
    )
    columns: dict[str, Any] = {}
    for place, name in enumerate(ADULT):
        values = np.array([row[place].rstrip(".") for row in (*known, *asked)])
        match name:
            case "weight":
                continue
            case "age":
                codes = np.clip((values.astype(int) - 15) // 5, 0, 14)
            case "hours":
                codes = np.clip(values.astype(int) // 10, 0, 9)
            case "gain":
                codes = np.searchsorted(GAINS, values.astype(int))
            case "loss":
                codes = np.searchsorted(LOSSES, values.astype(int))
            case _:
                codes = np.unique(values, return_inverse=True)[1]
        columns[name] = codes
    both = _table("adult", columns)
    rows = len(known)
    return Trial(Table("adult", both.universe, both.codes[:rows]), both.codes[rows:], "income")


def _adult_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file, skipinitialspace=True) if len(row) == len(ADULT)]


def surveyed() -> Trial:
    """Eight columns."""
    return _divided(survey(), "gender")


def insurance() -> Trial:
    """Eleven columns; ages in fixed bins."""
    with tempfile.TemporaryDirectory(prefix="synthetic-") as folder:
        path = Path(folder) / "insurance.npz"
        with Peer("datasets", "peer_datasets_synthetic.py") as peer:
            peer.seconds(to=str(path))
        return _divided(_table("insurance", dict(np.load(path))), "insurance")


def _divided(table: Table, target: str) -> Trial:
    """Four fifths to be synthesised, one fifth held out."""
    order = np.random.default_rng(_ORDER).permutation(len(table.codes))
    out, kept = np.sort(order[::5]), np.sort(np.delete(order, np.s_[::5]))
    return Trial(Table(table.name, table.universe, table.codes[kept]), table.codes[out], target)


def _table(name: str, columns: dict[str, Any]) -> Table:
    universe = Universe.of(**{each: range(int(x.max()) + 1) for each, x in columns.items()})
    return Table(name, universe, np.array(list(columns.values()), dtype=np.int64).T)
