"""Fitting a model to a question's rows: sums from the engine, or bounded rows in memory.

What sums are enough for is added up in the engine, and no row is loaded. What looks several times
is handed the rows, clamped and bounded there, after it said what that costs.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.source import (
    BoundedRows,
    FitColumns,
    FitsMoments,
    FitsRows,
    Moments,
    TargetKind,
    not_from_moments,
)
from discreet.curator.budget import as_written
from discreet.curator.context import Context, tables_read
from discreet.curator.fit_columns import (
    bounds_of,
    classes_of,
    clearer,
    features_of,
    sql_text,
)
from discreet.curator.paid_before import PaidBefore
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.learn.box import Box
from discreet.learn.model_statement import model_name
from discreet.learn.privacy import Privacy
from discreet.noise.randomness import random_id
from discreet.relational.execute.bounded_columns import BoundedColumns, ColumnTotals
from discreet.relational.execute.table_moments import TableMoments
from discreet.relational.execute.table_rows import TableRows
from discreet.relational.frontends.as_sql import Asked
from discreet.relational.identity.identity import CanonicalText, any_snapshot, identity
from discreet.relational.limits.resources import require_handed
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import Query
from discreet.release.guarantee import guarantee_text
from discreet.release.promise import promised

Fitted = TypeVar("Fitted")


@dataclass(frozen=True)
class FitRequest(Generic[Fitted]):
    """A model, and the rows that it is to be fitted to: public parts alone.

    Attributes:
        context: The tables, and who pays.
        estimator: What is fitted.
        columns: What is known of the columns.
        source: What adds up or hands over; nothing is read yet.
        blocks: The places of the classes among the labels of the source.
    """

    context: Context
    estimator: Fitted
    columns: FitColumns
    source: TableMoments | TableRows
    blocks: tuple[int, ...]

    @classmethod
    def of(
        cls, context: Context, estimator: Fitted, text: Asked, target: str | None
    ) -> FitRequest[Fitted]:
        """The request that declarations and the estimator make; refusals here are free."""
        if isinstance(estimator, type) or not isinstance(estimator, FitsMoments | FitsRows):
            raise not_from_moments(estimator)
        # It becomes an inner query: the end of a statement or of a remark must not end the outer.
        plain, kind = f"{sql_text(text).rstrip().rstrip(';')}\n", estimator.target_kind
        features = features_of(plain, target, kind)
        number = [target] if kind is TargetKind.NUMBER and target is not None else []
        label = target if kind is TargetKind.LABEL else None
        read_columns = [*number, *features]
        try:
            declared = ColumnTotals.of(plain, read_columns, context.query)
            bounds = bounds_of(estimator, declared.bounds, len(number))
            Box.of(bounds, len(bounds[0]))  # refuses what is no interval, as that of a constant
            read = BoundedColumns.of(
                declared,
                bounds,
                context.query,
                context.database.engine,
                needed=number[0] if number else None,
                label=label,
            )
        except DiscreetError as error:
            raise clearer(error, plain, read_columns, label, context.query) from None
        classes, blocks = classes_of(estimator, read) if label is not None else (None, (0,))
        columns = FitColumns(
            features=tuple(features),
            bounds=([*bounds[0][len(number) :]], [*bounds[1][len(number) :]]),
            target_bounds=(bounds[0][0], bounds[1][0]) if number else None,
            classes=classes,
            target=target,
        )
        if isinstance(estimator, FitsMoments):
            return cls(
                context, estimator, columns, TableMoments.of(read, estimator.products), blocks
            )
        rows = [rows for _, rows in context.declared_rows(tables_read(read.query))]
        require_handed(rows, 1 + len(read.totals))
        return cls(context, estimator, columns, TableRows(read, len(number)), blocks)

    @property
    def query(self) -> Query:
        """The question whose rows are read."""
        return self.source.columns.query

    def fitting(self, spend: Guarantee) -> tuple[Event, Callable[[], Fitted]]:
        """What it costs, and what fits; reads public facts alone."""
        self.source.text()  # what cannot be written is refused now
        fitter: Any = self.estimator
        privacy = self.privacy(spend)
        if isinstance(self.source, TableMoments):
            event, fitted = fitter.fit_moments(privacy, self.columns, self._moments)
        else:
            event, fitted = fitter.fit_rows(privacy, self.columns, self._rows)

        def fit_and_add_facts() -> Fitted:
            made = fitted()
            made.facts_ = {**getattr(made, "facts_", {}), **self._facts()}
            made.guarantee_ = promised(spend, event).per(self.context.unit)
            return made  # type: ignore[no-any-return]

        return event, fit_and_add_facts

    def privacy(self, spend: Guarantee) -> Privacy:
        """What the noise is for: the unit, of which the engine keeps so many rows."""
        context = self.context
        paid = context.budget.as_paid(spend).per(context.unit)
        return Privacy(paid, context.unit, context.randomness, self.source.records)

    def offer(self, spend: Guarantee) -> Offer[Callable[[], Fitted]]:
        """The model as it is offered."""
        from discreet.learn.saved_models import require_plain

        if not self.own:
            require_plain(self.columns.classes)  # the ledger keeps the model
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
        read = [each for each in scans(self.query.rows) if each.private]
        tables = ", ".join(dict.fromkeys(each.table for each in read))
        text = f"{name} of {', '.join(self.columns.features)} from {tables}"
        return text if self.columns.target is None else f"{text}, to predict {self.columns.target}"

    def identify_question(self, spend: Guarantee) -> Known:
        """Equal for the same fit to the same data; new each time where that is unsure."""
        from discreet.learn.saved_models import parameters_of
        from discreet.learn.tags import FORMS

        if self.own:
            return Known(f"fit {random_id(96)}", anew=True)
        columns, query = self.columns, self.query
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
        assert isinstance(self.source, TableMoments)
        found, places = self.source.moments(), list(self.blocks)
        return Moments(found.products[places], found.there[places])

    def _rows(self) -> BoundedRows:
        """The rows; those whose label is none of the classes are left out."""
        assert isinstance(self.source, TableRows)
        found = self.source.bounded_rows()
        if self.columns.classes is None or found.target is None:
            return found
        place = np.full(len(self.source.columns.labels), -1, dtype=np.int64)
        place[list(self.blocks)] = np.arange(len(self.blocks))
        target = place[found.target]
        kept = target >= 0
        return BoundedRows(found.features if kept.all() else found.features[kept], target[kept])

    def _facts(self) -> Mapping[str, Any]:
        budget = self.context.budget
        return {
            "question": self.words,
            "ledger": True,
            "budget": guarantee_text(budget.total),
            "budget_adds_up": budget.name,
            "tables": [s.table for s in scans(self.query.rows) if s.private],
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
            reads=(request.query,),
            offer=lambda: request.offer(spend),
            own=request.own,
            paid_before=paid_before,
        ),
        Storage(
            known=lambda: request.identify_question(spend),
            to_dict=lambda model: {} if request.own else _wrap_model_for_ledger(model),
            from_dict=lambda stored: _restored(request.estimator, stored),
        ),
    )


def _wrap_model_for_ledger(model: Any) -> dict[str, object]:
    """What the ledger keeps: the whole of the model, which is released anyway."""
    from discreet.learn.saved_models import model_to_dict

    return {"model": model_to_dict(model)}


def _restored(estimator: Fitted, stored: Mapping[str, Any]) -> Fitted:
    from discreet.learn.saved_models import restore

    restore(estimator, stored["model"])
    return estimator
