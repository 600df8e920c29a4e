"""Reports of what limits left out, held to the same checker as answers are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.relational.execute.left_out import left_out_exactly
from discreet.relational.plan.left_out import LeftOut
from discreet.relational.plan.query import Query
from discreet.relational.planning.allocation import Allocation, WeightedMeasure
from discreet.relational.planning.left_out import PlannedLeftOut
from tests.relational.engine_with_rows import EngineWithRows
from tests.relational.neighbours.worlds import PURE, SALT, Exact, Frames, Setting, Stand, faults_of

ASKED = LeftOut(share=0.1, rows_at_most=3)


@dataclass(frozen=True)
class Report:
    """A report in the words of the checker."""

    planned: PlannedLeftOut
    choices: tuple[()] = ()

    @property
    def query(self) -> Query:
        return self.planned.about.query

    @property
    def parts(self) -> tuple[WeightedMeasure, ...]:
        return self.planned.parts

    @property
    def allocation(self) -> Allocation:
        return self.planned.allocation


class ReportStand(Stand):
    """A setting of which reports are asked."""

    asked = ASKED

    def planned(self, sql: str, spend: Guarantee = PURE) -> Any:
        about = super().planned(sql, spend)
        return Report(PlannedLeftOut(self.asked, about, spend, spend))

    def exact(self, planned: Any, world: int = 0, salt: int = SALT) -> Exact:
        self.engine.seen = world
        report = planned.planned
        found = left_out_exactly(
            report.make_report_query(planned.query),
            report.limits,
            report.caps,
            self.engine,
            salt=salt,
        )
        return Exact(found, ())


def report_breaches(
    setting: Setting,
    *questions: str,
    asked: LeftOut = ASKED,
    spend: Guarantee = PURE,
    salt: int = SALT,
    also: Callable[[Frames], Sequence[Frames]] = lambda frames: [],
    refusals: list[str] | None = None,
    home: EngineWithRows | None = None,
) -> list[str]:
    """Everything by which the reports of neighbours are farther apart than declared."""
    stand = ReportStand(setting, home)
    stand.asked = asked
    try:
        inquiries = []
        for query in questions:
            try:
                inquiries.append((query, stand.planned(query, spend)))
            except DiscreetError as refusal:
                if refusals is None:
                    raise
                refusals.append(refusal.code)
        return [
            f"{query}: {fault}"
            for query, faults in faults_of(stand, inquiries, salt, also)
            for fault in faults
        ]
    finally:
        stand.close()


def reports(setting: Setting, sql: str, asked: LeftOut = ASKED) -> tuple[Report, Exact]:
    """A report with its exact numbers."""
    stand = ReportStand(setting)
    stand.asked = asked
    try:
        planned = stand.planned(sql)
        return planned, stand.exact(planned)
    finally:
        stand.close()
