"""Child curators: the same tables, a name, and a budget set aside in full when it is granted.

Guarantee: what a child releases keeps its budget; a refusal depends on its own spending alone.
What lies above has less left by the whole budget from the moment it is granted.

Source: contract, "What may be seen" (between analysts); 004d:F16, F17. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import PrivacyBudget
from discreet.curator.context import Context
from discreet.ledger import Role, SubAccount, SubAccountGrant


def open_child(context: Context, name: str, budget: Guarantee) -> Context:
    """Grant a child of ``context``, or find the one granted under this name."""
    below = PrivacyBudget(budget, context.unit, set_aside_from=context.budget)
    account = SubAccount.opened(
        context.ledger,
        context.account.account,
        SubAccountGrant(
            name=required_name(name),
            role=Role.CHILD,
            charge=context.budget.price_of(below),
            limit=below.limit,
            filter=below.name,
            budget=below.terms.budget,
            detail={},
        ),
    )
    return context.below(below, account)


def required_name(name: object) -> str:
    """A name that is text and not empty."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameter(
            code="name_missing",
            expectation="a name, by which it is opened again",
            received=type(name).__name__,
            remedy='Write curator.child("marketing", budget=...).',
        )
    return name
