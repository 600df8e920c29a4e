"""What one person has told so far: an account on the device, with every reset in sight.

A fresh report costs its epsilon each time. A memoised one costs it at each change of the value, a
return to an earlier one too, and nothing while the value stays. A policy that clears memory or
starts the account anew every so often is a promise per period; over a lifetime the periods add up,
and :meth:`PersonalLedger.lifetime` says to what.

Source: 000b:B35; 004a:C31, C32.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.parameters import Number, count, exact, positive

if TYPE_CHECKING:
    from discreet.local.client import Client
    from discreet.local.collection import Collection

_FORMAT = "discreet.personal_ledger/1"


@dataclass
class PersonalLedger:
    """Everything that a device reports about one person, against one limit.

    What is paid, and whether a device reports, depends on what it was asked and on the times at
    which memoised values changed, never on the values, for silence would tell them. Where a
    memoised value changed and the limit is reached, the last report is sent again, which tells
    nothing more.

    Contract: clients report through one ledger alone, with their memory kept. Guarantee: for two
    courses of values that change at the same times, everything sent since the last reset, silence
    too, is at most exp(limit) times as likely under one as under the other. When values changed is
    not protected: an unchanged report shows an unchanged value, and changes use up the limit.

    >>> ledger = PersonalLedger(limit=2)
    >>> ledger.spent
    Fraction(0, 1)
    """

    limit: Number
    entries: list[tuple[str, int, Fraction]] = field(default_factory=list)
    resets: int = 0
    told: dict[str, Any] = field(default_factory=dict)
    """The value of the last draw in this period for each memoised collection: private."""

    missed: list[str] = field(default_factory=list)
    """Memoised collections with a change that was not paid for: their next draw is paid."""

    def __post_init__(self) -> None:
        """Refuse a limit that is not positive."""
        positive("limit", self.limit)

    @property
    def spent(self) -> Fraction:
        """The sum of epsilons since the last reset."""
        return sum((cost for _, _, cost in self.entries), Fraction(0))

    def price(self, collection: Collection, client: Client, value: object) -> Fraction:
        """What a report about ``value`` would cost now."""
        index = client._index(value)
        missed = client.question in self.missed
        if collection.memoised and not missed and self._find_last_kept_value(client) == index:
            return Fraction(0)
        return exact(collection.oracle.epsilon)

    def report(self, collection: Collection, client: Client, value: object) -> str:
        """One report, entered before it is drawn; a fresh one is refused beyond the limit."""
        cost = self.price(collection, client, value)
        if self.spent + cost > exact(self.limit):
            if collection.memoised and self._find_last_kept_value(client) is not None:
                if client.question not in self.missed:
                    self.missed.append(client.question)
                return client.privatize(self.told[client.question])
            raise Exhausted(
                code="local_limit_reached",
                expectation="reports that cost no more than the limit of this person",
                received=collection.name,
                remedy="Report nothing until the account is reset, or raise the limit openly.",
            )
        self.entries.append((collection.name, collection.version, cost))
        if collection.memoised and cost:
            client.forget()  # what was kept in an earlier period is drawn anew, and was paid for
            self.told[client.question] = value
            self.missed = [each for each in self.missed if each != client.question]
        return client.privatize(value)

    def _find_last_kept_value(self, client: Client) -> int | None:
        """The value of the last draw in this period, if its report is still kept."""
        if client.question not in self.told:
            return None
        last = client._index(self.told[client.question])
        return last if client.number_of_kept_value == last else None

    def reset(self) -> None:
        """Start a new period: what was told before stays told, and is counted in ``lifetime``.

        Memoised reports are drawn anew in it, whether clients kept theirs or not.
        """
        self.resets += 1
        self.entries.clear()
        self.told.clear()
        self.missed.clear()

    def lifetime(self) -> Fraction:
        """The most that may have been told since the first report: the limit for each period."""
        return exact(self.limit) * self.resets + self.spent

    def to_json(self) -> str:
        """The account as the device keeps it."""
        listed = [[name, version, str(cost)] for name, version, cost in self.entries]
        document = {
            "format": _FORMAT,
            "limit": str(exact(self.limit)),
            "entries": listed,
            "resets": self.resets,
            "told": self.told,
            "missed": self.missed,
        }
        return json.dumps(document)

    @classmethod
    def from_json(cls, text: str) -> PersonalLedger:
        """The account that :meth:`to_json` wrote."""
        document: dict[str, Any] = json.loads(text)
        if document.get("format") != _FORMAT:
            raise InvalidParameter(
                code="local_ledger_format",
                expectation=f"an account of format {_FORMAT}",
                remedy="Restore the account that this device kept.",
            )
        entries = [(name, version, Fraction(cost)) for name, version, cost in document["entries"]]
        missed = document.get("missed", [])
        return cls(
            Fraction(document["limit"]), entries, document["resets"], document["told"], missed
        )


def epsilon_over_time(
    *, epsilon: Number, reports: int, changes: int, memoised: bool, resets: int = 0
) -> Fraction:
    """What so many reports tell about one person, whose value changed so often.

    Fresh reports add up. Memoised ones cost epsilon at first, at each change, returns to earlier
    values too, and at each of the ``resets``, after which the current value is drawn anew. The
    times of changes are not hidden by memory.

    >>> epsilon_over_time(epsilon=1, reports=365, changes=3, memoised=True)
    Fraction(4, 1)
    >>> epsilon_over_time(epsilon=1, reports=365, changes=0, memoised=True, resets=364)
    Fraction(365, 1)
    """
    times = count("reports", reports, least=0)
    draws = min(times, count("changes", changes, least=0) + count("resets", resets, least=0) + 1)
    return exact(positive("epsilon", epsilon)) * (draws if memoised else times)
