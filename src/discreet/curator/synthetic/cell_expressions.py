"""The cells of columns as SQL: one CASE for each attribute, so that engines count them.

Each gives the number of a row's cell, the same that the column's own ``encode`` gives; NULL for a
row that lies in no cell, which is then left out.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime

from discreet.core.errors import InvalidParameter
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn
from discreet.synthetic.encoding.table_encoding import EncodedAttribute, TableEncoding


def attribute_expressions(encoding: TableEncoding) -> dict[str, str]:
    """For each attribute, by name, the expression that numbers its cells."""
    return {each.name: _attribute(encoding, each) for each in encoding.attributes}


def cell_expression(name: str, column: EncodedColumn) -> str:
    """The number of a row's cell of a column.

    >>> print(cell_expression("ward", CategoryColumn(["A", "B"])))
    CASE WHEN "ward" = 'A' THEN 0 WHEN "ward" = 'B' THEN 1 ELSE 2 END
    """
    read = _quoted(name)
    match column:
        case CategoryColumn():
            tests = [f"{read} = {_literal(value)}" for value in column.values]
        case NumberColumn():
            tests = _upto(read, [_literal(edge) for edge in column.edges[1:-1]])
        case DayColumn():
            tests = _upto(read, [_literal(start) for start in column.starts[1:]])
        case _:
            raise InvalidParameter(
                code="not_a_column",
                expectation=f"a column whose cells an engine can number, for {name!r}",
                received=type(column).__name__,
                remedy="Use CategoryColumn, NumberColumn, DayColumn or IdentifierColumn.",
            )
    rest = f" ELSE {len(tests)}" if column.missing else ""
    return f"CASE {_whens(tests)}{rest} END"


def _attribute(encoding: TableEncoding, attribute: EncodedAttribute) -> str:
    """One column's cell; of columns tied together, the number of the combination if it can be."""
    columns = [encoding.columns[name] for name in attribute.columns]
    if len(columns) == 1:
        return cell_expression(attribute.columns[0], columns[0])
    tests = [
        " AND ".join(
            _is_cell(name, column, int(code))
            for name, column, code in zip(attribute.columns, columns, cell, strict=True)
        )
        for cell in attribute.cells
    ]
    return f"CASE {_whens(tests)} END"


def _is_cell(name: str, column: EncodedColumn, code: int) -> str:
    """That a row lies in one cell of a column."""
    read = _quoted(name)
    if column.missing and code == column.size - 1:
        if isinstance(column, CategoryColumn):  # not listed here, or nowhere
            return f"({cell_expression(name, column)}) = {code}"
        return f"{read} IS NULL"
    match column:
        case CategoryColumn():
            return f"{read} = {_literal(column.values[code])}"
        case NumberColumn():
            ends: Sequence[object] = column.edges[1:-1]
        case DayColumn():
            ends = column.starts[1:]
        case _:
            raise AssertionError
    tests = [f"{read} >= {_literal(ends[code - 1])}"] if code else []
    tests += [f"{read} < {_literal(ends[code])}"] if code < len(ends) else []
    return " AND ".join(tests) or f"{read} IS NOT NULL"


def _upto(read: str, ends: Sequence[str]) -> list[str]:
    return [*(f"{read} < {end}" for end in ends), f"{read} IS NOT NULL"]


def _whens(tests: Sequence[str]) -> str:
    return " ".join(f"WHEN {test} THEN {number}" for number, test in enumerate(tests))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
    raise InvalidParameter(
        code="category_values",
        expectation="values that can be written in SQL: text, numbers, truth values, days",
        received=type(value).__name__,
        remedy="Leave the column out.",
    )
