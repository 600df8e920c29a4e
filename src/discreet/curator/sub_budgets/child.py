"""Child curators: the same tables, a name, and a budget set aside in full when it is granted.

Source: contract, "What may be seen" (between analysts); 004d:F16, F17. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import Purse
from discreet.curator.sharing import Sharing
from discreet.curator.sub_budgets.price import price_of_budget
from discreet.ledger import Role, SubAccount, SubAccountGrant


class Child(Sharing):
    """A session with a budget of its own, askers of its own and a history of its own.

    Guarantee: what it releases keeps its budget; a refusal depends on its own spending alone.
    What lies above has less left by the whole budget from the moment it is granted.
    """

    name: str

    def __repr__(self) -> str:
        """Its name and what remains."""
        return f"Child({self.name!r}; remaining={self.remaining})"


def open_child(above: Sharing, name: str, budget: Guarantee) -> Child:
    """Grant a child of ``above``, or find the one granted under this name."""
    purse = Purse(budget, above.unit)
    account = SubAccount.opened(
        above.ledger,
        above._account.account,
        SubAccountGrant(
            name=required_name(name),
            role=Role.CHILD,
            charge=price_of_budget(above._purse, purse),
            limit=purse.limit,
            filter=purse.name,
            budget=purse.terms.budget,
            detail={},
        ),
    )
    child = Child(
        holdings=above._holdings,
        purse=purse,
        account=account,
        scope=above._scope,
        policies=above._policies,
    )
    child.name = name
    return child


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
