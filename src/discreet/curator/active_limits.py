"""Which limits can act on an answer: on rows and groups, and declared bounds of numbers it reads.

Bounds of a column that is only compared in a condition are not told: a comparison with a constant
inside them is the same before and after clamping.

Source: contract, "Columns", "What may be seen".
"""

from __future__ import annotations

from discreet.curator.policy.column_lineage import Use, used_columns
from discreet.relational.aggregates.measures import CountPeople, CountRows
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import Query
from discreet.relational.planning.active_limits import Fact, active_limits
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.declarations import Integer, Number
from discreet.release.active_limits import LimitKind


def limits_stated(planned: PlannedQuery) -> dict[str, list[Fact]]:
    """The fact for a statement: an empty list where no limit can act."""
    found = active_limits(planned)
    for part in planned.query.parts:
        found += [fact for fact in _clamped(part) if fact not in found]
    return {"active_limits": found}


def _clamped(query: Query) -> list[Fact]:
    """Declared numbers whose size matters: aggregated, or computed into a key."""
    sized = tuple(
        aggregate
        for aggregate in query.aggregates
        if not all(isinstance(m, CountRows | CountPeople) for m in aggregate.measures)
    )
    fields = {
        (scan.table, name): field
        for scan in scans(query.rows)
        if scan.private
        for name, field in scan.fields.items()
    }
    found = []
    for used in used_columns(query, sized):
        field = fields.get((used.table, used.column))
        declared = None if field is None else field.declaration
        if used.use is not Use.FILTER and isinstance(declared, Number | Integer):
            ends = {"low": declared.low, "high": declared.high}
            found.append({"limit": LimitKind.VALUES.value, "of": used.column, **ends})
    return found
