"""The real tables of the suite ``queries``, as codes and as counts over a universe.

Adult is census-like and known to everybody. MWEM's numbers come from two health surveys, but that
all marginals are measured where they are few was thought of on seeing Adult's curve. The General
Social Survey was looked at only to report it.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peers import ROOT, Missing, Peer

from discreet.queries.workload.universe import Universe

sys.path.append(str(ROOT / "examples"))


@dataclass(frozen=True)
class Table:
    """People, one row of codes each, over a universe."""

    name: str
    universe: Universe
    codes: NDArray[np.int64]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many people are in each cell."""
        found = np.zeros(self.universe.shape, dtype=np.int64)
        np.add.at(found, tuple(self.codes.T), 1)
        return found

    def write(self, path: Path) -> None:
        """For peers."""
        np.savez(path, codes=self.codes, shape=np.array(self.universe.shape))

    def only(self, name: str, *names: str) -> Table:
        """Fewer attributes, for those that take all day over more."""
        places = [self.universe.place(name) for name in names]
        sizes = {each: range(self.universe.shape[p]) for each, p in zip(names, places, strict=True)}
        return Table(name, Universe.of(**sizes), self.codes[:, places])


def tables() -> list[Table]:
    """Every table that can be had; the others are left out with a message."""
    found = []
    for name, load in (("adult", adult), ("survey", survey)):
        try:
            found.append(load())
        except (FileNotFoundError, Missing) as reason:
            print(f"MISSING {name}: {reason}", file=sys.stderr)
    return found


def adult() -> Table:
    """The Adult table over eight attributes: 235 200 cells, 32 561 people."""
    import adult as source

    data = source.load()
    columns = {
        "age": (7, [min((age - 15) // 10, 6) for age in data.age]),
        "education": (8, [(years - 1) // 2 for years in data.education_years]),
        "marital": (7, [source.MARITAL_STATUSES.index(x) for x in data.marital_status]),
        "relationship": (6, [source.RELATIONSHIPS.index(x) for x in data.relationship]),
        "race": (5, [source.RACES.index(x) for x in data.race]),
        "sex": (2, [source.SEXES.index(x) for x in data.sex]),
        "hours": (5, [min(hours // 20, 4) for hours in data.hours_per_week]),
        "income": (2, [source.INCOMES.index(x) for x in data.income]),
    }
    universe = Universe.of(**{name: range(size) for name, (size, _) in columns.items()})
    codes = np.array([codes for _, codes in columns.values()], dtype=np.int64).T
    return Table("adult", universe, codes)


def survey() -> Table:
    """The General Social Survey over eight attributes: 240 000 cells, 61 182 people."""
    with tempfile.TemporaryDirectory(prefix="queries-") as folder:
        path = Path(folder) / "survey.npz"
        with Peer("datasets", "peer_datasets_mwem.py") as peer:
            peer.seconds(to=str(path))
        columns = dict(np.load(path))
    universe = Universe.of(**{name: range(int(x.max()) + 1) for name, x in columns.items()})
    return Table("survey", universe, np.array(list(columns.values()), dtype=np.int64).T)
