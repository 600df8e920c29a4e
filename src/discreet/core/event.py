"""Events: frozen, versioned accounts of what a release did, and their algebra.

Both the noise of a mechanism and its privacy claim are derived from its event, so they cannot
disagree. An event says nothing about data; prices come from :mod:`discreet.accounting` through
the registry in :mod:`discreet.core.pricing`.

``a + b`` and ``a * k`` compose events *fixed in advance*: the questions asked may depend on
earlier answers, the events may not. Adaptive choice of events belongs behind a filter.

Events are values. They compare by content, round-trip through JSON, and name the version of
their meaning: a version, once published, never changes what it means.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self

from discreet.core import pricing
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, finite

_KINDS: dict[str, type[Event]] = {}

_ARGUMENTS = {"loss": "epsilon", "slack": "delta"}
"""Fields whose argument name is a method of every event (``epsilon``, ``delta``)."""


@dataclass(frozen=True, repr=False)
class Event:
    """Base of all events. Subclass with frozen fields to add a kind.

    A subclass outside discreet sets ``kind`` to a name of its own (``"acme.Staircase"``) and
    registers at least one price; without a price it can be stored but not spent.
    """

    kind: ClassVar[str] = "Event"
    version: ClassVar[int] = 1

    def __init_subclass__(cls, **options: Any) -> None:
        """Register the kind so that it can be read back from JSON."""
        super().__init_subclass__(**options)
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

    def __add__(self, other: Event) -> Event:
        """Both happen, on the same data."""
        if not isinstance(other, Event):
            return NotImplemented
        return compose((self, other))

    def __mul__(self, times: int) -> Event:
        """The event happens ``times`` times, with fresh randomness."""
        times = count("times", times, least=0)
        if times == 0 or isinstance(self, Nothing):
            return Nothing()
        return self if times == 1 else Repeated(self, times)

    __rmul__ = __mul__

    def subsample(self, *, rate: float | Fraction) -> Event:
        """The event happens on a Poisson sample: each unit enters independently at ``rate``."""
        return PoissonSampled(self, rate)

    def epsilon(self, *, delta: float) -> float:
        """The least epsilon known to hold at ``delta``: a certified upper bound."""
        return pricing.epsilon(self, delta)

    def delta(self, *, epsilon: float) -> float:
        """The least delta known to hold at ``epsilon``: a certified upper bound."""
        return pricing.delta(self, epsilon)

    def to_json(self) -> str:
        """A line of JSON from which :func:`from_json` rebuilds an equal event."""
        return json.dumps(self._plain(), sort_keys=True)

    def _plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"kind": self.kind, "version": self.version}
        for name, value in self._arguments().items():
            plain[name] = _encode(value)
        return plain

    def _arguments(self) -> dict[str, Any]:
        """Constructor arguments that rebuild this event."""
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


@dataclass(frozen=True, repr=False)
class Nothing(Event):
    """No data was touched; the price is zero under every accountant."""


@dataclass(frozen=True, repr=False)
class Composed(Event):
    """Several events on the same data. Build with ``+``."""

    parts: tuple[Event, ...]

    def __post_init__(self) -> None:
        """Accept any sequence of events."""
        object.__setattr__(self, "parts", tuple(self.parts))


@dataclass(frozen=True, repr=False)
class Repeated(Event):
    """One event several times over, each with fresh randomness. Build with ``*``."""

    event: Event
    times: int

    def __post_init__(self) -> None:
        """Refuse numbers of times that are not whole."""
        object.__setattr__(self, "times", count("times", self.times))


@dataclass(frozen=True, repr=False)
class PoissonSampled(Event):
    """An event run on a sample that each unit joins independently with probability ``rate``."""

    event: Event
    rate: float | Fraction

    def __post_init__(self) -> None:
        """Refuse rates outside (0, 1]."""
        rate = finite("rate", self.rate)
        if not 0 < rate <= 1:
            raise InvalidParameter(
                code="rate_out_of_range",
                expectation="a sampling rate in (0, 1]",
                received=rate,
                remedy="Pass the probability with which each unit joins the sample.",
            )


def compose(events: tuple[Event, ...]) -> Event:
    """All of ``events`` together, flattened; nothing composes to :class:`Nothing`."""
    flat: list[Event] = []
    for event in events:
        flat.extend(event.parts if isinstance(event, Composed) else (event,))
    flat = [event for event in flat if not isinstance(event, Nothing)]
    if not flat:
        return Nothing()
    return flat[0] if len(flat) == 1 else Composed(tuple(flat))


def from_json(text: str) -> Event:
    """Rebuild the event that :meth:`Event.to_json` wrote; refuse unknown kinds and versions."""
    try:
        plain = json.loads(text)
    except json.JSONDecodeError:
        plain = None
    return _from_plain(plain)


def _from_plain(plain: object) -> Event:
    if not isinstance(plain, dict):
        raise InvalidParameter(
            code="event_not_json",
            expectation="a JSON object that describes an event",
            received=type(plain).__name__,
            remedy="Pass the text that `to_json` wrote.",
        )
    values = dict(plain)
    kind, version = values.pop("kind", None), values.pop("version", None)
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    if known is None or version != known.version:
        raise InvalidParameter(
            code="event_unknown",
            expectation="an event kind and version that this installation knows",
            received=(kind, version),
            remedy="Import the package that defines the event, or upgrade discreet.",
        )
    return known._rebuild(values)


def _encode(value: object) -> object:
    if isinstance(value, Event):
        return value._plain()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Fraction):
        return {"ratio": [str(value.numerator), str(value.denominator)]}
    return value


def _decode(value: object) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if isinstance(value, dict) and set(value) == {"ratio"}:
        numerator, denominator = value["ratio"]
        return Fraction(int(numerator), int(denominator))
    if isinstance(value, dict):
        return _from_plain(value)
    return value
