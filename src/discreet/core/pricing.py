"""The registry between events and accountants, and the best of what they say.

``core`` knows no prices. :mod:`discreet.accounting` enlists its accountants here, and is loaded by
name on first use so that building events imports nothing.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Protocol, TypeVar

from discreet.core.errors import Unpriced
from discreet.core.parameters import Number, delta_parameter, exact, nonnegative, rounded_down

ReportFunction = TypeVar("ReportFunction", bound="Callable[..., Any]")


class Certifies(Protocol):
    """What an accountant is to the registry: see :class:`discreet.core.accountant.Accountant`.

    One with ``adds_exactly`` is given numbers as they are, others the float below.
    """

    def epsilon(self, event: Any, delta: Any) -> float:
        """An epsilon that holds for ``event`` at ``delta``, or :class:`Unpriced`."""

    def delta(self, event: Any, epsilon: Any) -> float:
        """A delta that holds for ``event`` at ``epsilon``, or :class:`Unpriced`."""


@dataclass(frozen=True)
class Priced:
    """An event under one accountant."""

    event: Any
    accountant: Certifies

    def epsilon(self, *, delta: Number) -> float:
        """What this accountant certifies at ``delta``; infinite where that is nothing."""
        return certified_epsilon(self.accountant, self.event, delta_as_written(delta))

    def delta(self, *, epsilon: Number) -> float:
        """What this accountant certifies at ``epsilon``; one where that is nothing."""
        return certified_delta(self.accountant, self.event, epsilon_as_written(epsilon))


def certified_epsilon(accountant: Certifies, event: Any, delta: Fraction) -> float:
    """The accountant's epsilon; infinity, which always holds, where floats have no room for it."""
    given = _round_for_accountant(accountant, delta)
    return within_floats(lambda: accountant.epsilon(event, given), math.inf)


def certified_delta(accountant: Certifies, event: Any, epsilon: Fraction) -> float:
    """The accountant's delta; one, which always holds, where floats have no room for it."""
    given = _round_for_accountant(accountant, epsilon)
    return within_floats(lambda: accountant.delta(event, given), 1.0)


def _round_for_accountant(accountant: Certifies, number: Fraction) -> Number:
    """The delta, or epsilon, that an accountant is asked about.

    Where those of events add up to the number itself, the float below it would be too small.
    Elsewhere it is rounded down: what holds at less delta, or epsilon, holds at more.
    """
    return number if getattr(accountant, "adds_exactly", False) else rounded_down(number)


def within_floats(ask: Callable[[], float], trivial: float) -> float:
    """What is answered, or ``trivial`` if the arithmetic leaves the range of floats on the way."""
    try:
        with strict_floats():
            answer = ask()
    except ArithmeticError:
        return trivial
    return trivial if math.isnan(answer) else answer


def delta_as_written(delta: object) -> Fraction:
    """The delta that somebody asks about: a rational, or a float as it is written or as stored.

    A spend is read as it is written: 1e-6 is one in a million, which the float falls short of. An
    event made by hand holds the float. The larger of the two covers both; they differ by less than
    one digit in the last place, and only where what events state is added up. It is for people who
    ask; what is charged or compared is asked about as a rational, which is read as it is.

    >>> delta_as_written(1e-6), delta_as_written(0.25)
    (Fraction(1, 1000000), Fraction(1, 4))
    """
    return _as_written(delta_parameter("delta", delta))


def epsilon_as_written(epsilon: object) -> Fraction:
    """The epsilon that somebody asks about, read likewise."""
    return _as_written(nonnegative("epsilon", epsilon))


def _as_written(number: Number) -> Fraction:
    return max(exact(number), Fraction(repr(number)) if isinstance(number, float) else Fraction(0))


def strict_floats() -> AbstractContextManager[object]:
    """Arrays complain at once about a number that overflows or means nothing.

    So no price is built on one. Complaints are of the kind ArithmeticError, as those of floats.
    """
    import numpy as np  # whoever asks for a price loads it anyway

    return np.errstate(over="raise", divide="raise", invalid="raise")


@cache
def _load() -> None:
    importlib.import_module("discreet.accounting")


_ACCOUNTANTS: list[Certifies] = []


def enlist(accountant: Certifies) -> None:
    """Let ``Event.epsilon`` and ``Event.delta`` consult this accountant as well."""
    _ACCOUNTANTS.append(accountant)
    forget()


def epsilon(event: Any, delta: Number) -> float:
    """The least epsilon over all accountants that can price ``event``; floats are as stored."""
    return _epsilon(event, exact(delta_parameter("delta", delta)))


@lru_cache(maxsize=1024)
def _epsilon(event: Any, delta: Fraction) -> float:
    return min(_quotes(lambda accountant: certified_epsilon(accountant, event, delta)))


def delta(event: Any, epsilon: Number) -> float:
    """The least delta over all accountants that can price ``event``; floats are as stored."""
    return _delta(event, exact(nonnegative("epsilon", epsilon)))


@lru_cache(maxsize=1024)
def _delta(event: Any, epsilon: Fraction) -> float:
    return min(_quotes(lambda accountant: certified_delta(accountant, event, epsilon)))


def forget() -> None:
    """Prices given so far may no longer be the least."""
    _epsilon.cache_clear()
    _delta.cache_clear()


_REPORTS: dict[str, Callable[..., Any]] = {}


def reports(name: str) -> Callable[[ReportFunction], ReportFunction]:
    """Decorator: let every event answer the method ``name`` through this function."""

    def register(function: ReportFunction) -> ReportFunction:
        _REPORTS[name] = function
        return function

    return register


def report(name: str, event: Any, *arguments: object) -> Any:
    """What the accountants registered under ``name`` say about ``event``."""
    _load()
    return _REPORTS[name](event, *arguments)


def _quotes(ask: Callable[[Certifies], float]) -> list[float]:
    _load()
    quotes, refusals = [], []
    for accountant in _ACCOUNTANTS:
        try:
            quotes.append(ask(accountant))
        except Unpriced as refusal:
            refusals.append(refusal)
    if not quotes:
        raise refusals[0]
    return quotes
