"""Limits that can act on an answer, in words: what ± does not cover, each by its public value.

A limit is a plain fact of the statement: its kind under a frozen name, and its values. Only those
are there that can act, for public reasons: the plan and the declarations, never the data.

>>> limit_text({"limit": "max_rows", "of": "patient", "most": 5})
'max_rows=5: each patient counts as at most 5 rows'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any


class LimitKind(StrEnum):
    """What is limited, by a name that is fixed for ever."""

    ROWS = "max_rows"
    """Rows of a person in the whole answer."""
    ROWS_PER_GROUP = "max_rows_per_group"
    """Rows of a person in one group."""
    GROUPS = "max_groups"
    """Groups of a person."""
    GROUPS_BY_ROWS = "max_rows_as_groups"
    """Groups of a person, of whom no more rows count."""
    FIXED = "fixed_per_person"
    """One group of a person, by columns that are declared fixed."""
    BEFORE_JOIN = "rows_before_join"
    """Rows of a person that enter a join which multiplies them."""
    FEATURES = "rows_of_features"
    """Rows of a person from which one row is computed."""
    STEP = "rows_of_step"
    """Rows of a person before they lose their owner."""
    PER_KEY = "max_rows_per"
    """Rows of a key that enter a join on it."""
    ELEMENTS = "max_elements"
    """Elements of a text, of which each becomes a row."""
    VALUES = "bounds"
    """Declared bounds of a column."""


_WORDS = {
    LimitKind.ROWS: "max_rows={most}: each {of} counts as at most {most} row{s}",
    LimitKind.ROWS_PER_GROUP: "max_rows_per_group={most}: each {of} counts as at most {most} "
    "row{s} in one group",
    LimitKind.GROUPS: "max_groups={most}: each {of} counts in at most {most} group{s}",
    LimitKind.GROUPS_BY_ROWS: "max_rows={most}: each {of} counts in at most {most} group{s}",
    LimitKind.FIXED: "fixed_per_person: each {of} counts in one group",
    LimitKind.BEFORE_JOIN: "at most {most} row{s} of each {of} enter the join; more are left out",
    LimitKind.FEATURES: "max_rows={most}: features of each {of} come from at most {most} row{s}; "
    "more are left out",
    LimitKind.STEP: "max_rows={most}: at most {most} row{s} of each {of} enter an inner step; more "
    "are left out",
    LimitKind.PER_KEY: "max_rows_per={most}: {most} row{s} of a key enter the join; more are left "
    "out",
    LimitKind.ELEMENTS: "max_elements={most}: the first {most} element{s} of {of} count; more are "
    "left out",
    LimitKind.VALUES: "{of} within {low} and {high}: values outside count as the nearest",
}


def limit_text(fact: Mapping[str, Any]) -> str:
    """One limit for a reader."""
    values = {"s": "" if fact.get("most") == 1 else "s", **fact}
    shown = {name: _format_value(value) for name, value in values.items()}
    return _WORDS[LimitKind(fact["limit"])].format(**shown)


def limit_lines(facts: Iterable[Mapping[str, Any]], *, beside: str = "±") -> list[str]:
    """A line for each, and that intervals, as ``beside`` calls them, do not know of it."""
    return [f"limit: {limit_text(fact)}; not in {beside}" for fact in facts]


def left_out_text(report: Mapping[str, Any]) -> str:
    """What a report says in one line; of several groups, the most in one.

    >>> left_out_text({"people": {"values": [2743], "half_width": 60}})
    '2,743 ± 60 people are cut'
    """
    said = []
    for name, words in _REPORTED.items():
        found = report.get(name)
        if found and found["values"]:
            numbers = f"{max(found['values']):,} ± {_format_value(found['half_width'])}"
            where = " in a group" if len(found["values"]) > 1 else ""
            most = "up to " if where else ""
            said.append(words.format(f"{most}{numbers}", where))
    return " and ".join(said) or "nothing in any group"


_REPORTED = {
    "people": "{} people{} are cut",
    "people_at_least": "at least {} people{} are cut",
    "rows_at_least": "at least {} rows{} do not count",
}


def _format_value(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
