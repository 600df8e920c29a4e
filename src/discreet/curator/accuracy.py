"""Paying only what a wanted accuracy costs.

The plan, the bounds and public sizes decide; data is not read. Where the error depends on data, as
for means, the question is refused unless a public ``rows_at_least`` says how small groups can be.

Source: contract, "Spending" (accuracy).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from discreet.accounting.adaptive.currency import RenyiAt, Rhos, RhosAndDeltas
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import probability
from discreet.curator.budget import PrivacyBudget
from discreet.mechanisms.grid import ordinary
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import AggregateOutput, Query
from discreet.relational.planning.planned_query import PlannedQuery

_FINE = 1e-9


@dataclass(frozen=True)
class Within:
    """An error of at most ``error`` from noise in each cell, at ``confidence``."""

    error: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse an error that is not positive, and confidences outside (0, 1)."""
        object.__setattr__(self, "error", float(ordinary("error", self.error)))
        object.__setattr__(self, "confidence", float(probability("confidence", self.confidence)))


def cheapest(
    query: Query,
    accuracy: Mapping[str, Within] | Within,
    budget: PrivacyBudget,
    asked: Callable[[Query, Guarantee], PlannedQuery],
    *,
    rows_at_least: int | None,
) -> PlannedQuery:
    """The query at the least spend, in the budget's definition, that keeps every wanted error."""
    if not isinstance(query.keys, KeySet):
        raise InvalidParameter(
            code="accuracy_depends_on_data",
            expectation="keys that are listed: which are discovered depends on data",
            remedy="State spend=; `preview` says how many people a key needs to be found.",
        )
    wanted = _wanted(query, accuracy)
    for name, (aggregate, _) in wanted.items():
        _require_foreseeable(name, aggregate, rows_at_least)

    def spend(amount: float) -> Guarantee:
        if isinstance(budget.currency, Rhos | RhosAndDeltas):
            return ZCDP(rho=amount)
        if isinstance(budget.currency, RenyiAt):
            alpha = budget.currency.alpha
            return RenyiDP(alpha=alpha, epsilon=amount * float(alpha))
        return PureDP(epsilon=amount)

    def kept(planned: PlannedQuery, only: str | None = None) -> bool:
        return all(
            aggregate.half_width(planned, goal.confidence, rows_at_least) <= goal.error
            for name, (aggregate, goal) in wanted.items()
            if only is None or name == only
        )

    concentrated = isinstance(budget.currency, Rhos | RhosAndDeltas | RenyiAt)
    base = asked(query, spend(1.0))
    if all(aggregate.additive is not None for aggregate, _ in wanted.values()):
        needs: dict[object, float] = {}
        for name, (aggregate, _) in wanted.items():
            alone = replace(query, aggregates=(aggregate,))
            need = _least(lambda x, n=name, q=alone: kept(asked(q, spend(x)), n))  # type: ignore[misc]
            measure = aggregate.additive
            needs[measure] = max(need, needs.get(measure, 0.0))
        total = sum(needs.values())
        power = 2 if concentrated else 3
        emphasis = tuple((needs[part.measure] / total) ** power for part in base.parts)
        while True:
            made = replace(asked(query, spend(total)), emphasis=emphasis)
            if kept(made):
                return made
            total *= 1 + 1e-6
    return asked(query, spend(_least(lambda x: kept(asked(query, spend(x))))))


def _least(enough: Callable[[float], bool]) -> float:
    """The least amount that is enough, within a billionth; more is always enough."""
    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, high * 2
        if high > 2.0**40:
            raise InvalidParameter(
                code="error_out_of_reach",
                expectation="an error that some amount of privacy loss can buy",
                remedy="Ask for a larger error, or a lower confidence.",
            )
    while low == 0.0 or (high - low) > _FINE * high:
        middle = high / 16 if low == 0.0 else math.sqrt(low * high)
        if enough(middle):
            high = middle
            if high < 2.0**-60:
                return high
        else:
            low = middle
    return high


def _wanted(
    query: Query, accuracy: Mapping[str, Within] | Within
) -> dict[str, tuple[Aggregate, Within]]:
    outputs = {
        output.name: query.aggregates[output.number]
        for output in query.outputs
        if isinstance(output, AggregateOutput)
    }
    if not isinstance(accuracy, Within | Mapping) or (
        isinstance(accuracy, Mapping)
        and not all(isinstance(goal, Within) for goal in accuracy.values())
    ):
        raise InvalidParameter(
            code="accuracy_columns",
            expectation="dp.Within, or dp.Within for each column",
            received=type(accuracy).__name__,
            remedy="Write accuracy={'n': dp.Within(5)}.",
        )
    if isinstance(accuracy, Within):
        accuracy = dict.fromkeys(outputs, accuracy) if len(outputs) == 1 else {}
    if set(accuracy) != set(outputs) or len(outputs) != len(query.aggregates):
        raise InvalidParameter(
            code="accuracy_columns",
            expectation=f"an error for each of the columns {sorted(outputs)}, which are plain "
            "aggregates",
            received=sorted(accuracy),
            remedy="Write accuracy={'n': dp.Within(5)} with every aggregate named.",
        )
    return {name: (aggregate, accuracy[name]) for name, aggregate in outputs.items()}


def _require_foreseeable(name: str, aggregate: Aggregate, rows: int | None) -> None:
    if aggregate.is_foreseeable(rows):
        return
    raise InvalidParameter(
        code="accuracy_depends_on_data",
        expectation=f"a column whose error is known beforehand, unlike {name}",
        received=type(aggregate).__name__,
        remedy="Pass rows_at_least=, a public lower bound of the values in each group, for means; "
        "otherwise state spend=.",
    )
