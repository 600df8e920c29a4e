"""Every kind of scalar means the plain number it holds, or is refused with a code."""

from __future__ import annotations

import inspect
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import events, mechanisms
from discreet.core.errors import DiscreetError
from discreet.core.parameters import exact, finite
from discreet.mechanisms import key_selection, quantiles, robust
from tests.core.constructors import EVERY, Place, numbers_inside, places

PLACES = pytest.mark.parametrize("place", list(places()), ids=str)
REALS = (np.float64, np.float32, np.float16)
WHOLES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
NO_NUMBERS: list[Any] = [
    *(True, np.True_, np.array([True])[0], "1", b"1", 1j, np.complex128(1), np.str_("1")),
    *(Decimal(1), Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
    *(np.array([1.0]), np.array(None), np.array("1"), np.longdouble(1), object(), []),
    *(np.timedelta64(1, "ns"), np.datetime64(1, "ns"), np.datetime64("2024-01-01")),
    *(np.ma.masked, np.ma.array(1.0, mask=False), np.void(b"1")),
]
NOT_FINITE: list[Any] = [
    *(float("nan"), float("inf"), -float("inf"), np.float64("nan"), np.float32("inf")),
    *(np.float16("nan"), np.array(np.nan), np.array(-np.inf, dtype=np.float16)),
]
FAR: list[Any] = [
    *(10**400, -(10**400), Fraction(10**400, 3), Fraction(1, 10**400), Fraction(-1, 3)),
    *(1e308, 5e-324, -1e308, np.int64(-1), np.uint64(2**64 - 1), np.float32(1e-45), 0, -0.0),
]

NO_CONSTRUCTORS = (
    dp.Curator,
    dp.Policy,
    dp.Dates,
    dp.Project,
    dp.Release,
    quantiles.EstimatedRanks,
)
"""Public classes that take no plain number, or are made by the library."""


def same(value: int | float | Fraction) -> list[Any]:
    """Scalars that hold exactly this number."""
    if isinstance(value, Fraction):
        return [value]
    kinds: tuple[Any, ...] = REALS
    if isinstance(value, int):
        kinds = tuple(kind for kind in WHOLES if value <= np.iinfo(kind).max)
    scalars = [kind(value) for kind in kinds]
    held = [scalar for scalar in scalars if scalar.item() == value]
    return [*held, *map(np.array, held)]


@PLACES
def test_a_scalar_of_numpy_means_the_number_it_holds(place: Place) -> None:
    plain = place.made(place.usual)
    for scalar in same(place.usual):
        made = place.made(scalar)
        assert not list(numbers_inside(made)), scalar
        if not hasattr(made, "_spent"):  # accounts are equal only to themselves
            assert repr(made) == repr(plain)
        if isinstance(made, events.Event):
            assert events.from_json(made.to_json()) == made


@PLACES
def test_what_is_no_number_is_refused_with_a_code(place: Place) -> None:
    for value in (*NO_NUMBERS, *NOT_FINITE):
        with pytest.raises(DiscreetError) as refused:
            place.made(value)
        assert refused.value.code


@PLACES
def test_a_number_far_out_is_taken_or_refused_with_a_code(place: Place) -> None:
    for value in FAR:
        with suppress(DiscreetError):
            place.made(value)


def test_none_is_forgotten() -> None:
    """Whatever public class takes a number by a name known from the list is on the list."""
    known = {place.name for place in places()} - {"id", "of"}
    modules = (dp, events, mechanisms, robust, quantiles, key_selection)
    for module in modules:
        for name in module.__all__:
            kind = getattr(module, name)
            if not inspect.isclass(kind) or inspect.isabstract(kind) or kind in EVERY:
                continue
            if issubclass(kind, BaseException) or kind in NO_CONSTRUCTORS:
                continue
            try:
                taken = set(inspect.signature(kind).parameters)
            except (TypeError, ValueError):
                continue
            assert not taken & known, f"{module.__name__}.{name}"


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_narrow_float_means_what_it_stores_not_what_was_written(kind: Any) -> None:
    stored = kind(0.1)
    assert finite("x", stored) == float(stored) != 0.1
    assert exact(stored) == Fraction(float(stored))
    assert dp.PureDP(epsilon=stored).epsilon == float(stored)


@pytest.mark.parametrize("value", [np.float64(0.1), np.array(0.1), np.int64(3), Fraction(1, 3)])
def test_what_is_kept_is_a_plain_number(value: Any) -> None:
    kept = finite("x", value)
    assert type(kept) in (int, float, Fraction)
    assert kept == value
    assert "np." not in repr(dp.PureDP(epsilon=value))


def test_a_subclass_of_a_number_is_kept_as_the_number() -> None:
    class Half(float):
        def __repr__(self) -> str:
            return "anything"

    class Three(int):
        pass

    assert type(finite("x", Half(0.5))) is float
    assert type(finite("x", Three(3))) is int
    assert repr(dp.PureDP(epsilon=Half(0.5))) == "PureDP(unit=None, epsilon=0.5)"
