"""Protocols of what lives longer than one call: interactive mechanisms, odometers, filters.

The types of 004d:F15. Accountants and the curator implement them; the sparse-vector family in
:mod:`discreet.mechanisms` is the first interactive mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from discreet.core.events.event import Event
    from discreet.core.guarantee import Guarantee


@runtime_checkable
class Interactive(Protocol):
    """A mechanism that answers questions one by one under one event fixed when it is opened."""

    @property
    def event(self) -> Event:
        """What the whole session costs, however long it becomes."""

    def ask(self, query: Any) -> Any:
        """Answer one question, or raise :class:`~discreet.core.errors.Exhausted`."""


@runtime_checkable
class Odometer(Protocol):
    """Keeps a running bound on what has been spent, with no limit."""

    def record(self, event: Event) -> None:
        """Add an event that has been chosen, possibly in view of earlier answers."""

    def spent(self) -> Guarantee:
        """A valid bound at this moment, whatever the adversary chose so far."""


@runtime_checkable
class Filter(Odometer, Protocol):
    """An odometer with a hard limit fixed at the start."""

    @property
    def limit(self) -> Guarantee:
        """What may never be exceeded."""

    def admits(self, event: Event) -> bool:
        """Whether recording ``event`` keeps the total within the limit."""
