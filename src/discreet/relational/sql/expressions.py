"""From sqlglot's nodes to ours, by an allow-list of node classes; anything else is refused.

Nothing of the analyst's text goes further than the constants and column names it contains. A
node with a part that we do not read is refused too, so that no modifier is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.relational.functions.arithmetic import MULTIPLY, NEGATE, SQUARE
from discreet.relational.functions.calendar import difference
from discreet.relational.functions.casts import cast
from discreet.relational.functions.comparison import BETWEEN, EQUAL, IN
from discreet.relational.functions.function import Function
from discreet.relational.functions.logic import IS_FALSE, IS_NOT_NULL, IS_NULL, IS_TRUE, NOT, OR
from discreet.relational.functions.patterns import like
from discreet.relational.functions.registry import FUNCTIONS, OPERATORS
from discreet.relational.functions.shifts import shifted
from discreet.relational.functions.spelling import BINARY, CALLS, TYPE_REMEDY, TYPES
from discreet.relational.functions.text import LOWER, lowered
from discreet.relational.sql.composed import COMPOSED, ComposedFunction
from discreet.relational.sql.parsed import (
    bare,
    call_of,
    chain,
    check_size,
    constant_of,
    interval,
    missing,
    number,
    only,
    parts,
    quantified,
    quantifier,
    refused,
    suggestion,
)
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Expression, Literal

Resolve = Callable[[exp.Column], Expression]
Aggregate = Callable[[exp.Expression], Expression]


def expression_from(
    node: exp.Expression, resolve: Resolve, aggregate: Aggregate | None = None
) -> Expression:
    """Our expression for what was parsed with ``read="duckdb"``.

    ``resolve`` finds columns. ``aggregate`` stands for aggregates where they are allowed; without
    it they are refused.
    """
    if not isinstance(node, exp.Expression):
        raise missing()
    check_size(node)
    return _Translation(resolve, aggregate).of(node)


@dataclass(frozen=True)
class _Translation:
    resolve: Resolve
    aggregate: Aggregate | None

    def of(self, node: exp.Expression) -> Expression:
        kind = type(node)
        if not isinstance(node, exp.Expression):
            raise missing()
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls):
            return self._aggregated(node)
        if kind in BINARY:
            return self._operator(node)
        if kind in CALLS:
            name, *keys = CALLS[kind]
            only(node, *keys)
            return self._translate_call_by_name(
                name, [part for key in keys for part in parts(node, key)], node
            )
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise refused(node)
        return handler(self, node)

    def _aggregated(self, node: exp.Expression) -> Expression:
        if self.aggregate is None:
            raise refused(
                node, "Aggregates stand in SELECT, HAVING and ORDER BY, not inside others."
            )
        return self.aggregate(node)

    def _operator(self, node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        function = OPERATORS[BINARY[type(node)]]
        if isinstance(node, exp.And | exp.Or):
            return Call(function, tuple(map(self.of, chain(node))))
        if isinstance(node.expression, exp.Expression) and quantifier(node.expression):
            return self._translate_quantifier(node)
        if isinstance(node, exp.Add | exp.Sub):
            return self._sum(node, function)
        first, second = self.of(node.this), self.of(node.expression)
        if function is MULTIPLY and first == second and not isinstance(first, Literal):
            return Call(SQUARE, (first,))
        return call_of(function, first, second)

    def _sum(self, node: exp.Add | exp.Sub, function: Function) -> Expression:
        """A sum or difference of numbers, or a day or moment moved by an interval."""
        left, right = bare(node.this), bare(node.expression)
        sign = -1 if isinstance(node, exp.Sub) else 1
        if isinstance(left, exp.Interval) and sign == 1:
            left, right = right, left
        if isinstance(right, exp.Interval):
            amount, unit = interval(right)
            return Call(shifted(sign * amount, unit), (self.of(left),))
        first, second = self.of(left), self.of(right)
        if not first.domain.kind.is_calendar or first.domain.empty:
            return Call(function, (first, second))
        if sign == -1 and (first.domain.kind, second.domain.kind) == (DataType.DATE, DataType.DATE):
            return Call(difference("day"), (second, first))
        days = second.value if isinstance(second, Literal) else None
        if first.domain.kind is DataType.DATE and type(days) is int:
            return Call(shifted(sign * days, "day"), (first,))
        raise refused(
            node, "Write d + INTERVAL 30 DAY, or date_diff('day', a, b) for a difference."
        )

    def _translate_call_by_name(
        self, name: str, nodes: list[exp.Expression], node: exp.Expression
    ) -> Expression:
        if name in COMPOSED:
            return self._composed(name, COMPOSED[name], nodes, node)
        entry = FUNCTIONS.get(name)
        if entry is None:
            raise refused(node, suggestion(name), name)
        low, high = entry.min_arguments, entry.max_arguments
        if not low <= len(nodes) <= high:
            count = f"{low}" if low == high else f"{low} or more"
            raise refused(
                node, f"{name} takes {count} arguments.", f"{name} of {len(nodes)} arguments"
            )
        constants, args = [], []
        for place, part in enumerate(nodes):
            if place in entry.constants:
                constants.append(self._constant(part, name))
            else:
                args.append(self.of(part))
        return call_of(entry.make(*constants), *args)

    def _composed(
        self, name: str, entry: ComposedFunction, nodes: list[exp.Expression], node: exp.Expression
    ) -> Expression:
        """What a function stands for that is written with others."""
        if entry.arguments is None and len(nodes) < 2:
            raise refused(node, f"{name} takes 2 or more arguments.", f"{name} of {len(nodes)}")
        if entry.arguments is not None and len(nodes) != entry.arguments:
            raise refused(
                node,
                f"{name} takes {entry.arguments} arguments.",
                f"{name} of {len(nodes)} arguments",
            )
        return entry.build(
            *(
                self._constant(part, name) if place in entry.constants else self.of(part)
                for place, part in enumerate(nodes)
            )
        )

    def _constant(self, node: exp.Expression, name: str) -> object:
        if isinstance(node, exp.Var):
            return node.name
        value = self.of(node)
        if not isinstance(value, Literal) or value.value is None:
            raise refused(
                node, f"This argument of {name} must be a constant.", f"{name} with a variable"
            )
        return value.value

    def column(self, node: exp.Expression) -> Expression:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise refused(node, "Name the columns one by one.")
        only(node, "this", "table", "db", "catalog")
        return self.resolve(node)

    def literal(self, node: exp.Expression) -> Expression:
        if node.args.get("is_string"):
            return Literal(str(node.this))
        return Literal(number(str(node.this)))

    def boolean(self, node: exp.Expression) -> Expression:
        return Literal(bool(node.this))

    def null(self, node: exp.Expression) -> Expression:
        return Literal(None)

    def inside(self, node: exp.Expression) -> Expression:
        only(node, "this")
        return self.of(bare(node))

    def negative(self, node: exp.Expression) -> Expression:
        only(node, "this")
        value = self.of(node.this)
        if isinstance(value, Literal) and type(value.value) in (int, float):
            return Literal(-value.value)  # type: ignore[operator]
        return Call(NEGATE, (value,))

    def negation(self, node: exp.Expression) -> Expression:
        only(node, "this")
        value = self.of(node.this)
        if isinstance(value, Call) and value.function == IS_NULL:
            return Call(IS_NOT_NULL, value.args)
        return Call(NOT, (value,))

    def test(self, node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        value = self.of(node.this)
        match node.expression:
            case exp.Null():
                return Call(IS_NULL, (value,))
            case exp.Boolean(this=True):
                return Call(IS_TRUE, (value,))
            case exp.Boolean():
                return Call(IS_FALSE, (value,))
        raise refused(node, "Write IS NULL, IS TRUE, IS FALSE, or =.")

    def between(self, node: exp.Expression) -> Expression:
        only(node, "this", "low", "high")
        return call_of(BETWEEN, *(self.of(node.args[key]) for key in ("this", "low", "high")))

    def member(self, node: exp.Expression) -> Expression:
        if node.args.get("query") is not None or node.args.get("unnest") is not None:
            raise refused(
                node, "Write the list out, or join with a public table.", "IN (SELECT ...)"
            )
        if node.args.get("field") is not None:
            raise refused(node, "Write the list in brackets: x IN ('A', 'B').", "IN without (...)")
        only(node, "this", "expressions")
        listed = [self.of(part) for part in node.expressions]
        known = [part for part in listed if not part.domain.empty]
        if not known:
            raise refused(node, "List constants: x IN (1, 2).", "IN with other values")
        value = self.of(node.this)
        if not all(isinstance(part, Literal) for part in listed):
            tests = tuple(call_of(EQUAL, value, part) for part in known)
            found = tests[0] if len(tests) == 1 else Call(OR, tests)
        else:
            found = call_of(IN, value, *known)
        # Whoever is not among the known ones may be the unknown one.
        return found if len(known) == len(listed) else Call(OR, (found, Literal(None)))

    def _translate_quantifier(self, node: exp.Expression) -> Expression:
        """``x = ANY(ARRAY[...])`` is IN, ``x <> ALL(ARRAY[...])`` is NOT IN."""
        word, values = quantifier(node.expression), quantified(node.expression)
        same = isinstance(node, exp.EQ) and word == "any"
        other = isinstance(node, exp.NEQ) and word == "all"
        if not isinstance(values, exp.Array) or not (same or other):
            raise refused(node, "Write x IN ('a', 'b') or x NOT IN ('a', 'b').")
        test = self.member(exp.In(this=node.this.copy(), expressions=values.copy().expressions))
        return test if same else Call(NOT, (test,))

    def case(self, node: exp.Expression) -> Expression:
        only(node, "this", "ifs", "default")
        subject = None if node.this is None else self.of(node.this)
        branches = []
        for part in node.args["ifs"]:
            test = self.of(part.this)
            test = test if subject is None else call_of(EQUAL, subject, test)
            branches.append((test, self.of(part.args["true"])))
        return Case(tuple(branches), self._otherwise(node.args.get("default")))

    def choice(self, node: exp.Expression) -> Expression:
        only(node, "this", "true", "false")
        result = self.of(node.args["true"])
        return Case(((self.of(node.this), result),), self._otherwise(node.args.get("false")))

    def _otherwise(self, node: exp.Expression | None) -> Expression:
        return Literal(None) if node is None else self.of(node)

    def cast(self, node: exp.Expression) -> Expression:
        only(node, "this", "to", ignored=("safe",))
        target = node.args["to"]
        kind = None if target.expressions else TYPES.get(getattr(target.this, "name", ""))
        if kind is None:
            name = target.sql(dialect="duckdb")
            raise refused(node, TYPE_REMEDY, f"CAST to {name}")
        value = self.of(node.this)
        if isinstance(value, Literal) and type(node) is exp.Cast:
            return constant_of(kind, value)
        return Call(cast(kind), (value,))

    def like(self, node: exp.Expression) -> Expression:
        escape = ""
        if isinstance(node, exp.Escape):
            only(node, "this", "expression")
            escape, node = self._text(node.expression), node.this
            if type(node) not in (exp.Like, exp.ILike):
                raise refused(node)
        only(node, "this", "expression", ignored=("negate",))
        value, pattern = self.of(node.this), self._text(node.expression)
        if type(node) is exp.ILike:
            value, pattern, escape = Call(LOWER, (value,)), lowered(pattern), lowered(escape)
        test = Call(like(pattern, escape), (value,))
        return Call(NOT, (test,)) if node.args.get("negate") else test

    def _text(self, node: exp.Expression) -> str:
        value = self.of(node) if isinstance(node, exp.Literal) else None
        if not isinstance(value, Literal) or not isinstance(value.value, str):
            raise refused(
                node, "Patterns of LIKE are constants: x LIKE 'a%'.", "LIKE with a variable"
            )
        return value.value

    def trim(self, node: exp.Expression) -> Expression:
        only(node, "this", "expression", "position")
        position = str(node.args.get("position") or "BOTH").upper()
        name = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[position]
        return self._translate_call_by_name(
            name, [*parts(node, "this"), *parts(node, "expression")], node
        )

    def padded(self, node: exp.Expression) -> Expression:
        only(node, "this", "expression", "fill_pattern", "is_left")
        name = "lpad" if node.args.get("is_left") else "rpad"
        return self._translate_call_by_name(
            name, [part for key in _PADDED for part in parts(node, key)], node
        )

    def logarithm(self, node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        if node.args.get("expression") is None:
            return self._translate_call_by_name("log", [node.this], node)
        base = self.of(node.this)
        name = {10: "log10", 2: "log2"}.get(base.value) if isinstance(base, Literal) else None  # type: ignore[call-overload]
        if name is None:
            raise refused(
                node, "Write ln(x), log2(x), log10(x), or ln(x) / ln(base).", "log of a base"
            )
        return self._translate_call_by_name(name, [node.expression], node)

    def anonymous(self, node: exp.Expression) -> Expression:
        only(node, "this", "expressions")
        return self._translate_call_by_name(str(node.this).lower(), list(node.expressions), node)

    def added(self, node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        moved = node.args.get("expression")
        if not isinstance(moved, exp.Interval):
            raise refused(node, "Write d + INTERVAL 30 DAY.")
        amount, unit = interval(moved)
        return Call(shifted(amount, unit), (self.of(node.this),))

    def matched(self, node: exp.Expression) -> Expression:
        """A regular expression by one of its names; operators mean other things elsewhere."""
        only(node, "this", "expression")
        if "start" not in node.meta:  # an operator: the parser keeps the places of calls alone
            raise refused(
                node, "Write regexp_matches(x, 'a'): systems differ in the sign.", "x ~ pattern"
            )
        return self._translate_call_by_name("regexp_matches", [node.this, node.expression], node)

    def extracted(self, node: exp.Expression) -> Expression:
        """``EXTRACT(part FROM d)``; seconds since 1970 are a function of their own."""
        only(node, "this", "expression")
        if isinstance(node.this, exp.Var) and node.this.name.lower() == "epoch":
            return self._translate_call_by_name("epoch", [node.expression], node)
        return self._translate_call_by_name("date_part", [node.this, node.expression], node)


_PADDED = ("this", "expression", "fill_pattern")

_HANDLERS: Mapping[type[exp.Expression], Callable[[_Translation, exp.Expression], Expression]] = {
    exp.Column: _Translation.column,
    exp.Literal: _Translation.literal,
    exp.Boolean: _Translation.boolean,
    exp.Null: _Translation.null,
    exp.Paren: _Translation.inside,
    exp.Neg: _Translation.negative,
    exp.Not: _Translation.negation,
    exp.Is: _Translation.test,
    exp.Between: _Translation.between,
    exp.In: _Translation.member,
    exp.Case: _Translation.case,
    exp.If: _Translation.choice,
    exp.Cast: _Translation.cast,
    exp.TryCast: _Translation.cast,
    exp.Like: _Translation.like,
    exp.ILike: _Translation.like,
    exp.Escape: _Translation.like,
    exp.Trim: _Translation.trim,
    exp.Log: _Translation.logarithm,
    exp.Pad: _Translation.padded,
    exp.DateAdd: _Translation.added,
    exp.Extract: _Translation.extracted,
    exp.RegexpLike: _Translation.matched,
    exp.Anonymous: _Translation.anonymous,
}
