"""Inner queries grouped by the person: features of each person's rows, one row per person.

Every other GROUP BY inside FROM (...) is refused: its groups would mix people's rows before noise.

Source: contract, "Units and neighbours", "Columns", "Numbers". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.core.unit import Person, add_remove
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.functions.logic import NOT
from discreet.relational.plan.features import (
    Added,
    Averaged,
    CountedRows,
    CountedValues,
    Earliest,
    Feature,
    Greatest,
    Latest,
    Least,
    PerPerson,
)
from discreet.relational.plan.nodes import Filtered, Output, PlanNode, identifies
from discreet.relational.sql.aggregate_calls import title
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.relation import SQLRelation, Visible, unsupported
from discreet.relational.types.column_domain import require_bounds
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

_FEATURES = "Use COUNT, SUM, AVG, MIN, MAX, FIRST(x ORDER BY day) or LAST(x ORDER BY day)."


def features_from(
    select: exp.Select, below: SQLRelation, catalog: Catalog, prefix: Callable[[str], str]
) -> SQLRelation:
    """The rows of an inner query with aggregates: one for each person."""
    person = _person(catalog)
    aliases = {
        item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)
    }
    named = _identifier(select, below, aliases)
    limit = person.rows()
    if below.rows.stability is not None:
        limit = min(limit, below.rows.stability)
    made = _Features(below, named, aliases, limit, prefix("bounded"), prefix("person"))
    made.read(named)
    columns = tuple(made.visible(item) for item in select.expressions)
    having = select.args.get("having")
    condition = None if having is None else made.released(having.this)
    rows = made.rows()
    return SQLRelation(rows if condition is None else _having(rows, condition), columns)


@dataclass
class _Features:
    """Collects the features of one inner query, and the columns they read."""

    below: SQLRelation
    named: Column
    aliases: Mapping[str, exp.Expression]
    limit: int
    bounded: str
    prefix: str
    content: list[Expression] = field(default_factory=list)
    found: list[Feature] = field(default_factory=list)

    def rows(self) -> PerPerson:
        """A person's rows bounded by what the features read, then the features."""
        outputs = tuple(Output(self._column(i).name, e.domain) for i, e in enumerate(self.content))
        return PerPerson(
            self.prefix,
            Bounded(self.bounded, self.below.rows, self.limit, tuple(self.content), outputs),
            self.limit,
            self.read(self.named),
            tuple(self.found),
            tuple(
                Output(f"{self.prefix}.{place}", feature.domain(self.limit))
                for place, feature in enumerate(self.found)
            ),
        )

    def visible(self, item: exp.Expression) -> Visible:
        """A column of the inner query, by its name."""
        named = isinstance(item, exp.Alias | exp.Column) and not isinstance(item.this, exp.Star)
        if not named:
            raise InvalidParameter(
                code="column_without_name",
                expectation="a name for every feature, and the person's column by its own",
                received=item.sql(),
                remedy="Add AS name; list the columns.",
            )
        node = item.this if isinstance(item, exp.Alias) else item
        return Visible("", item.alias_or_name, self.released(node))

    def released(self, node: exp.Expression) -> Expression:
        """An expression over features and the identifier."""
        return expression_from(node, self._resolve, self._feature)

    def read(self, value: Expression) -> Column:
        """The column of the bounded rows that holds a value."""
        if value not in self.content:
            self.content.append(value)
        return self._column(self.content.index(value))

    def _column(self, place: int) -> Column:
        return Column(f"{self.bounded}.{place}", self.content[place].domain)

    def _resolve(self, column: exp.Column) -> Expression:
        target = None if column.table else self.aliases.get(column.name.lower())
        if target is not None and target.find(exp.AggFunc) is not None:
            return self.released(target)
        if self.below.resolve(column) == self.named:
            return Column(f"{self.prefix}.person", self.named.domain)
        raise InvalidParameter(
            code="not_grouped",
            expectation="only the person and aggregates of the person's rows",
            received=column.sql(),
            remedy="Take FIRST(x ORDER BY day), MIN(x) or MAX(x) of it.",
        )

    def _feature(self, node: exp.Expression) -> Expression:
        made = self._made(node, None)
        if made not in self.found:
            self.found.append(made)
        return Column(f"{self.prefix}.{self.found.index(made)}", made.domain(self.limit))

    def _made(  # noqa: PLR0911 -- one line for each function
        self, node: exp.Expression, condition: Expression | None
    ) -> Feature:
        match node:
            case exp.Filter():
                where = expression_from(node.expression.this, self.below.resolve)
                return self._made(node.this, where)
            case exp.Count():
                return self._count(node, condition)
            case exp.CountIf():
                chosen = expression_from(node.this, self.below.resolve)
                return CountedRows(self.read(_where(_where(Literal(1), chosen), condition)))
            case exp.Sum() if not isinstance(node.this, exp.Distinct):
                return Added(self._number(node, condition))
            case exp.Avg() if not isinstance(node.this, exp.Distinct):
                return Averaged(self._number(node, condition))
            case exp.Min() | exp.Max() if not node.expressions:
                value = self._value(node.this, condition)
                if not value.domain.kind.has_bounds:
                    raise _clash(node, "numbers, days or moments")
                return Least(value) if isinstance(node, exp.Min) else Greatest(value)
            case exp.First(this=exp.Order() as ordered) | exp.Last(this=exp.Order() as ordered):
                return self._ordered(node, ordered, condition)
            case exp.First() | exp.Last() | exp.AnyValue():
                raise unsupported(
                    construct=f"{node.key.upper()} without an order",
                    remedy="Say by which declared column: FIRST(x ORDER BY day).",
                )
        raise unsupported(construct=f"{title(node)} of a person's rows", remedy=_FEATURES)

    def _count(self, node: exp.Count, condition: Expression | None) -> Feature:
        if node.expressions:
            raise unsupported(construct="COUNT(a, b)", remedy="Count one column.")
        if isinstance(node.this, exp.Star) or node.this is None:
            argument = None if condition is None else self.read(_where(Literal(1), condition))
            return CountedRows(argument)
        if not isinstance(node.this, exp.Distinct):
            return CountedRows(self._value(node.this, condition))
        if len(node.this.expressions) != 1:
            raise unsupported(construct="COUNT(DISTINCT a, b)", remedy="Count one column.")
        return CountedValues(self._value(node.this.expressions[0], condition))

    def _ordered(
        self, node: exp.Expression, ordered: exp.Order, condition: Expression | None
    ) -> Feature:
        if len(ordered.expressions) != 1 or ordered.expressions[0].args.get("nulls_first"):
            raise unsupported(
                construct=f"{node.key.upper()} by several columns or NULLS FIRST",
                remedy="Order by one declared column; rows in which it is NULL are left out.",
            )
        (term,) = ordered.expressions
        value, order = self._value(ordered.this, None), self._value(term.this, condition)
        if not order.domain.kind.has_bounds:
            raise _clash(node, "an order of numbers, days or moments")
        last = isinstance(node, exp.Last) != bool(term.args.get("desc"))
        return Latest(value, order) if last else Earliest(value, order)

    def _value(self, node: exp.Expression, condition: Expression | None) -> Column:
        value = expression_from(node, self.below.resolve)
        if not value.domain.declared:
            raise InvalidParameter(
                code="column_not_declared",
                expectation=f"declared columns inside a feature, here {node.sql()}",
                received=node.sql(),
                remedy="Ask the owner to declare it with dp.Number, dp.Dates or dp.Category.",
            )
        return self.read(_where(value, condition))

    def _number(self, node: exp.Expression, condition: Expression | None) -> Column:
        value = expression_from(node.this, self.below.resolve)
        if value.domain.kind is DataType.BOOLEAN:
            value = Case(((value, Literal(1)), (Call(NOT, (value,)), Literal(0))), Literal(None))
        if not value.domain.kind.is_number:
            raise _clash(node, "numbers")
        require_bounds(value.domain, node.this.sql())
        return self.read(_where(value, condition))


def _where(value: Expression, condition: Expression | None) -> Expression:
    return value if condition is None else Case(((condition, value),), Literal(None))


def _having(rows: PlanNode, condition: Expression) -> PlanNode:
    if condition.domain.kind is not DataType.BOOLEAN:
        raise InvalidParameter(
            code="type_clash",
            expectation="a condition in HAVING",
            received=condition.domain.kind.name,
            remedy="Compare something: HAVING COUNT(*) > 1.",
        )
    return Filtered(rows, condition)


def _person(catalog: Catalog) -> Person:
    person = add_remove(catalog.unit)
    if isinstance(person, Person):
        return person
    raise unsupported(
        construct="aggregates inside FROM (...) where each row is a unit",
        remedy="Under Row() no column says whose rows belong together; features need "
        "dp.Person(...) as the unit. Otherwise aggregate once, at the top.",
    )


def _identifier(
    select: exp.Select, below: SQLRelation, aliases: Mapping[str, exp.Expression]
) -> Column:
    """The one key of GROUP BY, which must be the person's identifier."""
    group = select.args.get("group")
    keys = [] if group is None else list(group.expressions)
    more = group is not None and any(v for k, v in group.args.items() if k != "expressions" and v)
    if len(keys) == 1 and not more and below.rows.privacy_id is not None:
        node = keys[0]
        if isinstance(node, exp.Literal) and node.is_int:
            listed = select.expressions[int(node.name) - 1 : int(node.name)]
            node = next((item.unalias() for item in listed), node)
        elif isinstance(node, exp.Column) and not node.table:
            target = aliases.get(node.name.lower())
            node = target if isinstance(target, exp.Column) else node
        if isinstance(node, exp.Column):
            found = below.resolve(node)
            if isinstance(found, Column) and identifies(found.name, below.rows):
                return found
    raise unsupported(
        construct="aggregates inside FROM (...) that are not grouped by the person alone",
        remedy="GROUP BY the person's identifier for features of each person; everything else is "
        "aggregated once, at the top. Rows after DISTINCT or a join on another key have no person.",
    )


def _clash(node: exp.Expression, expected: str) -> InvalidParameter:
    return InvalidParameter(
        code="type_clash",
        expectation=f"{expected} in {node.key.upper()} of a person's rows",
        received=node.sql(),
        remedy=_FEATURES,
    )
