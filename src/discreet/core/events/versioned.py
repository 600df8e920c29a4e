"""Frozen values with a kind and a version, and their form in JSON.

A kind is a name fixed for ever, never that of a module; a version, once published, never changes
what it means. What is read back is of a kind that this installation knows, or is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self

from discreet.core.errors import InvalidParameter
from discreet.core.fraction_json import fraction_from_json, fraction_to_json

_KINDS: dict[str, type[Versioned]] = {}
_TEXT = "_written_as"
"""Where a value keeps its own JSON: it is frozen."""

_ARGUMENTS = {"loss": "epsilon", "slack": "delta"}
"""Fields whose argument name is a method of every event (``epsilon``, ``delta``)."""


@dataclass(frozen=True, repr=False)
class Versioned:
    """Base of what is written with its kind and version; ``abstract`` classes are never read."""

    kind: ClassVar[str] = ""
    version: ClassVar[int] = 1

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        """Register the kind so that it can be read back from JSON."""
        super().__init_subclass__(**options)
        if abstract:
            return
        if "kind" not in cls.__dict__:
            cls.kind = cls.__name__
        known = _KINDS.setdefault(cls.kind, cls)
        if known.__module__ != cls.__module__ or known.__qualname__ != cls.__qualname__:
            raise InvalidParameter(
                code="event_kind_taken",
                expectation="an event kind that no other class uses",
                received=cls.kind,
                remedy="Set the class attribute `kind` to a name with your own prefix.",
            )
        _KINDS[cls.kind] = cls

    def to_json(self) -> str:
        """A line of JSON, from which :func:`rebuild_versioned_value` makes an equal value."""
        kept: dict[str, Any] = self.__dict__
        if _TEXT not in kept:
            kept[_TEXT] = json.dumps(self._plain(), sort_keys=True)
        text: str = kept[_TEXT]
        return text

    def _plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"kind": self.kind, "version": self.version}
        for name, value in self._arguments().items():
            plain[name] = _encode(value)
        return plain

    def _arguments(self) -> dict[str, Any]:
        """Constructor arguments that rebuild this value."""
        return {
            _ARGUMENTS.get(item.name, item.name): getattr(self, item.name) for item in fields(self)
        }

    def __repr__(self) -> str:
        """As it was written: ``Laplace(epsilon=0.1)``."""
        inside = ", ".join(f"{name}={value!r}" for name, value in self._arguments().items())
        return f"{self.kind}({inside})"

    @classmethod
    def _rebuild(cls, values: dict[str, Any]) -> Self:
        names = {_ARGUMENTS.get(item.name, item.name) for item in fields(cls)}
        if set(values) != names:
            raise InvalidParameter(
                code="event_fields",
                expectation=f"fields {sorted(names)} for an event of kind {cls.kind}",
                received=sorted(values),
                remedy="Restore the event from the text that `to_json` wrote.",
            )
        return cls(**{name: _decode(value) for name, value in values.items()})


def rebuild_versioned_value(text: str) -> Versioned:
    """Rebuild what :meth:`Versioned.to_json` wrote; refuse unknown kinds and versions."""
    try:
        return _from_plain(json.loads(text))
    except (ValueError, TypeError, ZeroDivisionError, RecursionError) as fault:
        if isinstance(fault, InvalidParameter):
            raise
        raise _not_json(type(fault).__name__) from None


def _not_json(received: str) -> InvalidParameter:
    return InvalidParameter(
        code="event_not_json",
        expectation="a JSON object that describes an event",
        received=received,
        remedy="Pass the text that `to_json` wrote.",
    )


def _from_plain(plain: object) -> Versioned:
    if not isinstance(plain, dict):
        raise _not_json(type(plain).__name__)
    values = dict(plain)
    kind, version = values.pop("kind", None), values.pop("version", None)
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    if known is None or version is True or version != known.version:
        raise InvalidParameter(
            code="event_unknown",
            expectation="an event kind and version that this installation knows",
            received=(kind, version),
            remedy="Import the package that defines the event, or upgrade discreet.",
        )
    return known._rebuild(values)


def _encode(value: object) -> object:
    if isinstance(value, Versioned):
        return value._plain()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Fraction):
        return fraction_to_json(value)
    return value


def _decode(value: object) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if (fraction := fraction_from_json(value)) is not None:
        return fraction
    if isinstance(value, dict):
        return _from_plain(value)
    return value
