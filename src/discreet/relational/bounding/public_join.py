"""Joins with a public table, whose rows are cut to as many per key as were paid for.

A public table may change between the statement that counts partners and the one that answers, and
an owner's view may give other rows each time. So the statement itself leaves no more than
``partners`` rows of a key, whatever the table holds when it is read: a wrong count costs accuracy,
never privacy. Which rows stay is a function of the public rows alone: the first ones by content.

Source: contract, "What may be seen" (declared facts are enforced in the statement). Proof:
``proofs/relational.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.compile.dialect import Dialect
from discreet.relational.compile.stored_categories import stored_category
from discreet.relational.plan.nodes import JoinKind, PlanNode, columns_of
from discreet.relational.types.expression import Column, Expression, columns


@dataclass(frozen=True)
class JoinedPublic(PlanNode):
    """Private rows with their partners in a public table, of which each has ``partners`` at most.

    Stability: one private row becomes at most ``partners`` rows (one, if it stays without),
    whatever the table holds: further rows of a key are cut off in the statement.
    """

    rows: PlanNode
    public: PlanNode
    on: tuple[tuple[Expression, Expression], ...]
    partners: int
    kind: JoinKind

    @property
    def stability(self) -> int | None:
        """Rows below, times partners."""
        below = self.rows.stability
        return None if below is None else below * max(self.partners, 1)

    @property
    def privacy_id(self) -> str | None:
        """That of the private row."""
        return self.rows.privacy_id

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """Private rows, then public ones."""
        return (self.rows, self.public)

    def label(self) -> str:
        """How many partners a row can have."""
        return f"{self.kind.value.lower()} public, at most {self.partners} partners"


@step_text.register
def joined_public(rows: JoinedPublic, compiler: Compiler, needed: frozenset[str]) -> str:
    """Private rows beside the public ones that agree with them."""
    pairs = [_compared(left, right, rows.rows, compiler.dialect) for left, right in rows.on]
    public = needed.union(*(columns(right) for _, right in rows.on))
    used = public.union(*(read for _, read in pairs))
    on = " AND ".join(text for text, _ in pairs)
    return (
        f"SELECT * FROM ({compiler.text(rows.rows, used)}) AS l {rows.kind.value} "
        f"({_select_first_public_rows(compiler, rows, used)}) AS r ON {on or 'TRUE'}"
    )


def _compared(
    left: Expression, right: Expression, rows: PlanNode, dialect: Dialect
) -> tuple[str, frozenset[str]]:
    """The test that a private value equals a public one, and the columns it reads of private rows.

    A category is compared as it is stored with public values of its list: others meet nothing.
    """
    there, known = dialect.render(right), right.domain.values
    stored = stored_category(left, rows, dialect)
    if stored is None:
        return f"({dialect.render(left)}) = ({there})", columns(left)
    listed = left.domain.values or ()
    if known is None or not set(listed).issuperset(known):
        there = dialect.clean_category(there, listed)
    return f"({dialect.render(stored)}) = ({there})", columns(stored)


def _select_first_public_rows(compiler: Compiler, rows: JoinedPublic, used: frozenset[str]) -> str:
    """The first rows of each key of the public table, which is read once."""
    name, public = compiler.dialect.identifier, rows.public
    listed = [column for column in columns_of(public) if column in used]
    keys = [right for _, right in rows.on]
    plain = {key.name for key in keys if isinstance(key, Column)}
    by = ", ".join(f"({compiler.dialect.render(key)})" for key in keys)
    within = f"PARTITION BY {by} " if by else ""
    # Rows of a key are alike in it, and in everything where no other column is read.
    content = [f"{name(column)} NULLS LAST" for column in listed if column not in plain]
    order = ", ".join(content) or "1"
    every = ", ".join(map(name, listed))
    inner = f"{every}, " if every else ""
    return (
        f"SELECT {every or '1'} FROM (SELECT {inner}row_number() OVER "
        f"({within}ORDER BY {order}) AS k FROM ({compiler.text(public, used)}) AS q) AS q "
        f"WHERE k <= {max(rows.partners, 1)}"
    )
