"""Sub-accounts: budgets within a budget, set aside in full when they are granted.

They live in the chain of their ledger, so seals, checkpoints, back-ups and ``verify`` cover them.
The grant charges what lies above with the whole sub-account, durably, before anybody may spend
from it; from then on its questions are drawn from it alone. A drawing says the total after it, so
the latest one tells what is spent, however long the ledger has become.

A *child* is a budget of its own. A *partition* holds a budget for each of its parts, which pay
nothing further to it; what a partition costs is the caller's to compute, and to prove.

Proof: ``proofs/sharing.md``. Source: contract, "What may be seen" (allocations); 004d:F16, F17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from discreet.accounting.adaptive.steps import Amounts, minus, plus
from discreet.core.errors import InvalidParameter
from discreet.ledger.amounts import exhausted, format_amounts, require_amounts, within
from discreet.ledger.chain import Chain
from discreet.ledger.entry import Entry, EntryKind, following
from discreet.ledger.errors import damaged, rolled_back
from discreet.ledger.ledger import Ledger, admit_all, spending
from discreet.ledger.paid_answer import PaidAnswer, asked_body, found_by, latest_paid
from discreet.ledger.plain_json import compact, require_text
from discreet.ledger.session_log import SessionLog, require_own_reservation
from discreet.ledger.sub_account_grant import Role, SubAccountGrant


class SubAccount:
    """An account within a ledger.

    Guarantee: what is drawn never falls and never exceeds the limit, whatever is interleaved or
    interrupted; what lies above was charged in full before anything was drawn.
    """

    def __init__(self, ledger: Ledger, granted: Entry) -> None:
        """Speak for an entry that granted it."""
        self._ledger = ledger
        self._granted = granted
        self._seen = (0,) * len(self.limit())

    @classmethod
    def opened(cls, ledger: Ledger, above: str, grant: SubAccountGrant) -> SubAccount:
        """Grant it, or find it as it was granted; ``above`` is an account's id, or empty."""
        chain = ledger.chain
        subject = chain.owner().tag("account", above, require_text("name", grant.name))
        with chain.reading():
            known = chain.store.latest(EntryKind.GRANTED, subject)
        if known is None:
            known = ledger.repeated(lambda: _found_or_granted(chain, above, grant, subject))
        grant.check(known.require_seal(chain.owner()))
        return cls(ledger, known)

    @property
    def account(self) -> str:
        """Its id, random: also the salt of a partition."""
        return self._granted.id

    @property
    def name(self) -> str:
        """The name it was granted under."""
        return str(self._granted.body["name"])

    def reserve(
        self,
        *,
        analyst: str,
        query: str,
        charge: Amounts,
        event: str,
        detail: Mapping[str, object],
        any_snapshot: str | None = None,
        admit: Callable[[], None] = admit_all,
        id: str | None = None,
    ) -> str:
        """Draw before anything is computed; return the reservation's id. Durable on return.

        ``admit`` and ``id`` as in :meth:`Ledger.reserve`.
        """
        asked = asked_body(analyst, query, any_snapshot)
        chain, subject = self._ledger.chain, self._subject(analyst, found_by(asked))
        body = {**asked, **spending(charge, event, detail)}
        text = compact({"account": self.account, **body})

        def reserved() -> str:
            with chain.writing() as last:
                self.spent()
                chain.require_new(id)
                admit()
                drawn = _charge_sub_account(chain, last, self.account, charge)
                entry = following(drawn, EntryKind.RESERVED, text=text, subject=subject, id=id)
                return chain.add(entry).id

        return self._ledger.repeated(reserved)

    def commit(self, reservation: str, release: Mapping[str, object]) -> None:
        """Keep the release that a reservation paid for, once. Durable on return."""
        self._ledger.commit(reservation, release)

    def answer(self, reservation: str, body: Mapping[str, object]) -> None:
        """Keep one answer of a conversation that goes on. Durable on return."""
        self._ledger.answer(reservation, body)

    def fail(self, reservation: str, code: str) -> None:
        """End a reservation that came to nothing; it stays spent."""
        self._ledger.fail(reservation, code)

    def unfinished(self, *, analyst: str, query: str, any_snapshot: str | None = None) -> list[str]:
        """The reservations for this very question, paid from here, that nothing has concluded."""
        asked = asked_body(analyst, query, any_snapshot)
        return self._ledger.chain.unfinished(self._subject(analyst, found_by(asked)), query)

    def find(self, *, analyst: str, query: str) -> Mapping[str, Any] | None:
        """The latest release committed to this analyst for this very question, paid from here."""
        chain, subject = self._ledger.chain, self._subject(analyst, query)
        with chain.reading():
            found = chain.store.released(subject)
            if found is None:
                return None
            paid = chain.reservation(found.subject).body
            asked = (paid.get("account"), paid.get("asker"), paid.get("question"))
            if asked != (self.account, analyst, query):
                raise damaged(
                    what=f"the index leads to entry {found.number}, which answers another"
                )
            return found.require_seal(chain.owner()).body

    def find_paid(self, *, analyst: str, any_snapshot: str, query: str) -> PaidAnswer | None:
        """The latest answer to ``query`` paid from here; else the latest on another snapshot."""
        return latest_paid(
            self._ledger.chain,
            self._subject(analyst, any_snapshot),
            account=self.account,
            analyst=analyst,
            any_snapshot=any_snapshot,
            query=query,
        )

    def read_reservation(self, reservation: str) -> Mapping[str, Any]:
        """What a reservation paid from here says."""
        with self._ledger.chain.reading():
            return require_own_reservation(self._ledger.chain, self.account, reservation).body

    def session_log(self, reservation: str) -> SessionLog:
        """Claim a conversation paid from here, for this process alone. Durable on return."""
        return SessionLog.claimed(self._ledger, self.account, reservation)

    def spent(self) -> Amounts:
        """All that is drawn, unfinished reservations included."""
        with self._ledger.chain.reading():  # threads take turns, also with what was seen
            total = _total(self._ledger.chain, self._granted)
            if not within(self._seen, total):
                raise rolled_back(
                    what="a sub-account from which less is drawn than was seen before"
                )
            self._seen = total
            return total

    def limit(self) -> Amounts:
        """What may be spent in all."""
        return self._granted.amounts("limit")

    def remaining(self) -> Amounts:
        """What may still be spent."""
        return minus(self.limit(), self.spent())

    def entries(self) -> Iterator[Entry]:
        """All entries of the ledger, oldest first."""
        return self._ledger.entries()

    def _subject(self, analyst: str, query: str) -> str:
        texts = require_text("analyst", analyst), require_text("question", query)
        return self._ledger.chain.owner().tag("question", self.account, *texts)


def _found_or_granted(chain: Chain, above: str, grant: SubAccountGrant, subject: str) -> Entry:
    """The grant under this subject, made where there is none yet."""
    with chain.writing() as last:
        known = chain.store.latest(EntryKind.GRANTED, subject)
        return _granted(chain, last, above, grant, subject) if known is None else known


def _granted(chain: Chain, last: Entry, above: str, grant: SubAccountGrant, subject: str) -> Entry:
    """Charge what lies above and add the grant, in the surrounding block of writing."""
    text = grant.text(above)
    if not above:
        require_amounts("charge", grant.charge, len(last.limit))
        total = plus(last.spent, grant.charge)
        if not within(total, last.limit):
            raise exhausted(grant.charge, last.spent, last.limit)
        return chain.add(
            following(last, EntryKind.GRANTED, text=text, subject=subject, spent=total)
        )
    if grant.role is Role.PART:
        whole = _grant_of(chain, above)
        if Role(whole.body["role"]) is not Role.PARTITION or any(grant.charge):
            raise _not_spendable(above)
        if grant.limit != whole.amounts("limit"):
            raise damaged(what=f"the partition granted by entry {whole.number}")
        return chain.add(following(last, EntryKind.GRANTED, text=text, subject=subject))
    drawn = _charge_sub_account(chain, last, above, grant.charge)
    return chain.add(following(drawn, EntryKind.GRANTED, text=text, subject=subject))


def _charge_sub_account(chain: Chain, last: Entry, account: str, charge: Amounts) -> Entry:
    """Charge a sub-account, in the surrounding block of writing, or refuse."""
    granted = _grant_of(chain, account)
    if Role(granted.body["role"]) is Role.PARTITION:
        raise _not_spendable(account)
    limit = granted.amounts("limit")
    require_amounts("charge", charge, len(limit))
    spent = _total(chain, granted)
    total = plus(spent, charge)
    if not within(total, limit):
        raise exhausted(charge, spent, limit)
    body = {"charge": format_amounts(charge), "total": format_amounts(total)}
    return chain.add(following(last, EntryKind.DRAWN, text=compact(body), subject=account))


def _grant_of(chain: Chain, account: str) -> Entry:
    entry = chain.store.find_entry_by_id(account)
    if entry is None or entry.kind is not EntryKind.GRANTED:
        raise InvalidParameter(
            code="account_unknown",
            expectation="a sub-account that was granted in this ledger",
            received=account,
            remedy="Grant it first.",
        )
    return entry.require_seal(chain.owner())


def _total(chain: Chain, granted: Entry) -> Amounts:
    """What is drawn from a sub-account so far: the latest drawing says it."""
    latest = chain.store.latest(EntryKind.DRAWN, granted.id)
    if latest is None:
        return (0,) * len(granted.amounts("limit"))
    return latest.require_seal(chain.owner()).amounts("total")


def _not_spendable(account: str) -> InvalidParameter:
    return InvalidParameter(
        code="account_not_spendable",
        expectation="an account that pays for questions; a partition's parts do, not itself",
        received=account,
        remedy="Ask one of the parts.",
    )
