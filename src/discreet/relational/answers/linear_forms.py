"""Recognising columns that are linear in released measures, or a ratio of two such.

Such columns have exact intervals, computed for all rows at once, and keep their formula. Others are
computed row by row, in :mod:`discreet.relational.post_processing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, Expression, Literal
from discreet.release.draws import ANYWHERE, Range
from discreet.release.estimate import Estimate
from discreet.release.formula import LinearFormula, NoisyMeasure


@dataclass(frozen=True)
class LinearForm:
    """A sum of measures times factors, plus a constant."""

    terms: tuple[tuple[int | float, NoisyMeasure], ...]
    constant: int | float
    factors: Mapping[str, int | float]

    def within(self, ranges: Mapping[str, Range]) -> Range:
        """Where the truth lies for public reasons, as those of the columns do."""
        total = Estimate(self.constant, (), (self.constant, self.constant))
        for name, factor in self.factors.items():
            total = total + Estimate(0, (), ranges.get(name, ANYWHERE)) * factor
        return total.within


def linear_form(expression: Expression, known: Mapping[str, NoisyMeasure]) -> LinearForm | None:
    """The expression as a linear form in the ``known`` columns, if it is one."""
    form = _form(expression)
    if form is None or not set(form) - {""} <= set(known):
        return None
    factors = {name: factor for name, factor in form.items() if name and factor}
    terms = tuple((factor, known[name]) for name, factor in factors.items())
    return LinearForm(terms, form.get("", 0), factors)


def quotient_form(
    expression: Expression, known: Mapping[str, NoisyMeasure], ranges: Mapping[str, Range]
) -> tuple[LinearFormula, LinearFormula] | None:
    """Numerator and denominator where the expression is one linear form over another."""
    if not isinstance(expression, Call) or expression.function.name != "divide":
        return None
    above, below = (linear_form(arg, known) for arg in expression.args)
    if above is None or below is None or not above.terms or not below.terms:
        return None
    return (
        LinearFormula(above.terms, above.constant, above.within(ranges)),
        LinearFormula(below.terms, below.constant, below.within(ranges)),
    )


def _form(expression: Expression) -> dict[str, int | float] | None:
    """Factors by column; the constant under the empty name."""
    match expression:
        case Column(name=name):
            return {name: 1}
        case Literal(value=int() | float() as value) if not isinstance(value, bool):
            return {"": value}
        case Call(function=function, args=args):
            forms = [_form(arg) for arg in args]
            if any(form is None for form in forms):
                return None
            if function.name == "cast" and function.parameters != (DataType.DOUBLE,):
                return None
            return _combined(function.name, [form for form in forms if form is not None])
    return None


def _combined(name: str, forms: list[dict[str, int | float]]) -> dict[str, int | float] | None:
    if name == "cast":
        return forms[0]
    if name == "negate":
        return _scaled(forms[0], -1)
    if name in ("add", "subtract"):
        sign = 1 if name == "add" else -1
        names = dict.fromkeys((*forms[0], *forms[1]))  # in their order, in every process
        return {key: forms[0].get(key, 0) + sign * forms[1].get(key, 0) for key in names}
    constants = [form.get("", 0) if set(form) <= {""} else None for form in forms]
    if name == "multiply":
        for constant, other in zip(constants, reversed(forms), strict=True):
            if constant is not None:
                return _scaled(other, constant)
    if name == "divide" and constants[1]:
        return _scaled(forms[0], 1 / constants[1])
    return None


def _scaled(form: Mapping[str, int | float], factor: int | float) -> dict[str, int | float]:
    return {name: value * factor for name, value in form.items()}
