"""Fitting a model to a question's rows through the engine: only sums of products are computed.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.source import FitsMoments
from discreet.curator.budget import as_written
from discreet.curator.context import Context
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.learn.box import Box
from discreet.learn.privacy import Privacy
from discreet.noise.randomness import random_id
from discreet.relational.execute.table_moments import Bounds, TableMoments, column_bounds
from discreet.relational.frontends.as_sql import Asked, text_of

Fitted = TypeVar("Fitted")


def fit_model(
    context: Context,
    estimator: Fitted,
    text: Asked,
    *,
    target: str,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
) -> Fitted:
    """The estimator, fitted and paid for. It is bought anew each time."""
    if not isinstance(estimator, FitsMoments):
        raise InvalidParameter(
            code="not_from_moments",
            expectation="an estimator that fits from sums of products",
            received=type(estimator).__name__,
            remedy="Use dp.learn.LinearRegression or dp.learn.Ridge.",
        )
    plain = text_of(text)
    columns = _columns(plain, target)
    bounds = _bounds(estimator, column_bounds(plain, columns, context.query))
    Box.of(bounds, len(columns))  # refuses what is no interval, such as that of a constant
    source = TableMoments.of(plain, columns, bounds, context.query, context.database.engine)
    context.budget.check(spend)
    spend = as_written(spend)

    def offer() -> Offer[Callable[[], Any]]:
        paid = context.budget.as_paid(spend).per(context.unit)
        privacy = Privacy(paid, context.unit, context.randomness, source.records)
        source.text()  # what cannot be written is refused now
        rest = ([*bounds[0][1:]], [*bounds[1][1:]])
        level = (bounds[0][0], bounds[1][0])
        event, fitted = estimator.fit_moments(privacy, rest, level, source.moments)
        return Offer(product=fitted, event=event, detail={"features": len(columns) - 1})

    bought: Fitted = buy(
        context,
        Purchase(analyst=analyst, purpose=purpose, spend=spend, reads=(source.query,), offer=offer),
        Storage(
            known=lambda: Known(f"fit {random_id(96)}", anew=True),
            to_dict=_kept,
            from_dict=lambda _: estimator,
        ),
    )
    return bought


def _kept(model: Any) -> dict[str, object]:
    """What the ledger keeps: coefficients, which are released anyway."""
    return {"coef": [float(each) for each in model.coef_], "intercept": float(model.intercept_)}


def _columns(text: str, target: str) -> list[str]:
    """The target, then the other columns of a SELECT, by their names."""
    import sqlglot

    parsed: Any = sqlglot.parse_one(text, read="duckdb")
    names = list(getattr(parsed, "named_selects", ()))
    if target not in names or len(names) < 2 or "" in names or len(set(names)) < len(names):
        raise InvalidParameter(
            code="fit_columns",
            expectation="a SELECT that names the target and at least one feature, each once",
            received=names,
            remedy='Write curator.fit(model, "SELECT age, cost FROM visits", target="cost", ...).',
        )
    return [target, *(name for name in names if name != target)]


def _bounds(estimator: Any, declared: Bounds) -> Bounds:
    """What the estimator was given, in place of what the owner declared."""
    low, high = [*declared[0]], [*declared[1]]
    if estimator.target_bounds is not None:
        low[0], high[0] = map(float, estimator.target_bounds)
    if estimator.bounds is not None:
        import numpy as np

        for ends, given in zip((low, high), estimator.bounds, strict=True):
            ends[1:] = np.broadcast_to(given, (len(ends) - 1,)).astype(float).tolist()
    return low, high
