"""Whose privacy a ledger guards, in the words of its first record.

Data sets about the same people may share a ledger: what is spent on each of them adds up for the
person who is in all of them. By default the identifier's name is part of the words, so that a
ledger is not opened for another column by mistake. Where the owner names the people, the name
stands in its place, and each data set may call its identifier as it likes.

Source: 000a:D2(a), 000b:B46; contract, "Spending" (reopening checks the unit).
"""

from __future__ import annotations

from discreet.core.unit import Person, PrivacyUnit, Replace
from discreet.core.written import written


def unit_text(unit: PrivacyUnit) -> str:
    """The unit as one canonical text.

    >>> unit_text(Replace(Person("patient_id", max_rows=20, of="patients")))
    "Replace(unit=Person(of='patients', max_rows=20, max_groups=None, max_rows_per_group=None))"
    """
    if isinstance(unit, Replace):
        return f"Replace(unit={unit_text(unit.unit)})"
    if not isinstance(unit, Person):
        return written(unit)
    bounds = f"max_rows={unit.max_rows}, max_groups={unit.max_groups}"
    bounds += f", max_rows_per_group={unit.max_rows_per_group}"
    if unit.of is not None:
        return f"Person(of={unit.of!r}, {bounds})"
    return f"Person(id={unit.id!r}, {bounds}, via={unit.via!r})"
