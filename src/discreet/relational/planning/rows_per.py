"""Counts of rows by their number within a key, or of people by their rows, over a public ladder.

The step from one limit to the next holds the rows that the larger one would keep and the smaller
one would not; the last holds those that the largest leaves out. A row lies in one step, so all
counts together cost what one count of the rows would.

Source: 004b:A21(d). Proof: ``proofs/learnt_limits.md``.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.core.errors import InvalidParameter
from discreet.core.unit import Person, add_remove
from discreet.relational.aggregates.count import Count
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.bounding.key_numbering import NumberedByKey
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.functions.comparison import LESS_EQUAL
from discreet.relational.plan.features import CountedRows, PerPerson
from discreet.relational.plan.keys import Block, KeySet
from discreet.relational.plan.nodes import Output, PlanNode, scans
from discreet.relational.plan.query import AggregateOutput, KeyOutput, Query
from discreet.relational.plan.rows_per import RowsPer
from discreet.relational.schema.agreement import require_column
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.relation import SQLRelation, Steps, Visible
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal


def ladder_question(table: Query, asked: RowsPer, catalog: Catalog) -> Query:
    """The counts that are bought, over the rows of a question about the table."""
    steps = Steps(catalog)
    if asked.columns:
        rows, number = _by_key(table.rows, asked, steps)
    else:
        rows, number = _by_person(table, asked, steps)
    return replace(
        table,
        rows=rows,
        keys=KeySet((Block((step_of(number, asked.ladder),), _places(asked)),)),
        key_places=((0, 0),),
        aggregates=(Count(CountRows()),),
        outputs=(KeyOutput("step", 0), AggregateOutput("rows", 0)),
        limits=None,
    )


def step_of(number: Expression, ladder: tuple[int, ...]) -> Expression:
    """Which step of the ladder a number is on: the place of the least limit that is not below."""
    within = tuple(
        (Call(LESS_EQUAL, (number, Literal(most))), Literal(place))
        for place, most in enumerate(ladder)
    )
    return Case(within, Literal(len(ladder)))


def _places(asked: RowsPer) -> tuple[tuple[int], ...]:
    return tuple((place,) for place in range(len(asked.ladder) + 1))


def _by_key(rows: PlanNode, asked: RowsPer, steps: Steps) -> tuple[PlanNode, Column]:
    """Rows as a join on the key would see them: bounded by person first, then numbered."""
    visible = tuple(_visible(rows, name) for name in asked.columns)
    made = steps.disowned(SQLRelation(rows, visible))
    prefix = steps.prefix("numbered")
    most = asked.ladder[-1]
    number = Output(f"{prefix}.0", ColumnDomain(DataType.INTEGER, 1, most + 1))
    keys = tuple(column.expression for column in made.columns)
    numbered = NumberedByKey(prefix, made.rows, keys, most, (number,))
    return numbered, Column(number.name, number.domain)


def _by_person(table: Query, asked: RowsPer, steps: Steps) -> tuple[PlanNode, Column]:
    """One row for each person, with the number of rows that the person has in the table."""
    if not isinstance(add_remove(table.unit), Person):
        raise InvalidParameter(
            code="rows_without_person",
            expectation="a key, where each row is a unit of its own",
            received=table.unit,
            remedy='Name the columns of a key: RowsPer("visits", "city").',
        )
    most = asked.ladder[-1] + 1
    bounded = Bounded(steps.prefix("bounded"), table.rows, most, (), ())
    feature = CountedRows(None)
    prefix = steps.prefix("people")
    number = Output(f"{prefix}.0", feature.domain(most))
    rows = PerPerson(prefix, bounded, most, None, (feature,), (number,))
    return rows, Column(number.name, number.domain)


def _visible(rows: PlanNode, name: str) -> Visible:
    (scan,) = scans(rows)
    require_column(name, scan.table, scan.fields)
    return Visible("", name, Column(scan.column(name), scan.fields[name].domain))
