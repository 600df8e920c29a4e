"""A synopsis that was released as one line of JSON, and back: the same answers, bit for bit.

The text holds all that answering needs: the attributes with their values, what the mechanism left
behind, the guarantee and the event. Reading it needs neither tables nor a ledger, and is free.
"""

from __future__ import annotations

import json
from typing import Any

from discreet.core.events.event import from_json as event_from_json
from discreet.core.foreign_text import plain_json, refusing
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.universe import Attribute, Universe
from discreet.release.guarantee import guarantee_to_dict
from discreet.release.kept_guarantee import kept_guarantee
from discreet.release.keys import column_from_json, column_to_json, kind_of

FORM = "synopsis-release/1"
"""Of the text; part of it."""


def synopsis_to_json(release: SynopsisRelease) -> str:
    """All of a synopsis, for machines."""
    plain = {
        "form": FORM,
        "id": release.id,
        "question": release.query,
        "attributes": [_attribute_to_list(each) for each in release.universe.attributes],
        "synopsis": dict(release.synopsis.to_dict()),
        "guarantee": guarantee_to_dict(release.guarantee),
        "event": json.loads(release.event.to_json()),
        "rmse": release.rmse,
        "facts": dict(release.facts),
    }
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def synopsis_from_json(text: str, *, universe: Universe | None = None) -> SynopsisRelease:
    """The synopsis that :func:`synopsis_to_json` wrote.

    Whoever holds the ``universe`` that it was made for passes it, so that workloads over it fit;
    one of other attributes is not taken.
    """
    expected = f"a synopsis of form {FORM}, as `synopsis_to_json` wrote it"
    with refusing(code="synopsis_not_json", expectation=expected):
        found = _read_synopsis_release(plain_json(text), universe)
        _ = repr(found), synopsis_to_json(found)  # numbers and facts may be of any kind
        found.statement.try_words()
        return found


def _read_synopsis_release(plain: dict[str, Any], held: Universe | None) -> SynopsisRelease:
    if plain["form"] != FORM:
        raise ValueError(plain["form"])
    universe = Universe(tuple(_attribute(each) for each in plain["attributes"]))
    if held is not None and held.attributes == universe.attributes:
        universe = held
    event = event_from_json(json.dumps(plain["event"]))
    return SynopsisRelease(
        id=plain["id"],
        query=plain["question"],
        synopsis=synopsis_from_dict(plain["synopsis"], universe, event),
        guarantee=kept_guarantee(plain["guarantee"], event, plain["facts"]),
        event=event,
        rmse=plain["rmse"],
        facts=plain["facts"],
    )


def _attribute_to_list(attribute: Attribute) -> list[Any]:
    kind = kind_of(attribute.name, attribute.values)  # type: ignore[arg-type]
    return [attribute.name, kind, column_to_json(kind, attribute.values)]  # type: ignore[arg-type]


def _attribute(plain: list[Any]) -> Attribute:
    name, kind, values = plain
    if not isinstance(name, str):
        raise TypeError(type(name).__name__)
    return Attribute(name, column_from_json(kind, values))
