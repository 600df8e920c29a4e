"""Transformations: data to data, with a stability map that needs no data to be asked.

A transformation is *c-stable* when outputs are at most ``c d`` apart for inputs ``d`` apart.
Its map may be any monotone function of the distance. Chaining checks domain and metric when the
pipeline is built, so an ill-typed one fails before data is opened.

Source: 004d:F1–F7, F10, F19, F27. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.measurement import Measurement, Mechanism
from discreet.core.parameters import exact, rounded_up
from discreet.core.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable

X_contra = TypeVar("X_contra", contravariant=True)
Y_co = TypeVar("Y_co", covariant=True)
Z = TypeVar("Z")


@dataclass(frozen=True)
class Transformation(Generic[X_contra, Y_co]):
    """A function between metric spaces whose stability is declared.

    Contract: for members x, x' of the input domain at distance at most ``d``, the outputs are
    members of the output domain at distance at most ``stability(d)``. Anyone may build one;
    one without a stability map cannot be built. :mod:`discreet.audit` checks declared maps.
    """

    input: Space
    output: Space
    function: Callable[[X_contra], Y_co]
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

    def __call__(self, data: X_contra) -> Y_co:
        """Apply the function."""
        self.input.domain.check_kind(data)
        return self.function(data)

    @overload
    def __rshift__(self, then: Transformation[Y_co, Z]) -> Transformation[X_contra, Z]: ...
    @overload
    def __rshift__(self, then: Measurement[Y_co, Z]) -> Measurement[X_contra, Z]: ...
    @overload
    def __rshift__(self, then: Mechanism) -> Measurement[X_contra, Any]: ...

    def __rshift__(
        self, then: Transformation[Y_co, Z] | Measurement[Y_co, Z] | Mechanism
    ) -> Transformation[X_contra, Z] | Measurement[X_contra, Z]:
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
            measurement.accuracy,
        )

    def _measured(self, mechanism: Any) -> Measurement[Y_co, Any]:
        if not isinstance(mechanism, Mechanism):
            raise Mismatch(
                code="cannot_chain",
                expectation="a Transformation, a Measurement or a mechanism after >>",
                received=type(mechanism).__name__,
                remedy="Wrap the function with its stability or privacy map first.",
            )
        return mechanism.over(self.output)


def stable(factor: float) -> Callable[[Any], Any]:
    """The stability map ``d -> factor * d`` of a ``factor``-stable transformation.

    Exact on whole numbers and fractions; where a float takes part, rounded up.
    """

    def apart(d_in: Any) -> Any:
        floating = any(isinstance(number, float) for number in (factor, d_in))
        if floating and d_in != math.inf:
            return rounded_up(exact(factor) * exact(d_in))
        return factor * d_in

    return apart


def _missing(name: str, expectation: str) -> InvalidParameter:
    return InvalidParameter(
        code="incomplete_component",
        expectation=f"`{name}` to be {expectation}",
        remedy="Declare input and output spaces, the function and its map: nothing is assumed.",
    )
