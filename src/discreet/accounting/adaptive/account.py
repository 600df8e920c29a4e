"""Accounts: they take charges all or nothing, at whatever depth, one at a time.

An account may have parents. A charge is drafted through all of them first; where one of them
refuses, nothing is written. Refusals depend on declared costs alone, so they are public.

Proof: ``proofs/filters.md``. Source: 004d:F15–F17.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar

from discreet.accounting.adaptive.currency import Currency
from discreet.accounting.adaptive.exhausted import budget_exhausted, what_helps
from discreet.accounting.adaptive.steps import Amounts, number_up
from discreet.core.errors import Exhausted, InvalidParameter, Mismatch
from discreet.core.events.event import Event, require_event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number
from discreet.core.unit import PrivacyUnit, Relation, relation_of

# One lock for all accounts: a charge may reach any of them, and holds it for microseconds.
# No pricing and no foreign code runs under it.
_LOCK = threading.Lock()

Session_co = TypeVar("Session_co", covariant=True)


class Opens(Protocol[Session_co]):
    """A mechanism that starts sessions, each under the one event it states."""

    @property
    def event(self) -> Event:
        """What a whole session costs."""

    def open(self) -> Session_co:
        """Start a session."""


class PrivacyAccount(ABC):
    """Something that is charged. Never copied: a copy would spend the same budget twice."""

    def __init__(self, currency: Currency, depth: int = 0) -> None:
        """Start with nothing spent, ``depth`` steps below the deepest root."""
        self._currency = currency
        self._depth = depth
        self._spent = currency.zero
        self._process = os.getpid()

    @property
    def unit(self) -> PrivacyUnit | None:
        """Whose privacy is accounted for."""
        return self._currency.unit

    @property
    def currency(self) -> Currency:
        """What is added up."""
        return self._currency

    def record(self, event: Event, *, delta: Number | None = None) -> None:
        """Charge ``event`` before it runs; where the budget would be exceeded, charge nothing.

        ``delta`` is for sums of (epsilon, delta): the event enters as one pair at this delta.
        """
        self._record(self._charge(event, delta))

    def open(self, mechanism: Opens[Session_co], *, delta: Number | None = None) -> Session_co:
        """Charge a whole session, then start it; how it is interleaved costs nothing."""
        if not callable(getattr(mechanism, "open", None)):
            raise InvalidParameter(
                code="not_interactive",
                expectation="a mechanism with `open`, such as AboveThreshold",
                received=type(mechanism).__name__,
                remedy="Record the event of a one-shot mechanism, then release.",
            )
        self.record(mechanism.event, delta=delta)
        return mechanism.open()

    def spent(self) -> Guarantee:
        """What has been charged so far, rounded up."""
        with self._alone():
            amounts = self._spent
        return self._currency.spent(amounts)

    def _charge(self, event: Event, delta: Number | None) -> Amounts:
        relation = require_event(event).relation()
        if relation is not None:
            self._check_relation(relation)
        return self._currency.price(event, delta)

    def _record(self, charge: Amounts) -> None:
        with self._alone():
            draft: Draft = {}
            if not self._propose(charge, draft):
                raise self._exhausted(charge)
            # Roots first: should this be interrupted, then more is written than was spent.
            for account in sorted(draft, key=lambda account: account._depth):
                account._spent = draft[account]

    @abstractmethod
    def _propose(self, charge: Amounts, draft: Draft) -> bool:
        """Enter ``charge`` here and above into ``draft``; False where some account refuses."""

    @abstractmethod
    def _exhausted(self, charge: Amounts) -> Exhausted:
        """The refusal of ``charge``; it says what remains, which is public."""

    def _check_relation(self, relation: Relation) -> None:
        if self.unit is None:
            raise Mismatch(
                code="relation_without_unit",
                expectation="a budget that says whose privacy it is, for a sampled event",
                received=relation.value,
                remedy="Open the budget with a unit: PureDP(epsilon=1, unit=Row()).",
            )
        if relation_of(self.unit) is not relation:
            raise Mismatch(
                code="relation_mismatch",
                expectation=f"events for {relation_of(self.unit).value} neighbours",
                received=relation.value,
                remedy="Poisson sampling is for add/remove, samples of fixed size for Replace.",
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._process != os.getpid():
            raise _not_copied()
        with _LOCK:
            yield

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse copies and pickles."""
        raise _not_copied()


Draft: TypeAlias = dict[PrivacyAccount, Amounts]
"""New totals of the accounts that a charge reaches, before they are written."""


class Budget(PrivacyAccount):
    """An account with a limit, its own or that of its parents."""

    @property
    def limit(self) -> Guarantee:
        """What may never be exceeded."""
        return self._currency.write_amounts_rounded_down(self._ceiling())

    def admits(self, event: Event, *, delta: Number | None = None) -> bool:
        """Whether recording ``event`` now would succeed; charges nothing."""
        charge = self._charge(event, delta)
        with self._alone():
            return self._propose(charge, {})

    def remaining(self) -> Guarantee:
        """What may still be charged here, rounded down.

        Where two parents share an ancestor, which pays for both, less may be left than this.
        """
        with self._alone():
            headroom = self._headroom()
        return self._currency.write_amounts_rounded_down(headroom)

    @abstractmethod
    def _ceiling(self) -> Amounts:
        """The most that could ever be charged here."""

    @abstractmethod
    def _headroom(self) -> Amounts:
        """The most that could be charged here now."""

    def _exhausted(self, charge: Amounts) -> Exhausted:
        headroom, shown = self._headroom(), tuple(map(number_up, charge))
        received = shown[0] if len(shown) == 1 else shown
        left = self._currency.write_amounts_rounded_down(headroom)
        return budget_exhausted(left, received, what_helps(charge, headroom))


def _not_copied() -> Exhausted:
    return Exhausted(
        code="budget_not_copied",
        expectation="one budget in one process",
        remedy="Keep it where it was opened; a curator keeps the durable record in its ledger.",
    )
