"""The terms of a ledger: whose privacy, which budget, in which currency."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from discreet.accounting.adaptive.steps import Amounts
from discreet.core.errors import Mismatch
from discreet.ledger.amounts import require_amounts
from discreet.ledger.entry import Entry
from discreet.ledger.errors import before_release
from discreet.ledger.plain_json import compact, object_text, require_text


@dataclass(frozen=True, kw_only=True)
class LedgerTerms:
    """What the first entry fixes for ever; only the limit may change, by a signed amendment.

    Args:
        unit: Whose privacy, as one canonical text.
        budget: The guarantee that bounds everything, as plain JSON for people to read.
        filter: The currency that adds up: ``epsilon``, ``epsilon+delta``, ``rho``, ``renyi(8)``.
        limit: What may be spent in that currency, in exact steps.
        identities: The form in which queries are identified, of all that is kept.
        also: Other texts for the same people, under which a ledger may have been started.
    """

    unit: str
    budget: Mapping[str, object]
    filter: str
    limit: Amounts
    identities: str
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that all of it can be written down, and keep a copy nobody else holds."""
        require_text("unit", self.unit)
        require_text("filter", self.filter)
        require_amounts("limit", self.limit)
        require_text("identities", self.identities)
        object.__setattr__(self, "budget", json.loads(object_text("budget", self.budget)))

    @classmethod
    def of(cls, first: Entry) -> LedgerTerms:
        """Read the first entry of a ledger."""
        body = first.body
        return cls(
            unit=body["unit"],
            budget=body["budget"],
            filter=body["filter"],
            limit=first.limit,
            identities=body.get("identities", "none"),
        )

    def text(self, key: str) -> str:
        """The body of the first entry, under the key with this identity; its limit stands apart."""
        return compact(
            {
                "unit": self.unit,
                "budget": self.budget,
                "filter": self.filter,
                "key": key,
                "identities": self.identities,
            }
        )

    def amended(self, limit: Amounts, amendment: Entry | None) -> LedgerTerms:
        """The same with the limit in force and the budget of the last amendment."""
        if amendment is None:
            return self
        return replace(self, limit=limit, budget=amendment.body["budget"])

    def check(self, first: LedgerTerms, in_force: LedgerTerms) -> None:
        """Refuse other terms than the written ones.

        The budget may be that of the first entry or the one in force. The limit is not compared:
        it follows from the budget, and the written one holds.
        """
        if self.identities != first.identities:
            raise before_release(first.identities)
        if first.unit not in (self.unit, *self.also):
            raise _differs(part="unit", was=first.unit, now=self.unit)
        if self.filter != first.filter or len(self.limit) != len(first.limit):
            raise _differs(part="filter", was=first.filter, now=self.filter)
        if self.budget not in (first.budget, in_force.budget):
            raise _differs(part="budget", was=in_force.budget, now=self.budget)


def _differs(*, part: str, was: object, now: object) -> Mismatch:
    remedy = "Open it as it was started, or start another ledger for other terms."
    if part == "unit":
        remedy += (
            " Data sets about the same people share a ledger if each declares the same name for"
            " them, Person(..., of='patients'), and some table the limits it was started with."
        )
    if part == "budget":
        remedy = "Open it with the budget in force; an owner changes it with `amend`."
    return Mismatch(
        code="ledger_terms",
        expectation=f"the {part} that the ledger was started with, {was!r}",
        received=now,
        remedy=remedy,
    )
