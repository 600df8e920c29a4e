"""Paying only what a wanted accuracy costs.

The plan, the bounds and public sizes decide; data is not read. Where the error depends on data, as
for means, the question is refused unless a public ``rows_at_least`` says how small groups can be.
A relative error is one of the least number that a cell can have, for public reasons.

Source: contract, "Spending" (accuracy).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from discreet.accounting.adaptive.currency import RenyiAt, Rhos, RhosAndDeltas
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import count
from discreet.curator.budget import PrivacyBudget
from discreet.curator.price_limit import require_within
from discreet.mechanisms.grid import ordinary
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import AggregateOutput, Query, QueryOverAnswers
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.release.confidence import confidence_level

_FINE = 1e-9


@dataclass(frozen=True)
class Within:
    """An error of at most ``error`` from noise in each cell, at ``confidence``.

    ``error`` is a number, or a share such as ``"5%"`` of the least that a cell can be.
    ``rows_at_least`` is how many rows, values or people every group has at least: public, or a
    number that was released before. It stands in place of the ``rows_at_least=`` of the query.

    >>> Within("5%", rows_at_least=1000)
    Within(error='5%', confidence=0.95, rows_at_least=1000)
    """

    error: float | str
    confidence: float = 0.95
    rows_at_least: int | None = None

    def __post_init__(self) -> None:
        """Refuse errors that are not positive, unlikely shares, confidences outside (0, 1)."""
        if isinstance(self.error, str):
            _share(self.error)
        else:
            object.__setattr__(self, "error", float(ordinary("error", self.error)))
        object.__setattr__(self, "confidence", confidence_level(self.confidence))
        if self.rows_at_least is not None:
            rows = count("rows_at_least", self.rows_at_least)
            object.__setattr__(self, "rows_at_least", rows)


Wanted = Mapping[str, Within] | Within | None
"""What is written as ``accuracy=``."""


@dataclass(frozen=True)
class AccuracyGoal:
    """The error wanted of every column, the size of groups, and the most that it may cost.

    ``accuracy`` is None where a spend was stated instead; then there is nothing to limit.
    """

    accuracy: Wanted
    rows_at_least: int | None = None
    at_most: Guarantee | None = None

    def __post_init__(self) -> None:
        """Refuse a limit beside a spend, which is itself the most that may be spent."""
        if self.accuracy is None and self.at_most is not None:
            raise InvalidParameter(
                code="at_most_without_accuracy",
                expectation="at_most= beside accuracy=; a spend is a limit by itself",
                remedy="Leave at_most= out, or write accuracy={'n': dp.Within(5)} for the spend.",
            )

    def require_affordable(self, price: Guarantee) -> None:
        """Refuse a price above the limit, or above what is usual where none is named."""
        if self.accuracy is not None:
            require_within(price, self.at_most)


NO_GOAL = AccuracyGoal(None)
"""A spend is stated instead."""


@dataclass(frozen=True)
class _WantedError:
    """The error wanted of one column."""

    aggregate: Aggregate
    error: float
    confidence: float
    rows_at_least: int | None

    def is_kept(self, planned: PlannedQuery) -> bool:
        """Whether a planned query has this error or less."""
        width = self.aggregate.half_width(planned, self.confidence, self.rows_at_least)
        return width <= self.error


def cheapest(
    query: Query,
    goal: AccuracyGoal,
    budget: PrivacyBudget,
    asked: Callable[[Query, Guarantee], PlannedQuery],
) -> PlannedQuery:
    """The query at the least spend, in the budget's definition, that keeps every wanted error."""
    if not isinstance(query.keys, KeySet):
        raise InvalidParameter(
            code="accuracy_depends_on_data",
            expectation="keys that are listed: which are discovered depends on data",
            remedy="State spend=; `preview` says how many people a key needs to be found.",
        )
    wanted = _wanted(query, goal)

    def spend(amount: float) -> Guarantee:
        if isinstance(budget.currency, Rhos | RhosAndDeltas):
            return ZCDP(rho=amount)
        if isinstance(budget.currency, RenyiAt):
            alpha = budget.currency.alpha
            return RenyiDP(alpha=alpha, epsilon=amount * float(alpha))
        return PureDP(epsilon=amount)

    def meets_wanted_errors(planned: PlannedQuery, only: str | None = None) -> bool:
        return all(each.is_kept(planned) for name, each in wanted.items() if only in (None, name))

    concentrated = isinstance(budget.currency, Rhos | RhosAndDeltas | RenyiAt)
    base = asked(query, spend(1.0))
    if all(each.aggregate.additive is not None for each in wanted.values()):
        needs: dict[object, float] = {}
        for name, each in wanted.items():
            alone = replace(query, aggregates=(each.aggregate,))
            need = _least(lambda x, n=name, q=alone: meets_wanted_errors(asked(q, spend(x)), n))  # type: ignore[misc]
            measure = each.aggregate.additive
            needs[measure] = max(need, needs.get(measure, 0.0))
        total = sum(needs.values())
        power = 2 if concentrated else 3
        emphasis = tuple((needs[part.measure] / total) ** power for part in base.parts)
        while True:
            made = replace(asked(query, spend(total)), emphasis=emphasis)
            if meets_wanted_errors(made):
                return made
            total *= 1 + 1e-6
    return asked(query, spend(_least(lambda x: meets_wanted_errors(asked(query, spend(x))))))


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


def _wanted(query: Query, goal: AccuracyGoal) -> dict[str, _WantedError]:
    plain = not isinstance(query, QueryOverAnswers)
    outputs = {
        output.name: query.aggregates[output.number]
        for output in query.outputs
        if isinstance(output, AggregateOutput) and plain
    }
    accuracy = goal.accuracy
    if not isinstance(accuracy, Within | Mapping) or (
        isinstance(accuracy, Mapping)
        and not all(isinstance(within, Within) for within in accuracy.values())
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
    return {
        name: _wanted_of(name, aggregate, accuracy[name], goal.rows_at_least)
        for name, aggregate in outputs.items()
    }


def _wanted_of(name: str, aggregate: Aggregate, within: Within, rows: int | None) -> _WantedError:
    """The error wanted of one column as a number; refused where data would decide about it."""
    rows = rows if within.rows_at_least is None else within.rows_at_least
    if not aggregate.is_foreseeable(rows):
        raise InvalidParameter(
            code="accuracy_depends_on_data",
            expectation=f"a column whose error is known beforehand, unlike {name}",
            received=type(aggregate).__name__,
            remedy="Pass rows_at_least=, a public lower bound of the values in each group, for "
            "means; otherwise state spend=.",
        )
    error = within.error
    if isinstance(error, str):
        error = _share(error) * _least_value(name, aggregate, rows)
    return _WantedError(aggregate, error, within.confidence, rows)


def _share(text: str) -> float:
    """The share that a text such as "5%" states."""
    try:
        share = float(text.removesuffix("%")) / 100 if text.endswith("%") else math.nan
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise InvalidParameter(
            code="error_misread",
            expectation="an error as a number, or as a share such as '5%', up to '100%'",
            received=text,
            remedy="Write dp.Within(5), or dp.Within('5%', rows_at_least=1000).",
        )
    return share


def _least_value(name: str, aggregate: Aggregate, rows: int | None) -> float:
    """How far from zero every cell is, for public reasons."""
    if rows is None:
        raise InvalidParameter(
            code="relative_to_unknown",
            expectation=f"a public lower bound of what {name} counts or adds up in each group",
            remedy="Write dp.Within('5%', rows_at_least=1000); a number that was released before "
            "will do. Without one, state the error as a number.",
        )
    least = aggregate.least_size(rows)
    if not least > 0:
        raise InvalidParameter(
            code="relative_to_zero",
            expectation="a count, or a sum or mean of numbers whose bounds keep away from zero, "
            f"unlike {name}",
            received=type(aggregate).__name__,
            remedy="State the error as a number: dp.Within(5).",
        )
    return least
