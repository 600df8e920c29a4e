"""Blocks of time for tables that grow: each block has a budget, and old ones keep theirs.

Where a row is a unit, it lies in the block of its day. Under ``Person`` each person counts in
their first k blocks, in the order of time: what comes later never displaces what came before. This
holds over all versions of the table if its past stays as it is: so a block can be asked about
once the owner has said that it is settled, that is, that all its rows are there for good.

Source: contract, "Units and neighbours" (parallel composition); 004d:M5. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.unit import Person, add_remove
from discreet.curator.context import Context
from discreet.curator.sub_budgets.division import Line, line_of, overlap
from discreet.curator.sub_budgets.parts import Granted, GrantedParts, Part, divided, grant_parts
from discreet.relational.bounding.partition_filter import Assignment, EveryPart, FirstParts
from discreet.relational.functions.calendar import next_start
from discreet.relational.plan.nodes import field_of
from discreet.relational.plan.scope import Division
from discreet.relational.schema.declarations import Dates
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, canonical, evaluate

_WIDTHS = ("day", "week", "month", "quarter", "year")
_WRITTEN = {DataType.DATE: "date", DataType.TIMESTAMP: "moment"}
"""Kinds of day as ledgers have them, for ever."""


class Blocks(GrantedParts[Part]):
    """Sessions by block: ``blocks[date(2024, 3, 15)]`` is the one that holds this day."""

    def __init__(
        self,
        above: Context,
        granted: Granted,
        division: Division,
        part: Callable[[Context, object], Part],
        settled: date | None,
    ) -> None:
        """Hold what was granted, and from which day on rows may still change."""
        super().__init__(above, granted, division, part)
        self._settled = settled

    def __getitem__(self, day: date) -> Part:
        """The session of the block that holds ``day``; refused before it is settled."""
        start = self._start(day)
        if self._settled is not None:
            _require_settled(self._end(start), self._settled, _last(self._division))
        return self._opened(start)

    def __repr__(self) -> str:
        """What is divided."""
        return f"Blocks({self.name!r})"

    def _start(self, day: date) -> Any:
        if not isinstance(day, date):
            raise _not_a_day(day)
        column = _column(self._division)
        at = day
        if column.domain.kind is DataType.TIMESTAMP and not isinstance(day, datetime):
            at = datetime.combine(day, time.min)
        elif column.domain.kind is DataType.DATE and isinstance(day, datetime):
            at = day.date()
        start = evaluate(self._division.part, {column.name: at})
        if start not in self._division.values:
            raise InvalidParameter(
                code="part_unknown",
                expectation=f"a day from {column.domain.low} to {column.domain.high}",
                received=day.isoformat(),
                remedy="Declare a later last day with Dates(first, last); the first is fixed.",
            )
        return start

    def _end(self, start: Any) -> date:
        """The day after the last day of a block."""
        assert isinstance(self._division.part, Call)
        end = next_start(str(self._division.part.function.parameters[0]), start)
        if end is None:
            raise _not_a_day(start)
        return _day(end)


def open_blocks(
    context: Context,
    table: str,
    part: Callable[[Context, object], Part],
    *,
    by: str,
    budget: Guarantee,
    k: int | None,
    settled: date | None,
    name: str | None,
) -> Blocks[Part]:
    """Grant blocks of ``table``, or find those granted under this name."""
    line = line_of(table, by, context.database)
    context.policies.require_columns(line.query)
    column = _dated(line, by)
    most = overlap(context.unit, None, k)
    person = isinstance(add_remove(context.unit), Person)
    _require_settlement(settled, person=person)
    context.scope.require_table(line.scan.table)
    if person and name is None:
        raise InvalidParameter(
            code="blocks_without_name",
            expectation="name=, your word for this one growing table, whatever else shares the "
            "ledger",
            remedy='Write name="visits of the clinic", the same at every opening and for no other '
            "table.",
        )
    granted = grant_parts(
        context,
        line,
        by,
        budget=budget,
        most=most,
        name=name,
        growing=True,
        detail={
            "by": canonical(line.part),
            "kind": _WRITTEN[column.domain.kind],
            "first": column.domain.low.isoformat(),
            "at_most": most if person else None,
        },
    )
    assignment: Assignment = FirstParts(most) if person else EveryPart()
    return Blocks(context, granted, divided(line, assignment), part, settled)


def _dated(line: Line, by: str) -> Column:
    """The declared day in ``date_trunc('month', day)``."""
    part = line.part
    if isinstance(part, Call) and part.function.name == "truncate" and len(part.args) == 1:
        (column,) = part.args
        if isinstance(column, Column) and part.function.parameters[0] in _WIDTHS:
            found = field_of(column.name, line.scan)
            if found is not None and isinstance(found[1].declaration, Dates):
                return column
    raise InvalidParameter(
        code="not_blocks",
        expectation="by= to be date_trunc of a declared Dates column to day, week, month, quarter "
        "or year",
        received=by,
        remedy="""Write by="date_trunc('month', day)".""",
    )


def _require_settlement(settled: object, *, person: bool) -> None:
    if settled is None and person:
        raise InvalidParameter(
            code="blocks_not_settled",
            expectation="settled=, a day before which all rows are there and will not change",
            remedy="People are kept in their first k blocks, which later rows must not change.",
        )
    if settled is not None and not person:
        raise InvalidParameter(
            code="blocks_not_settled",
            expectation="no settled= where each row is a unit: late rows cost nobody anything",
            received=settled,
            remedy="Leave settled= out.",
        )
    if settled is not None and not isinstance(settled, date):
        raise _not_a_day(settled)


def _require_settled(end: date, settled: date, last: date) -> None:
    if end > _day(settled) or end > last + timedelta(days=1):
        raise InvalidParameter(
            code="blocks_not_settled",
            expectation=f"a block that ends before {min(_day(settled), last).isoformat()}",
            received=end.isoformat(),
            remedy="Wait until its rows are complete, then open with a later settled= (and a "
            "later last day in Dates).",
        )


def _column(division: Division) -> Column:
    assert isinstance(division.part, Call)
    (column,) = division.part.args
    assert isinstance(column, Column)
    return column


def _last(division: Division) -> date:
    return _day(_column(division).domain.high)


def _day(at: date) -> date:
    return at.date() if isinstance(at, datetime) else at


def _not_a_day(value: object) -> InvalidParameter:
    return InvalidParameter(
        code="not_a_day",
        expectation="a date",
        received=type(value).__name__,
        remedy="Write date(2024, 3, 15).",
    )
