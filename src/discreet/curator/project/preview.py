"""Previews and plans before a ledger is started: nothing can be released through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.core.guarantee import Guarantee
from discreet.curator.accuracy import AccuracyGoal, Wanted
from discreet.curator.curator import Curator
from discreet.curator.explain import Explanation
from discreet.curator.sql import planned_sql
from discreet.relational.plan.keyed_universe import KeyedUniverse
from discreet.relational.plan.left_out import LeftOut
from discreet.release.preview import Preview

if TYPE_CHECKING:
    from discreet.curator.fit_preview import FitPreview
    from discreet.curator.synopsis.preview import SynopsisPreview
    from discreet.curator.synthetic.preview import SynthesisPreview
    from discreet.curator.synthetic.preview_tables import TablesPreview
    from discreet.queries.workload.workload import Workload


class Look:
    """The verbs of a curator that read no data.

    Where a project has no ledger yet, the curator behind it keeps its account in memory; so it
    is not handed out, and nothing can be bought from it.
    """

    def __init__(self, curator: Curator) -> None:
        """Hold the curator."""
        self._curator = curator

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, rounded down."""
        return self._curator.remaining

    def preview(
        self,
        text: str,
        *,
        spend: Guarantee | None = None,
        accuracy: Wanted = None,
        confidence: float = 0.95,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        left_out: LeftOut | None = None,
    ) -> Preview:
        """Expected error of each column, and the price."""
        return self._curator.preview(
            text,
            spend=spend,
            accuracy=accuracy,
            confidence=confidence,
            rows_at_least=rows_at_least,
            at_most=at_most,
            left_out=left_out,
        )

    def preview_synopsis(
        self, workload: Workload, *, mechanism: Callable[..., Any], spend: Guarantee
    ) -> SynopsisPreview:
        """Expected error of a synopsis, and the price."""
        return self._curator.preview(workload, mechanism=mechanism, spend=spend)

    def preview_synthesis(
        self,
        table: str,
        *,
        spend: Guarantee,
        analyst: str,
        purpose: str | None,
        choices: Mapping[str, Any],
    ) -> SynthesisPreview:
        """The price of a synthetic table; refused as the curator would, policies included."""
        from discreet.curator.synthetic.make import SynthesisRequest
        from discreet.curator.synthetic.preview import preview_synthesis

        context = self._curator.context
        request = SynthesisRequest.of(context, table, **choices)
        found = preview_synthesis(request, spend)
        context.policies.require_columns(request.source.query)
        context.policies.admit(spend, analyst=analyst, purpose=purpose)
        return found

    def preview_tables(
        self,
        parent: str,
        children: Sequence[str],
        *,
        spend: Guarantee,
        analyst: str,
        purpose: str | None,
        choices: Mapping[str, Any],
    ) -> TablesPreview:
        """The price of several tables; refused as the curator would, policies included."""
        from discreet.curator.synthetic.make_tables import TablesRequest
        from discreet.curator.synthetic.preview_tables import preview_tables

        context = self._curator.context
        request = TablesRequest.of(context, parent, children, **choices)
        found = preview_tables(request, spend)
        for source in request.sources:
            context.policies.require_columns(source.query)
        context.policies.admit(spend, analyst=analyst, purpose=purpose)
        return found

    def preview_fit(
        self,
        estimator: Any,
        text: str,
        *,
        target: str | None,
        spend: Guarantee,
        analyst: str,
        purpose: str | None,
    ) -> FitPreview:
        """The price of a fit; refused as the curator would, policies included."""
        from discreet.curator.fit import FitRequest
        from discreet.curator.fit_preview import preview_fit

        context = self._curator.context
        request = FitRequest.of(context, estimator, text, target)
        found = preview_fit(request, spend)
        context.policies.require_columns(request.query)
        context.policies.admit(spend, analyst=analyst, purpose=purpose)
        return found

    def require(
        self,
        text: str,
        *,
        spend: Guarantee | None,
        accuracy: Wanted = None,
        analyst: str,
        purpose: str | None,
        rows_at_least: int | None = None,
        at_most: Guarantee | None = None,
        left_out: LeftOut | None = None,
    ) -> None:
        """Refuse what the curator would refuse before it asks its ledger, policies included."""
        context = self._curator.context
        goal = AccuracyGoal(accuracy, rows_at_least, at_most)
        query, planned = planned_sql(context, text, spend, goal, left_out)
        goal.require_affordable(planned.price)
        context.policies.require_columns(query)
        context.policies.admit(planned.price, analyst=analyst, purpose=purpose)

    def universe(self, table: str, *columns: str, **expressions: str) -> KeyedUniverse:
        """A universe of a table's keys; it describes, and holds no data."""
        return self._curator.universe(table, *columns, **expressions)

    def explain(self, text: str, *, spend: Guarantee | None = None) -> Explanation:
        """The plan, with the stability and sensitivity of every step."""
        return self._curator.explain(text, spend=spend)

    def close(self) -> None:
        """Let go of the engine."""
        self._curator.close()
