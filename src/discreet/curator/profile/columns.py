"""What is in a column, and what its declaration does to it."""

from __future__ import annotations

from typing import Any

from discreet.curator.profile.contributions import alike
from discreet.curator.profile.reading import Reading, times
from discreet.curator.profile.report import ColumnProfile
from discreet.relational.plan.nodes import Field
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Discovered,
    Integer,
    Number,
    Text,
)
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

_ORDERED = (DataType.INTEGER, DataType.DOUBLE, DataType.DATE, DataType.TIMESTAMP)


def column(table: Reading, field: Field) -> ColumnProfile:
    """Missing and different values, and those that a declaration clamps, drops or cannot read."""
    table.step(f"{table.name}: {field.name}")
    raw = table.raw(field.name)
    total, filled, distinct = table.row(
        f"SELECT COUNT(*), COUNT({raw}), COUNT(DISTINCT {raw}) FROM {table.place}"
    )
    facts: dict[str, object] = {"missing": total - filled, "different_values": distinct}
    said: str | None
    match field.declaration:
        case Number(low=low, high=high):
            said = f"number from {low} to {high}"
            facts |= _bounded(table, field, DataType.DOUBLE, low, high)
        case Integer(low=low, high=high):
            said = f"whole number from {low} to {high}"
            facts |= _bounded(table, field, DataType.INTEGER, low, high)
        case Boolean():
            said = "truth value"
            facts |= _profile_listed_values(table, field)
        case Dates(first=first, last=last):
            said = f"dates from {first} to {last}"
            facts |= _bounded(table, field, field.domain.kind, first, last)
        case Category(values=values):
            said = f"category of {len(values)}"
            facts |= _profile_listed_values(table, field)
        case Discovered():
            said = "discovered"
        case Text(max_elements=most):
            said = "text" if most is None else f"text of at most {most} elements"
        case None:
            said = None
            facts |= _readable(table, field)
    return ColumnProfile(field.name, field.stored, said, total, facts)


def _bounded(
    table: Reading, field: Field, kind: DataType, low: Any, high: Any
) -> dict[str, object]:
    """Values outside bounds, and those that are no numbers or days as written."""
    stored = table.dialect.kind_of(field.stored)
    wanted = stored if stored is not None and stored in _ORDERED else kind
    value = table.clean(field, ColumnDomain(wanted))
    least, most = (table.dialect.literal(end) for end in (low, high))
    unread = f"({table.raw(field.name)}) IS NOT NULL AND ({value}) IS NULL"
    below, above, unreadable, first, last, broken = table.row(
        f"SELECT {times(f'({value}) < {least}')}, {times(f'({value}) > {most}')}, "
        f"{times(unread)}, MIN({value}), MAX({value}), "
        f"{times(f'({value}) <> floor({value})') if wanted is DataType.DOUBLE else '0'} "
        f"FROM {table.place}"
    )
    real, numeric = wanted is DataType.DOUBLE, wanted in (DataType.INTEGER, DataType.DOUBLE)
    return {
        "below": below,
        "above": above,
        "unreadable": unreadable,
        "least": first,
        "greatest": last,
        "whole_numbers": broken == 0 if real and first is not None else None,
        "alike_within_a_person": alike(table, value) if numeric else None,
        "unreadable_examples": table.examples(field.name, unread) if unreadable else (),
    }


def _profile_listed_values(table: Reading, field: Field) -> dict[str, object]:
    """Values outside the list, and how many rows the smallest listed one has."""
    value = table.clean(field, field.domain)
    outside = f"({table.raw(field.name)}) IS NOT NULL AND ({value}) IS NULL"
    (beyond,) = table.row(f"SELECT {times(outside)} FROM {table.place}")
    found = dict(table.rows(f"SELECT {value} AS v, COUNT(*) FROM {table.place} GROUP BY 1"))
    counts = [int(found.get(each, 0)) for each in field.domain.values or ()]
    return {
        "outside_the_list": beyond,
        "rows_of_the_smallest_listed": min(counts, default=0),
        "listed_but_absent": sum(count == 0 for count in counts),
        "outside_examples": table.examples(field.name, outside) if beyond else (),
    }


def _readable(table: Reading, field: Field) -> dict[str, object]:
    """What an undeclared text could be declared as."""
    if table.dialect.kind_of(field.stored) is not DataType.TEXT:
        return {}
    texts = {
        f"readable_as_{name}": table.clean(field, ColumnDomain(kind))
        for name, kind in (("number", DataType.DOUBLE), ("day", DataType.DATE))
    }
    counts = table.row(
        f"SELECT {', '.join(f'COUNT({text})' for text in texts.values())} FROM {table.place}"
    )
    return dict(zip(texts, counts, strict=True))
