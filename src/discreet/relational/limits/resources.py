"""What a question may use of the engine and of memory: public limits, checked before it is paid.

An optimiser may write the expression of an inner column out wherever the column is named. A short
text can so become a tree that grows by a factor with each level, before any row is read. And a
question with many groups holds one number for each of them and for each candidate of a quantile.
Both follow from the question alone.

Source: contract, "What may be seen" (resources).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discreet.core.errors import InvalidParameter
from discreet.core.parts import field_names
from discreet.relational.aggregates.measures import Measure, Ranks
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.nodes import PlanNode, Scan, UnionAll
from discreet.relational.plan.query import Query
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

MAX_NUMBERS = 50_000_000
"""Groups, times measures and candidates of quantiles in each."""

MAX_PARTS = 200_000
"""Nodes of all expressions of a question, with those of inner columns written out."""

_REPEATED = 4
"""How often the text of a computed column may stand where it is clamped or compared."""

MAX_AGGREGATES = 1_000
"""Different aggregates, windows or features of one query, each computed by itself."""

MAX_STATEMENT = 4_000_000
"""Characters of one compiled statement."""

MAX_HANDED_ROWS, MAX_HANDED = 1 << 28, 1 << 32
"""Bounded rows in memory, and their numbers of 8 bytes: declared rows of a table times columns."""

Sizes = Mapping[str, int]


def require_numbers(keys: KeySet, measures: Iterable[Measure]) -> None:
    """Refuse more numbers than a question may hold in memory."""
    each = sum(m.size if isinstance(m, Ranks) else 1 for m in measures)
    if keys.cells * each > MAX_NUMBERS:
        raise InvalidParameter(
            code="too_many_numbers",
            expectation=f"at most {MAX_NUMBERS} groups times aggregates, where a quantile counts "
            "as many as it has candidates",
            received=f"{keys.cells} groups of {each}",
            remedy="Group by fewer columns or coarser bins, or declare a step: dp.Number(0, 100, "
            "step=1).",
        )


def require_aggregates(number: int) -> None:
    """Refuse more aggregates than one query may have, as soon as they are counted."""
    if number > MAX_AGGREGATES:
        raise InvalidParameter(
            code="too_many_numbers",
            expectation=f"at most {MAX_AGGREGATES} different aggregates or windows in one query",
            remedy="Ask for fewer at once.",
        )


def require_handed(rows: Iterable[int], columns: int) -> None:
    """Refuse a model to be handed more numbers than memory holds, by what owners declared.

    A table whose owner declared no ``rows_at_most`` is not refused: its size is private.
    """
    declared = max((each for each in rows if each < MOST_ROWS), default=0)
    if declared > MAX_HANDED_ROWS or declared * columns > MAX_HANDED:
        raise InvalidParameter(
            code="too_many_numbers",
            expectation=f"at most {MAX_HANDED_ROWS} declared rows, and {MAX_HANDED} numbers",
            received=f"{declared} rows of {columns}",
            remedy="Fit a model from sums, such as GaussianNB or LinearRegression, or a sample "
            "that the owner keeps as a table.",
        )


def require_size(query: Query, measures: Sequence[Measure]) -> None:
    """Refuse expressions that are too large when inner columns are written out in them."""
    sizes: dict[str, int] = {}
    total = _rows_size(query.rows, sizes)
    total += _parts_size(query.keys, sizes) + _parts_size(tuple(measures), sizes)
    if total > MAX_PARTS:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"at most {MAX_PARTS} parts with the columns of inner queries written out",
            received=total,
            remedy="Name a computed column of an inner query fewer times in the query around it.",
        )


def require_statement(text: str) -> str:
    """The text of a statement, or a refusal if it is too long."""
    if len(text) > MAX_STATEMENT:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"a question of at most {MAX_STATEMENT} characters when written out",
            received=len(text),
            remedy="Ask for less at once, or use IN (...) and BETWEEN instead of long chains.",
        )
    return text


def _rows_size(rows: PlanNode, sizes: dict[str, int]) -> int:
    """The size of all expressions of a plan; ``sizes`` learns that of every computed column."""
    if isinstance(rows, Scan):
        return 0
    total = sum(_rows_size(below, sizes) for below in rows.inputs)
    for names, expressions in _columns(rows):
        for name, expression in zip(names, expressions, strict=True):
            size = _size(expression, sizes)
            size *= _REPEATED if isinstance(expression, Call | Case) else 1
            total += size
            sizes[name] = max(sizes.get(name, 1), size)
    computed = ("expressions", "branches", "outputs")
    others = [getattr(rows, name) for name in field_names(rows) if name not in computed]
    return total + sum(_parts_size(part, sizes) for part in others)


def _columns(rows: PlanNode) -> Iterable[tuple[list[str], tuple[Expression, ...]]]:
    """Names and expressions of the columns that a step computes."""
    names = [output.name for output in getattr(rows, "outputs", ())]
    if isinstance(rows, UnionAll):
        return [(names, expressions) for _, expressions in rows.branches]
    expressions = getattr(rows, "expressions", None)
    return [] if expressions is None else [(names, expressions)]


def _parts_size(part: object, sizes: Sizes) -> int:
    """The size of the expressions within keys, measures and conditions."""
    if isinstance(part, Column | Literal | Call | Case):
        return _size(part, sizes)
    if isinstance(part, KeySet):
        return sum(_parts_size(block.expressions, sizes) for block in part.blocks)
    if isinstance(part, tuple):
        return sum(_parts_size(item, sizes) for item in part)
    argument = getattr(part, "argument", None)
    if argument is not None:
        return _size(argument, sizes)
    return _parts_size(getattr(part, "expressions", ()), sizes) if part is not None else 0


def _size(expression: Expression, sizes: Sizes) -> int:
    if isinstance(expression, Column):
        return sizes.get(expression.name, 1)
    return 1 + sum(_size(arg, sizes) for arg in expression.args)
