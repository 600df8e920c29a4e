"""The registry between events and accountants, and the best of what they say.

``core`` knows no prices. :mod:`discreet.accounting` enlists its accountants here, and is loaded by
name on first use so that building events imports nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
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
        """What this accountant certifies at ``delta``."""
        return self.accountant.epsilon(self.event, _slack(delta))

    def delta(self, *, epsilon: float) -> float:
        """What this accountant certifies at ``epsilon``."""
        return self.accountant.delta(self.event, _loss(epsilon))


def _slack(delta: object) -> float:
    """Rounded down: an epsilon at less delta holds at more."""
    return rounded_down(exact(delta_parameter("delta", delta)))


def _loss(epsilon: object) -> float:
    """Rounded down: a delta at less epsilon holds at more."""
    return rounded_down(exact(nonnegative("epsilon", epsilon)))


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
    return min(_quotes(event, lambda accountant: accountant.epsilon(event, delta)))


def delta(event: Any, epsilon: float) -> float:
    """The least delta over all accountants that can price ``event``."""
    return _delta(event, _loss(epsilon))


@lru_cache(maxsize=1024)
def _delta(event: Any, epsilon: float) -> float:
    return min(_quotes(event, lambda accountant: accountant.delta(event, epsilon)))


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


def _quotes(event: Any, ask: Callable[[Certifies], float]) -> list[float]:
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
