"""Inner queries grouped by the person: features of each person's rows, one row per person.

With further keys beside the person there is one row for each combination that the person has.
Every other GROUP BY inside FROM (...) is refused: its groups would mix people's rows before noise.

Source: contract, "Units and neighbours", "Columns", "Numbers". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.unit import Person, add_remove
from discreet.relational.aggregates.arguments import both
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.functions.logic import IS_NOT_NULL, NOT
from discreet.relational.limits.resources import require_aggregates
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
    PerPersonAndKey,
)
from discreet.relational.plan.nodes import Filtered, Output, PlanNode, identifies
from discreet.relational.plan.person_statistics import (
    AllTrue,
    AnyTrue,
    DeviationOf,
    MiddleOf,
    MostFrequent,
    SpreadOf,
)
from discreet.relational.sql.aggregate_calls import title
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.limits import person_rows
from discreet.relational.sql.relation import SQLRelation, Visible, unsupported
from discreet.relational.types.column_domain import require_bounds
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

_FEATURES = (
    "Use COUNT, SUM, AVG, MIN, MAX, STDDEV, MEDIAN, MODE, ARG_MAX(x, day), BOOL_OR, "
    "FIRST(x ORDER BY day) or LAST(x ORDER BY day)."
)
_SPREADS: Mapping[type[exp.Expression], tuple[type[SpreadOf], int]] = {
    exp.Variance: (SpreadOf, 1),
    exp.VariancePop: (SpreadOf, 0),
    exp.Stddev: (DeviationOf, 1),
    exp.StddevSamp: (DeviationOf, 1),
    exp.StddevPop: (DeviationOf, 0),
}


def features_from(
    select: exp.Select, below: SQLRelation, catalog: Catalog, prefix: Callable[[str], str]
) -> SQLRelation:
    """The rows of an inner query with aggregates: one for each person."""
    aliases = {
        item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)
    }
    limit = row_limit(catalog, below)
    named, keys = _grouped(select, below, aliases)
    made = Features(below, named, keys, aliases, limit, prefix("bounded"), prefix("person"))
    columns = tuple(made.visible(item) for item in select.expressions)
    having = select.args.get("having")
    condition = None if having is None else made.released(having.this)
    rows = made.rows()
    return SQLRelation(rows if condition is None else _having(rows, condition), columns)


def row_limit(catalog: Catalog, below: SQLRelation) -> int:
    """How many rows of a person are looked at."""
    _require_person(catalog)
    return person_rows(below.rows, catalog)


@dataclass
class Features:
    """Collects the features of one inner query, and the columns they read.

    ``named`` is the column of the person, where it is to be seen, ``keys`` what else there is one
    row for.
    """

    below: SQLRelation
    named: Column | None
    keys: tuple[Expression, ...]
    aliases: Mapping[str, exp.Expression]
    limit: int
    bounded: str
    prefix: str
    content: list[Expression] = field(default_factory=list)
    found: list[Feature] = field(default_factory=list)

    def __post_init__(self) -> None:
        """The person and the keys are read whatever else is."""
        for value in (self.named, *self.keys):
            if value is not None:
                self.ensure_value_column(value)

    def rows(self) -> PerPerson:
        """A person's rows bounded by what the features read, then the features."""
        outputs = tuple(Output(self._column(i).name, e.domain) for i, e in enumerate(self.content))
        bounded = Bounded(self.bounded, self.below.rows, self.limit, tuple(self.content), outputs)
        features = tuple(self.found)
        named = None if self.named is None else self.ensure_value_column(self.named)
        own = tuple(
            Output(f"{self.prefix}.{place}", feature.domain(self.limit))
            for place, feature in enumerate(features)
        )
        if not self.keys:
            return PerPerson(self.prefix, bounded, self.limit, named, features, own)
        keyed = tuple(Output(self.key(i).name, key.domain) for i, key in enumerate(self.keys))
        keys = tuple(self.ensure_value_column(key) for key in self.keys)
        return PerPersonAndKey(
            self.prefix, bounded, self.limit, named, features, (*own, *keyed), keys
        )

    def person(self) -> Column | None:
        """The column of the person's identifier, if it is to be seen."""
        return None if self.named is None else Column(f"{self.prefix}.person", self.named.domain)

    def key(self, place: int) -> Column:
        """The column of one of the keys."""
        return Column(f"{self.prefix}.key{place}", self.keys[place].domain)

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
        """An expression over features, keys and the identifier."""
        key = self._key(node)
        return expression_from(node, self._resolve, self.feature) if key is None else key

    def _key(self, node: exp.Expression) -> Expression | None:
        """The key that a node without aggregates means, if it is one."""
        if not self.keys or node.find(exp.AggFunc) is not None:
            return None
        try:
            meant = expression_from(node, self.below.resolve)
        except DiscreetError:
            return None
        return self.key(self.keys.index(meant)) if meant in self.keys else None

    def ensure_value_column(self, value: Expression) -> Column:
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
        if target is not None and not isinstance(target, exp.Column):
            key = self._key(target)
            if key is not None:
                return key
        found = self.below.resolve(column)
        person = self.person()
        if found == self.named and person is not None:
            return person
        if found in self.keys:
            return self.key(self.keys.index(found))
        raise InvalidParameter(
            code="not_grouped",
            expectation="only the person, keys beside it, and aggregates of the person's rows",
            received=column.sql(),
            remedy="Take FIRST(x ORDER BY day), MIN(x) or MAX(x) of it, or group by it as well.",
        )

    def feature(self, node: exp.Expression) -> Expression:
        """The column that stands for an aggregate of a person's rows."""
        made = self._translate_feature(node, None)
        if made not in self.found:
            self.found.append(made)
            require_aggregates(len(self.found))
        return Column(f"{self.prefix}.{self.found.index(made)}", made.domain(self.limit))

    def _translate_feature(  # noqa: PLR0911, PLR0912 -- one line for each function
        self, node: exp.Expression, condition: Expression | None
    ) -> Feature:
        match node:
            case exp.Filter():
                where = expression_from(node.expression.this, self.below.resolve)
                return self._translate_feature(node.this, where)
            case exp.Count():
                return self._count(node, condition)
            case exp.CountIf():
                chosen = expression_from(node.this, self.below.resolve)
                return CountedRows(
                    self.ensure_value_column(_where(_where(Literal(1), chosen), condition))
                )
            case exp.Sum() if not isinstance(node.this, exp.Distinct):
                return Added(self._number(node, condition))
            case exp.Avg() if not isinstance(node.this, exp.Distinct):
                return Averaged(self._number(node, condition))
            case exp.Min() | exp.Max() if not node.expressions:
                value = self._value(node.this, condition)
                if not value.domain.kind.has_bounds:
                    raise _clash(node, "numbers, days or moments")
                return Least(value) if isinstance(node, exp.Min) else Greatest(value)
            case exp.Median() | exp.Mode() | exp.WithinGroup(this=exp.Mode()):
                return self._typical(node, condition)
            case exp.ArgMax() | exp.ArgMin() if not node.args.get("count"):
                present = Call(IS_NOT_NULL, (expression_from(node.this, self.below.resolve),))
                value = self._value(node.this, None)
                order = self._order(node.expression, node, both(condition, present))
                made = Latest if isinstance(node, exp.ArgMax) else Earliest
                return made(value, order)
            case exp.LogicalOr() | exp.LogicalAnd():
                value = self._value(node.this, condition)
                if value.domain.kind is not DataType.BOOLEAN:
                    raise _clash(node, "a condition")
                return AnyTrue(value) if isinstance(node, exp.LogicalOr) else AllTrue(value)
            case _ if type(node) in _SPREADS and not isinstance(node.this, exp.Distinct):
                spread, ddof = _SPREADS[type(node)]
                return spread(self._number(node, condition), ddof)
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
            argument = (
                None
                if condition is None
                else self.ensure_value_column(_where(Literal(1), condition))
            )
            return CountedRows(argument)
        if not isinstance(node.this, exp.Distinct):
            inside = expression_from(node.this, self.below.resolve)
            if isinstance(inside, Column) and _is_person(inside, self.below):
                return self._count(exp.Count(this=exp.Star()), condition)  # never NULL
            return CountedRows(self._value(node.this, condition))
        if len(node.this.expressions) != 1:
            raise unsupported(construct="COUNT(DISTINCT a, b)", remedy="Count one column.")
        return CountedValues(self._value(node.this.expressions[0], condition))

    def _typical(self, node: exp.Expression, condition: Expression | None) -> Feature:
        """MEDIAN of numbers, MODE of anything declared."""
        if isinstance(node, exp.Median) and not isinstance(node.this, exp.Distinct):
            return MiddleOf(self._number(node, condition))
        inside = node.this
        if isinstance(node, exp.WithinGroup):
            order = node.expression.expressions if isinstance(node.expression, exp.Order) else []
            inside = order[0].this if len(order) == 1 and not node.this.args.get("this") else None
        if inside is None or isinstance(inside, exp.Distinct):
            raise unsupported(construct=f"{title(node)} of this form", remedy="Write MODE(x).")
        return MostFrequent(self._value(inside, condition))

    def _ordered(
        self, node: exp.Expression, ordered: exp.Order, condition: Expression | None
    ) -> Feature:
        if len(ordered.expressions) != 1 or ordered.expressions[0].args.get("nulls_first"):
            raise unsupported(
                construct=f"{node.key.upper()} by several columns or NULLS FIRST",
                remedy="Order by one declared column; rows in which it is NULL are left out.",
            )
        (term,) = ordered.expressions
        value, order = self._value(ordered.this, None), self._order(term.this, node, condition)
        last = isinstance(node, exp.Last) != bool(term.args.get("desc"))
        return Latest(value, order) if last else Earliest(value, order)

    def _order(
        self, node: exp.Expression, outer: exp.Expression, condition: Expression | None
    ) -> Column:
        """What rows are ordered by, declared or not, where a condition holds."""
        order = expression_from(node, self.below.resolve)
        if not order.domain.kind.has_bounds:
            raise _clash(outer, "an order of numbers, days or moments")
        return self.ensure_value_column(_where(order, condition))

    def _value(self, node: exp.Expression, condition: Expression | None) -> Column:
        value = expression_from(node, self.below.resolve)
        if not value.domain.declared:
            raise InvalidParameter(
                code="column_not_declared",
                expectation=f"declared columns inside a feature, here {node.sql()}",
                received=node.sql(),
                remedy="Ask the owner to declare it with dp.Number, dp.Dates or dp.Category.",
            )
        return self.ensure_value_column(_where(value, condition))

    def _number(self, node: exp.Expression, condition: Expression | None) -> Column:
        value = expression_from(node.this, self.below.resolve)
        if value.domain.kind is DataType.BOOLEAN:
            value = Case(((value, Literal(1)), (Call(NOT, (value,)), Literal(0))), Literal(None))
        if not value.domain.kind.is_number:
            raise _clash(node, "numbers")
        require_bounds(value.domain, node.this.sql())
        return self.ensure_value_column(_where(value, condition))


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


def _require_person(catalog: Catalog) -> None:
    if isinstance(add_remove(catalog.unit), Person):
        return
    raise unsupported(
        construct="aggregates inside FROM (...) where each row is a unit",
        remedy="Under Row() no column says whose rows belong together; features need "
        "dp.Person(...) as the unit. Otherwise aggregate once, at the top.",
    )


def _grouped(
    select: exp.Select, below: SQLRelation, aliases: Mapping[str, exp.Expression]
) -> tuple[Column, tuple[Expression, ...]]:
    """The keys of GROUP BY: the person's identifier, which must be one of them, and the others."""
    group = select.args.get("group")
    nodes = [] if group is None else list(group.expressions)
    more = group is not None and any(v for k, v in group.args.items() if k != "expressions" and v)
    if not more and below.rows.privacy_id is not None:
        meant = [key_node(node, select, below, aliases) for node in nodes]
        keys = dict.fromkeys(expression_from(node, below.resolve) for node in meant)
        people = [key for key in keys if isinstance(key, Column) and _is_person(key, below)]
        if people:
            return people[0], tuple(key for key in keys if key not in people)
    raise unsupported(
        construct="aggregates inside FROM (...) that are not grouped by the person",
        remedy="GROUP BY the person's identifier for features of each person, alone or with "
        "other keys; everything else is aggregated once, at the top. Rows after DISTINCT or a "
        "join on another key have no person.",
    )


def _is_person(key: Column, below: SQLRelation) -> bool:
    return identifies(key.name, below.rows)


def key_node(
    node: exp.Expression,
    select: exp.Select,
    below: SQLRelation,
    aliases: Mapping[str, exp.Expression],
) -> exp.Expression:
    """The expression behind a number or an alias in GROUP BY."""
    if isinstance(node, exp.Literal) and node.is_int:
        listed = select.expressions[int(node.name) - 1 : int(node.name)]
        return next((item.unalias() for item in listed), node)
    if isinstance(node, exp.Column) and not node.table:
        target = aliases.get(node.name.lower())
        known = any(column.name.lower() == node.name.lower() for column in below.columns)
        if target is not None and (isinstance(target, exp.Column) or not known):
            return target
    return node


def _clash(node: exp.Expression, expected: str) -> InvalidParameter:
    return InvalidParameter(
        code="type_clash",
        expectation=f"{expected} in {node.key.upper()} of a person's rows",
        received=node.sql(),
        remedy=_FEATURES,
    )
