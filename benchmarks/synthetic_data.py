"""The real tables of the suite ``synthetic``, each binned once and for all, in public.

Adult has all its columns but the sampling weight: 14 of them, 32 561 people. The General Social
Survey is that of the suite ``queries``. The insurance table is ``HealthInsurance`` of the R package
AER: 8 802 people, 11 columns.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Sequence
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


def tables() -> list[Table]:
    """Every table that can be had; the others are left out with a message."""
    found = []
    for name, load in (("adult", adult), ("survey", survey), ("insurance", insurance)):
        try:
            found.append(load())
        except (FileNotFoundError, Missing) as reason:
            print(f"MISSING {name}: {reason}", file=sys.stderr)
    return found


def adult() -> Table:
    """Fourteen columns; numbers in fixed bins, words by their order in the alphabet."""
    import adult as source

    with source.locate().open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if len(row) == len(ADULT)]
    raw = dict(zip(ADULT, map(np.array, zip(*rows, strict=True)), strict=True))
    del raw["weight"]
    columns: dict[str, Any] = {}
    for name, values in raw.items():
        match name:
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
    return _table("adult", columns)


def insurance() -> Table:
    """Eleven columns; ages in fixed bins."""
    with tempfile.TemporaryDirectory(prefix="synthetic-") as folder:
        path = Path(folder) / "insurance.npz"
        with Peer("datasets", "peer_datasets_synthetic.py") as peer:
            peer.seconds(to=str(path))
        return _table("insurance", dict(np.load(path)))


def _table(name: str, columns: dict[str, Any]) -> Table:
    universe = Universe.of(**{each: range(int(x.max()) + 1) for each, x in columns.items()})
    return Table(name, universe, np.array(list(columns.values()), dtype=np.int64).T)
