"""The one way to buy an answer: the same steps, in the same order, for every verb.

Two more charges release nothing, and stand elsewhere: what was spent with other tools
(``curator/external_spend.py``) and budgets that are set aside (``curator/sub_budgets/``).

1. *Check*: the process, who asks, and that the budget can pay in the spend's definition.
2. *Admit*: the policy, and the rule about what is of somebody's own making.
3. *Find*: an answer that the analyst has paid for is read again, for nothing. One that was paid
   for on another snapshot is offered, not charged for again unasked.
4. *Preflight*: make the mechanism, write the statements, price the event, look whether the tables
   are those that were attached. Everything that can be refused without data is refused by now.
5. *Reserve* durably: from here on it is spent, whatever happens. While nobody else writes, look
   once more whether the answer is there by now: then it is read, and nothing is charged.
6. *Compute*, then *commit* before anybody sees the answer.

What goes on over several calls, such as a sparse vector session, a conversation or a round, stops
after the fifth step and keeps its :class:`Reservation` open. Nothing else in the curator reserves,
commits or fails.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.accounting.adaptive.steps import Amounts
from discreet.core.errors import EngineFailed
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.written import write_frozen_text
from discreet.curator.context import Context
from discreet.curator.paid_before import PaidBefore, require_paid_before
from discreet.curator.stored_answer import Known, Stored
from discreet.ledger.ledger import admit_all
from discreet.ledger.plain_json import require_name
from discreet.ledger.session_log import SessionLog
from discreet.noise.randomness import random_id
from discreet.relational.plan.query import Query
from discreet.release.promise import Charges

Product = TypeVar("Product")
Result = TypeVar("Result")

OWNER = logging.getLogger("discreet.owner")
"""For the data owner alone: why an engine failed. Silent until the owner adds a handler."""
OWNER.addHandler(logging.NullHandler())
OWNER.propagate = False


@dataclass(frozen=True)
class Offer(Generic[Product]):
    """What would be delivered, what it costs, and what the ledger is to say about it.

    Attributes:
        product: What computes the answer, or the mechanism that goes on.
        event: What is charged for.
        detail: For the ledger, beside the spend and what the policy adds.
        charges: The price, where the event was derived from the spend part by part. Otherwise the
            event is somebody else's: it must be priced in this scope, and covered by the spend.
        brings_noise: Whether the product draws its own noise, whatever mode the curator is in.
    """

    product: Product
    event: Event
    detail: Mapping[str, object]
    charges: Charges | None = None
    brings_noise: bool = False


@dataclass(frozen=True)
class Purchase(Generic[Product]):
    """Who buys what, for how much at most, and why.

    Attributes:
        analyst: Who asks.
        purpose: Recorded; a policy may ask for one.
        spend: The most that it may cost, in its own definition.
        reads: The queries whose columns a policy looks at; none where it is asked later.
        offer: Makes the offer, from public facts alone; a refusal by it is free.
        own: Whether it is of somebody's own making, so that nobody can say what it reads.
        paid_before: What to do where it was paid for on another snapshot; None: as the context has
            it.
    """

    analyst: str
    purpose: str | None
    spend: Guarantee
    reads: tuple[Query, ...]
    offer: Callable[[], Offer[Product]]
    own: bool = False
    paid_before: PaidBefore | None = None


@dataclass(frozen=True)
class Storage(Generic[Result]):
    """How an answer is known again, written into the ledger, and read back."""

    known: Callable[[], Known]
    to_dict: Callable[[Result], Mapping[str, object]]
    from_dict: Callable[[Stored], Result]


@dataclass(frozen=True)
class Reservation:
    """What was paid for and is not finished yet."""

    context: Context
    id: str

    def read_private_data(self, compute: Callable[[], Result]) -> Result:
        """Run what reads private data; a failure ends the reservation, which stays spent.

        Any failure becomes the one code that says nothing. All its statements see one state of
        the tables, and so does the look at the public ones.
        """
        try:
            return self._guarded(compute, remedy="The reservation is spent.")
        except EngineFailed:
            self.context.account.fail(self.id, "engine_failed")
            raise

    def read_again(self, compute: Callable[[], Result]) -> Result:
        """Read what was read before; a failure says nothing, and leaves all as it was."""
        return self._guarded(compute, remedy="Resume it again.")

    def commit(self, release: Mapping[str, object]) -> None:
        """End it with what is to be kept. Durable on return."""
        self.context.account.commit(self.id, release)

    def log(self) -> SessionLog:
        """Claim what goes on, for this process alone. Durable on return."""
        return self.context.account.session_log(self.id)

    def _guarded(self, compute: Callable[[], Result], *, remedy: str) -> Result:
        try:
            with self.context.database.engine.snapshot():
                result = compute()
                self.context.require_unchanged()
        except Exception:
            OWNER.exception("reservation %s failed after data was opened", self.id)
        else:
            return result
        # Raised out here, where the engine's own error is no longer attached to it.
        raise EngineFailed(
            code="engine_failed",
            expectation="an engine that answers",
            remedy=f"{remedy} The data owner's log says what happened.",
        )


def buy(
    context: Context, purchase: Purchase[Callable[[], Result]], storage: Storage[Result]
) -> Result:
    """An answer, durable before it is returned; or the one that this analyst already has."""
    admitted = _admitted(context, purchase)
    known = storage.known()
    stored = known.stored(context.account, analyst=purchase.analyst)
    if stored is None:
        stored = _stored_elsewhere(context, purchase, known)
    if stored is not None:
        return storage.from_dict(stored)
    offer = purchase.offer()
    try:
        reservation = _reserved(
            context,
            purchase,
            offer,
            known,
            admitted,
            still=lambda: _require_unanswered(context, purchase, known),
        )
    except _AnsweredMeanwhileError as found:
        return storage.from_dict(found.stored)
    result, kept = reservation.read_private_data(
        lambda: _with_form(offer.product(), known, storage)
    )
    reservation.commit(kept)
    return result


def reserve(
    context: Context,
    purchase: Purchase[Product],
    name: str,
    *,
    still: Callable[[], None] = admit_all,
) -> tuple[Reservation, Product]:
    """Pay for what goes on over several calls: its reservation, which stays open, and the product.

    ``name`` is what it is called in the ledger. ``still`` may refuse once more, in the block of
    writing that charges.
    """
    admitted = _admitted(context, purchase)
    offer = purchase.offer()
    known = Known(f"{name} {random_id(96)}", anew=True)
    reservation = _reserved(context, purchase, offer, known, admitted, still=still)
    return reservation, offer.product


def _admitted(context: Context, purchase: Purchase[Product]) -> dict[str, object]:
    """Check and admit; what the ledger is to keep of the policy."""
    context.require_open()
    require_name("analyst", purchase.analyst)
    if purchase.purpose is not None:
        require_name("purpose", purchase.purpose)
    if purchase.paid_before is not None:
        require_paid_before(purchase.paid_before)
    context.budget.check(purchase.spend)
    if purchase.own:
        context.require_own_allowed()
    for query in purchase.reads:
        context.policies.require_columns(query)
    return context.policies.admit(
        purchase.spend, analyst=purchase.analyst, purpose=purchase.purpose
    )


def _stored_elsewhere(context: Context, purchase: Purchase[Product], known: Known) -> Stored | None:
    """An answer on another snapshot, if it shall be taken; refused until that was said."""
    chosen = context.paid_before if purchase.paid_before is None else purchase.paid_before
    paid = known.stored_elsewhere(context.account, analyst=purchase.analyst)
    return None if paid is None else chosen.stored(paid)


class _AnsweredMeanwhileError(Exception):
    """The same was answered between the look for it and the charge."""

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self.stored = stored


def _require_unanswered(context: Context, purchase: Purchase[Product], known: Known) -> None:
    """Stop where nothing is to be charged: it was answered meanwhile, or somebody is at it."""
    if known.anew:
        return
    stored = known.stored(context.account, analyst=purchase.analyst)
    if stored is not None:
        raise _AnsweredMeanwhileError(stored)
    unfinished = context.account.unfinished(
        analyst=purchase.analyst, query=known.identity, any_snapshot=known.any_snapshot
    )
    if unfinished:
        context.on_unfinished(unfinished)


def _reserved(
    context: Context,
    purchase: Purchase[Product],
    offer: Offer[Product],
    known: Known,
    admitted: Mapping[str, object],
    *,
    still: Callable[[], None] = admit_all,
) -> Reservation:
    """The last that is free: the price, and that the tables did not change; then charge."""
    charge = charge_of(context, purchase.spend, offer)
    context.require_unchanged()
    named = {"snapshots": dict(known.snapshots)} if known.any_snapshot else {}
    name = context.account.reserve(
        analyst=purchase.analyst,
        query=known.identity,
        charge=charge,
        event=offer.event.to_json(),
        detail={**offer.detail, **named, "spend": write_frozen_text(purchase.spend), **admitted},
        any_snapshot=known.any_snapshot,
        admit=still,
        id=context.reservation_id(),
    )
    context.on_reserved(name)
    return Reservation(context, name)


def charge_of(context: Context, spend: Guarantee, offer: Offer[Product]) -> Amounts:
    """The price of an offer in the budget's currency; refused where the spend does not cover it."""
    if offer.charges is not None:
        return context.price(offer.charges)
    context.scope.require_event(offer.event, context.unit)
    if offer.brings_noise:
        charge = context.budget.charge(spend, (offer.event,))
    else:
        charge = context.price(((spend, (offer.event,)),))
    if offer.brings_noise or context.randomness.private:  # test mode has no price
        context.budget.require_covered(spend, offer.event)
    return charge


def _with_form(
    result: Result, known: Known, storage: Storage[Result]
) -> tuple[Result, Mapping[str, object]]:
    """An answer with the form in which the ledger keeps it."""
    return result, known.add_split_to_release(storage.to_dict(result))
