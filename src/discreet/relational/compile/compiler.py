"""From a plan to the text an engine runs; nothing of the analyst's text is in it.

Every derived table has an alias and every order says where NULL stands, since engines differ.
Cleaning happens in the scan. The text of a step is registered with ``step_text``: here for those
of ``plan/nodes``, beside the step itself for all others, which are those that bound what one person
contributes (``bounding/``) and those that compute features of a person.

Source: contract, "Columns", "Bounding inside the engine", "Numbers". Proof:
``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch

from discreet.relational.bounding.hashing import Identifier, Shuffle
from discreet.relational.compile.derived import field_text, with_inputs
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.engine import Engine
from discreet.relational.plan.nodes import (
    Distinct,
    Field,
    Filtered,
    JoinedPeople,
    Output,
    PlanNode,
    Scan,
    UnionAll,
    scans,
)
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Expression, columns

_LISTED = 1_024
"""Values of a public column that are written out where it is read."""


@dataclass(frozen=True)
class Compiler:
    """Writes SELECT statements for one engine. ``place`` names a table's rows there.

    ``shuffle`` is the order in which bounding keeps rows; ``listed`` makes a table of public rows.
    """

    dialect: Dialect
    place: Callable[[str], str]
    shuffle: Shuffle
    listed: Callable[[Sequence[tuple[object, ...]], Sequence[DataType]], str]

    @classmethod
    def of(cls, engine: Engine, *, salt: int) -> Compiler:
        """That of an engine, under the salt of one query."""
        shuffle = Shuffle(engine.hashing, engine.dialect, salt)
        return cls(engine.dialect, engine.place, shuffle, engine.keys)

    def text(self, rows: PlanNode, needed: frozenset[str]) -> str:
        """A SELECT that gives the ``needed`` columns of ``rows``, by their unique names."""
        return step_text(rows, self, needed)

    def computed(
        self,
        inside: str,
        owner: tuple[str | None, str | None],
        outputs: Sequence[Output],
        expressions: Sequence[Expression],
        needed: frozenset[str],
    ) -> str:
        """A SELECT from ``inside`` of the needed outputs, and of the owner, by its new name.

        Negative zero becomes zero: the two are equal, so nothing later may tell them apart. What
        was computed is clamped to what is said about it, so that nothing later need believe it.
        """
        name, (below, above) = self.dialect.identifier, owner
        listed, held, computed = list[str](), list[str](), False
        for output, expression in zip(outputs, expressions, strict=True):
            if output.name in needed:
                listed.append(f"{self.one_zero(expression)} AS {name(output.name)}")
                clamped = name(output.name)
                if isinstance(expression, Call | Case):
                    clamped = self.dialect.restrict_to_domain(clamped, output.domain)
                    computed = computed or clamped != name(output.name)
                held.append(f"{clamped} AS {name(output.name)}")
        if below is not None and above is not None:
            listed.append(f"{name(below)} AS {name(above)}")
            held.append(name(above))
        text = f"SELECT {', '.join(listed) or '1 AS one'} FROM ({inside}) AS q"
        return f"SELECT {', '.join(held)} FROM ({text}) AS q" if computed else text

    def one_zero(self, expression: Expression) -> str:
        """An expression without negative zero, where equal values must look alike."""
        text = self.dialect.render(expression)
        real = expression.domain.kind is DataType.DOUBLE
        return f"({text}) + {self.dialect.real(0.0)}" if real else text


@singledispatch
def step_text(rows: PlanNode, compiler: Compiler, needed: frozenset[str]) -> str:
    """The text of one step with those below it; a step registers its own."""
    raise TypeError(type(rows).__name__)


_SCANNED: dict[tuple[int, int, str, frozenset[str]], tuple[Scan, Dialect, str]] = {}
"""The texts of scans that many questions share, beside what they are made of."""
_KEPT = 1_024


@step_text.register
def _scan(rows: Scan, compiler: Compiler, needed: frozenset[str]) -> str:
    """Scans are shared by the questions about a table; so is what is written for their columns."""
    if rows.route is not None:
        return _scanned(rows, compiler, needed)
    place = compiler.place(rows.table)
    key = id(rows), id(compiler.dialect), place, rows.names.intersection(needed)
    kept = _SCANNED.get(key)
    if kept is None or kept[0] is not rows or kept[1] is not compiler.dialect:
        if len(_SCANNED) >= _KEPT:
            _SCANNED.clear()
        kept = _SCANNED[key] = rows, compiler.dialect, _scanned(rows, compiler, needed)
    return kept[2]


def _scanned(rows: Scan, compiler: Compiler, needed: frozenset[str]) -> str:
    name = compiler.dialect.identifier
    items, used = list[str](), list[Field]()
    for field in rows.fields.values():
        stored = f"t.{name(field.name)}"
        if rows.column(field.name) in needed:
            domain = field.domain if rows.private else _unlisted(field.domain)
            clean = field_text(field, domain, compiler.dialect)
            used.append(field)
            items.append(f"{clean} AS {name(rows.column(field.name))}")
        if rows.stored(field.name) in needed:
            plain = compiler.dialect.identity(stored, field.stored)
            items.append(f"{plain} AS {name(rows.stored(field.name))}")
    source = with_inputs(compiler.place(rows.table), used, compiler.dialect)
    conditions = []
    if rows.identifier is not None:
        owner = f"t.{name(rows.identifier)}"
        if rows.route is not None:
            key = name(rows.route.key)
            owner = f"o.{name(rows.route.person)}"
            here, there = (compiler.dialect.identity(f"{side}.{key}", rows.key) for side in "to")
            # Each key and person once: repeated rows there would multiply those here.
            once = (
                f"(SELECT DISTINCT {compiler.dialect.identity(f'u.{key}', rows.key)} AS {key}, "
                f"{compiler.dialect.identity(f'u.{name(rows.route.person)}', rows.identity)} AS "
                f"{name(rows.route.person)} FROM {compiler.place(rows.route.table)} AS u)"
            )
            source += f" JOIN {once} AS o ON {here} = {there}"
        if rows.privacy_id in needed:
            items.append(
                f"{compiler.dialect.identity(owner, rows.identity)} AS "
                f"{name(rows.privacy_id or '')}"
            )
        conditions.append(compiler.dialect.identified(owner, rows.identity))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(items) or '1'} FROM {source}{where}"


@step_text.register
def _filtered(rows: Filtered, compiler: Compiler, needed: frozenset[str]) -> str:
    inside = compiler.text(rows.rows, needed | columns(rows.condition))
    return f"SELECT * FROM ({inside}) AS q WHERE {compiler.dialect.render(rows.condition)}"


@step_text.register
def _joined_people(rows: JoinedPeople, compiler: Compiler, needed: frozenset[str]) -> str:
    left, right = rows.left.privacy_id or "", rows.right.privacy_id or ""
    name, render = compiler.dialect.identifier, compiler.dialect.render
    on = f"{name(left)} = {name(right)}"
    for a, b in rows.on:
        on += f" AND ({render(a)}) = ({render(b)})"
    used = needed | used_by([side for pair in rows.on for side in pair], left, right)
    return (
        f"SELECT * FROM ({compiler.text(rows.left, used)}) AS l {rows.kind.value} "
        f"({compiler.text(rows.right, used)}) AS r ON {on}"
    )


@step_text.register
def _union(rows: UnionAll, compiler: Compiler, needed: frozenset[str]) -> str:
    parts = [
        compiler.computed(
            compiler.text(branch, used_by(expressions, branch.privacy_id)),
            (branch.privacy_id, rows.privacy_id),
            rows.outputs,
            expressions,
            needed,
        )
        for branch, expressions in rows.branches
    ]
    return " UNION ALL ".join(parts)


@step_text.register
def _distinct(rows: Distinct, compiler: Compiler, needed: frozenset[str]) -> str:
    every = frozenset(output.name for output in rows.outputs)
    inside = compiler.text(rows.rows, used_by(rows.expressions))
    computed = compiler.computed(inside, (None, None), rows.outputs, rows.expressions, every)
    return f"SELECT DISTINCT * FROM ({computed}) AS q"


def privacy_id(rows: PlanNode, text: str) -> Identifier:
    """The person's identifier, which is stored alike in all tables; ``text`` names it."""
    return Identifier(text, next((scan.identity for scan in scans(rows) if scan.identity), ""))


def used_by(expressions: Sequence[Expression], *owners: str | None) -> frozenset[str]:
    """The columns that expressions read, and owners where there are any."""
    names = frozenset().union(*(columns(expression) for expression in expressions))
    return names | {owner for owner in owners if owner is not None}


def _unlisted(domain: ColumnDomain) -> ColumnDomain:
    """What is known of a public column but for a long list, which was read off the column itself.

    Nothing is derived from so long a list but its ends, and a statement has no room for it.
    """
    if domain.values is None or len(domain.values) <= _LISTED:
        return domain
    return ColumnDomain(
        domain.kind, domain.low, domain.high, declared=domain.declared, length=domain.length
    )
