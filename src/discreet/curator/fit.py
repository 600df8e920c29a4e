"""Fitting a model to a question's rows through the engine: only sums of products are computed.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.source import (
    FitColumns,
    FitsMoments,
    Moments,
    TargetKind,
    not_from_moments,
)
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.learn.box import Box
from discreet.learn.model_statement import model_name
from discreet.learn.privacy import Privacy
from discreet.noise.randomness import random_id
from discreet.relational.execute.table_moments import Bounds, ColumnTotals, TableMoments
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.identity.identity import CanonicalText, any_snapshot, identity
from discreet.relational.plan.nodes import scans
from discreet.relational.sql.statement import parse
from discreet.release.guarantee import guarantee_text

Fitted = TypeVar("Fitted")


@dataclass(frozen=True)
class FitRequest(Generic[Fitted]):
    """A model, and the rows that it is to be fitted to: public parts alone.

    Attributes:
        context: The tables, and who pays.
        estimator: What is fitted.
        columns: What is known of the columns.
        source: What adds up; nothing is added up yet.
        blocks: The places of the classes among the labels of the source.
    """

    context: Context
    estimator: Fitted
    columns: FitColumns
    source: TableMoments
    blocks: tuple[int, ...]

    @classmethod
    def of(
        cls, context: Context, estimator: Fitted, text: Asked, target: str | None
    ) -> FitRequest[Fitted]:
        """The request that declarations and the estimator make; refusals here are free."""
        if not isinstance(estimator, FitsMoments):
            raise not_from_moments(estimator)
        # It becomes an inner query: the end of a statement or of a remark must not end the outer.
        plain, kind = f"{text_of(text).rstrip().rstrip(';')}\n", estimator.target_kind
        features = _features(plain, target, kind)
        number = [target] if kind is TargetKind.NUMBER and target is not None else []
        label = target if kind is TargetKind.LABEL else None
        declared = ColumnTotals.of(plain, [*number, *features], context.query)
        bounds = _bounds(estimator, declared.bounds, len(number))
        Box.of(bounds, len(bounds[0]))  # refuses what is no interval, such as that of a constant
        source = TableMoments.of(
            declared,
            bounds,
            estimator.products,
            context.query,
            context.database.engine,
            needed=number[0] if number else None,
            label=label,
        )
        classes, blocks = _classes(estimator, source) if label is not None else (None, (0,))
        columns = FitColumns(
            features=tuple(features),
            bounds=([*bounds[0][len(number) :]], [*bounds[1][len(number) :]]),
            target_bounds=(bounds[0][0], bounds[1][0]) if number else None,
            classes=classes,
        )
        return cls(context, estimator, columns, source, blocks)

    def fitting(self, spend: Guarantee) -> tuple[Event, Callable[[], Fitted]]:
        """What it costs, and what fits; reads public facts alone."""
        self.source.text()  # what cannot be written is refused now
        fitter: Any = self.estimator
        event, fitted = fitter.fit_moments(self.privacy(spend), self.columns, self._moments)

        def told() -> Fitted:
            made = fitted()
            made.facts_ = {**getattr(made, "facts_", {}), **self._facts()}
            made.guarantee_ = spend.per(self.context.unit)
            return made  # type: ignore[no-any-return]

        return event, told

    def privacy(self, spend: Guarantee) -> Privacy:
        """What the noise is for: the unit, of which the engine keeps so many rows."""
        context = self.context
        paid = context.budget.as_paid(spend).per(context.unit)
        return Privacy(paid, context.unit, context.randomness, self.source.records)

    def offer(self, spend: Guarantee) -> Offer[Callable[[], Fitted]]:
        """The model as it is offered."""
        event, fitted = self.fitting(spend)
        return Offer(product=fitted, event=event, detail={"model": self.words})

    @property
    def own(self) -> bool:
        """Whether the estimator is of somebody's own making: nobody can say what it does."""
        from discreet.learn.tags import FORMS

        return type(self.estimator) not in FORMS

    @property
    def words(self) -> str:
        """What is fitted, in words."""
        name = model_name(self.estimator)
        read = [each for each in scans(self.source.query.rows) if each.private]
        tables = ", ".join(dict.fromkeys(each.table for each in read))
        return f"{name} of {', '.join(self.columns.features)} from {tables}"

    def known(self, spend: Guarantee) -> Known:
        """Equal for the same fit to the same data; new each time where that is unsure."""
        from discreet.learn.saved_models import parameters_of
        from discreet.learn.tags import FORMS

        if self.own:
            return Known(f"fit {random_id(96)}", anew=True)
        columns, query = self.columns, self.source.query
        given = {
            **parameters_of(self.estimator),
            "bounds": columns.bounds,
            "target_bounds": columns.target_bounds,
            "classes": columns.classes,
            "features": columns.features,
        }
        tables = tables_read(query)
        parts = {
            "question": CanonicalText.of(query),
            "model": FORMS[type(self.estimator)].tag,
            "parameters": json.dumps(given, sort_keys=True, default=repr),
            "spend": spend,
            "snapshot": self.context.snapshot(tables),
            "rows": self.context.declared_rows(tables),
        }
        return Known(
            identity("fit", parts),
            any_snapshot=any_snapshot("fit", parts),
            snapshots=self.context.snapshot_names(tables),
        )

    def _moments(self) -> Moments:
        found, places = self.source.moments(), list(self.blocks)
        return Moments(found.products[places], found.there[places])

    def _facts(self) -> Mapping[str, Any]:
        budget = self.context.budget
        return {
            "question": self.words,
            "ledger": True,
            "budget": guarantee_text(budget.total),
            "budget_adds_up": budget.name,
            "tables": [s.table for s in scans(self.source.query.rows) if s.private],
        }


def fit_model(
    request: FitRequest[Fitted],
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
    paid_before: PaidBefore | None = None,
) -> Fitted:
    """The estimator, fitted and paid for; or as it was fitted when the analyst paid for it."""
    context = request.context
    context.budget.check(spend)
    spend = as_written(spend)
    return buy(
        context,
        Purchase(
            analyst=analyst,
            purpose=purpose,
            spend=spend,
            reads=(request.source.query,),
            offer=lambda: request.offer(spend),
            own=request.own,
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: request.known(spend),
            to_dict=lambda model: {} if request.own else _kept(model),
            from_dict=lambda stored: _restored(request.estimator, stored),
        ),
    )


def _kept(model: Any) -> dict[str, object]:
    """What the ledger keeps: the whole of the model, which is released anyway."""
    from discreet.learn.saved_models import model_to_dict

    return {"model": model_to_dict(model)}


def _restored(estimator: Fitted, stored: Mapping[str, Any]) -> Fitted:
    from discreet.learn.saved_models import restore

    restore(estimator, stored["model"])
    return estimator


def _features(text: str, target: str | None, kind: TargetKind) -> list[str]:
    """The columns of a SELECT without the target, by their names."""
    parsed: Any = parse(text)
    names = list(getattr(parsed, "named_selects", ()))
    named = (target is None) if kind is TargetKind.NONE else target in names
    rest = [name for name in names if name != target]
    if not named or not rest or "" in names or "*" in names or len(set(names)) < len(names):
        raise InvalidParameter(
            code="fit_columns",
            expectation="a SELECT that names at least one feature, and each column once"
            if kind is TargetKind.NONE
            else "a SELECT that names the target and at least one feature, each once",
            received=names,
            remedy='Write curator.fit(model, "SELECT age, cost FROM visits", target="cost", ...); '
            "target= only where the model has one.",
        )
    return rest


def _classes(estimator: Any, source: TableMoments) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The classes in order, those of the estimator or all that were declared, and their places."""
    places = {label: place for place, label in enumerate(source.labels) if label is not None}
    given = list(places) if estimator.classes is None else list(estimator.classes)
    wanted: list[Any] = [each.item() if isinstance(each, np.generic) else each for each in given]
    if len(set(wanted)) < 2 or not set(wanted) <= set(places):
        raise InvalidParameter(
            code="classes_missing",
            expectation="at least two classes, each among the declared values of the target",
            received=len(set(wanted)),
            remedy="Declare the target as dp.Category([...]), or name some of its values: "
            'classes=["yes", "no"].',
        )
    ordered = sorted(set(wanted))
    return tuple(ordered), tuple(places[each] for each in ordered)


def _bounds(estimator: Any, declared: Bounds, targets: int) -> Bounds:
    """What the estimator was given, in place of what the owner declared."""
    low, high = [*declared[0]], [*declared[1]]
    if targets and estimator.target_bounds is not None:
        for ends, given in zip((low, high), _ends(estimator.target_bounds), strict=True):
            ends[:targets] = _broadcast(given, targets)
    if estimator.bounds is not None:
        for ends, given in zip((low, high), _ends(estimator.bounds), strict=True):
            ends[targets:] = _broadcast(given, len(ends) - targets)
    return low, high


def _ends(bounds: Any) -> Sequence[Any]:
    ends = list(bounds) if isinstance(bounds, list | tuple | np.ndarray) else []
    if len(ends) != 2:
        raise _not_bounds(bounds)
    return ends


def _broadcast(given: Any, size: int) -> list[float]:
    try:
        return [float(each) for each in np.broadcast_to(given, (size,))]
    except (TypeError, ValueError):
        raise _not_bounds(given) from None


def _not_bounds(given: object) -> InvalidParameter:
    return InvalidParameter(
        code="bounds_missing",
        expectation="bounds=(low, high), numbers or one for each feature",
        received=type(given).__name__,
        remedy="Give one bound for each feature of the SELECT, or leave bounds to declarations.",
    )
