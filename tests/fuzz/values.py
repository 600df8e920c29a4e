"""Random expressions on an engine: its values lie in the derived domain, and are the interpreter's.

Every expression is computed by the engine on rows at the extremes. No row may make it fail; each
value must be of the kind, within the bounds and in the list that the facts say; and where every
step is ``exact``, it must be the value of the interpreter.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from discreet.core.errors import DiscreetError
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.schema.sources import source_of
from discreet.relational.types.expression import Call, Expression, possible_values
from tests.fuzz.extremes import COLUMNS, LEAVES, interpreted, rows_at_the_extremes
from tests.fuzz.grammar import KINDS, NAMES, Grammar
from tests.relational.conformance.engines import Maker
from tests.relational.engine_with_rows import EngineWithRows
from tests.relational.expressions.engine import Row, same, translated
from tests.relational.expressions.test_engine_agrees import holds

_TYPES: dict[str, Any] = {
    "BIGINT": pl.Int64,
    "DOUBLE": pl.Float64,
    "VARCHAR": pl.String,
    "BOOLEAN": pl.Boolean,
    "DATE": pl.Date,
    "TIMESTAMP": pl.Datetime("us"),
}
DEEPEST = 6
LONGEST = 20_000
"""Letters of the engine's text for one expression, so that a trial stays quick."""
FREE = frozenset(
    {"type_clash", "bad_literal", "bad_argument", "expression_too_large", "unsupported_sql"}
)
"""Refusals that a random expression may rightly meet; that no name is always refused is tested."""


@dataclass
class Drawn:
    """Accepted expressions with the names in them, and how many were refused."""

    texts: list[str] = field(default_factory=list)
    expressions: list[Expression] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    foreign: list[str] = field(default_factory=list)


def expressions(count: int, seed: int, names: Sequence[str] = (), deepest: int = DEEPEST) -> Drawn:
    """Random expressions; first one for each of ``names``, then any."""
    draw = random.Random(seed)
    grammar = Grammar(draw, LEAVES)
    drawn, waiting = Drawn(), list(names)
    while len(drawn.texts) < count:
        if waiting:
            _, text, used = grammar.about(waiting[-1], draw.randint(1, deepest))
        else:
            text, used = grammar.traced(draw.choice(KINDS), draw.randint(1, deepest))
        try:
            expression = translated(text, COLUMNS)
        except DiscreetError as refusal:
            drawn.refused[refusal.code] += 1
            if refusal.code not in FREE:
                drawn.foreign.append(f"{text}: {refusal}")
            continue
        except Exception as fault:  # the fuzzer's quarry: nothing but refusals may come
            drawn.foreign.append(f"{text}: {type(fault).__name__} {fault}")
            continue
        drawn.texts.append(text)
        drawn.expressions.append(expression)
        drawn.used.update(set(used))
        if waiting:
            waiting.pop()
    return drawn


class Bench:
    """Rows at the extremes in one engine, cleaned as declared."""

    def __init__(self, maker: Maker, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.home: EngineWithRows = maker.home(NATIVE)
        columns = {name: [row[name] for row in rows] for name in COLUMNS}
        schema = {name: _TYPES[stored.type] for name, stored in COLUMNS.items()}
        frame = pl.DataFrame(columns, schema=schema, nan_to_null=False).with_row_index("place")
        engine, dialect = self.home.engine, self.home.engine.dialect
        types = engine.attach(
            "stored", source_of(self.home.source(frame.cast({"place": pl.Int64})))
        )
        scan = ", ".join(
            f"{dialect.clean(f's.{name}', types[name], stored.domain)} "
            f"AS {dialect.identifier(name)}"
            for name, stored in COLUMNS.items()
        )
        self._table = f"(SELECT place, {scan} FROM {engine.place('stored')} AS s) AS q"

    def computed(self, asked: Sequence[Expression]) -> list[tuple[object, ...]]:
        """What the engine gives, row by row."""
        dialect = self.home.engine.dialect
        texts = ", ".join(f"{dialect.render(each)} AS r{n}" for n, each in enumerate(asked))
        return self.home.engine.rows(f"SELECT {texts} FROM {self._table} ORDER BY place")

    def close(self) -> None:
        self.home.engine.close()
        self.home.close()


def exact(expression: Expression) -> bool:
    """Whether every step gives the very value of the interpreter on every engine."""
    own = not isinstance(expression, Call) or expression.function.exact(
        *(arg.domain for arg in expression.args)
    )
    return own and all(map(exact, expression.args))


def faults(bench: Bench, drawn: Drawn, at_once: int = 40) -> Iterator[str]:
    """What is wrong with the engine's values, by expression."""
    yield from drawn.foreign
    every = [
        (text, expression)
        for text, expression in zip(drawn.texts, drawn.expressions, strict=True)
        if _short(bench, expression)
    ]
    for start in range(0, len(every), at_once):
        yield from _compared(bench, every[start : start + at_once])


def _short(bench: Bench, expression: Expression) -> bool:
    try:
        return len(bench.home.engine.dialect.render(expression)) <= LONGEST
    except DiscreetError as refusal:
        assert refusal.code in FREE, refusal  # noqa: PT017
        return False


def _compared(bench: Bench, asked: Sequence[tuple[str, Expression]]) -> Iterator[str]:
    try:
        theirs = bench.computed([expression for _, expression in asked])
    except Exception as failure:
        if len(asked) > 1:
            # Somebody failed: ask them one by one.
            for one in asked:
                yield from _compared(bench, [one])
            return
        yield f"{asked[0][0]}: the engine fails: {type(failure).__name__} {str(failure)[:200]}"
        return
    ours = interpreted([expression for _, expression in asked], bench.rows)
    for place, (text, expression) in enumerate(asked):
        values = possible_values(expression, limit=2_000)
        listed = None if values is None else frozenset(values)
        sure = exact(expression)
        for mine, found in zip(ours, theirs, strict=True):
            fault = _fault(expression, listed, mine[place], found[place], sure=sure)
            if fault:
                yield f"{text}: {fault}"
                break


def _fault(
    expression: Expression, listed: frozenset[object] | None, ours: Any, theirs: Any, *, sure: bool
) -> str | None:
    domain = expression.domain
    known = f"[{domain.low}, {domain.high}] of {domain.kind.value}"
    if not holds(domain, listed, theirs):
        return f"the engine gives {theirs!r}, outside {known}"
    if not holds(domain, listed, ours):
        return f"the interpreter gives {ours!r}, outside {known}"
    if sure and not same(ours, theirs):
        return f"the engine gives {theirs!r}, the interpreter {ours!r}"
    return None


def unused(drawn: Drawn) -> frozenset[str]:
    """The names that no accepted expression has in it."""
    return NAMES - set(drawn.used)


def checked(maker: Maker, drawn: Drawn, *, rows: int, seed: int, at_once: int = 40) -> list[str]:
    """Every fault of the expressions on one table of an engine."""
    bench = Bench(maker, rows_at_the_extremes(rows, seed))
    try:
        return list(faults(bench, drawn, at_once))
    finally:
        bench.close()
