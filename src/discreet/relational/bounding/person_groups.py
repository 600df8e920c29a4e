"""At most G groups, R rows and m rows in a group for each person: the bounds of an aggregation.

What one unit can then change is said by ``contributions``; here it is enforced, for what needs
whole rows. Groups are kept by a salted hash of person and group; of the rows in a group, and of
those in all groups, a systematic sample along what they contribute is.

Source: contract, "Bounding inside the engine"; 004b:A21. Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from discreet.core.unit import Person
from discreet.relational.bounding.hashing import Content, Identifier, Shuffle
from discreet.relational.bounding.systematic import systematic_sample
from discreet.relational.compile.dialect import ordered
from discreet.relational.types.data_type import DataType


@dataclass(frozen=True)
class PersonBounds:
    """Groups and rows of a person, and rows in one group; None where there is no bound."""

    groups: int | None
    rows: int | None
    rows_per_group: int | None

    @classmethod
    def of(cls, person: Person, *, presence: bool) -> PersonBounds:
        """What the unit allows; where ``presence`` alone is counted, rows bound the groups."""
        if not presence:
            rows = person.rows()
            return cls(person.max_groups, rows, min(person.max_rows_per_group or rows, rows))
        bounds = [bound for bound in (person.max_groups, person.max_rows) if bound is not None]
        return cls(min(bounds, default=None), None, None)

    def text(  # noqa: PLR0917 -- what is kept, of whom, by what
        self,
        inside: str,
        contents: Sequence[Content],
        who: Identifier,
        cells: int,
        by: Shuffle,
        rows: Sequence[Content] = (),
    ) -> str:
        """The rows of ``inside`` that are kept; ``o`` names the person and ``cell`` the group.

        ``rows`` tell a person's rows apart, where the owner says so. A limit comes by itself after
        the one before it: no row number is used twice.
        """
        cell = Content("cell", DataType.INTEGER)
        columns = ["o", "cell", *(content.text for content in (*rows, *contents))]
        sample = partial(systematic_sample, columns=columns, by=by, rows=rows)
        groups = cells if self.groups is None else min(self.groups, cells)
        most, left = self.rows_per_group, None
        if most is not None and cells > 1 and (self.rows is None or most < self.rows):
            inside = sample(inside, within=[who, cell], contents=contents, limit=most)
            left = groups * most
        if groups < cells:
            order = ordered([by.hash([who, cell]), "cell"])
            ranked = f"dense_rank() OVER (PARTITION BY o ORDER BY {order}) AS g"
            named = ", ".join(columns)
            inside = f"SELECT {named}, {ranked} FROM ({inside}) AS q"
            inside = f"SELECT {named} FROM ({inside}) AS q WHERE g <= {groups}"
        if self.rows is not None and (left is None or left > self.rows):
            kept = self.rows if most is None or cells > 1 else min(self.rows, most)
            every = [*contents] if cells == 1 else [cell, *contents]
            inside = sample(inside, within=[who], contents=every, limit=kept)
        return inside
