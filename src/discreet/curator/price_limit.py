"""The most that a wanted accuracy may cost: a price that nobody named must not surprise anybody.

An error meant as a share and written as a number, ``Within(0.05)``, is nearly no error at all, and
could take most of a budget. So what an accuracy costs is held to ``at_most=``; without that word,
to what is usual. Refusals depend on the plan and the question alone, and are free.

Source: contract, "Spending" (accuracy).
"""

from __future__ import annotations

from discreet.accounting.zcdp import zcdp_rho
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.parameters import Number, exact
from discreet.curator.budget import as_written
from discreet.release.guarantee import guarantee_text

USUAL = ApproxDP(epsilon=10, delta=1e-6)
"""The most that an accuracy costs without a word: an epsilon above it promises very little."""


def require_within(price: Guarantee, at_most: Guarantee | None) -> None:
    """Refuse the price of an accuracy if it is above the limit that was named, or the usual one.

    >>> require_within(PureDP(epsilon=0.5), PureDP(epsilon=1))
    """
    named = at_most is not None
    limit = at_most if isinstance(at_most, Guarantee) else USUAL
    if named and not isinstance(at_most, Guarantee):
        raise InvalidParameter(
            code="not_a_spend",
            expectation="the most that the accuracy may cost, such as PureDP(epsilon=0.5)",
            received=type(at_most).__name__,
            remedy="Write at_most=dp.PureDP(epsilon=0.5).",
        )
    paid, most = _comparable(price, as_written(limit))
    if exact(paid) <= exact(most):
        return
    told = guarantee_text(price)
    raise InvalidParameter(
        code="accuracy_too_expensive",
        expectation=f"an accuracy that costs at most {guarantee_text(limit)}"
        + ("" if named else ", unless at_most= says otherwise"),
        received=told,
        remedy="Ask for a larger error; a relative one is written dp.Within('5%', "
        f"rows_at_least=1000). To pay it, if so much remains, pass at_most= with at least {told}.",
    )


def _comparable(  # noqa: PLR0911 -- one line for each pair of definitions
    price: Guarantee, limit: Guarantee
) -> tuple[Number, Number]:
    """The price and the limit as numbers of one kind: of the price's own."""
    match price, limit:
        case PureDP(), PureDP() | ApproxDP():
            return price.epsilon, limit.epsilon
        case ZCDP(), ZCDP() | ApproxZCDP():
            return price.rho, limit.rho
        case ZCDP(), ApproxDP(delta=delta) if delta:
            return price.rho, zcdp_rho(limit.epsilon, delta)
        case ZCDP(), PureDP():
            return price.rho, limit.zcdp().rho
        case RenyiDP(), PureDP() | ApproxDP():
            return price.epsilon, limit.epsilon
        case RenyiDP(), ZCDP(rho=rho):
            return price.epsilon, exact(rho) * exact(price.alpha)
        case RenyiDP(alpha=alpha), RenyiDP() if limit.alpha == alpha:
            return price.epsilon, limit.epsilon
    raise Mismatch(
        code="spend_notion",
        expectation=f"at_most= in a privacy definition to which {guarantee_text(price)} compares",
        received=type(limit).__name__,
        remedy="Write it in the definition of the budget.",
    )
