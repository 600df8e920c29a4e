"""What the data owner may want to know before choosing bounds. NOT private.

A profile is read from the data without noise and without paying: it is for the owner's eyes, and
never for analysts. A bound or a list that is copied from it into a declaration is itself a
release, since everybody may see declarations; so it serves to check what was declared from
knowledge, and to see what a declaration drops.

Source: 004d:D2, D3, D6, D18.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WARNING = (
    "NOT PRIVATE. This was read from the data without noise, for the data owner alone. Do not "
    "show it to analysts, and do not copy bounds or values from it into the project file: "
    "everybody may read those. Use it to check what you declared from knowledge."
)
FEW_PEOPLE = 300
_ALWAYS = ("least", "greatest")


@dataclass(frozen=True)
class Cut:
    """What a bound on rows per person would drop."""

    max_rows: int
    people: int
    rows: int


@dataclass(frozen=True)
class Contributions:
    """How the rows spread over people; ``heaviest`` is the share of the top hundredth of them."""

    identifier: str
    people: int
    rows: int
    without_identifier: int
    median: int
    ninety_nine: int
    most: int
    heaviest: float
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class ColumnProfile:
    """One column: how it is stored, what was declared, its readable rows, and what is there."""

    name: str
    stored: str
    declared: str | None
    rows: int
    facts: Mapping[str, object]

    def __str__(self) -> str:
        """One line, and one for each example."""
        told = ", ".join(
            f"{name.replace('_', ' ')} {_format_fact(value)}"
            for name, value in self.facts.items()
            if not isinstance(value, tuple) and value is not None and (value or name in _ALWAYS)
        )
        lines = [f"  {self.name} ({self.declared or 'not declared'}): {told or 'nothing unusual'}"]
        for name, value in self.facts.items():
            if isinstance(value, tuple) and value:
                listed = ", ".join(f"{each!r} ({times:,})" for each, times in value)
                lines.append(f"      {name.replace('_', ' ')}: {listed}")
        return "\n".join(lines)


@dataclass(frozen=True)
class FixedLine:
    """A line of a text file that is not read as it stands: its place, the header being line 1."""

    number: int
    reason: str

    def __str__(self) -> str:
        """Where and why."""
        return f"line {self.number:,}: {self.reason}"


@dataclass(frozen=True)
class TableProfile:
    """One private table."""

    name: str
    rows: int
    unread_lines: int | None
    fixed_lines: tuple[FixedLine, ...]
    contributions: Contributions | None
    columns: tuple[ColumnProfile, ...]
    cells: int
    empty_cells: int
    small_cells: int
    determines: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """The table in a few paragraphs."""
        lines = [f"{self.name}: {self.rows:,} rows"]
        if self.unread_lines:
            lines.append(f"  {self.unread_lines:,} lines of the file are no rows")
        lines += [f"  {each}" for each in self.fixed_lines]
        if self.contributions is not None:
            lines += _people(self.contributions)
        lines += [str(column) for column in self.columns]
        if self.cells > 1:
            lines.append(
                f"  cells of all categories together: {self.cells:,}, "
                f"{self.empty_cells:,} of them empty, {self.small_cells:,} with fewer than 20 rows"
            )
        lines += [f"  {first} determines {second}" for first, second in self.determines]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


@dataclass(frozen=True)
class Profile:
    """All private tables of a project, as they are. Not private."""

    tables: tuple[TableProfile, ...]
    warning: str = WARNING

    def __str__(self) -> str:
        """The warning first, and last."""
        return "\n\n".join([self.warning, *map(str, self.tables), self.warning])

    __repr__ = __str__


def _people(found: Contributions) -> list[str]:
    lines = [
        f"  {found.people:,} different {found.identifier}; rows of one: median {found.median}, "
        f"99 of 100 at most {found.ninety_nine}, most {found.most}",
        f"  the hundredth with the most rows has {found.heaviest:.0%} of all rows",
    ]
    if found.without_identifier:
        lines.append(f"  {found.without_identifier:,} rows without one are never counted")
    lines += [
        f"    max_rows = {cut.max_rows}: drops {cut.rows:,} rows "
        f"({_share(cut.rows, found.rows)}) of {cut.people:,} people"
        for cut in found.cuts
    ]
    return lines


def _format_fact(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.6g}"
    return str(value)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "0%"
