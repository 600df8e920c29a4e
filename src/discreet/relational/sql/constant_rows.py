"""Rows that are written in the question: VALUES, UNNEST of a list, series of whole numbers.

Source: contract, "What may be seen" (sizes of a question are public).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sqlglot import exp

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.relational.functions.casts import cast
from discreet.relational.functions.signature import common_kind
from discreet.relational.plan.nodes import Output
from discreet.relational.plan.public_rows import PublicRows
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.reading_work import take_nodes
from discreet.relational.sql.relation import SQLRelation, Steps, Visible, unsupported
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, Expression, evaluate

MAX_CONSTANTS = 100_000

Entries: TypeAlias = Sequence[tuple[object, ...]]
"""The values of constant rows."""


def is_constant(node: exp.Expression) -> bool:
    """Whether an item of FROM brings its own rows."""
    series = isinstance(node, exp.Table) and isinstance(node.this, exp.GenerateSeries)
    return isinstance(node, exp.Values | exp.Unnest) or series


def is_row(select: exp.Select) -> bool:
    """Whether a SELECT without FROM is one row of constants."""
    given = {key for key, value in select.args.items() if value}
    return given <= {"expressions", "with_"} and all(
        item.find(exp.Column, exp.AggFunc, exp.Star) is None for item in select.expressions
    )


def as_values(select: exp.Select) -> exp.Values:
    """The same as VALUES, with the names that its columns have."""
    items = select.expressions
    names = [exp.to_identifier(item.alias_or_name or f"col{n}") for n, item in enumerate(items)]
    return exp.Values(
        expressions=[exp.Tuple(expressions=[item.unalias().copy() for item in items])],
        alias=exp.TableAlias(columns=names),
    )


def constant_rows(node: exp.Expression, steps: Steps) -> SQLRelation:
    """The rows of VALUES, UNNEST or a series, as a public table of the question's own."""
    _only(node)
    alias = node.args.get("alias")
    name = "" if alias is None or alias.this is None else alias.this.name
    named = [] if alias is None else [column.name for column in alias.columns]
    if isinstance(node, exp.Values):
        rows = [_row(item) for item in node.expressions]
        usual = [f"col{place}" for place in range(len(rows[0]))]
        kinds, entries = _evaluated(rows) if len({len(row) for row in rows}) == 1 else ([], [])
    else:
        usual = [name or "unnest"]
        kinds, entries = _read_list_or_series(node)
    if not kinds or len(named) > len(kinds):
        raise Mismatch(
            code="values_columns",
            expectation="as many values in each row of VALUES, and as many names",
            received=len(kinds),
            remedy="Write (VALUES ('A', 1), ('B', 2)) AS v(ward, beds).",
        )
    return _relation(kinds, entries, [*named, *usual[len(named) :]], name, steps)


def _evaluated(rows: Sequence[tuple[Expression, ...]]) -> tuple[list[DataType], Entries]:
    """The kind of each column, and the values of all rows."""
    kinds = [
        common_kind("VALUES", [part.domain for part in column])
        for column in zip(*rows, strict=True)
    ]
    return kinds, [
        tuple(_value(part, kind) for part, kind in zip(row, kinds, strict=True)) for row in rows
    ]


def _relation(
    kinds: Sequence[DataType], entries: Entries, names: Sequence[str], alias: str, steps: Steps
) -> SQLRelation:
    prefix = steps.prefix("values")
    outputs = []
    for place, kind in enumerate(kinds):
        found = dict.fromkeys(entry[place] for entry in entries if entry[place] is not None)
        domain = ColumnDomain(kind, values=tuple(found), declared=True)
        outputs.append(Output(f"{prefix}.{place}", domain))
    return SQLRelation(
        PublicRows.of(prefix, tuple(outputs), tuple(entries)),
        tuple(
            Visible(alias, name, Column(output.name, output.domain))
            for name, output in zip(names, outputs, strict=True)
        ),
    )


def _value(part: Expression, kind: object) -> object:
    made = part if part.domain.kind is kind or part.domain.empty else Call(cast(kind), (part,))  # type: ignore[arg-type]
    return evaluate(made, {})


def _row(item: exp.Expression) -> tuple[Expression, ...]:
    parts = item.expressions if isinstance(item, exp.Tuple) else [item]
    return tuple(_constant(part) for part in parts)


def _constant(node: exp.Expression) -> Expression:
    def resolve(column: exp.Column) -> Expression:
        raise unsupported(
            construct=f"the column {column.sql()} in a list of constants",
            remedy="Lists in FROM are of constants.",
        )

    return expression_from(node, resolve)


def _read_list_or_series(node: exp.Expression) -> tuple[list[DataType], Entries]:
    """The kind and the rows of a list or of a series."""
    inside = node.this if isinstance(node, exp.Table) else node.expressions
    items = inside if isinstance(inside, list) else [inside]
    if len(items) != 1 or not isinstance(items[0], exp.Array | exp.GenerateSeries):
        raise unsupported(
            construct="UNNEST of something else than one list of constants",
            remedy="Write UNNEST(['A', 'B']) AS t(ward), or name a public table.",
        )
    (listed,) = items
    if isinstance(listed, exp.GenerateSeries):
        return _series(listed)
    _require_few(len(listed.expressions))
    return _evaluated([(_constant(part),) for part in listed.expressions])


def _require_few(constants: int) -> None:
    if not 1 <= constants <= MAX_CONSTANTS:
        raise InvalidParameter(
            code="too_many_keys",
            expectation=f"a list of 1 to {MAX_CONSTANTS} constants",
            received=min(constants, MAX_CONSTANTS + 1),
            remedy="Use a public table for longer lists.",
        )


def _series(node: exp.GenerateSeries) -> tuple[list[DataType], Entries]:
    """Whole numbers, of which a few letters ask for many: each takes from what may be read."""
    ends = [
        None if node.args.get(part) is None else evaluate(_constant(node.args[part]), {})
        for part in ("start", "end", "step")
    ]
    first, last, step = ends[0], ends[1], 1 if ends[2] is None else ends[2]
    if type(first) is not int or type(last) is not int or type(step) is not int or step == 0:
        raise unsupported(
            construct="a series of something else than whole numbers",
            remedy="Write generate_series(1, 12).",
        )
    last += 0 if node.args.get("is_end_exclusive") else (1 if step > 0 else -1)
    numbers = range(first, last, step)
    _require_few(len(numbers[: MAX_CONSTANTS + 1]))
    take_nodes(len(numbers))
    return [DataType.INTEGER], [(number,) for number in numbers]


def _only(node: exp.Expression) -> None:
    """Refuse what else may be written beside them."""
    inside = {"this", "expressions", "alias"}
    for name, value in node.args.items():
        if value and name not in inside:
            raise unsupported(
                construct=f"{name.strip('_').upper()} beside a list in FROM",
                remedy="Write UNNEST([...]) AS t(x).",
            )
