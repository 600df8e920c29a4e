"""Measures to which a person's rows contribute by weight; see ``bounding/row_weights``."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.aggregates.measures import CountPeople, CountRows, Total


@dataclass(frozen=True)
class Weighted:
    """A measure to which rows contribute by their weight, in steps 2**-places of its own.

    People with more rows than the unit allows then count by fractions of their rows.
    """

    measure: CountRows | CountPeople | Total
    places: int
