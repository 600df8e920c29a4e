"""The value of an expression over released values, with the noise that it has.

Numbers that are linear in the noise, and quotients of such, are computed by the arithmetic of
:mod:`discreet.release.estimate`, so that SQL and Python say the same. Conditions, order and text
look at the released values themselves: they are functions of what is known already.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from discreet.relational.functions.arithmetic import SUBTRACT
from discreet.relational.functions.function import Function
from discreet.relational.post_processing.certainty import COMPARISONS, is_decided
from discreet.relational.post_processing.uncertain import (
    Slope,
    Value,
    derived,
    image_of,
    is_uncertain,
    point,
)
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal
from discreet.release.draws import Range
from discreet.release.estimate import Contrast, Estimate, Ratio

_LINEAR = (Estimate, Ratio, Contrast)


def compute(expression: Expression, row: Mapping[str, Value]) -> Value:
    """The value on a row of released values; ``evaluate`` gives the same without the noise."""
    match expression:
        case Column(name=name):
            return row[name]
        case Literal(value=value):
            return value  # type: ignore[return-value]
        case Case():
            return _chosen(expression, row)
        case Call(function=function, args=args, domain=domain):
            return _called(function, tuple(compute(arg, row) for arg in args), domain.kind)


def _chosen(case: Case, row: Mapping[str, Value]) -> Value:
    """The branch that the released values choose.

    Where the choice itself depends on noise and is not beyond doubt, the truth may lie in any
    branch.
    """
    tests = [compute(test, row) for test, _ in case.branches]
    place = next((n for n, test in enumerate(tests) if test is True), None)
    results = [result for _, result in case.branches] + [case.otherwise]
    chosen = compute(results[-1 if place is None else place], row)
    read = case.branches if place is None else case.branches[: place + 1]
    if all(_is_certain(test, row) for test, _ in read):
        return chosen
    others = tuple(compute(result, row) for result in results)
    return derived(point(chosen), others, _hull, None)


def _is_certain(test: Expression, row: Mapping[str, Value]) -> bool:
    """Whether noise leaves no doubt about a condition."""
    if not _reads_noise(test, row):
        return True
    if not isinstance(test, Call):
        return False
    name, args = test.function.name, test.args
    if name in COMPARISONS and all(arg.domain.kind.is_number for arg in args):
        sides = tuple(compute(arg, row) for arg in args)
        return is_decided(name, _called(SUBTRACT, sides, DataType.DOUBLE))
    if name == "not":
        return _is_certain(args[0], row)
    if name in ("and", "or"):
        decisive = name == "or"
        sure = [arg for arg in args if _is_certain(arg, row)]
        return len(sure) == len(args) or any(compute(arg, row) is decisive for arg in sure)
    return False


def _reads_noise(expression: Expression, row: Mapping[str, Value]) -> bool:
    if isinstance(expression, Column):
        return is_uncertain(row[expression.name])
    return any(_reads_noise(arg, row) for arg in expression.args)


def _hull(parts: tuple[Value | Range, ...]) -> Range:
    ends = [part if isinstance(part, tuple) else (part, part) for part in parts]
    numbers: list[Any] = [end for end in ends if isinstance(end[0], int | float)]
    return min(low for low, _ in numbers), max(high for _, high in numbers)


def _called(function: Function, args: tuple[Value, ...], kind: DataType) -> Value:
    if function.name == "coalesce":
        return next((arg for arg in args if point(arg) is not None), None)
    if function.name == "nullif":
        return None if point(args[0]) == point(args[1]) else args[0]
    points = tuple(map(point, args))
    if not any(map(is_uncertain, args)) or not kind.is_number:
        return function.apply(points, kind)  # type: ignore[return-value]
    if any(value is None for value in points):
        return None
    made = _linear(function, args)
    if made is not None:
        return made
    value = function.apply(points, kind)
    return derived(value, args, partial(image_of, function), _slopes(function, args))


def _linear(  # noqa: PLR0911 -- one line for each function
    function: Function, args: tuple[Value, ...]
) -> Value:
    """The number by the arithmetic of estimates, where they have it; else None."""
    known = all(isinstance(arg, (*_LINEAR, int, float)) for arg in args)
    if not known:
        return None
    parts: Any = args
    match function.name:
        case "add" | "subtract" | "multiply":
            both = all(isinstance(part, _LINEAR) for part in parts)
            if function.name == "multiply" and both:
                return None
            act: Callable[[Any, Any], Any] = {
                "add": operator.add,
                "subtract": operator.sub,
                "multiply": operator.mul,
            }[function.name]
            return act(*parts)  # type: ignore[no-any-return]
        case "negate":
            return -parts[0]  # type: ignore[no-any-return]
        case "divide":
            return _quotient(*parts)
        case "cast" if function.parameters == (DataType.DOUBLE,):
            return parts[0]  # type: ignore[no-any-return]
        case "cast" if function.parameters == (DataType.INTEGER,):
            return parts[0] if isinstance(point(parts[0]), int) else None
    return None


def _quotient(above: Any, below: Any) -> Value:
    if not isinstance(below, _LINEAR):
        return above / below if below else None
    if not isinstance(below, Estimate) or not isinstance(above, Estimate | int | float):
        return None
    return above / below


def _slopes(function: Function, args: tuple[Value, ...]) -> tuple[Slope, ...] | None:
    """Derivatives by the arguments with noise, at the released values."""
    x: list[Any] = [point(arg) for arg in args]
    noisy = [is_uncertain(arg) for arg in args]
    try:
        every = _derivatives(function.name, x, bent=sum(noisy) > 1)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    if every is None:
        return None
    return tuple(slope for slope, given in zip(every, noisy, strict=True) if given)


def _derivatives(  # noqa: PLR0911 -- one line for each function
    name: str, x: list[Any], *, bent: bool
) -> tuple[Slope, ...] | None:
    match name:
        case "add":
            return Slope(1.0, bent=False), Slope(1.0, bent=False)
        case "subtract":
            return Slope(1.0, bent=False), Slope(-1.0, bent=False)
        case "negate":
            return (Slope(-1.0, bent=False),)
        case "multiply":
            return Slope(x[1], bent), Slope(x[0], bent)
        case "divide":
            # What is left out is a share of the noise, as small as the denominator is far from
            # zero; where the numerator lies does not matter.
            return Slope(1 / x[1], bent=False), Slope(-x[0] / x[1] ** 2, bent=True)
        case "cast":
            return (Slope(1.0, bent=False),)
        case "square":
            return (Slope(2.0 * x[0], bent=True),)
        case "sqrt":
            return (Slope(0.5 / math.sqrt(x[0]), bent=True),)
        case "ln":
            return (Slope(1 / x[0], bent=True),)
        case "log10" | "log2":
            return (Slope(1 / (x[0] * math.log(10 if name == "log10" else 2)), bent=True),)
    return None
