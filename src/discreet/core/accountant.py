"""The base of all accountants: one small function for each kind of event that it can price.

A pair of event and accountant that nobody registered is refused: an event without a price may not
be spent. :mod:`discreet.core.pricing` asks all accountants for the least epsilon or delta.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from discreet.core import pricing
from discreet.core.errors import InvalidParameter, NotPrivate, Unpriced
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Unprotected

Price = TypeVar("Price")
PriceFunction = TypeVar("PriceFunction", bound="Callable[[Any], Any]")


class Accountant(ABC, Generic[Price]):
    """Prices events in one currency and converts a price to (epsilon, delta).

    Contract: ``epsilon`` and ``delta`` are upper bounds of the true values, rounded upward.

    Attributes:
        adds_exactly: Whether what events state is added up, and compared, as rationals.
    """

    adds_exactly: ClassVar[bool] = False

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
            pricing.forget()
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
    def epsilon(self, event: Event, delta: Any) -> float:
        """Smallest epsilon this accountant can certify at ``delta``; infinity if none."""

    @abstractmethod
    def delta(self, event: Event, epsilon: Any) -> float:
        """Smallest delta this accountant can certify at ``epsilon``; one if none."""


def finite_price(price: float, event: Event) -> float:
    """``price``, where a guarantee is to be made of it: there is none with an infinite number."""
    if math.isinf(price):
        raise Unpriced(
            code="price_infinite",
            expectation="an event with a finite price in this privacy definition",
            received=event.kind,
            remedy="Add noise, or take fewer of such events: nobody is protected by these.",
        )
    return price


def refuse_unprotected(event: Event) -> None:
    """Say of a test-mode event what it is, rather than that it has no price."""
    if isinstance(event, Unprotected):
        raise NotPrivate(
            code="not_private",
            expectation="an event of a private release",
            received=event.reason,
            remedy="Build the mechanism without `randomness=`; seeds are for tests only.",
        )
