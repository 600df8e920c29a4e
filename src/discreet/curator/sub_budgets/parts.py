"""Parts of a table, each with a budget, paid for together once.

What partitions by key and blocks of time have in common: the parts are granted as one, and each is
opened below the grant when it is first asked for, with what it has spent.

Source: contract, "Units and neighbours" (parallel composition); 004d:F16. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.core.guarantee import Guarantee
from discreet.curator.budget import PrivacyBudget
from discreet.curator.context import Context
from discreet.curator.sub_budgets.child import required_name
from discreet.curator.sub_budgets.division import Line, price_of_parts
from discreet.ledger import Role, SubAccount, SubAccountGrant
from discreet.relational.bounding.partition_filter import Assignment
from discreet.relational.plan.scope import Division

Part = TypeVar("Part")
"""What a part is asked with."""


@dataclass(frozen=True)
class Granted:
    """A grant for parts: the account they hang from, and the budget of each."""

    account: SubAccount
    budget: PrivacyBudget


class GrantedParts(Generic[Part]):
    """Parts that were granted; each is opened once, and noted in the ledger."""

    def __init__(
        self,
        above: Context,
        granted: Granted,
        division: Division,
        part: Callable[[Context, object], Part],
    ) -> None:
        """Hold what was granted; ``part`` makes what a part is asked with."""
        self._above = above
        self._granted = granted
        self._division = division
        self._part = part
        self._parts: dict[object, Part] = {}

    @property
    def name(self) -> str:
        """The name it was granted under."""
        return self._granted.account.name

    def _opened(self, value: object) -> Part:
        """The part of one of the division's values."""
        if value not in self._parts:
            context = open_part(self._above, self._granted, self._division, value)
            self._parts[value] = self._part(context, value)
        return self._parts[value]


def grant_parts(
    context: Context,
    line: Line,
    by: str,
    *,
    budget: Guarantee,
    most: int,
    name: str | None,
    detail: Mapping[str, object],
    growing: bool,
) -> Granted:
    """Charge for all parts at once, or find them as they were granted under this name.

    What a part is belongs to the grant: declared otherwise, rows and people would sit in other
    parts, each with a budget of its own.
    """
    each = PrivacyBudget(budget, context.unit, set_aside_from=context.budget)
    account = SubAccount.opened(
        context.ledger,
        context.account.account,
        SubAccountGrant(
            name=required_name(f"{line.scan.table} by {by}" if name is None else name),
            role=Role.PARTITION,
            charge=price_of_parts(context.budget, each, context.unit, most),
            limit=each.limit,
            filter=each.name,
            budget=each.terms.budget,
            detail={
                "table": line.scan.table,
                **detail,
                **line.people,
                "columns": line.declared(growing=growing),
                "places": line.places,
            },
        ),
    )
    return Granted(account, each)


def open_part(above: Context, granted: Granted, division: Division, value: object) -> Context:
    """One part, with what it has spent."""
    scope = above.scope.part(division, value)
    account = SubAccount.opened(
        above.ledger,
        granted.account.account,
        SubAccountGrant(
            name=str(value),
            role=Role.PART,
            charge=above.budget.currency.zero,
            limit=granted.account.limit(),
            filter=granted.budget.name,
            budget=granted.budget.terms.budget,
            detail={},
        ),
    )
    return above.below(granted.budget, account, scope)


def divided(line: Line, assignment: Assignment) -> Division:
    """The division of a table along a line."""
    return Division(line.scan.table, line.scan.prefix, line.part, line.values, assignment)
