"""The names under which units, contributions and spends of streams are written down, for ever.

To rename a class, let its line follow; to rename a field, write ``old:new`` in its place.

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.core.written import FORMS as GUARANTEES
from discreet.core.written import KINDS as GUARANTEE_KINDS
from discreet.core.written import Form
from discreet.streams.contribution import EventContribution
from discreet.streams.stored import State, unreadable
from discreet.streams.units import (
    EventLevel,
    ItemLevel,
    StreamUnit,
    UserLevel,
    UserWindow,
    WEvent,
)

FORMS: dict[type, Form] = {
    EventLevel: Form("event-level/1"),
    UserLevel: Form("user-level/1", "id max_events max_per_tick", later="of"),
    ItemLevel: Form("item-level/1", "id max_flips"),
    UserWindow: Form("user-window/1", "id ticks max_events max_per_tick"),
    WEvent: Form("w-event/1", "ticks max_per_tick"),
    EventContribution: Form("contribution/1", "l1 l2_squared largest"),
}

for _kind, _form in FORMS.items():
    _form.require_all(_kind)

_TEXTS = ("id", "of")
_KINDS = {form.tag: kind for kind, form in FORMS.items()}


def to_dict(value: StreamUnit | EventContribution) -> State:
    """A unit or a contribution as plain values; fractions as text."""
    form = FORMS[type(value)]
    parts = {name: _plain(each) for name, each in form.parts(value)}
    return {"tag": form.tag, **parts}


def from_dict(plain: object) -> Any:
    """What :func:`to_dict` wrote."""
    if not isinstance(plain, Mapping) or plain.get("tag") not in _KINDS:
        raise unreadable(expected="a unit or contribution as a stream's state writes it")
    kind = _KINDS[plain["tag"]]
    given = FORMS[kind].arguments({k: _number(v, k) for k, v in plain.items() if k != "tag"})
    if given is None:
        raise unreadable(expected="a unit or contribution as a stream's state writes it")
    return kind(**given)


def spend_to_dict(spend: Guarantee) -> State:
    """The numbers of a spend, exactly; what it is promised to is the stream's unit."""
    form = GUARANTEES[type(spend)]
    numbers = {name: str(exact(part)) for name, part in form.parts(spend) if name != "unit"}
    return {"tag": form.tag, **numbers}


def spend_from_dict(plain: object) -> Guarantee:
    """What :func:`spend_to_dict` wrote."""
    if isinstance(plain, Mapping) and plain.get("tag") in GUARANTEE_KINDS:
        kind: Any = GUARANTEE_KINDS[plain["tag"]]
        if issubclass(kind, Guarantee):
            numbers = {k: Fraction(v) for k, v in plain.items() if k != "tag"}
            found: Guarantee = kind(**numbers)
            return found
    raise unreadable(expected="a spend as a stream's state writes it")


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Fraction) else value


def _number(value: object, name: str) -> object:
    return Fraction(value) if isinstance(value, str) and name not in _TEXTS else value
