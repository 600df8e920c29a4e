"""At most G groups, R rows and m rows in a group for each person: the bounds of an aggregation.

What one unit can then change is said by ``contributions``; here it is enforced. Rows are kept by
salted content: groups by a hash of the group, rows by a hash of what they contribute.

Source: contract, "Bounding inside the engine"; 004b:A21. Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.unit import Person
from discreet.relational.bounding.hashing import Content, Identifier, Shuffle, first_rows
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

    def text(
        self, inside: str, contents: Sequence[Content], who: Identifier, cells: int, by: Shuffle
    ) -> str:
        """The rows of ``inside`` that are kept; ``o`` names the person and ``cell`` the group.

        One sort serves all windows: hash of the cell, the cell, hash of the content, the content.
        """
        inner, order_cells = "*", list[str]()
        order_rows = [content.text for content in contents]
        if cells > 1:
            inner += f", {by.hash([who, Content('cell', DataType.INTEGER)])} AS h"
            order_cells = ["h", "cell"]
        if contents:
            inner += f", {by.hash([who, *contents])} AS hv"
            order_rows = ["hv", *order_rows]
        source = f"SELECT {inner} FROM ({inside}) AS q"
        most = self.rows_per_group
        if self.rows is not None and most is not None and (cells == 1 or most < self.rows):
            # First and by itself: equal rows may change places between two rankings, not within
            # one.
            group, order = "o, cell" if cells > 1 else "o", ordered(order_rows) or "1"
            source = first_rows(source, "*", group, order, f"j <= {most}", rank="j")
        windows, kept = [], []
        if cells > 1 and self.groups is not None and self.groups < cells:
            order = ordered(order_cells)
            windows.append(f"dense_rank() OVER (PARTITION BY o ORDER BY {order}) AS g")
            kept.append(f"g <= {self.groups}")
        if cells > 1 and self.rows is not None:
            order = ordered([*order_cells, *order_rows])
            windows.append(f"row_number() OVER (PARTITION BY o ORDER BY {order}) AS k")
            kept.append(f"k <= {self.rows}")
        if not windows:
            return source
        return (
            f"SELECT * FROM (SELECT *, {', '.join(windows)} FROM ({source}) AS q) AS q "
            f"WHERE {' AND '.join(kept)}"
        )
