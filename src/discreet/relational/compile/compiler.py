"""From a plan to the text an engine runs; nothing of the analyst's text is in it.

Every derived table has an alias and every order says where NULL stands, since engines differ.
Cleaning happens in the scan. Bounding orders each person's rows by a salted hash of their
content, ties broken by the content itself, and keeps the first few: which rows stay is a function
of that person's rows and the salt alone. Sums are sums of whole numbers.

Source: contract, "Columns", "Bounding inside the engine", "Numbers". Proof:
``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod

from discreet.relational.bounding.hashing import Content, Hashed, Identifier
from discreet.relational.compile.dialect import Dialect
from discreet.relational.compile.grouped_steps import joined_by_key, limited, per_person, truncated
from discreet.relational.compile.partition_filter import kept
from discreet.relational.compile.public_join import joined_public
from discreet.relational.limits.rows_before_joins import Limited
from discreet.relational.plan.features import PerPerson
from discreet.relational.plan.key_truncation import JoinedByKey, Truncated
from discreet.relational.plan.nodes import (
    Bounded,
    Distinct,
    Filtered,
    JoinedPeople,
    JoinedPublic,
    JoinKind,
    Output,
    Rows,
    Scan,
    Union,
    scans,
)
from discreet.relational.plan.partition_filter import Kept
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import Kind
from discreet.relational.types.expression import Call, Case, Expression, columns

_LISTED = 1_024
"""Values of a public column that are written out where it is read."""


@dataclass(frozen=True)
class Compiler:
    """Writes SELECT statements for one engine. ``place`` names a table's rows there."""

    dialect: Dialect
    place: Callable[[str], str]
    salt: int

    @singledispatchmethod
    def text(self, rows: Rows, needed: frozenset[str]) -> str:
        """A SELECT that gives the ``needed`` columns of ``rows``, by their unique names."""
        raise TypeError(type(rows).__name__)

    @text.register
    def _scan(self, rows: Scan, needed: frozenset[str]) -> str:
        name = self.dialect.identifier
        items = []
        for field in rows.fields.values():
            stored = f"t.{name(field.name)}"
            if rows.column(field.name) in needed:
                facts = field.facts if rows.private else _unlisted(field.facts)
                clean = self.dialect.clean(stored, field.stored, facts)
                items.append(f"{clean} AS {name(rows.column(field.name))}")
            if rows.stored(field.name) in needed:
                plain = self.dialect.identity(stored, field.stored)
                items.append(f"{plain} AS {name(rows.stored(field.name))}")
        source, conditions = f"{self.place(rows.table)} AS t", []
        if rows.identifier is not None:
            owner = f"t.{name(rows.identifier)}"
            if rows.route is not None:
                key = name(rows.route.key)
                owner = f"o.{name(rows.route.person)}"
                here, there = (self.dialect.identity(f"{side}.{key}", rows.key) for side in "to")
                # Each key and person once: repeated rows there would multiply those here.
                once = (
                    f"(SELECT DISTINCT {self.dialect.identity(f'u.{key}', rows.key)} AS {key}, "
                    f"{self.dialect.identity(f'u.{name(rows.route.person)}', rows.identity)} AS "
                    f"{name(rows.route.person)} FROM {self.place(rows.route.table)} AS u)"
                )
                source += f" JOIN {once} AS o ON {here} = {there}"
            if rows.owner in needed:
                items.append(
                    f"{self.dialect.identity(owner, rows.identity)} AS {name(rows.owner or '')}"
                )
            conditions.append(self.dialect.identified(owner, rows.identity))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(items) or '1'} FROM {source}{where}"

    @text.register
    def _filtered(self, rows: Filtered, needed: frozenset[str]) -> str:
        inside = self.text(rows.rows, needed | columns(rows.condition))
        return f"SELECT * FROM ({inside}) AS q WHERE {self.dialect.render(rows.condition)}"

    @text.register
    def _kept(self, rows: Kept, needed: frozenset[str]) -> str:
        return kept(self, rows, needed)

    @text.register
    def _joined_public(self, rows: JoinedPublic, needed: frozenset[str]) -> str:
        return joined_public(self, rows, needed)

    @text.register
    def _joined_people(self, rows: JoinedPeople, needed: frozenset[str]) -> str:
        left, right = rows.left.owner or "", rows.right.owner or ""
        on = f"{self.dialect.identifier(left)} = {self.dialect.identifier(right)}"
        for a, b in rows.on:
            on += f" AND ({self.dialect.render(a)}) = ({self.dialect.render(b)})"
        keys = _used([side for pair in rows.on for side in pair], left, right)
        return self._join(rows.left, rows.right, rows.kind, on, needed | keys)

    def _join(
        self, left: Rows, right: Rows, kind: JoinKind, on: str, needed: frozenset[str]
    ) -> str:
        return (
            f"SELECT * FROM ({self.text(left, needed)}) AS l {kind.value} "
            f"({self.text(right, needed)}) AS r ON {on}"
        )

    @text.register
    def _union(self, rows: Union, needed: frozenset[str]) -> str:
        parts = [
            self.computed(
                self.text(branch, _used(expressions, branch.owner)),
                (branch.owner, rows.owner),
                rows.outputs,
                expressions,
                needed,
            )
            for branch, expressions in rows.branches
        ]
        return " UNION ALL ".join(parts)

    @text.register
    def _distinct(self, rows: Distinct, needed: frozenset[str]) -> str:
        every = frozenset(output.name for output in rows.outputs)
        inside = self.text(rows.rows, _used(rows.expressions))
        computed = self.computed(inside, (None, None), rows.outputs, rows.expressions, every)
        return f"SELECT DISTINCT * FROM ({computed}) AS q"

    @text.register
    def _bounded(self, rows: Bounded, needed: frozenset[str]) -> str:
        pairs = zip(rows.outputs, rows.expressions, strict=True)
        read = [expression for output, expression in pairs if output.name in needed]
        used = _used(read, rows.rows.owner)
        inside = self.computed(
            self.text(rows.rows, used),
            (rows.rows.owner, rows.owner),
            rows.outputs,
            rows.expressions,
            needed,
        )
        name = self.dialect.identifier
        contents = [
            Content(name(output.name), output.facts.kind)
            for output in rows.outputs
            if output.name in needed
        ]
        owner = self.who(rows, name(rows.owner or ""))
        order = self.order(contents, owner)
        return (
            f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {owner.text} "
            f"ORDER BY {order}) AS k FROM ({inside}) AS q) AS q WHERE k <= {rows.limit}"
        )

    @text.register
    def _limited(self, rows: Limited, needed: frozenset[str]) -> str:
        return limited(self, rows, needed)

    @text.register
    def _truncated(self, rows: Truncated, needed: frozenset[str]) -> str:
        return truncated(self, rows, needed)

    @text.register
    def _joined_by_key(self, rows: JoinedByKey, needed: frozenset[str]) -> str:
        return joined_by_key(self, rows, needed)

    @text.register
    def _per_person(self, rows: PerPerson, needed: frozenset[str]) -> str:
        return per_person(self, rows, needed)

    def order(self, contents: Sequence[Content], owner: Hashed) -> str:
        """Salted hash of the content, then the content: no tie is left that matters."""
        first = self.dialect.shuffle([owner, *contents], self.salt)
        return ordered([first, *(content.text for content in contents)])

    def who(self, rows: Rows, text: str) -> Identifier:
        """The person's identifier, which is stored alike in all tables; ``text`` names it."""
        return Identifier(text, next((scan.identity for scan in scans(rows) if scan.identity), ""))

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
                    clamped = self.dialect.held(clamped, output.facts)
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
        real = expression.facts.kind is Kind.REAL
        return f"({text}) + {self.dialect.real(0.0)}" if real else text


def _unlisted(facts: Facts) -> Facts:
    """What is known of a public column but for a long list, which was read off the column itself.

    Nothing is derived from so long a list but its ends, and a statement has no room for it.
    """
    if facts.values is None or len(facts.values) <= _LISTED:
        return facts
    return Facts(facts.kind, facts.low, facts.high, declared=facts.declared, length=facts.length)


def _used(expressions: Sequence[Expression], *owners: str | None) -> frozenset[str]:
    names = frozenset().union(*(columns(expression) for expression in expressions))
    return names | {owner for owner in owners if owner is not None}


def ordered(texts: Sequence[str]) -> str:
    """An ORDER BY list with NULL after everything else."""
    return ", ".join(f"{text} NULLS LAST" for text in texts)
