"""Questions within parts of a table: which rows they see, and that they see nothing else.

A question may be put to a part if somebody without rows in it cannot change the answer. The table
that was divided is replaced by its part wherever it is read. Other private tables must be joined
to the part on the person; public tables are free.

Source: contract, "Units and neighbours" (parallel composition). Proof: ``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.partition_filter import Assignment, PartitionFilter
from discreet.relational.plan.nodes import JoinedPeople, JoinKind, PlanNode, Scan, scans
from discreet.relational.plan.query import Query
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.translate import as_written, query_from, question_from
from discreet.relational.types.expression import Column, Expression, columns, substitute


@dataclass(frozen=True)
class Division:
    """How a table falls into parts: an expression over its columns, and who is kept where.

    ``part`` names columns as the scan ``prefix`` does; ``values`` lists the parts.
    """

    table: str
    prefix: str
    part: Expression
    values: tuple[object, ...]
    assignment: Assignment

    def keep_part_of_scan(self, scan: Scan, rows: PlanNode, value: object) -> PartitionFilter:
        """One part of what a scan reads."""
        own = {
            name: Column(scan.column(name.removeprefix(f"{self.prefix}.")), domain)
            for name, domain in _facts(self.part).items()
        }
        return PartitionFilter(rows, substitute(self.part, own), value, self.assignment)


@dataclass(frozen=True)
class Scope:
    """What a session may see: everything, or one part inside another of one table."""

    within: tuple[tuple[Division, object], ...] = ()

    def part(self, division: Division, value: object) -> Scope:
        """A part of what is in scope."""
        self.require_table(division.table)
        return replace(self, within=(*self.within, (division, value)))

    def require_table(self, table: str) -> None:
        """Refuse to divide another table than the one divided already."""
        if any(outer.table != table for outer, _ in self.within):
            raise InvalidParameter(
                code="partition_of_another_table",
                expectation=f"parts of {self.within[0][0].table}, the table divided already",
                received=table,
                remedy="Divide the same table further, or another one from the whole curator.",
            )

    def query(self, text: str, catalog: Catalog) -> Query:
        """What a text asks for here; refused unless it is about those within the part alone."""
        return self._inside(query_from(text, catalog))

    def question(self, text: str, catalog: Catalog) -> Query:
        """The same, or what a query over answers asks for."""
        return self._inside(question_from(text, catalog))

    def as_written(self, text: str, catalog: Catalog) -> Query | None:
        """A query around an answer with all that the answer has; None where there is none."""
        query = as_written(text, catalog)
        return None if query is None else self._inside(query)

    def _inside(self, query: Query) -> Query:
        if not self.within:
            return query
        query = query.with_rows(lambda rows: rebuilt(rows, self._restricted))
        if not all(confined(part.rows) for part in query.parts):
            table = self.within[0][0].table
            raise InvalidParameter(
                code="outside_the_part",
                expectation=f"a question about rows of {table}, alone, with public tables, or "
                "joined on the person",
                received="private rows that are not in the part",
                remedy="Ask the whole curator; what it pays for adds up.",
            )
        return query

    def require_whole(self) -> None:
        """Refuse what would see the whole database."""
        if self.within:
            raise InvalidParameter(
                code="part_not_whole",
                expectation="a question in SQL; measurements see whole tables, not a part",
                remedy="Release measurements from the whole curator.",
            )

    def require_event(self, event: Event, unit: PrivacyUnit) -> None:
        """Refuse an event whose price does not hold for units added, removed and exchanged."""
        if self.within and isinstance(unit, Replace) and event.relation() is not None:
            raise InvalidParameter(
                code="relation_in_part",
                expectation="an event whose price holds for units added, removed or exchanged",
                received=event.kind,
                remedy="In a part of a table under Replace no sampling is priced.",
            )

    def _restricted(self, scan: Scan) -> PlanNode:
        rows: PlanNode = scan
        for division, value in self.within:
            if division.table == scan.table:
                rows = division.keep_part_of_scan(scan, rows, value)
        return rows


def confined(rows: PlanNode) -> bool:
    """Whether nobody without rows in the part can change these rows.

    A join on the person has no rows of people who are missing on one side; a left join, on the
    left. Any other step is a function of its inputs.
    """
    if isinstance(rows, PartitionFilter) or not any(scan.private for scan in scans(rows)):
        return True
    if isinstance(rows, Scan):
        return False
    if isinstance(rows, JoinedPeople):
        sides = rows.inputs if rows.kind is JoinKind.INNER else rows.inputs[:1]
        return any(map(confined, sides))
    return all(map(confined, rows.inputs))


def rebuilt(rows: PlanNode, change: Callable[[Scan], PlanNode]) -> PlanNode:
    """The same plan on other scans."""
    if isinstance(rows, Scan):
        return change(rows)

    def within(value: Any) -> Any:
        if isinstance(value, PlanNode):
            return rebuilt(value, change)
        return tuple(map(within, value)) if type(value) is tuple else value

    made = {item.name: within(getattr(rows, item.name)) for item in fields(rows) if item.init}
    return replace(rows, **made)


def _facts(expression: Expression) -> dict[str, Any]:
    """The columns that an expression reads, with what is known of each."""
    if isinstance(expression, Column):
        return {expression.name: expression.domain}
    found: dict[str, Any] = {}
    for arg in expression.args:
        found |= _facts(arg)
    assert set(found) == columns(expression)
    return found
