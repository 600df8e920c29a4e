"""People and their rows as tables with values: what a curator leaves of several tables.

Source: contract, "What may be seen".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.noise.sampling import permutation
from discreet.queries.workload.universe import Universe
from discreet.release.guarantee import guarantee_text, guarantee_to_dict, protection_text
from discreet.release.release import Release
from discreet.synthetic.encoding.encoded_column import Codes
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.synthetic_release import SyntheticRelease
from discreet.synthetic.synthetic_table import SyntheticTable
from discreet.synthetic.tables.tables_model import TablesModel

FORM = "tables-release/1"
"""Of the text; part of it."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TablesRelease:
    """A model of people and their rows, released once.

    Contract: everything in it is public or was paid for; whatever is computed from it is free.

    Attributes:
        id: Random; it names this release.
        query: What was made, in words.
        parent: The name of the table of people.
        keys: For each table, the column that says whose a row is.
        encodings: For each table, its columns as cells.
        model: What was left behind.
        guarantee: What was promised, with its unit.
        event: What the mechanisms did.
        facts: Public facts about it.
    """

    id: str
    query: str
    parent: str
    keys: Mapping[str, str]
    encodings: Mapping[str, TableEncoding]
    model: TablesModel
    guarantee: Guarantee
    event: Event
    facts: Mapping[str, Any]

    @property
    def private(self) -> bool:
        """Whether it was made with private noise; false in test mode."""
        return bool(self.facts.get("private"))

    def sample(
        self, n: int | None = None, *, randomness: Source = SYSTEM
    ) -> dict[str, SyntheticTable]:
        """``n`` people with their rows, by the names of the tables; the noisy total without ``n``.

        People are numbered from one, and rows have the number of their owner.
        """
        number = None if n is None else count("n", n, least=0)
        made = self.model.sample(number, randomness=randomness)
        order = permutation(len(made.codes), randomness)  # some models make rows cell by cell
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.arange(1, len(order) + 1)
        codes = np.asarray(made.codes, dtype=np.int64)[order]
        tables = {self.parent: self._table(self.parent, np.sort(numbers), codes, randomness)}
        for name, rows in made.children.items():
            owners = numbers[rows.owners]
            by = np.argsort(owners, kind="stable")
            own = np.asarray(rows.codes, dtype=np.int64)[by]
            tables[name] = self._table(name, owners[by], own, randomness)
        return tables

    def people(self, *columns: str) -> Release:
        """Estimated counts of people by some of their columns: it exports, plots and prints."""
        alone = SyntheticRelease(
            id=self.id,
            query=self.query,
            encoding=self.encodings[self.parent],
            model=_PeopleAlone(self.model.people, self.parent),
            guarantee=self.guarantee,
            event=self.event,
            budget_split={},
            facts=self.facts,
        )
        return alone.table(*columns)

    def to_json(self) -> str:
        """All of it on one line, for machines."""
        plain = {
            "form": FORM,
            "id": self.id,
            "query": self.query,
            "parent": self.parent,
            "keys": dict(self.keys),
            "encodings": [[name, each.to_dict()] for name, each in self.encodings.items()],
            **self.model.to_dict(),
            "guarantee": guarantee_to_dict(self.guarantee),
            "facts": dict(self.facts),
        }
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it to a file, as JSON; :func:`load_tables` reads it."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def _table(
        self, name: str, numbers: NDArray[np.int64], codes: Codes, randomness: Source
    ) -> SyntheticTable:
        encoding = self.encodings[name]
        values = encoding.decode(codes, randomness)
        return SyntheticTable({self.keys[name]: numbers.tolist(), **values}, encoding.digits)

    def __repr__(self) -> str:
        """What it is, and what it cost."""
        unit = protection_text(self.guarantee.unit)
        lines = [self.query, f"{guarantee_text(self.guarantee)} for {unit}"]
        if not self.private:
            lines.append("NOT PRIVATE: made in test mode")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class _PeopleAlone:
    """A model of people by the names of their own attributes, without the numbers of their rows."""

    model: SyntheticModel
    table: str

    @cached_property
    def universe(self) -> Universe:
        start = f"{self.table}."
        own = (each for each in self.model.universe.attributes if each.name.startswith(start))
        return Universe(tuple(replace(each, name=each.name.removeprefix(start)) for each in own))

    @property
    def total(self) -> float:
        return self.model.total

    @property
    def event(self) -> Event:
        return self.model.event

    def marginal(self, names: Sequence[str]) -> Floats:
        return self.model.marginal([f"{self.table}.{name}" for name in names])

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        places = [self.model.universe.place(f"{self.table}.{n}") for n in self.universe.names]
        return self.model.sample(n, randomness=randomness)[:, places]

    def to_dict(self) -> Mapping[str, object]:
        return self.model.to_dict()
