"""What entries about allotments must be, given all before them: for :func:`verify_chain`.

Every total is added up anew from the charges, and every question and grant that an allotment paid
for must follow the drawing that paid for it.

Proof: ``proofs/sharing.md``.
"""

from __future__ import annotations

from discreet.accounting.adaptive.steps import Amounts, plus
from discreet.ledger.amounts import within
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.key import OwnerKey
from discreet.ledger.sub_account_grant import Role


class AllotmentRules:
    """The allotments of a ledger, entry by entry."""

    def __init__(self, key: OwnerKey) -> None:
        """Start with none."""
        self._key = key
        self._granted: dict[str, Entry] = {}
        self._names: set[str] = set()
        self._totals: dict[str, Amounts] = {}

    def admit(self, last: Entry | None, entry: Entry) -> bool:
        """Whether a grant, a drawing or a reservation from an allotment may follow ``last``."""
        match entry.kind:
            case Kind.GRANTED:
                return self._grants(last, entry)
            case Kind.DRAWN:
                return self._draws(entry)
        asked = (str(entry.body.get(part)) for part in ("asker", "question"))
        return entry.subject == self._key.tag("question", entry.account, *asked) and _paid(
            last, entry
        )

    def _grants(self, last: Entry | None, entry: Entry) -> bool:
        body, above = entry.body, entry.account
        known = entry.subject in self._names
        self._names.add(entry.subject)
        self._granted[entry.id] = entry
        self._totals[entry.id] = (0,) * len(entry.amounts("limit"))
        if known or entry.subject != self._key.tag("account", above, str(body.get("name"))):
            return False
        if not above:
            return body.get("role") != Role.PART
        if above not in self._granted or above == entry.id:
            return False
        if body.get("role") == Role.PART:
            whole = self._granted[above]
            return (
                whole.body.get("role") == Role.PARTITION
                and entry.amounts("limit") == whole.amounts("limit")
                and not any(entry.amounts("charge"))
            )
        return _paid(last, entry)

    def _draws(self, entry: Entry) -> bool:
        granted = self._granted.get(entry.account)
        if granted is None or granted.body.get("role") == Role.PARTITION:
            return False
        charge, total = entry.amounts("charge"), entry.amounts("total")
        before = self._totals[granted.id]
        self._totals[granted.id] = total
        return (
            len(charge) == len(before)
            and all(amount >= 0 for amount in charge)
            and total == plus(before, charge)
            and within(total, granted.amounts("limit"))
        )


def _paid(last: Entry | None, entry: Entry) -> bool:
    """Whether the entry before is the drawing that paid for this one."""
    return (
        last is not None
        and last.kind is Kind.DRAWN
        and last.account == entry.account
        and last.amounts("charge") == entry.amounts("charge")
    )
