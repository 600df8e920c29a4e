"""A model of people with the numbers of their rows, and the laws of rows given their owner.

Source: 004b:A13.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.noise.randomness import SYSTEM, Source
from discreet.synthetic.model import SyntheticModel
from discreet.synthetic.tables.person_tables import OwnedRows, PersonTables
from discreet.synthetic.tables.private_rows import RowsLaw


@dataclass(frozen=True, eq=False)
class TablesModel:
    """People and their rows.

    For each child table people have an attribute of its name: how many rows they have in it.

    Contract: the laws are given attributes of people, with the same values.

    Assumptions: it was made from released values only.

    Guarantee: tables are post-processing, and free.

    Source: 004b:A13.
    """

    people: SyntheticModel
    rows: Mapping[str, RowsLaw]

    def __post_init__(self) -> None:
        """Refuse laws for other people than these."""
        known = {each.name: each.values for each in self.people.universe.attributes}
        for name, law in self.rows.items():
            numbers = known.get(name, ("none",))
            above = [law.universe.attributes[place] for place in law.given]
            whole = all(type(number) is int and number >= 0 for number in numbers)
            if not whole or any(known.get(each.name) != each.values for each in above):
                raise InvalidParameter(
                    code="tables_differ",
                    expectation=f"people with a number of rows {name!r}, and with the attributes "
                    "that rows are given",
                    received=list(known),
                    remedy="Make both universes from the same declared columns.",
                )

    @property
    def event(self) -> Event:
        """What making it cost."""
        return compose((self.people.event, *(law.event for law in self.rows.values())))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of people, in the order of their codes."""
        return tuple(name for name in self.people.universe.names if name not in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The models of all tables and their events by name, for JSON; people have no name."""
        parts: dict[str, SyntheticModel | RowsLaw] = {"": self.people, **self.rows}
        return {
            "plain": {name: dict(each.to_dict()) for name, each in parts.items()},
            "events": {name: each.event.to_json() for name, each in parts.items()},
        }

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> PersonTables:
        """People, as many as the noisy total if not given, and their rows."""
        universe = self.people.universe
        found = self.people.sample(n, randomness=randomness)
        children: dict[str, OwnedRows] = {}
        for name, law in self.rows.items():
            place = universe.place(name)
            numbers = np.array(universe.attributes[place].values, dtype=np.int64)
            owners = np.repeat(np.arange(len(found)), numbers[found[:, place]])
            above = [universe.place(law.universe.names[given]) for given in law.given]
            rows = law.sample_given(found[owners][:, above], randomness=randomness)
            own = [each for each in range(rows.shape[1]) if each not in law.given]
            children[name] = OwnedRows(owners, rows[:, own])
        return PersonTables(found[:, [universe.place(name) for name in self.attributes]], children)
