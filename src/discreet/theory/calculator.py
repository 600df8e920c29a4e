"""How a calculator fails: where its formula has no value, with one code.

Parameters are public, and no data is read; so what was passed may be shown. Checks of single
parameters stand in the formulas themselves, with codes that say more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from discreet.core.errors import DiscreetError, InvalidParameter

Given = ParamSpec("Given")
Value = TypeVar("Value")

_FAULTS = (
    ArithmeticError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    MemoryError,
)
_SHOWN = 60


def calculator(formula: Callable[Given, Value]) -> Callable[Given, Value]:
    """The formula, refused with a code at parameters for which it has no value."""
    signature = inspect.signature(formula)

    @wraps(formula)
    def calculated(*args: Given.args, **kwargs: Given.kwargs) -> Value:
        given = signature.bind(*args, **kwargs)
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return formula(*args, **kwargs)
        except DiscreetError:
            raise
        except _FAULTS:
            shown = {name: _short(value) for name, value in given.arguments.items()}
        raise InvalidParameter(
            code="formula_without_value",
            expectation=f"parameters at which {formula.__name__} has a value",
            received=shown,
            remedy="Pass numbers of a usual size, within what its docstring says.",
        )

    return calculated


def _short(value: object) -> str:
    """A parameter as it is shown; long ones are cut."""
    if isinstance(value, int) and value.bit_length() > 8 * _SHOWN:
        return f"a whole number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
