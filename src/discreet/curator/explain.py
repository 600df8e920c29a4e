"""The plan of a question for people: stability of steps, sensitivity and noise of measures."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.curator.context import Context
from discreet.curator.sql import planned_at
from discreet.curator.tags import name_of
from discreet.relational.aggregates.measures import Linear, Total, ValuesTotal
from discreet.relational.bounding.derived_limits import Declared
from discreet.relational.bounding.partition_filter import PartitionFilter, SomeParts
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.query import Query
from discreet.relational.planning.discovered_keys import Discovering, planned_query_for
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.sql.limits import declared_in, declared_rows
from discreet.relational.sql.privacy_clause import agreed, opened


@dataclass(frozen=True)
class Step:
    """One step of the plan, ``depth`` levels below the answer.

    ``within`` is how many rows somebody within the limits of all tables can own there.
    """

    depth: int
    label: str
    stability: int | None
    within: int | None = None


@dataclass(frozen=True)
class Sensitivity:
    """One measure: how far one unit can move all its cells together, and one of them."""

    measure: str
    l1: float
    l2: float
    linf: float
    noise: str | None


@dataclass(frozen=True)
class Explanation:
    """Steps from the answer down to the tables, measures, and the text that the engine runs."""

    steps: tuple[Step, ...]
    measures: tuple[Sensitivity, ...]
    cells: int | None
    bounding: str | None
    sql: tuple[str, ...]

    def __str__(self) -> str:
        """The tree, then the measures."""
        cells = "1 cell" if self.cells == 1 else f"{self.cells} cells"
        keys = "keys to be discovered" if self.cells is None else cells
        lines = [f"answer: {keys}"]
        for item in self.measures:
            noise = "" if item.noise is None else f"; {item.noise}"
            lines.append(
                f"  {item.measure}: sensitivity L1 {item.l1:g}, L2 {item.l2:g}, "
                f"Linf {item.linf:g}{noise}"
            )
        if self.bounding:
            lines.append(f"bounding: {self.bounding}")
        for step in self.steps:
            rows = "not bounded yet" if step.stability is None else f"{step.stability} rows"
            within = "" if step.within is None else f", {step.within} within the limits"
            lines.append(f"{'  ' * step.depth}{step.label}  [one unit changes {rows}{within}]")
        return "\n".join(lines)

    __repr__ = __str__


def explain(context: Context, text: Asked, spend: Guarantee | None) -> Explanation:
    """Everything public about how a query would be answered."""
    plain, clause = opened(text_of(text))
    query = context.question(plain)
    spend = agreed(clause, spend, None)
    if clause is not None:
        query = clause.narrowed(query)
    planned = None if spend is None else planned_at(context, query, spend)
    context.policies.require_askable(query, None if planned is None else planned.spend)
    made = planned or planned_query_for(query, _usual(query), context.rows_at_most)
    measures = []
    for part, noised in zip(made.parts, made.allocation.noised, strict=True):
        bound = float(part.bound())
        measures.append(
            Sensitivity(
                _with_bounds(part.measure),
                part.contributions.l1(1) * bound,
                float(part.contributions.l2(1)) * bound,
                part.contributions.linf(1) * bound,
                None
                if planned is None
                else f"{name_of(noised.mechanism)} noise, "
                f"standard deviation {noised.distribution.std:.4g}",
            )
        )
    for choice in made.choices:
        contributions = choice.contributions
        measures.append(
            Sensitivity(
                "rank", contributions.l1(1), float(contributions.l2(1)), contributions.linf(1), None
            )
        )
    return Explanation(
        _steps(query.rows, 0, declared_in(context.database)),
        tuple(measures),
        None if isinstance(made, Discovering) else made.cells,
        _bounding(made),
        tuple(_without(_salts(query.rows), text) for text in made.texts(context.database)),
    )


def _usual(query: Query) -> Guarantee:
    """Some spend, where none is stated, that suits the question."""
    if isinstance(query.keys, KeySet):
        return PureDP(epsilon=1)
    return ApproxDP(epsilon=1, delta=1e-6)


def _salts(rows: PlanNode) -> set[int]:
    """Salts of partitions: whoever knew one could tell which of a person's parts are kept."""
    below = {salt for item in rows.inputs for salt in _salts(item)}
    if isinstance(rows, PartitionFilter) and isinstance(rows.assignment, SomeParts):
        below.add(rows.assignment.salt)
    return below


def _without(salts: set[int], text: str) -> str:
    for salt in salts:
        text = text.replace(str(salt), "0")
    return text


def _steps(rows: PlanNode, depth: int, tables: Declared) -> tuple[Step, ...]:
    below = [step for item in rows.inputs for step in _steps(item, depth + 1, tables)]
    open_yet = rows.stability is None and rows.privacy_id is not None
    within = declared_rows(rows, tables) if open_yet else None
    return (Step(depth, rows.label(), rows.stability, within), *below)


def _bounding(planned: PlannedQuery) -> str | None:
    person = planned.person
    if person is None:
        return None
    parts = [
        f"{most} {what}"
        for most, what in (
            (person.max_rows, "rows"),
            (person.max_groups, "groups"),
            (person.max_rows_per_group, "rows in a group"),
        )
        if most is not None
    ]
    return f"at most {', '.join(parts)} of each {person.id}: sums by weight, else by sampling"


def _with_bounds(measure: Linear) -> str:
    if isinstance(measure, Total | ValuesTotal):
        return f"{measure.words} of values in [{measure.low:g}, {measure.high:g}]"
    return measure.words
