"""Measurements: data to a random answer, with the event it costs as a function of distance.

The event map needs no data. Everything computed from an answer alone is free: ``then`` applies
any function afterwards without changing the event.

Source: 000a:A6, 004a:A6, 004d:F2, F8, F10, F18, F19, F29. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable

X = TypeVar("X")
Z = TypeVar("Z")
X_contra = TypeVar("X_contra", contravariant=True)
Y_co = TypeVar("Y_co", covariant=True)


@dataclass(frozen=True)
class Measurement(Generic[X_contra, Y_co]):
    """A random function of data and the event it amounts to at each input distance.

    Contract: for members x, x' at distance at most ``d``, the laws of ``function(x)`` and
    ``function(x')`` are as close as every price of ``privacy(d)`` says. Members at distance zero
    are the same data, with rows in another order perhaps, and the laws are equal. Anyone may
    build one; one without an event map cannot be built.
    """

    input: Space
    function: Callable[[X_contra], Y_co]
    privacy: Callable[[Any], Event]

    def __post_init__(self) -> None:
        """Refuse parts that are missing or of the wrong kind."""
        if not isinstance(self.input, Space) or not (
            callable(self.function) and callable(self.privacy)
        ):
            raise InvalidParameter(
                code="incomplete_component",
                expectation="a measurement with an input Space, a function and an event map",
                remedy="Declare all three: nothing is assumed about privacy.",
            )

    def event(self, d_in: Any = 1) -> Event:
        """What a release costs for data sets ``d_in`` apart; needs no data."""
        event = self.privacy(d_in)
        if not isinstance(event, Event):
            raise InvalidParameter(
                code="not_an_event",
                expectation="the event map to return an Event",
                received=type(event).__name__,
                remedy="Return an event from discreet.events, for instance Pure(epsilon=...).",
            )
        return event

    def release(self, data: X_contra) -> Y_co:
        """One random answer. Debits nothing: a curator does that before calling it."""
        self.input.domain.check_kind(data)
        return self.function(data)

    def then(self, after: Callable[[Y_co], Z]) -> Measurement[X_contra, Z]:
        """Post-processing: any function of the answer, at the same event."""
        return Measurement(self.input, lambda data: after(self.function(data)), self.privacy)


@runtime_checkable
class Mechanism(Protocol):
    """A noise mechanism that can be put at the end of a pipeline."""

    def over(self, space: Space) -> Measurement[Any, Any]:
        """The mechanism as a measurement on members of ``space``."""


def both(*measurements: Measurement[X, Any]) -> Measurement[X, tuple[Any, ...]]:
    """Several measurements of the same data, as one whose event is their composition.

    A combinator like any other: it uses only the public constructor, as a third party would.
    """
    if not measurements:
        raise InvalidParameter(
            code="nothing_to_compose",
            expectation="at least one measurement",
            remedy="Pass the measurements to be made of the same data.",
        )
    first = measurements[0]
    for other in measurements[1:]:
        first.input.require(other.input)
    return Measurement(
        first.input,
        lambda data: tuple(m.function(data) for m in measurements),
        lambda d_in: compose(tuple(m.event(d_in) for m in measurements)),
    )
