"""Transformations: data to data, with a stability map that needs no data to be asked.

A transformation is *c-stable* when outputs are at most ``c d`` apart for inputs ``d`` apart.
Its map may be any monotone function of the distance. Chaining checks domain and metric when the
pipeline is built, so an ill-typed one fails before data is opened.

Source: 004d:F1–F7, F10, F19, F27. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.measurement import Measurement, Mechanism
from discreet.core.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable

X = TypeVar("X")
Y = TypeVar("Y")
Z = TypeVar("Z")


@dataclass(frozen=True)
class Transformation(Generic[X, Y]):
    """A function between metric spaces whose stability is declared.

    Contract: for members x, x' of the input domain at distance at most ``d``, the outputs are
    members of the output domain at distance at most ``stability(d)``. Anyone may build one;
    one without a stability map cannot be built. :mod:`discreet.audit` checks declared maps.
    """

    input: Space
    output: Space
    function: Callable[[X], Y]
    stability: Callable[[Any], Any]

    def __post_init__(self) -> None:
        """Refuse parts that are missing or of the wrong kind."""
        for name, kind in (("input", Space), ("output", Space)):
            if not isinstance(getattr(self, name), kind):
                raise _missing(name, "a Space(domain, metric)")
        for name in ("function", "stability"):
            if not callable(getattr(self, name)):
                raise _missing(name, "callable")

    def map(self, d_in: Any) -> Any:
        """The distance outputs can be apart; needs no data."""
        return self.stability(d_in)

    def __call__(self, data: X) -> Y:
        """Apply the function."""
        return self.function(data)

    @overload
    def __rshift__(self, then: Transformation[Y, Z]) -> Transformation[X, Z]: ...
    @overload
    def __rshift__(self, then: Measurement[Y, Z]) -> Measurement[X, Z]: ...
    @overload
    def __rshift__(self, then: Mechanism) -> Measurement[X, Any]: ...

    def __rshift__(
        self, then: Transformation[Y, Z] | Measurement[Y, Z] | Mechanism
    ) -> Transformation[X, Z] | Measurement[X, Z]:
        """``self`` first, then ``then``; stabilities chain and, at the end, become an event."""
        if isinstance(then, Transformation):
            self.output.require(then.input)
            later = then
            return Transformation(
                self.input,
                later.output,
                lambda data: later.function(self.function(data)),
                lambda d_in: later.stability(self.stability(d_in)),
            )
        measurement = then if isinstance(then, Measurement) else self._measured(then)
        self.output.require(measurement.input)
        return Measurement(
            self.input,
            lambda data: measurement.function(self.function(data)),
            lambda d_in: measurement.privacy(self.stability(d_in)),
        )

    def _measured(self, mechanism: Any) -> Measurement[Y, Any]:
        if not isinstance(mechanism, Mechanism):
            raise Mismatch(
                code="cannot_chain",
                expectation="a Transformation, a Measurement or a mechanism after >>",
                received=type(mechanism).__name__,
                remedy="Wrap the function with its stability or privacy map first.",
            )
        return mechanism.over(self.output)


def stable(factor: float) -> Callable[[Any], Any]:
    """The stability map ``d -> factor * d`` of a ``factor``-stable transformation."""
    return lambda d_in: factor * d_in


def _missing(name: str, expectation: str) -> InvalidParameter:
    return InvalidParameter(
        code="incomplete_component",
        expectation=f"`{name}` to be {expectation}",
        remedy="Declare input and output spaces, the function and its map: nothing is assumed.",
    )
