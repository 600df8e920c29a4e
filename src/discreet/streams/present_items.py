"""How many items are present, while they are inserted and deleted: the fully dynamic stream.

An item is present while it was inserted more often than deleted. What a counter adds up are
changes: +1 where an item appears, -1 where it disappears. Hiding all events of an item needs a
bound on its changes, not on its events; one that has changed ``max_flips`` times stays as it is.

Source: 000b:B38 (named only; the mechanism is derived here, with the flippancy of Jain and others
2023). Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.streams.stored import State, unreadable
from discreet.streams.units import ItemLevel

_LONGEST = 1 << 12
"""Bits of whole numbers that are items: a state with longer ones could not be written as JSON."""


@dataclass
class _Item:
    """How often an item is held, whether it counts as present, and its changes so far."""

    held: int = 0
    present: bool = False
    flips: int = 0


class PresentItems:
    """What the ticks of a counter add up: items that appear, less those that disappear.

    Contract: items are texts, or whole numbers of at most 4096 bits; a tick is fed once, with all
    its events. Whether an item is present is seen at the end of a tick: one that comes and goes
    within it is not. What is deleted more often than it was inserted is not present, and owes
    nothing.

    Guarantee: what an item adds is a function of its own events. Over all ticks it is +1 and -1 in
    turns, at most ``unit.max_flips`` in all: what :class:`~discreet.streams.units.ItemLevel`
    promises to the noise.

    >>> items = PresentItems(ItemLevel("badge", max_flips=3))
    >>> items.tick(["a", "b"]), items.tick(deleted=["a"]), items.tick(["a", "b"])
    (2, -1, 1)

    Source: 000b:B38. Proof: ``proofs/streams.md``.
    """

    def __init__(self, unit: ItemLevel) -> None:
        """Begin with nothing present."""
        if not isinstance(unit, ItemLevel):
            raise InvalidParameter(
                code="not_a_stream_unit",
                expectation="ItemLevel(...), whose changes are counted",
                received=type(unit).__name__,
                remedy='Write PresentItems(ItemLevel("badge", max_flips=20)), with a public cap.',
            )
        self.unit = unit
        self._items: dict[str | int, _Item] = {}

    def tick(self, inserted: Iterable[object] = (), deleted: Iterable[object] = ()) -> int:
        """The increment of a tick: by how many more items are present at its end, as counted.

        What is neither a text nor such a whole number names no item, and is left out.
        """
        if isinstance(inserted, str) or isinstance(deleted, str):
            raise InvalidParameter(
                code="items_not_listed",
                expectation="lists of the items that came and went, and not one text",
                remedy='Write tick(["ann"]): letters of a text would count as items.',
            )
        touched: dict[str | int, int] = {}
        for events, by in ((inserted, 1), (deleted, -1)):
            for given in events:
                each = given.item() if isinstance(given, np.generic) else given
                if type(each) is str or (type(each) is int and each.bit_length() <= _LONGEST):
                    touched[each] = touched.get(each, 0) + by
        return sum(self._apply_item_change(name, by) for name, by in touched.items())

    def _apply_item_change(self, name: str | int, by: int) -> int:
        item = self._items.setdefault(name, _Item())
        item.held = max(0, item.held + by)
        if item.present == (item.held > 0) or item.flips == self.unit.events:
            return 0
        item.present, item.flips = not item.present, item.flips + 1
        return 1 if item.present else -1

    def state(self) -> State:
        """All that is needed to go on, exact and for the data owner alone; as that of a counter."""
        rows = [[name, item.held, item.present, item.flips] for name, item in self._items.items()]
        return {"form": "present-items/1", "max_flips": self.unit.max_flips, "items": rows}

    @classmethod
    def from_state(cls, state: object, unit: ItemLevel) -> PresentItems:
        """Go on where :meth:`state` was; the unit is the one that it was kept under."""
        expected = unreadable(expected="the state of present items, of the same unit")
        found = cls(unit)
        if not isinstance(state, Mapping) or state.get("form") != "present-items/1":
            raise expected
        if state.get("max_flips") != unit.max_flips or not isinstance(state.get("items"), list):
            raise expected
        for row in state["items"]:
            match row:
                case [str() | int() as name, int() as held, bool() as present, int() as flips] if (
                    held >= 0 and 0 <= flips <= unit.events and present == bool(flips % 2)
                ):
                    found._items[name] = _Item(held, present, flips)
                case _:
                    raise expected
        return found
