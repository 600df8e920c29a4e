"""A release of several tables read back from its line of JSON: the same models, bit for bit.

Reading it needs neither tables nor a ledger, and is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.events.event import Event
from discreet.core.events.event import from_json as event_from_json
from discreet.core.foreign_text import plain_json, refusing
from discreet.queries.workload.universe import Attribute, Universe
from discreet.release.kept_guarantee import kept_guarantee
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.grouped_model import stored_model
from discreet.synthetic.tables.private_rows import law_from_dict
from discreet.synthetic.tables.tables_model import TablesModel
from discreet.synthetic.tables.tables_release import FORM, TablesRelease


def tables_from_json(text: str) -> TablesRelease:
    """The release that ``to_json`` wrote."""
    expected = f"a release of several tables of form {FORM}, as `save` wrote it"
    with refusing(code="synthetic_not_json", expectation=expected):
        found = _read_tables_release(plain_json(text))
        _ = repr(found), found.to_json(), found.sample(1)  # numbers and facts may be of any kind
        return found


def load_tables(path: str | PathLike[str]) -> TablesRelease:
    """The release of several tables that ``save`` wrote to a file."""
    return tables_from_json(Path(path).read_text(encoding="utf-8", errors="replace"))


def models_from_dict(
    plain: Mapping[str, Any], people: Universe, rows: Mapping[str, Universe]
) -> TablesModel:
    """The models that :meth:`TablesModel.to_dict` wrote, over the universes they were made for."""

    def event(name: str) -> Event:
        return event_from_json(plain["events"][name])

    models = plain["plain"]
    laws = {
        name: law_from_dict(models[name], universe, event(name)) for name, universe in rows.items()
    }
    return TablesModel(stored_model(models[""], people, event("")), laws)


def people_universe(
    parent: str, encodings: Mapping[str, TableEncoding], limits: Mapping[str, int]
) -> Universe:
    """The cells of people, and the numbers of rows that they may have in each child table."""
    numbers = (
        Attribute(name, tuple(range(limits[name] + 1))) for name in encodings if name != parent
    )
    return Universe((*_attributes(parent, encodings[parent]), *numbers))


def rows_universes(parent: str, encodings: Mapping[str, TableEncoding]) -> dict[str, Universe]:
    """For each child table the cells of rows, after those of their owners."""
    above = _attributes(parent, encodings[parent])
    return {
        name: Universe((*above, *_attributes(name, each)))
        for name, each in encodings.items()
        if name != parent
    }


def _attributes(table: str, encoding: TableEncoding) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(f"{table}.{each.name}", tuple(range(each.size))) for each in encoding.attributes
    )


def _read_tables_release(plain: dict[str, Any]) -> TablesRelease:
    if plain["form"] != FORM:
        raise ValueError(plain["form"])
    encodings = {name: TableEncoding.from_dict(each) for name, each in plain["encodings"]}
    parent, facts = plain["parent"], plain["facts"]
    people = people_universe(parent, encodings, facts["limits"])
    model = models_from_dict(plain, people, rows_universes(parent, encodings))
    return TablesRelease(
        id=plain["id"],
        query=plain["query"],
        parent=parent,
        keys=plain["keys"],
        encodings=encodings,
        model=model,
        guarantee=kept_guarantee(plain["guarantee"], model.event, facts),
        event=model.event,
        facts=facts,
    )
