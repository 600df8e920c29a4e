"""Access to the tables of a curator: what everything is paid from, and the two verbs for data.

:meth:`Access.release` runs one measurement and :meth:`Access.open` begins a conversation. Both
reserve durably, then compute, then commit before anybody sees an answer; an unfinished
reservation counts as spent.

Source: contract, "Spending", "What may be seen"; 004d:F15, F16.
"""

from __future__ import annotations

from typing import TypeVar

from discreet.accounting.adaptive.steps import Amounts
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.measurement import Measurement
from discreet.core.space import Space
from discreet.core.unit import PrivacyUnit
from discreet.core.written import written
from discreet.curator.budget import Purse
from discreet.curator.history import History, dialogues, history
from discreet.curator.holdings import Holdings
from discreet.curator.interactive.sessions import Dialogue, Dialogues, paid_dialogue
from discreet.curator.interactive.sparse_vector import Watch, Watchable
from discreet.curator.payment import Payment
from discreet.curator.policy.enforcement import Policies
from discreet.curator.tags import name_of
from discreet.ledger import Ledger, LedgerAccount
from discreet.mechanisms.sparse_vector.plain import mechanism_from_plain, plain_mechanism
from discreet.noise.randomness import random_id
from discreet.relational.database import Database, Databases, Units
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.plan.query import Question
from discreet.relational.plan.scope import Scope

Result = TypeVar("Result")

ANALYST = "analyst"
"""Who asks, where nobody is named."""


class Access:
    """Sees the tables within ``scope`` and pays from ``account``.

    Guarantee: whatever is asked, in whatever order and by however many processes that share the
    ledger, everything released together keeps the budget for each unit.
    """

    def __init__(
        self,
        *,
        holdings: Holdings,
        purse: Purse,
        account: LedgerAccount,
        scope: Scope,
        policies: Policies,
    ) -> None:
        """Hold what was opened elsewhere."""
        self._holdings = holdings
        self._purse = purse
        self._account = account
        self._scope = scope
        self._policies = policies
        self._payment = Payment(account, holdings.database)

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is protected."""
        return self._database.unit

    @property
    def ledger(self) -> Ledger:
        """The record of all spending."""
        return self._holdings.ledger

    @property
    def space(self) -> Space:
        """The space on which measurements for :meth:`release` are declared."""
        return Space(Databases(tuple(self._database.names())), Units(self.unit))

    @property
    def budget(self) -> Guarantee:
        """What everything released here together keeps."""
        return self._purse.budget

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, rounded down."""
        return self._purse.remaining(self._account.remaining())

    @property
    def spent(self) -> Guarantee:
        """What has been spent, unfinished reservations included, rounded up."""
        return self._purse.spent(self._account.spent())

    def history(self) -> History:
        """What was asked here, by whom and at what price."""
        return history(self._account, self._purse)

    def conversations(self, *, asker: str | None = None) -> Dialogues:
        """Conversations, rounds and watches that were paid from here, with the ids to resume them.

        All of them, or those of one asker: whoever lost an id finds it here.
        """
        return dialogues(self._account, self._purse, asker)

    def release(
        self,
        measurement: Measurement[Database, Result],
        *,
        spend: Guarantee,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> Result:
        """Run one measurement on the data and pay for its event.

        ``spend`` is the most the event may cost, in its own notion. What is returned must be
        plain JSON, since it is kept in the ledger.
        """
        self._require_own()
        self._purse.check(spend)
        allowed = self._policies.admit_spend(spend, asker=asker, purpose=purpose)
        measurement.input.require(self.space)
        event = measurement.event(1)
        charge = self._purse.charge(spend, (event,))
        self._purse.require_covered(spend, event)
        return self._payment.paid(
            lambda: measurement.release(self._database),
            lambda value: {"value": value},
            asker=asker,
            question=f"measurement {random_id(96)}",
            charge=charge,
            event=event,
            detail={"spend": written(spend), **allowed},
        )

    def open(
        self,
        mechanism: Watchable,
        *,
        spend: Guarantee,
        asker: str = ANALYST,
        purpose: str | None = None,
    ) -> Watch:
        """Begin a conversation under one event: AboveThreshold or Sparse over SQL questions.

        The whole of it is paid for now; every answer is in the ledger before it is seen. A
        mechanism of one's own is held to the rules of measurements.
        """
        self._database.require_process()
        plain = plain_mechanism(mechanism)
        if plain is None:
            self._require_own()
        self._scope.require_event(mechanism.event, self.unit)
        self._purse.check(spend)
        allowed = self._policies.admit_spend(spend, asker=asker, purpose=purpose)
        charge = self._purse.charge(spend, (mechanism.event,))
        self._purse.require_covered(spend, mechanism.event)
        reservation = self._account.reserve(
            asker=asker,
            question=f"conversation {random_id(96)}",
            charge=charge,
            event=mechanism.event.to_json(),
            detail={
                "spend": written(spend),
                "mechanism": name_of(mechanism),
                "watch": plain,
                **allowed,
            },
        )
        return Watch(mechanism, self._watched, self._payment, reservation)

    def reopen(self, watch: str, *, asker: str = ANALYST) -> Watch:
        """Go on with a conversation of :meth:`open` by its id, also after a restart; for free.

        Whoever had it open before can no longer use it.
        """
        self._database.require_process()
        detail = paid_dialogue(self._account, watch, Dialogue.WATCH, asker=asker)["detail"]
        self._policies.admit_resumed(None, asker=asker, purpose=detail.get("purpose"))
        mechanism = mechanism_from_plain(detail["watch"], self._holdings.randomness)
        return Watch(mechanism, self._watched, self._payment, watch)

    @property
    def _database(self) -> Database:
        return self._holdings.database

    def _question(self, text: Asked) -> Question:
        """The question that a text means here: about a part, within the part."""
        self._database.require_process()
        return self._scope.question(text_of(text), self._database)

    def _require_own(self) -> None:
        """Refuse what is of one's own making where it could not be held to its limits.

        Nobody can say what it does: neither that it keeps to a part, nor which columns it reads.
        """
        self._scope.require_whole()
        self._policies.require_described()

    def _watched(self, text: str) -> Question:
        question = self._question(text)
        self._policies.require_columns(question)
        return question

    def _price(self, spend: Guarantee, events: tuple[Event, ...]) -> Amounts:
        """The price of events; nothing in test mode, whose releases are marked."""
        if not self._holdings.randomness.private:
            return self._purse.currency.zero
        return self._purse.charge(spend, events)
