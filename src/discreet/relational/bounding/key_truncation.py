"""Joins of private rows on another key than the person: each side cut down to a few rows per key.

Contract: which rows of a key stay is a function of the rows with that key and of the salt: the
first ``limit`` by a salted hash of their content, ties broken by content. One row more below puts
at most one row in and at most one out, so the cut doubles ``stability``; and a row meets at most
``limit`` rows of the other side. With r rows on the left and s on the right, one unit changes at
most 2 (r * limit_right + s * limit_left) rows of the join, also where both sides are one table.

Source: contract, "Units and neighbours"; 004b:A21(b), (d). Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.hashing import Content, first_rows
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.plan.nodes import JoinKind, Output, PlanNode
from discreet.relational.types.expression import Expression, columns


@dataclass(frozen=True)
class Truncated(PlanNode):
    """At most ``limit`` rows for each combination of values of ``keys``.

    Rows whose key is NULL meet nobody: they are dropped, and kept where ``kind`` is LEFT.
    """

    prefix: str
    rows: PlanNode
    keys: tuple[Expression, ...]
    limit: int
    kind: JoinKind
    expressions: tuple[Expression, ...]
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """Twice as many as below: a row that comes may push another one out."""
        below = self.rows.stability
        return None if below is None else 2 * below

    @property
    def privacy_id(self) -> str | None:
        """None: which rows stay depends on other people's rows."""
        return None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns in which the keys are compared."""
        return tuple(f"{self.prefix}?{place}" for place in range(len(self.keys)))

    def label(self) -> str:
        return f"at most {self.limit} rows per key, by salted content"


@dataclass(frozen=True)
class JoinedByKey(PlanNode):
    """Pairs of rows of two truncated sides with equal keys. Rows have two owners: none."""

    left: Truncated
    right: Truncated
    kind: JoinKind

    @property
    def stability(self) -> int | None:
        """Each changed row meets at most ``limit`` rows of the other side."""
        left, right = self.left.stability, self.right.stability
        if left is None or right is None:
            return None
        return left * self.right.limit + right * self.left.limit

    @property
    def privacy_id(self) -> str | None:
        """None: a row belongs to two people."""
        return None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.left, self.right)

    def label(self) -> str:
        """How many partners rows have on either side."""
        return (
            f"{self.kind.value.lower()} on a key, at most {self.left.limit} by "
            f"{self.right.limit} rows each"
        )


@step_text.register
def truncated(rows: Truncated, compiler: Compiler, needed: frozenset[str]) -> str:
    """The first rows of each key by salted content: of the needed columns, and of the key."""
    name = compiler.dialect.identifier
    keyed = [Output(key, e.domain) for key, e in zip(rows.key_names, rows.keys, strict=True)]
    outputs, expressions = (*keyed, *rows.outputs), (*rows.keys, *rows.expressions)
    wanted = needed | frozenset(rows.key_names)
    used = frozenset[str]()
    for output, expression in zip(outputs, expressions, strict=True):
        used |= columns(expression) if output.name in wanted else frozenset()
    keys = [name(key) for key in rows.key_names]
    content = [
        Content(name(output.name), output.domain.kind)
        for output in outputs
        if output.name in wanted
    ]
    every = ", ".join(part.text for part in content)
    below = compiler.text(rows.rows, used)
    inside = compiler.computed(below, (None, None), outputs, expressions, wanted)
    order = compiler.shuffle.order(content[1:], content[0])
    met = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    cut = f"k <= {rows.limit} AND {met}"
    if rows.kind is JoinKind.LEFT:
        cut = f"k <= {rows.limit} OR NOT ({met})"
    return first_rows(inside, every, ", ".join(keys), order, cut)


@step_text.register
def joined_by_key(rows: JoinedByKey, compiler: Compiler, needed: frozenset[str]) -> str:
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


def cut_by(rows: PlanNode) -> str | None:
    """Whose bounds cut rows in a plan, for a reader; None where nothing is cut."""
    if isinstance(rows, Truncated):
        return "a key's"
    found = [cut_by(below) for below in rows.inputs]
    if isinstance(rows, Bounded | Limited):
        found.append("a person's")
    return next((whose for whose in found if whose is not None), None)
