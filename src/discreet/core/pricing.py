"""The registry between events and accountants: one small function for each pair.

``core`` knows no prices. :mod:`discreet.accounting` registers them here, and is loaded by name
on first use so that building events imports nothing. A pair that nobody registered is refused:
an event without a price may not be spent.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.core.errors import InvalidParameter, NotPrivate, Unpriced
from discreet.core.parameters import delta_parameter, exact, nonnegative, rounded_down

if TYPE_CHECKING:
    from discreet.core.events.event import Event

Price = TypeVar("Price")
ReportFunction = TypeVar("ReportFunction", bound="Callable[..., Any]")
PriceFunction = TypeVar("PriceFunction", bound="Callable[[Any], Any]")


class Accountant(ABC, Generic[Price]):
    """Prices events in one currency and converts a price to (epsilon, delta).

    Contract: ``epsilon`` and ``delta`` are upper bounds of the true values, rounded upward.
    """

    def __init__(self) -> None:
        """Start with no prices."""
        self._functions: dict[type[Event], Callable[[Any], Price]] = {}

    def prices(self, kind: type[Event]) -> Callable[[PriceFunction], PriceFunction]:
        """Decorator: register the price of one kind of event."""

        def register(function: PriceFunction) -> PriceFunction:
            if kind in self._functions:
                raise InvalidParameter(
                    code="price_taken",
                    expectation="one price per event kind and accountant",
                    received=kind.kind,
                    remedy="Define an event kind of your own instead of replacing a price.",
                )
            self._functions[kind] = function
            _forget()
            return function

        return register

    def knows(self, event: Event) -> bool:
        """Whether this kind of event has a price of its own here."""
        return type(event) in self._functions

    def price(self, event: Event) -> Price:
        """The price of ``event``, or :class:`Unpriced`."""
        function = self._functions.get(type(event))
        if function is None:
            refuse_unprotected(event)
            raise Unpriced(
                code="unpriced",
                expectation=f"an event that the {type(self).__name__} accountant can price",
                received=event.kind,
                remedy="Register a price with `accountant.prices(kind)` or use another accountant.",
            )
        return function(event)

    @abstractmethod
    def epsilon(self, event: Event, delta: float) -> float:
        """Smallest epsilon this accountant can certify at ``delta``; infinity if none."""

    @abstractmethod
    def delta(self, event: Event, epsilon: float) -> float:
        """Smallest delta this accountant can certify at ``epsilon``; one if none."""


def refuse_unprotected(event: Event) -> None:
    """Say of a test-mode event what it is, rather than that it has no price."""
    from discreet.core.events.mechanisms import Unprotected

    if isinstance(event, Unprotected):
        raise NotPrivate(
            code="not_private",
            expectation="an event of a private release",
            received=event.reason,
            remedy="Build the mechanism without `randomness=`; seeds are for tests only.",
        )


@dataclass(frozen=True)
class Priced:
    """An event under one accountant."""

    event: Event
    accountant: Accountant[Any]

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


_ACCOUNTANTS: list[Accountant[Any]] = []


def enlist(accountant: Accountant[Any]) -> None:
    """Let ``Event.epsilon`` and ``Event.delta`` consult this accountant as well."""
    _ACCOUNTANTS.append(accountant)
    _forget()


def epsilon(event: Event, delta: float) -> float:
    """The least epsilon over all accountants that can price ``event``."""
    return _epsilon(event, _slack(delta))


@lru_cache(maxsize=1024)
def _epsilon(event: Event, delta: float) -> float:
    return min(_quotes(event, lambda accountant: accountant.epsilon(event, delta)))


def delta(event: Event, epsilon: float) -> float:
    """The least delta over all accountants that can price ``event``."""
    return _delta(event, _loss(epsilon))


@lru_cache(maxsize=1024)
def _delta(event: Event, epsilon: float) -> float:
    return min(_quotes(event, lambda accountant: accountant.delta(event, epsilon)))


def _forget() -> None:
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


def report(name: str, event: Event, *arguments: object) -> Any:
    """What the accountants registered under ``name`` say about ``event``."""
    importlib.import_module("discreet.accounting")
    return _REPORTS[name](event, *arguments)


def _quotes(event: Event, ask: Callable[[Accountant[Any]], float]) -> list[float]:
    importlib.import_module("discreet.accounting")
    quotes, refusals = [], []
    for accountant in _ACCOUNTANTS:
        try:
            quotes.append(ask(accountant))
        except Unpriced as refusal:
            refusals.append(refusal)
    if not quotes:
        raise refusals[0]
    return quotes
