"""UNNEST of a text in FROM: what it splits, and the public number of elements that bounds it.

A text is private, and so is how many elements it has. A public number comes from one of four
places, and the least of them holds:

- a slice in the question, ``UNNEST(string_split(tags, ';')[1:5])``;
- a condition on the number of the element, ``WITH OFFSET AS o ... WHERE o < 5``;
- the owner's declaration, ``dp.Text(max_elements=5)``;
- a public list of all texts, of a declared category or of a public table.

Without any the question is refused, free. Elements are what the owner declared them to be
(``dp.Text(elements=...)``), those of a public list, or text that nobody declared.

Source: contract, "Columns", "Bounding inside the engine". Proof: ``proofs/elements.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.before_joins import before_public
from discreet.relational.bounding.elements import Unnested
from discreet.relational.plan.nodes import Field, Filtered, JoinKind, Output, PlanNode, field_of
from discreet.relational.schema.agreement import declared_domain
from discreet.relational.schema.declarations import Text, elements_at_most
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.conditions import condition_of
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.joins import Kept, conjuncts, kept_by
from discreet.relational.sql.limits import declared_rows, table_rows
from discreet.relational.sql.parsed import bare
from discreet.relational.sql.relation import SQLRelation, Steps, Visible, unsupported
from discreet.relational.sql.unnest_forms import ORDINALITY
from discreet.relational.sql.wording import shortened
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType
from discreet.relational.types.expression import Column, Expression, Literal, leaves


def is_elements(node: exp.Expression) -> bool:
    """Whether an item of FROM is about the rows before it: UNNEST of something with a column."""
    return isinstance(node, exp.Unnest) and node.find(exp.Column) is not None


@dataclass(frozen=True)
class _Asked:
    """What is split by what, and how many of the parts a slice asks for."""

    text: exp.Expression
    separator: exp.Expression
    most: int | None


@dataclass(frozen=True)
class Elements:
    """Translates UNNEST of texts in one question."""

    catalog: Catalog
    steps: Steps

    def beside(
        self, made: SQLRelation, join: exp.Join, conditions: Sequence[exp.Expression]
    ) -> SQLRelation:
        """Rows beside the elements of one of their texts; ``conditions`` are those of WHERE."""
        kind, on = _joining(join)
        node = join.this
        asked = _read_unnest_call(node)
        text = expression_from(asked.text, made.resolve)
        if text.domain.kind is not DataType.TEXT:
            raise InvalidParameter(
                code="type_clash",
                expectation="a text to be split into elements",
                received=text.domain.kind.value,
                remedy="Write UNNEST(string_split(tags, ';')).",
            )
        separator = _separator(asked.separator)
        alias, column, number = _names(node)
        first = 1 if node.args.get(ORDINALITY) else 0
        wanted = _least(
            asked.most,
            _least(*(_bound(each, (alias, number), first) for each in (*conditions, *on))),
        )
        field, limit = self._declared(text, separator, made.rows)
        if _least(wanted, limit) is None:
            raise _unbounded(field.name)
        most = _least(wanted, limit) or 1
        prefix = self.steps.prefix("unnest")
        element = Output(f"{prefix}.element", field.domain)
        numbers = ColumnDomain(DataType.INTEGER, first, first + most - 1, declared=True)
        place = Output(f"{prefix}.place", numbers)
        declared = declared_rows(made.rows, self.steps.declared) if made.rows.privacy_id else None
        least = table_rows(made.rows, self.steps.declared) or 1
        below = before_public(made.rows, most, declared or 1, least)
        rows: PlanNode = Unnested(
            below, text, separator, most, wanted, first, kind, element, place, field
        )
        columns = [*made.columns, Visible(alias, column, Column(element.name, element.domain))]
        if number:
            columns.append(Visible(alias, number, Column(place.name, place.domain)))
        found = replace(made, rows=rows, columns=tuple(columns))
        for condition in on:
            asked_for = expression_from(condition, found.resolve)
            rows = Filtered(rows, condition_of(asked_for, "ON"))
        return replace(found, rows=rows)

    def _declared(
        self, text: Expression, separator: str, rows: PlanNode
    ) -> tuple[Field, int | None]:
        """What is known of the elements of a text, and how many there are at most."""
        listed = text.domain.values
        name = _name_split_column(text, rows)
        if listed is not None:
            parts = [str(value).split(separator) for value in listed]
            found = dict.fromkeys(part for each in parts for part in each)
            domain = ColumnDomain(DataType.TEXT, values=tuple(found), declared=text.domain.declared)
            return Field(name, "", domain, None), max(map(len, parts), default=1)
        declared = [
            field.declaration
            for column in leaves(text)
            if (field := _field(column, rows)) is not None and column.domain.kind is DataType.TEXT
        ]
        only = declared[0] if len(declared) == 1 else None
        limit = only.max_elements if isinstance(only, Text) else None
        plain = ColumnDomain(DataType.TEXT, length=text.domain.length)
        if isinstance(only, Text) and only.elements is not None and isinstance(text, Column):
            domain = declared_domain(name, "elements", DataType.TEXT, only.elements)
            return Field(name, "", domain, only.elements), limit
        return Field(name, "", plain, None), limit


def _field(column: Column, rows: PlanNode) -> Field | None:
    found = field_of(column.name, rows)
    return None if found is None else found[1]


def _name_split_column(text: Expression, rows: PlanNode) -> str:
    """The column of a table that is split, for a reader."""
    found = [field.name for column in leaves(text) if (field := _field(column, rows)) is not None]
    return found[0] if found else "the text"


def _joining(join: exp.Join) -> tuple[JoinKind, list[exp.Expression]]:
    """Whether rows without elements stay, and conditions on those with some."""
    kept = kept_by(join)
    if join.args.get("using") or str(join.args.get("method") or "") or kept in _OTHER_SIDE:
        raise unsupported(
            construct="UNNEST that keeps elements without a row, or is joined on names",
            remedy="Write CROSS JOIN UNNEST(string_split(tags, ';')) AS t(tag).",
        )
    on = join.args.get("on")
    conditions = [] if on is None else conjuncts(on)
    asked = [each for each in conditions if not (isinstance(each, exp.Boolean) and each.this)]
    if kept is Kept.LEFT and asked:
        raise unsupported(
            construct="LEFT JOIN UNNEST on a condition",
            remedy="Write LEFT JOIN UNNEST(...) AS t(tag) ON TRUE, and the condition in WHERE.",
        )
    return (JoinKind.LEFT if kept is Kept.LEFT else JoinKind.INNER), asked


_OTHER_SIDE = (Kept.RIGHT, Kept.BOTH)


def _read_unnest_call(node: exp.Unnest) -> _Asked:
    """The text and separator of ``UNNEST(string_split(x, ';')[1:5])``."""
    for part, value in node.args.items():
        if value and part not in ("expressions", "alias", "offset", ORDINALITY):
            raise unsupported(construct=f"UNNEST with {part}", remedy="Leave it out.")
    inside = bare(node.expressions[0]) if len(node.expressions) == 1 else None
    most: int | None = None
    while isinstance(inside, exp.Bracket) or _is_slice(inside):
        assert inside is not None
        end = _slice_end(inside)
        most = end if most is None else min(most, end)
        inside = bare(inside.this if isinstance(inside, exp.Bracket) else inside.expressions[0])
    if isinstance(inside, exp.Split):
        extra = [key for key, value in inside.args.items() if value and key not in _SPLIT]
        if not extra:
            return _Asked(inside.this, inside.expression, most)
    raise unsupported(
        construct="UNNEST of something else than a list of constants or the parts of a text"
        if inside is None
        else f"UNNEST of {shortened(inside)}",
        remedy="Write UNNEST(string_split(tags, ';')), or UNNEST(['A', 'B']).",
    )


_SPLIT = ("this", "expression")


def _is_slice(node: exp.Expression | None) -> bool:
    named = isinstance(node, exp.Anonymous) and node.name.lower() in ("list_slice", "array_slice")
    return bool(named)


def _slice_end(node: exp.Expression) -> int:
    """The last place of a slice that begins at the first."""
    if isinstance(node, exp.Bracket):
        parts = node.expressions
        piece = parts[0] if len(parts) == 1 and isinstance(parts[0], exp.Slice) else None
        first, last = (None, None) if piece is None else (piece.this, piece.expression)
        step = None if piece is None else piece.args.get("step")
    else:
        _, first, last, *more = [*node.expressions, None, None]
        step = more[0] if len(node.expressions) > 3 else None
    begin = 1 if first is None else _constant(first)
    end = None if last is None else _constant(last)
    if step is not None or begin not in (0, 1) or end is None or end < 1:
        raise unsupported(
            construct="a slice that is not of the first elements",
            remedy="Write string_split(tags, ';')[1:5] for the first five.",
        )
    return elements_at_most(min(end, TEXT_LIMIT))


def _constant(node: exp.Expression) -> int | None:
    inside = bare(node)
    whole = isinstance(inside, exp.Literal) and inside.is_int
    return int(inside.name) if whole else None


def _separator(node: exp.Expression) -> str:
    value = expression_from(node, _no_column) if isinstance(bare(node), exp.Literal) else None
    if not isinstance(value, Literal) or not isinstance(value.value, str) or not value.value:
        raise unsupported(
            construct="a text split by something else than a constant of some letters",
            remedy="Write string_split(tags, ';').",
        )
    return value.value


def _no_column(column: exp.Column) -> Expression:
    raise unsupported(construct=column.sql(), remedy="A separator is a constant.")


def _names(node: exp.Unnest) -> tuple[str, str, str]:
    """What the elements are called: their table, their column, and their numbers, if named."""
    alias = node.args.get("alias")
    table = "" if alias is None or alias.this is None else alias.this.name
    columns = [] if alias is None else [each.name for each in alias.columns]
    if len(columns) > 1:
        raise InvalidParameter(
            code="values_columns",
            expectation="one name for the elements of a text",
            received=len(columns),
            remedy="Write UNNEST(string_split(tags, ';')) AS t(tag).",
        )
    number = node.args.get("offset")
    column = columns[0] if columns else table or "unnest"
    named = number.name if isinstance(number, exp.Identifier) else "ordinality" if number else ""
    return table, column, named


def _bound(condition: exp.Expression, names: tuple[str, str], first: int) -> int | None:
    """How many elements a condition on their number lets through: ``o < 5``, ``5 >= o``."""
    node = bare(condition)
    if isinstance(node, exp.Between):
        column, end, inclusive = node.this, node.args["high"], True
    elif isinstance(node, exp.EQ):
        column, end, inclusive = node.this, node.expression, True
    elif isinstance(node, exp.LT | exp.LTE):
        column, end, inclusive = node.this, node.expression, isinstance(node, exp.LTE)
    elif isinstance(node, exp.GT | exp.GTE):
        column, end, inclusive = node.expression, node.this, isinstance(node, exp.GTE)
    else:
        return None
    table, number = (name.lower() for name in names)
    named = isinstance(column, exp.Column) and column.table.lower() in ("", table)
    most = _constant(end) if named and number and column.name.lower() == number else None
    if most is None:
        return None
    return elements_at_most(min(max(most - first + inclusive, 1), TEXT_LIMIT))


def _least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _unbounded(name: str) -> InvalidParameter:
    return InvalidParameter(
        code="elements_not_bounded",
        expectation=f"a public number of elements that one row of {name} may have",
        received="a text that may have any number",
        remedy="Ask for the first ones, UNNEST(string_split(x, ';')[1:5]); or the owner declares "
        f'columns={{"{name}": dp.Text(max_elements=5)}}.',
    )
