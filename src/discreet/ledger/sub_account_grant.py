"""What is fixed when a budget within a budget is granted.

Source: contract, "What may be seen" (allocations are reserved when granted).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from discreet.accounting.adaptive.steps import Amounts
from discreet.core.errors import Mismatch
from discreet.ledger.amounts import format_amounts, require_amounts
from discreet.ledger.entry import Entry
from discreet.ledger.plain_json import compact, object_text, require_text


class Role(StrEnum):
    """How a sub-account relates to what lies above it."""

    CHILD = "child"
    PARTITION = "partition"
    PART = "part"


@dataclass(frozen=True, kw_only=True)
class SubAccountGrant:
    """What is fixed for ever when a sub-account is granted.

    Args:
        name: Unique below the same account.
        role: What it is.
        charge: What the account above pays, in its own currency; a part costs nothing further.
        limit: What may be spent from it; for a partition, from each part.
        filter: The currency of ``limit``.
        budget: The same limit as a guarantee, as plain JSON.
        detail: What else must be the same whenever it is opened again.
    """

    name: str
    role: Role
    charge: Amounts
    limit: Amounts
    filter: str
    budget: Mapping[str, object]
    detail: Mapping[str, object]

    def text(self, above: str) -> str:
        """The body of the entry."""
        return compact(
            {
                "account": above,
                "name": require_text("name", self.name),
                "role": self.role.value,
                "charge": format_amounts(require_amounts("charge", self.charge)),
                "limit": format_amounts(require_amounts("limit", self.limit)),
                "filter": require_text("filter", self.filter),
                "budget": json.loads(object_text("budget", self.budget)),
                "detail": json.loads(object_text("detail", self.detail)),
            }
        )

    def check(self, entry: Entry) -> None:
        """Refuse other terms than those written.

        Charge and limit are not compared: they follow from the rest, and the written ones hold.
        """
        body, terms = entry.body, json.loads(self.text(""))
        for part in ("role", "filter", "budget", "detail"):
            was, now = body.get(part), terms[part]
            if was != now:
                raise Mismatch(
                    code="allotment_terms",
                    expectation=f"{self.name!r} with the {part} it was granted with, "
                    f"{_unlike(was, now)!r}",
                    received=_unlike(now, was),
                    remedy="Open it as it was granted, or grant another under another name.",
                )


def _unlike(one: object, other: object) -> object:
    """Of two mappings what the first has differently; else all of the first."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one
    return {k: v for k, v in one.items() if k not in other or other[k] != v}
