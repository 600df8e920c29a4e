"""Columns of a synthetic table, as a command line names them; refused in its own words."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean


def parse_column_names(text: str | None) -> list[str] | None:
    """Names with commas between them, those that have one in quotes; None without the option.

    >>> parse_column_names('Status, "city, country"')
    ['Status', 'city, country']
    """
    if text is None:
        return None
    rows = csv.reader([text], skipinitialspace=True)
    return [each.strip() for row in rows for each in row if each.strip()]


def column_choices(
    project: Path,
    table: str,
    *,
    columns: str | None,
    identifiers: str | None,
    never_missing: str | None,
    target: str | None,
) -> dict[str, Any]:
    """What the curator takes: names that the project declares, and identifiers to be generated."""
    from discreet.curator.project import Project
    from discreet.curator.project.tables import PrivateEntry
    from discreet.relational.schema.declarations import Discovered, Text

    entry = Project.read(project).tables[table]
    assert isinstance(entry, PrivateEntry)
    declared = {n for n, each in entry.columns.items() if not isinstance(each, Text | Discovered)}
    order = [name for name in entry.columns if name in declared]
    wanted, complete = parse_column_names(columns), parse_column_names(never_missing) or []
    for option, names in (
        ("--columns", wanted or []),
        ("--never-missing", complete),
        ("--target", [] if target is None else [target]),
    ):
        for name in names:
            if name not in declared:
                raise _unknown(option, name, order, project, table)
    chosen: list[str] | Mapping[str, Any] | None = wanted
    generated = parse_column_names(identifiers) or []
    if generated:
        from discreet.synthetic.encoding.identifier_column import IdentifierColumn

        rest = order if wanted is None else wanted
        chosen = {**{each: IdentifierColumn() for each in generated}, **dict.fromkeys(rest)}
    return {"columns": chosen, "never_missing": complete, "target": target}


def _unknown(
    option: str, name: str, declared: list[str], project: Path, table: str
) -> InvalidParameter:
    far = (
        f"Declare it under [tables.{table}.columns] in {project.name}, with bounds or values; "
        f"or number it anew: --identifiers {name}."
    )
    return InvalidParameter(
        code="column_unknown",
        expectation=f"for {option} columns of {table} with bounds or values: {', '.join(declared)}",
        received=name,
        remedy=did_you_mean(name, declared, far),
    )
