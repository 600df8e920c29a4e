"""What the fields of a value hold, whatever its class: for those who look through whole plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter


def parts_of(value: object) -> tuple[object, ...]:
    """What the fields of a dataclass hold, in their order; nothing of any other value.

    >>> from discreet.core.unit import Replace, Row
    >>> parts_of(Replace(Row())), parts_of(Row), parts_of("Row")
    ((Row(),), (), ())
    """
    kind: type = type(value)
    return _reader(kind)(value)


def field_names(value: object) -> tuple[str, ...]:
    """The names of a dataclass's fields; nothing for any other value."""
    kind: type = type(value)
    return _names(kind)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()


@cache
def _reader(kind: type) -> Callable[[object], tuple[object, ...]]:
    """What reads all fields of a class in one call."""
    match _names(kind):
        case ():
            return lambda _: ()
        case (name,):
            return lambda value: (getattr(value, name),)
        case names:
            return attrgetter(*names)
