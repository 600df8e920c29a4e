"""How guarantees and units are written down: frozen names for the classes and their fields.

What is stored or hashed never asks the program for a name. A form says under which tag a class is
written, and under which name each field, in which order. Tags and names are fixed for ever:
whoever renames a field writes ``old:new`` in its place, and a class that is renamed or moved keeps
its form.

>>> Form("person/1", "id most:max_rows").names
(('id', 'id'), ('most', 'max_rows'))

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.unit import Edge, Node, Person, Replace, Row, TickWindow


@dataclass(frozen=True)
class Form:
    """A tag, and the fields as ``written`` or ``written:field`` where the two differ by now.

    Fields that came ``later`` are written only where they do not hold their default: whatever was
    written before they came reads as it did.
    """

    tag: str
    written: str = ""
    later: str = ""
    names: tuple[tuple[str, str], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Read the names once."""
        object.__setattr__(self, "names", (*_names(self.written), *_names(self.later)))

    def require_all(self, kind: type, *, but: Collection[str] = (), compared: bool = True) -> None:
        """Refuse a form that leaves out, or invents, something that makes two values differ."""
        every = fields(kind) if is_dataclass(kind) else ()
        told = {item.name for item in every if item.compare or not compared}
        if {now for _, now in self.names} != told - set(but):
            raise LookupError(self.tag, self.written, sorted(told))

    def parts(self, value: object) -> list[tuple[str, Any]]:
        """What the fields of ``value`` hold, each with the name under which it is written."""
        told = [(written, getattr(value, now)) for written, now in self.names]
        if not self.later:
            return told
        kind: type = type(value)
        usual = _defaults(kind)
        since = {written: usual[now] for written, now in _names(self.later)}
        return [(name, part) for name, part in told if name not in since or part != since[name]]

    def arguments(self, parts: Mapping[str, Any]) -> dict[str, Any] | None:
        """What was written, by the fields of today; None where it names something else."""
        now = dict(self.names)
        return {now[name]: part for name, part in parts.items()} if set(parts) <= set(now) else None


@cache
def _names(written: str) -> tuple[tuple[str, str], ...]:
    pairs = (each.partition(":") for each in written.split())
    return tuple((name, now or name) for name, _, now in pairs)


@cache
def _defaults(kind: type) -> dict[str, Any]:
    """What the fields of a class hold if nobody says anything; only those with a plain default."""
    every = fields(kind) if is_dataclass(kind) else ()
    return {item.name: item.default for item in every if item.default is not MISSING}


FORMS: dict[type, Form] = {
    PureDP: Form("PureDP", "unit epsilon"),
    ApproxDP: Form("ApproxDP", "unit epsilon delta"),
    ZCDP: Form("ZCDP", "unit rho"),
    ApproxZCDP: Form("ApproxZCDP", "unit rho delta"),
    RenyiDP: Form("RenyiDP", "unit alpha epsilon"),
    GaussianDP: Form("GaussianDP", "unit mu"),
    Row: Form("Row"),
    Person: Form("Person", "id max_rows max_groups max_rows_per_group via of", later="row"),
    Edge: Form("Edge"),
    Node: Form("Node"),
    Replace: Form("Replace", "unit"),
    TickWindow: Form("TickWindow", "unit ticks"),
}
"""Guarantees and units as releases and ledgers have them."""

for _kind, _form in FORMS.items():
    _form.require_all(_kind)

KINDS: dict[str, type] = {form.tag: kind for kind, form in FORMS.items()}


def write_frozen_text(value: object) -> str:
    """A guarantee or unit as one text; plain values and tuples of them as Python writes them.

    >>> write_frozen_text((PureDP(epsilon=1, unit=Row()), 2))
    '(PureDP(unit=Row(), epsilon=1), 2)'
    """
    form = FORMS.get(type(value))
    if form is not None:
        inside = (f"{name}={write_frozen_text(part)}" for name, part in form.parts(value))
        return f"{form.tag}({', '.join(inside)})"
    if type(value) is tuple:
        return f"({', '.join(map(write_frozen_text, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def numbers(guarantee: Guarantee) -> dict[str, Any]:
    """The numbers of a guarantee by name."""
    return {name: part for name, part in FORMS[type(guarantee)].parts(guarantee) if name != "unit"}
