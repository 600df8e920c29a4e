"""What is said of keys that are chosen privately: discovered, or the first few of a ranking.

Everything here is public, or follows from keys that were named and paid for.

Source: contract, "Spending" (accuracy), "What may be seen"; modern-data:P1-P5.
"""

from __future__ import annotations

from typing import Any

from discreet.core.guarantee import ApproxDP, ApproxZCDP
from discreet.core.parameters import exact, rounded_up
from discreet.curator.tags import name_of
from discreet.relational.plan.query import KeyOutput
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.top_k import Ranking
from discreet.release.guarantee import guarantee_text


def keys_statement(planned: PlannedQuery) -> dict[str, Any]:
    """The facts behind keys that were chosen privately, as plain JSON; empty for listed ones."""
    if isinstance(planned, Ranking):
        return {"keys": _ranked(planned)}
    if isinstance(planned, Discovering):
        return {"keys": _discovered(planned)}
    if not planned.query.aggregates:
        return {"keys": {"listed": True, "mechanism": "none"}}
    if all(isinstance(output, KeyOutput) for output in planned.query.outputs):
        used = {name_of(item.mechanism) for item in planned.allocation.noised}
        return {"keys": {"mechanism": ", ".join(sorted(used)) or "selection by rank"}}
    return {}


def _ranked(planned: Ranking) -> dict[str, Any]:
    return {
        "ranked": True,
        "mechanism": name_of(planned.choice),
        "picks": planned.picks,
        "epsilon_of_each": rounded_up(planned.epsilon),
        "moved_by_one_unit": planned.farthest,
    }


def _discovered(planned: Discovering) -> dict[str, Any]:
    rule, (spend, _) = planned.rule, planned.shares
    assert isinstance(spend, ApproxDP | ApproxZCDP)
    return {
        "discovered": True,
        "mechanism": name_of(rule),
        "price": guarantee_text(spend),
        "delta": rounded_up(exact(spend.delta)),
        "groups_per_unit": planned.presence.groups,
        "people_at_least": rule.min_people,
        "kept_half_at": rule.people_for(0.5),
        "kept_95_at": rule.people_for(0.95),
        "counts_published": planned.published_measure is not None,
    }


def keys_forecast(planned: PlannedQuery, confidence: float) -> str:
    """What `preview` says of keys that are not known yet; nothing of listed ones."""
    if isinstance(planned, Ranking):
        behind = planned.choice.error(confidence=confidence, candidates=planned.cells)
        return (
            f"the first {planned.picks} of {planned.cells} keys, without counts: with "
            f"{confidence:.0%} confidence each is within {behind:.4g} of the largest count left"
        )
    if not isinstance(planned, Discovering):
        return ""
    rule, (spend, _) = planned.rule, planned.shares
    minimum = f"; never with fewer than {rule.min_people:,}" if rule.min_people > 1 else ""
    return (
        f"keys to be discovered for {guarantee_text(spend)} ({name_of(rule)}): named with "
        f"probability 1/2 at {rule.people_for(0.5):,} people and 95 % at "
        f"{rule.people_for(0.95):,}{minimum}; each person in at most "
        f"{planned.presence.groups:,} keys"
    )
