"""Typed expressions over columns: frozen nodes that know the public facts of their value.

An expression is total: on any row of its universe it has a value or is NULL. ``evaluate`` in
``discreet.relational.types.expression`` is that meaning in plain Python, and every engine is tested
against it. Kinds are checked when a node is built; conversions that SQL leaves implicit become
nodes of their own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Any, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.casts import cast
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import accepted, clash, require_order, shared_kind
from discreet.relational.types.column_domain import MAX_VALUES, ColumnDomain, hull
from discreet.relational.types.data_type import DataType, type_of_value

MAX_NODES = 10_000
MAX_NESTED = 150
_FEW = 1_024
"""Combinations of argument values that are tried out as soon as a node is built."""


@dataclass(frozen=True)
class Column:
    """A column by its name in the plan, with what was declared about it."""

    name: str
    domain: ColumnDomain

    @property
    def args(self) -> tuple[Expression, ...]:
        """A leaf: there are no arguments."""
        return ()


@dataclass(frozen=True)
class Literal:
    """A public constant. NULL has any kind; ``kind`` says which where it matters."""

    value: object
    kind: DataType | None = field(default=None, compare=False, repr=False)
    domain: ColumnDomain = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kind = (
            type_of_value(self.value) if self.value is not None else self.kind or DataType.BOOLEAN
        )
        if kind is None:
            raise InvalidParameter(
                code="bad_literal",
                expectation="a constant: a finite number, text without NUL, a date, a moment",
                received=type(self.value).__name__,
                remedy="Whole numbers end at 2**63 - 1, texts at 4096 letters; no zones.",
            )
        values = () if self.value is None else (self.value,)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "domain", ColumnDomain(kind, values=values, declared=True))

    @property
    def args(self) -> tuple[Expression, ...]:
        """A leaf: there are no arguments."""
        return ()


@dataclass(frozen=True)
class Call:
    """A function applied to arguments, which are converted to the kinds it takes.

    >>> from discreet.relational.functions.arithmetic import ADD
    >>> Call(ADD, (Column("age", ColumnDomain(DataType.INTEGER, 0, 120)), Literal(1))).domain.high
    121
    """

    function: Function
    args: tuple[Expression, ...]
    domain: ColumnDomain = field(init=False, repr=False, compare=False)
    nodes: int = field(init=False, repr=False, compare=False)
    nested: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _measure(self, self.args)
        known = tuple(arg.domain for arg in self.args)
        kinds = accepted(self.function.accept, known)
        if self.function.ordered and DataType.TEXT in kinds:
            compared = [arg.domain for arg in self.args if not isinstance(arg, Literal)]
            if len(compared) > 1:
                require_order(self.function.name, compared)
        args = tuple(_converted(arg, kind) for arg, kind in zip(self.args, kinds, strict=True))
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "domain", _domain_of_call(self.function, args))


@dataclass(frozen=True)
class Case:
    """The value of the first branch whose condition is true, else ``otherwise``."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    domain: ColumnDomain = field(init=False, repr=False, compare=False)
    nodes: int = field(init=False, repr=False, compare=False)
    nested: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _measure(self, self.args)
        conditions = [condition for condition, _ in self.branches]
        results = [result for _, result in self.branches]
        for condition in conditions:
            known = condition.domain
            if known.kind is not DataType.BOOLEAN and not known.empty and not known.untyped:
                raise clash(
                    name="CASE WHEN",
                    expected="a condition",
                    domain=[condition.domain],
                    remedy="Compare: WHEN x = 1 THEN ...",
                )
        kind = shared_kind("CASE", [part.domain for part in (*results, self.otherwise)])
        object.__setattr__(self, "otherwise", _converted(self.otherwise, kind))
        object.__setattr__(
            self,
            "branches",
            tuple(
                (_converted(condition, DataType.BOOLEAN), _converted(result, kind))
                for condition, result in self.branches
            ),
        )
        reachable = [result.domain for _, result in self.branches] + [self.otherwise.domain]
        declared = all(arg.domain.declared for arg in self.args)
        object.__setattr__(self, "domain", replace(hull(kind, reachable), declared=declared))

    @property
    def args(self) -> tuple[Expression, ...]:
        """Conditions and results in order, then the default."""
        return (*(part for branch in self.branches for part in branch), self.otherwise)


Expression: TypeAlias = Column | Literal | Call | Case


def columns(expression: Expression) -> frozenset[str]:
    """The names of all columns an expression reads."""
    if isinstance(expression, Column):
        return frozenset((expression.name,))
    return frozenset(node.name for node in _walk(expression) if isinstance(node, Column))


def leaves(expression: Expression) -> list[Column]:
    """The columns an expression reads, each once."""
    found = {node.name: node for node in _walk(expression) if isinstance(node, Column)}
    return list(found.values())


def same_everywhere(expression: Expression) -> bool:
    """Whether every engine gives the very value that ``evaluate`` gives."""
    return all(_exact(node) for node in _walk(expression) if isinstance(node, Call))


def substitute(expression: Expression, mapping: Mapping[str, Expression]) -> Expression:
    """The expression with columns replaced; facts follow anew from what replaces them."""
    match expression:
        case Column(name=name):
            return mapping.get(name, expression)
        case Call(function=function, args=args):
            return Call(function, tuple(substitute(arg, mapping) for arg in args))
        case Case(branches=branches, otherwise=otherwise):
            return Case(
                tuple((substitute(a, mapping), substitute(b, mapping)) for a, b in branches),
                substitute(otherwise, mapping),
            )
        case _:
            return expression


def evaluate(expression: Expression, row: Mapping[str, object]) -> object:
    """The value of an expression on a row as the scan cleaned it; None is NULL.

    This is the meaning of the language: no exception, and always a value of the universe.
    """
    return evaluate_each(expression, [row])[0]


def evaluate_each(expression: Expression, rows: Sequence[Mapping[str, object]]) -> list[object]:
    """The same for each row, column by column."""
    match expression:
        case Column(name=name):
            return [row[name] for row in rows]
        case Literal(value=value):
            return [value] * len(rows)
        case Case():
            return _chosen(expression, rows)
        case Call(function=function, args=args, domain=domain):
            columns = [evaluate_each(arg, rows) for arg in args]
            arguments = zip(*columns, strict=True) if columns else [()] * len(rows)
            return function.apply_each(arguments, domain.kind)


def _chosen(case: Case, rows: Sequence[Mapping[str, object]]) -> list[object]:
    """The value of the first branch whose test is true, or of the last resort, for each row."""
    values: list[object] = [None] * len(rows)
    waiting = list(range(len(rows)))

    def settle(places: Sequence[int], result: Expression) -> None:
        found = evaluate_each(result, [rows[place] for place in places])
        for place, value in zip(places, found, strict=True):
            values[place] = value

    for test, result in case.branches:
        tests = evaluate_each(test, [rows[place] for place in waiting])
        true = [place for place, value in zip(waiting, tests, strict=True) if value is True]
        settle(true, result)
        waiting = sorted(set(waiting).difference(true))
    settle(waiting, case.otherwise)
    return values


def canonical(expression: Expression) -> str:
    """Text that is equal for expressions that ask the same; bounds of columns are not in it.

    Arguments of commutative functions are put in order, and > is written as <.
    """
    match expression:
        case Column(name=name):
            return f"column({name!r})"
        case Literal(value=value, kind=kind):
            return f"{kind.identity_name.lower() if kind else ''}({value!r})"
        case Case(args=args):
            return f"case({','.join(map(canonical, args))})"
        case Call(function=function, args=args):
            parts = [canonical(arg) for arg in args]
            name = function.name
            if name in _MIRRORED:
                name, parts = _MIRRORED[name], parts[::-1]
            if function.commutative:
                parts.sort()
            parameters = "".join(f":{_spelled(value)}" for value in function.parameters)
            return f"{name}{parameters}({','.join(parts)})"


_MIRRORED = {">": "<", ">=": "<="}


def possible_values(expression: Expression, limit: int = MAX_VALUES) -> tuple[object, ...] | None:
    """Every non-null value an expression may have, or None if they are not known to be few.

    Where its columns have few combinations of values, all are tried. Otherwise values follow
    from those of the arguments, so ``floor(cost / 10) * 10`` has a finite list although ``cost``
    has none. Sorted, except that a column keeps the order in which it was declared.

    >>> from discreet.relational.functions.rounding import FLOOR
    >>> possible_values(Call(FLOOR, (Column("x", ColumnDomain(DataType.DOUBLE, 0, 2.5)),)))
    (0, 1, 2)
    """
    if isinstance(expression, Column | Literal) or expression.domain.kind is DataType.BOOLEAN:
        return expression.domain.enumerated(limit)
    found = _tried(expression, limit)
    if found is None and isinstance(expression, Call):
        found = _combined(expression, limit)
    if found is None and isinstance(expression, Case):
        results = [*(result for _, result in expression.branches), expression.otherwise]
        lists = [possible_values(result, limit) for result in results]
        if all(values is not None for values in lists):
            found = {value for values in lists for value in values or ()}
    if found is None or len(found) > limit:
        return expression.domain.enumerated(limit)
    return _sorted(found)


def _tried(expression: Expression, limit: int) -> set[object] | None:
    """All values on all combinations of the columns' values, where those are few."""
    nodes = list(_walk(expression))
    if not all(_exact(node) for node in nodes if isinstance(node, Call)):
        return None
    every = {node.name: node for node in nodes if isinstance(node, Column)}
    lists = [_with_null(column, limit) for column in every.values()]
    if any(values is None for values in lists):
        return None
    if math.prod(len(values or ()) for values in lists) > limit:
        return None
    rows = itertools.product(*(values or () for values in lists))
    return set(evaluate_each(expression, [dict(zip(every, row, strict=True)) for row in rows]))


def _exact(call: Call) -> bool:
    return call.function.exact(*(arg.domain for arg in call.args))


def _combined(call: Call, limit: int) -> set[object] | None:
    """All values on all combinations of the arguments' values, where those are few."""
    if not _exact(call):
        return None
    lists = []
    for arg in call.args:
        values = possible_values(arg, limit)
        if values is None:
            return None
        lists.append(values if _sure(arg) else (*values, None))
    return _outcomes(call.function, call.domain.kind, lists, limit)


def _outcomes(
    function: Function, kind: DataType, lists: list[tuple[object, ...]], limit: int
) -> set[object] | None:
    if math.prod(map(len, lists)) > limit:
        return None
    return set(function.apply_each(itertools.product(*lists), kind))


def _domain_of_call(function: Function, args: tuple[Expression, ...]) -> ColumnDomain:
    known = [arg.domain for arg in args]
    declared = all(domain.declared for domain in known)
    result = replace(function.result(*known), declared=declared)
    if result.untyped and function.name == "cast":
        result = replace(result, untyped=False)  # whoever writes CAST says what it is
    if function.strict and any(domain.empty for domain in known):
        return ColumnDomain(result.kind, values=(), declared=declared)
    if result.kind is DataType.BOOLEAN or result.empty or not function.exact(*known):
        return result
    lists = [_with_null(arg, _FEW) for arg in args]
    if any(values is None for values in lists):
        return result
    found = _outcomes(function, result.kind, [values or () for values in lists], _FEW)
    if found is None:
        return result
    return ColumnDomain(result.kind, values=_sorted(found), declared=declared)


def _sorted(found: set[object]) -> tuple[object, ...]:
    every: list[Any] = [value for value in found if value is not None]
    return tuple(sorted(every))


def _with_null(node: Expression, limit: int) -> tuple[object, ...] | None:
    values = node.domain.enumerated(limit)
    return values if values is None or _sure(node) else (*values, None)


def _sure(node: Expression) -> bool:
    """Whether the value is certainly not NULL."""
    return isinstance(node, Literal) and node.value is not None


def _converted(arg: Expression, kind: DataType) -> Expression:
    """The argument in the kind a function takes; literals are converted on the spot."""
    if arg.domain.kind is kind:
        return arg
    if arg.domain.empty:
        # What is always NULL has any kind; engines refuse to cast it from some.
        return Literal(None, kind)
    if not isinstance(arg, Literal):
        return Call(cast(kind), (arg,))
    match arg.value, kind:
        case int() as whole, DataType.DOUBLE:
            return Literal(float(whole))
        case date() as day, DataType.TIMESTAMP:
            return Literal(datetime.combine(day, time.min))
    return Call(cast(kind), (arg,))


def _measure(node: Call | Case, args: tuple[Expression, ...]) -> None:
    """Refuse what is too large before anything recursive looks at it."""
    nodes = 1 + sum(getattr(arg, "nodes", 1) for arg in args)
    nested = 1 + max((getattr(arg, "nested", 1) for arg in args), default=0)
    if nodes > MAX_NODES or nested > MAX_NESTED:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"at most {MAX_NODES} parts in an expression, {MAX_NESTED} deep",
            received=f"{nodes} parts, {nested} deep",
            remedy="Split the question, use IN (...) and BETWEEN instead of long chains, or name "
            "a computed column fewer times.",
        )
    object.__setattr__(node, "nodes", nodes)
    object.__setattr__(node, "nested", nested)


def _walk(expression: Expression) -> Iterator[Expression]:
    waiting: list[Expression] = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.args)


def _spelled(value: object) -> str:
    return value.identity_name.lower() if isinstance(value, DataType) else repr(value)
