"""What an answer will look like before it is bought: error of each column, price, what is left."""

from __future__ import annotations

from discreet.accounting.adaptive.steps import Amounts
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_rho
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import ApproxDP
from discreet.core.parameters import exact
from discreet.curator.budget import PrivacyBudget
from discreet.curator.key_statement import keys_forecast
from discreet.curator.warnings import about_delta
from discreet.relational.answers.expected_columns import expected_columns
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release.confidence import confidence_level
from discreet.release.preview import Preview
from discreet.release.promise import promised_by


def preview(
    planned: PlannedQuery,
    budget: PrivacyBudget,
    charge: Amounts,
    left: Amounts,
    *,
    confidence: float,
    people: int | None = None,
) -> Preview:
    """Everything that is known before spending; ``people`` is how many there are at most."""
    level = confidence_level(confidence)
    return Preview(
        columns=expected_columns(planned, level),
        confidence=level,
        cells=None if isinstance(planned, Discovering) else planned.cells,
        keys=keys_forecast(planned, level),
        price=budget.spent(charge),
        affordable=min(
            (have // price for have, price in zip(left, charge, strict=True) if price), default=0
        ),
        affordable_by_zcdp=_by_zcdp(planned, budget),
        left_out=() if planned.left_out is None else planned.left_out.expected(level),
        warnings=tuple(about_delta(promised_by(planned.spend, planned.charges), people)),
    )


def _by_zcdp(planned: PlannedQuery, budget: PrivacyBudget) -> int | None:
    """Questions of this kind that the same (epsilon, delta) would pay for in rho."""
    total = budget.total
    if not isinstance(total, ApproxDP) or total.by is not None or total.delta == 0:
        return None
    try:
        rho = ZERO_CONCENTRATED.price(planned.paid_event)
    except DiscreetError:
        return None
    return int(exact(zcdp_rho(total.epsilon, total.delta)) // rho) if rho else None
