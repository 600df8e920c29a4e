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
from functools import cache, lru_cache
from typing import Any, Protocol, TypeVar

from discreet.core.errors import Unpriced
from discreet.core.parameters import delta_parameter, exact, nonnegative, rounded_down

ReportFunction = TypeVar("ReportFunction", bound="Callable[..., Any]")


class Certifies(Protocol):
    """What an accountant is to the registry: see :class:`discreet.core.accountant.Accountant`."""

    def epsilon(self, event: Any, delta: float) -> float:
        """An epsilon that holds for ``event`` at ``delta``, or :class:`Unpriced`."""

    def delta(self, event: Any, epsilon: float) -> float:
        """A delta that holds for ``event`` at ``epsilon``, or :class:`Unpriced`."""


@dataclass(frozen=True)
class Priced:
    """An event under one accountant."""

    event: Any
    accountant: Certifies

    def epsilon(self, *, delta: float) -> float:
        """What this accountant certifies at ``delta``; infinite where that is nothing."""
        return certified_epsilon(self.accountant, self.event, _slack(delta))

    def delta(self, *, epsilon: float) -> float:
        """What this accountant certifies at ``epsilon``; one where that is nothing."""
        return certified_delta(self.accountant, self.event, _loss(epsilon))


def certified_epsilon(accountant: Certifies, event: Any, delta: float) -> float:
    """The accountant's epsilon; infinity, which always holds, where floats have no room for it."""
    return within_floats(lambda: accountant.epsilon(event, delta), math.inf)


def certified_delta(accountant: Certifies, event: Any, epsilon: float) -> float:
    """The accountant's delta; one, which always holds, where floats have no room for it."""
    return within_floats(lambda: accountant.delta(event, epsilon), 1.0)


def within_floats(ask: Callable[[], float], trivial: float) -> float:
    """What is answered, or ``trivial`` if the arithmetic leaves the range of floats on the way."""
    try:
        with strict_floats():
            answer = ask()
    except ArithmeticError:
        return trivial
    return trivial if math.isnan(answer) else answer


def _slack(delta: object) -> float:
    """Rounded down: an epsilon at less delta holds at more."""
    return rounded_down(exact(delta_parameter("delta", delta)))


def _loss(epsilon: object) -> float:
    """Rounded down: a delta at less epsilon holds at more."""
    return rounded_down(exact(nonnegative("epsilon", epsilon)))


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


def epsilon(event: Any, delta: float) -> float:
    """The least epsilon over all accountants that can price ``event``."""
    return _epsilon(event, _slack(delta))


@lru_cache(maxsize=1024)
def _epsilon(event: Any, delta: float) -> float:
    return min(_quotes(lambda accountant: certified_epsilon(accountant, event, delta)))


def delta(event: Any, epsilon: float) -> float:
    """The least delta over all accountants that can price ``event``."""
    return _delta(event, _loss(epsilon))


@lru_cache(maxsize=1024)
def _delta(event: Any, epsilon: float) -> float:
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
