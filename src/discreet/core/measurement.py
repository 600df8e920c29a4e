"""Measurements: data to a random answer, with the event it costs as a function of distance.

The event map needs no data. Everything computed from an answer alone is free: ``then`` applies
any function afterwards without changing the event. Neither needs the error of an answer data: a
measurement that ends in additive noise carries it, through every transformation before the noise
and every affine function after it. ``then`` drops it, since nothing is known of the function.

Source: 000a:A6, 004a:A6, 004d:F2, F8, F10, F18, F19, F29. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.parameters import finite, probability
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

    ``accuracy`` is public, and may be left out: for a confidence, how far each released number is
    from the exact one, of what the last transformation gave; for all numbers of an answer at once,
    whatever the data. Answers of several parts have a tuple or a mapping of such half-widths.
    """

    input: Space
    function: Callable[[X_contra], Y_co]
    privacy: Callable[[Any], Event]
    accuracy: Callable[[float], Any] | None = None

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

    def error(self, *, confidence: float) -> Any:
        """How far released numbers may be from the exact ones, jointly at ``confidence``.

        Noise only: what clamping, bounding or sampling changed before is not an error of it.
        """
        if self.accuracy is None:
            raise InvalidParameter(
                code="error_not_known",
                expectation="a measurement whose error is known",
                received="one that a function was applied to, or that adds no noise to numbers",
                remedy="Ask for the error before `then`; `scaled` keeps it.",
            )
        return self.accuracy(float(probability("confidence", confidence)))

    def interval(self, released: Any, *, confidence: float) -> tuple[Any, Any]:
        """Lower and upper ends that hold the exact numbers, jointly at ``confidence``."""
        return _ends(released, self.error(confidence=confidence))

    def then(self, after: Callable[[Y_co], Z]) -> Measurement[X_contra, Z]:
        """Post-processing: any function of the answer, at the same event. Its error is unknown."""
        return Measurement(self.input, lambda data: after(self.function(data)), self.privacy)

    def scaled(self, factor: float, *, shift: float = 0) -> Measurement[X_contra, Any]:
        """``factor`` times the answer plus ``shift``, with ``factor`` times the error.

        For answers of one part: a number or an array.
        """
        by, more, known = finite("factor", factor), finite("shift", shift), self.accuracy
        return Measurement(
            self.input,
            lambda data: self.function(data) * by + more,  # type: ignore[operator]
            self.privacy,
            None if known is None else lambda confidence: abs(by) * known(confidence),
        )


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
        jointly(tuple(m.accuracy for m in measurements)),
    )


def jointly(
    parts: tuple[Callable[[float], Any] | None, ...],
) -> Callable[[float], tuple[Any, ...]] | None:
    """The accuracies of parts whose noises are independent, at one confidence for all of them.

    Each part then holds with the root of that confidence, of as many as there are, rounded up.
    None if any of them is unknown.
    """
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts):
        return None

    def accuracy(confidence: float) -> tuple[Any, ...]:
        each = math.exp(math.log(confidence) / len(known))
        if each < 1 and len(known) > 1:
            each = min(math.nextafter(each, 1.0), math.nextafter(1.0, 0.0))
        return tuple(part(each) for part in known)

    return accuracy


def _ends(released: Any, half: Any) -> tuple[Any, Any]:
    """Both ends, part by part; whole numbers stay whole."""
    if isinstance(half, Mapping):
        ends = {key: _ends(released[key], half[key]) for key in half}
        return tuple({key: both[side] for key, both in ends.items()} for side in (0, 1))  # type: ignore[return-value]
    if isinstance(half, tuple):
        pairs = [_ends(part, each) for part, each in zip(released, half, strict=True)]
        return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)
    if isinstance(released, list):
        pairs = [_ends(value, half) for value in released]
        return [low for low, _ in pairs], [high for _, high in pairs]
    kept = getattr(released, "dtype", None)
    whole = isinstance(released, int) if kept is None else kept.kind in "iu"
    width = int(half) if whole and float(half).is_integer() else half
    return released - width, released + width
