"""Conditions of a count written as SQL: ``sex = 'f' AND age BETWEEN 18 AND 65``.

What is understood is listed here, and nothing else: comparisons of one column with values, joined
by AND. They become the same conditions that a mapping gives; nothing is run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.synthetic.conditions import require_values
from discreet.synthetic.encoding.constraints import Between, Condition
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn

if TYPE_CHECKING:
    from sqlglot.expressions import Expression

_LONGEST = 10_000


def conditions_of(text: str, columns: Mapping[str, EncodedColumn]) -> dict[str, Condition]:
    """What a text asks of each column; ``SELECT COUNT(*) FROM … WHERE`` may stand before it."""
    found: dict[str, list[Condition]] = {}
    for part in _parts(text):
        name, condition = _condition(part, columns)
        found.setdefault(name, []).append(condition)
    return {name: _together(name, conditions) for name, conditions in found.items()}


def _parts(text: str) -> list[Expression]:
    from sqlglot import errors, exp, parse_one

    if len(text) > _LONGEST:
        raise _unclear(received="a longer text")
    count = text.lstrip().lower().startswith("select")
    try:
        read = parse_one(text if count else f"SELECT COUNT(*) FROM t WHERE {text}", read="duckdb")
    except (errors.SqlglotError, RecursionError):
        raise _unclear(received="text that is no SQL") from None
    known = {"expressions", "from", "from_", "where", "kind"}
    given = {name for name, part in read.args.items() if part}
    shown = read.args.get("expressions") or []
    table = read.args.get("from_") or read.args.get("from")
    if (
        not isinstance(read, exp.Select)
        or given - known
        or [each.sql() for each in shown] != ["COUNT(*)"]
        or table is None
        or not isinstance(table.this, exp.Table)
    ):
        raise _unclear(received="another statement than SELECT COUNT(*) FROM … WHERE …")
    where = read.args.get("where")
    waiting, parts = [] if where is None else [where.this], []
    while waiting:
        each = waiting.pop()
        if isinstance(each, exp.Paren):
            waiting.append(each.this)
        elif isinstance(each, exp.And):
            waiting += [each.expression, each.this]
        else:
            parts.append(each)
    return parts


def _condition(part: Expression, columns: Mapping[str, EncodedColumn]) -> tuple[str, Condition]:
    from sqlglot import exp

    if not isinstance(part, exp.Not):
        return _compared(part, columns)
    inner = part.this
    while isinstance(inner, exp.Paren):
        inner = inner.this
    name, found = _condition(inner, columns)
    return name, _others(name, columns[name], found)


def _compared(part: Expression, columns: Mapping[str, EncodedColumn]) -> tuple[str, Condition]:
    from sqlglot import exp

    name = _name(part if isinstance(part, exp.Column) else part.this, columns)
    column = columns[name]
    match part:
        case exp.Column():
            found: Condition = [True]
        case exp.NEQ():
            found = _others(name, column, _equal(name, column, part.expression))
        case exp.Is(expression=exp.Null()):
            found = [None]
        case exp.In() if not part.args.get("query"):
            found = [_value(each) for each in part.expressions]
        case exp.Between():
            low, high = _end(column, part.args["low"]), _end(column, part.args["high"])
            found = _range(name, column, low, high, closed=True)
        case exp.EQ():
            found = _equal(name, column, part.expression)
        case exp.GTE():
            found = _range(name, column, _end(column, part.expression), None, closed=False)
        case exp.LT():
            found = _range(name, column, None, _end(column, part.expression), closed=False)
        case exp.GT():
            low = _end(column, part.expression)
            above = math.floor(low) + 1 if _whole(column) else low
            found = _range(name, column, above, None, closed=False)
        case exp.LTE():
            found = _range(name, column, None, _end(column, part.expression), closed=True)
        case _:
            raise _unclear(received=type(part).__name__)
    return name, found


def _others(name: str, column: EncodedColumn, excluded: Condition) -> Condition:
    """All values but some, and as in SQL none that is missing; of ranges it is not told."""
    if isinstance(excluded, Between):
        raise _unclear(received=f"NOT a range of {name}")
    listed = list(excluded)
    require_values(name, column, listed)
    return [each for each in column.labels if each is not None and each not in listed]


def _equal(name: str, column: EncodedColumn, written: Expression) -> Condition:
    """One value: of a number its own place in a bin, which only whole numbers and days have."""
    value = _value(written)
    if isinstance(column, DayColumn) and value is not None:
        day = _end(column, written)
        return _range(name, column, day, day, closed=True)
    if not isinstance(column, NumberColumn) or value is None:
        return [value]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _unclear(received=f"{name} = {type(value).__name__}")
    if not _whole(column):
        raise _unclear(received=f"{name} = a number, where {name} is continuous")
    return _range(name, column, value, value, closed=True)


def _range(
    name: str, column: EncodedColumn, low: float | None, high: float | None, *, closed: bool
) -> Between:
    """Numbers from ``low`` up to ``high``, which belongs to it where the range is closed."""
    if not isinstance(column, NumberColumn | DayColumn):
        raise _unclear(received=f"a range of {name}, which has neither numbers nor days")
    if _whole(column):
        low = None if low is None else math.ceil(low)
        if high is not None:
            high = math.floor(high) + 1 if closed else math.ceil(high)
    return Between(low, high)


def _whole(column: EncodedColumn) -> bool:
    return isinstance(column, DayColumn) or (isinstance(column, NumberColumn) and column.whole)


def _together(name: str, conditions: list[Condition]) -> Condition:
    """All conditions on one column at once."""
    if len(conditions) == 1:
        return conditions[0]
    if not all(isinstance(each, Between) for each in conditions):
        raise _unclear(received=f"several conditions on {name} that are not all ranges")
    ranges = [each for each in conditions if isinstance(each, Between)]
    lows = [each.low for each in ranges if each.low is not None]
    highs = [each.high for each in ranges if each.high is not None]
    return Between(max(lows, default=None), min(highs, default=None))


def _name(column: Expression, columns: Mapping[str, EncodedColumn]) -> str:
    from sqlglot import exp

    if not isinstance(column, exp.Column):
        raise _unclear(received="an expression where a column should stand first")
    name = column.name
    if name not in columns:  # as in all SQL, names in other letters mean the same
        alike = [each for each in columns if each.casefold() == name.casefold()]
        name = alike[0] if len(alike) == 1 else name
    if name not in columns:
        raise InvalidParameter(
            code="column_unknown",
            expectation=f"a column of the release: {list(columns)}",
            received=name,
            remedy=did_you_mean(name, columns, "Check the spelling."),
        )
    return name


def _end(column: EncodedColumn, value: Expression) -> float:
    """An end of a range: a number, or of days how many steps it lies after the first."""
    return _day(column, value) if isinstance(column, DayColumn) else _number(value)


def _day(column: DayColumn, value: Expression) -> int:
    found = _value(value)
    if isinstance(found, str):
        found = _moment(found)
    moments = isinstance(column.first, datetime)
    if isinstance(found, datetime) and not moments:
        found = found.date()
    elif isinstance(found, date) and not isinstance(found, datetime) and moments:
        found = datetime.combine(found, time())
    if not isinstance(found, date):
        raise _unclear(received="an end of a range of days that is no day")
    return column.steps_to(found)


def _moment(text: str) -> date:
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(text)
        except ValueError:
            continue
    raise _unclear(received="a day that is none")


def _number(value: Expression) -> float:
    found = _value(value)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise _unclear(received="an end of a range that is no number")
    return found


def _value(value: Expression) -> Any:
    from sqlglot import exp

    match value:
        case exp.Boolean():
            return bool(value.this)
        case exp.Null():
            return None
        case exp.Neg(this=exp.Literal()):
            return -_number(value.this)
        case exp.Literal() if value.is_string:
            return value.name
        case exp.Literal():
            return int(value.name) if value.name.isdigit() else float(value.name)
        case exp.Cast(this=exp.Literal()) if value.to.this in (
            exp.DataType.Type.DATE,
            exp.DataType.Type.TIMESTAMP,
            exp.DataType.Type.TIMESTAMPNTZ,
        ):
            return _moment(value.this.name)
    raise _unclear(received=type(value).__name__)


def _unclear(*, received: str) -> InvalidParameter:
    return InvalidParameter(
        code="condition_unclear",
        expectation="comparisons of a column with values, joined by AND: =, <>, IN, <, <=, >, "
        ">=, BETWEEN, IS NULL",
        received=received,
        remedy="Write estimate(\"sex = 'f' AND age BETWEEN 18 AND 65\"), or sample rows and ask "
        "those.",
    )
