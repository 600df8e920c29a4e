"""Text of the steps that look at several rows at once: truncation by key, features per person.

Every order that decides anything ends in the content itself, and every list of columns is
written out.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.relational.bounding.hashing import Content
from discreet.relational.limits.rows_before_joins import Limited, provided
from discreet.relational.plan.features import (
    Added,
    Averaged,
    Counted,
    CountedValues,
    Earliest,
    Feature,
    Greatest,
    Latest,
    PerPerson,
)
from discreet.relational.plan.key_truncation import JoinedByKey, Truncated
from discreet.relational.plan.nodes import JoinKind, Output
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import Kind
from discreet.relational.types.expression import Column, columns

if TYPE_CHECKING:
    from discreet.relational.compile.compiler import Compiler


def limited(compiler: Compiler, rows: Limited, needed: frozenset[str]) -> str:
    """The first rows of each person by salted content: of the needed columns."""
    name, below = compiler.dialect.identifier, rows.rows
    assert below.owner is not None
    listed = {column: kind for column, kind in provided(below).items() if column in needed}
    zeroed = [
        f"{compiler.one_zero(Column(column, Facts(kind)))} AS {name(column)}"
        for column, kind in listed.items()
    ]
    source = compiler.text(below, frozenset(listed) | {below.owner})
    inside = f"SELECT {', '.join([name(below.owner), *zeroed])} FROM ({source}) AS q"
    owner = compiler.who(below, name(below.owner))
    content = [Content(name(column), kind) for column, kind in listed.items()]
    every = ", ".join([owner.text, *(part.text for part in content)])
    ranked = (
        f"SELECT {every}, row_number() OVER (PARTITION BY {owner.text} "
        f"ORDER BY {compiler.order(content, owner)}) AS k FROM ({inside}) AS q"
    )
    return f"SELECT {every} FROM ({ranked}) AS q WHERE k <= {rows.limit}"


def truncated(compiler: Compiler, rows: Truncated, needed: frozenset[str]) -> str:
    """The first rows of each key by salted content: of the needed columns, and of the key."""
    name = compiler.dialect.identifier
    keyed = [Output(key, e.facts) for key, e in zip(rows.key_names, rows.keys, strict=True)]
    outputs, expressions = (*keyed, *rows.outputs), (*rows.keys, *rows.expressions)
    wanted = needed | frozenset(rows.key_names)
    used = frozenset[str]()
    for output, expression in zip(outputs, expressions, strict=True):
        used |= columns(expression) if output.name in wanted else frozenset()
    keys = [name(key) for key in rows.key_names]
    content = [
        Content(name(output.name), output.facts.kind) for output in outputs if output.name in wanted
    ]
    every = ", ".join(part.text for part in content)
    below = compiler.text(rows.rows, used)
    inside = compiler.computed(below, (None, None), outputs, expressions, wanted)
    ranked = (
        f"SELECT {every}, row_number() OVER (PARTITION BY {', '.join(keys)} "
        f"ORDER BY {compiler.order(content[1:], content[0])}) AS k FROM ({inside}) AS q"
    )
    met = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    cut = f"k <= {rows.limit} AND {met}"
    if rows.kind is JoinKind.LEFT:
        cut = f"k <= {rows.limit} OR NOT ({met})"
    return f"SELECT {every} FROM ({ranked}) AS q WHERE {cut}"


def joined_by_key(compiler: Compiler, rows: JoinedByKey, needed: frozenset[str]) -> str:
    """The needed columns of pairs with equal keys."""
    name = compiler.dialect.identifier
    on = " AND ".join(
        f"l.{name(a)} = r.{name(b)}"
        for a, b in zip(rows.left.key_names, rows.right.key_names, strict=True)
    )
    listed = [
        f"{side}.{name(output.name)} AS {name(output.name)}"
        for side, part in (("l", rows.left), ("r", rows.right))
        for output in part.outputs
        if output.name in needed
    ]
    return (
        f"SELECT {', '.join(listed) or '1 AS one'} "
        f"FROM ({compiler.text(rows.left, needed)}) AS l {rows.kind.value} "
        f"({compiler.text(rows.right, needed)}) AS r ON {on}"
    )


def per_person(compiler: Compiler, rows: PerPerson, needed: frozenset[str]) -> str:
    """The needed features, grouped by the owner."""
    name = compiler.dialect.identifier
    owner = name(rows.rows.owner or "")
    used = {rows.rows.owner or ""}
    listed, ranks = [f"{owner} AS {name(rows.owner or '')}"], list[str]()
    if rows.person in needed:
        used.add(rows.named.name)
        only = _single(compiler, name(rows.named.name), rows.named.facts)
        listed.append(f"{only} AS {name(rows.person or '')}")
    for place, (feature, output) in enumerate(zip(rows.features, rows.outputs, strict=True)):
        if output.name not in needed:
            continue
        used |= {column.name for column in feature.reads}
        if isinstance(feature, Earliest):
            ranks.append(_rank(compiler, feature, owner, f"f{place}"))
        text = _feature(compiler, feature, rows.limit, f"f{place}")
        listed.append(f"{text} AS {name(output.name)}")
    source = f"({compiler.text(rows.rows, frozenset(used))}) AS q"
    if ranks:
        every = [name(column) for column in sorted(used)]
        source = f"(SELECT {', '.join([*every, *ranks])} FROM {source}) AS q"
    return f"SELECT {', '.join(listed)} FROM {source} GROUP BY {owner}"


def _rank(compiler: Compiler, feature: Earliest, owner: str, rank: str) -> str:
    """The place of a row among its owner's, by the order and then by the argument itself."""
    name = compiler.dialect.identifier
    order, value = name(feature.order.name), name(feature.argument.name)
    way = " DESC" if isinstance(feature, Latest) else ""
    return (
        f"row_number() OVER (PARTITION BY {owner} ORDER BY {order}{way} NULLS LAST, "
        f"{value}{way} NULLS LAST) AS {rank}"
    )


def _feature(compiler: Compiler, feature: Feature, limit: int, rank: str) -> str:
    dialect = compiler.dialect
    name = dialect.identifier
    match feature:
        case Counted(argument):
            text = "COUNT(*)" if argument is None else f"COUNT({name(argument.name)})"
        case CountedValues(argument):
            text = f"COUNT(DISTINCT {name(argument.name)})"
        case Added(argument):
            return _sum(compiler, feature, argument, limit)
        case Earliest(argument, order):
            chosen = f"{rank} = 1 AND {name(order.name)} IS NOT NULL"
            return _single(compiler, name(argument.name), argument.facts, chosen)
        case _:
            (argument,) = feature.reads
            word = "MAX" if isinstance(feature, Greatest) else "MIN"
            return f"{word}({name(argument.name)})"
    return f"CAST({text} AS {dialect.types[Kind.WHOLE]})"


def _sum(compiler: Compiler, feature: Added, argument: Column, limit: int) -> str:
    """An exact sum of whole steps as a number of the argument's kind, or divided by its values.

    A sum without values is NULL.
    """
    dialect, facts = compiler.dialect, feature.facts(limit)
    value = dialect.identifier(argument.name)
    exponent = feature.exponent(limit)
    real = argument.facts.kind is Kind.REAL
    steps = dialect.steps(value, argument.facts, exponent) if real else value
    total = f"CAST(SUM({steps}) AS {dialect.types[Kind.WHOLE]})"
    if facts.kind is Kind.REAL:
        # Whole doubles below 2**53 times a power of two: exact.
        factor = dialect.real(math.ldexp(1.0, exponent))
        total = f"CAST({total} AS {dialect.types[Kind.REAL]}) * {factor}"
    if isinstance(feature, Averaged):
        number = f"CAST(COUNT({value}) AS {dialect.types[Kind.REAL]})"
        total = f"{total} / CASE WHEN {number} > 0 THEN {number} END"
    return dialect.clean_number(f"({total})", facts)


def _single(compiler: Compiler, value: str, facts: Facts, chosen: str = "TRUE") -> str:
    """The one value of the chosen rows; engines differ in whether truth values have a maximum."""
    if facts.kind is not Kind.TRUTH:
        return f"MAX(CASE WHEN {chosen} THEN {value} END)"
    number = f"MAX(CASE WHEN {chosen} AND {value} THEN 1 WHEN {chosen} AND NOT {value} THEN 0 END)"
    return f"({number} = 1)"
