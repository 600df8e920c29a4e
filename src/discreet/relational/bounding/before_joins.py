"""Rows per person before a join that multiplies them: a public limit, whatever anybody's rows hold.

A join on anything but a unique key turns one row into several, and a chain of such joins into as
many as one likes: without a limit one person's rows could exhaust the engine, which would tell
that the person is there. So at most ``limit`` rows of each person enter such a join, and a
question whose joins could still make more than ``MAX_JOINED_ROWS`` rows of one unit is refused.

Source: contract, "What may be seen" (resources), "Bounding inside the engine". Proof:
``proofs/relational.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.hashing import Content
from discreet.relational.bounding.systematic import systematic_sample
from discreet.relational.compile.compiler import Compiler, privacy_id, step_text
from discreet.relational.plan.nodes import PlanNode, columns_of, row_columns
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Column

MAX_JOINED_ROWS = 1_000_000
"""Rows that the joins of a question may make of one unit."""

USUAL_ROWS = 1_000
"""Rows of a person that enter a join with several partners, where the product allows as many."""


@dataclass(frozen=True)
class Limited(PlanNode):
    """At most ``limit`` rows of each person, a systematic sample along their content.

    Columns keep their names and rows their owner. Contract: which rows of a person stay is a
    function of that person's rows and the salt.
    """

    rows: PlanNode
    limit: int

    @property
    def stability(self) -> int | None:
        return self.limit

    @property
    def privacy_id(self) -> str | None:
        return self.rows.privacy_id

    @property
    def as_stored(self) -> bool:
        """No: rows that were ranked by their content hold cleaned columns alone."""
        return False

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        """The limit, and what it is for."""
        return f"at most {self.limit} rows per person enter a join, a systematic sample"


@step_text.register
def limited(rows: Limited, compiler: Compiler, needed: frozenset[str]) -> str:
    """A systematic sample of each person's rows: of the needed columns."""
    name, below = compiler.dialect.identifier, rows.rows
    assert below.privacy_id is not None
    told = row_columns(below)
    listed = {
        column: kind
        for column, kind in columns_of(below).items()
        if column in needed or column in told
    }
    zeroed = [
        f"{compiler.one_zero(Column(column, ColumnDomain(kind)))} AS {name(column)}"
        for column, kind in listed.items()
    ]
    source = compiler.text(below, frozenset(listed) | {below.privacy_id})
    inside = f"SELECT {', '.join([name(below.privacy_id), *zeroed])} FROM ({source}) AS q"
    owner = privacy_id(below, name(below.privacy_id))
    content = [Content(name(column), kind) for column, kind in listed.items()]
    every = [owner.text, *(part.text for part in content)]
    apart = [Content(name(column), kind) for column, kind in told.items()]
    sample = partial(systematic_sample, rows=apart)
    return sample(inside, every, [owner], content, limit=rows.limit, by=compiler.shuffle)


def before_public(rows: PlanNode, partners: int, declared: int, least: int) -> PlanNode:
    """Rows that may each meet so many rows of a public table.

    ``declared`` is how many of one person count, and ``least`` in one table alone: so many must
    have room.
    """
    if partners <= 1 or _fits(rows.stability, partners):
        return rows
    most = MAX_JOINED_ROWS // partners
    if rows.privacy_id is None:
        raise too_many((rows.stability or 1) * partners)
    if most < least:
        raise too_many(least * partners)
    return Limited(rows, max(least, min(most, max(USUAL_ROWS, declared))))


def before_people(
    left: PlanNode, right: PlanNode, declared: tuple[int | None, int | None]
) -> tuple[PlanNode, PlanNode]:
    """Rows of two tables that meet where they belong to one person.

    Where a person has one row on one side, nothing multiplies. ``declared`` is how many rows of
    one person count on either side: where that is one row on one side alone, that side is cut to
    it, and where it is more than would enter otherwise, both are.
    """
    if 1 in (left.stability, right.stability) or _fits(left.stability, right.stability):
        return left, right
    match declared:
        case (1, several) if several != 1:
            return Limited(left, 1), right
        case (several, 1) if several != 1:
            return left, Limited(right, 1)
        case (int(one), int(two)) if max(one, two) > _each() and one * two <= MAX_JOINED_ROWS:
            return _limit_rows(left, one), _limit_rows(right, two)
    return _beside(left, right), _beside(right, left)


def _limit_rows(rows: PlanNode, most: int) -> PlanNode:
    return rows if rows.stability is not None and rows.stability <= most else Limited(rows, most)


def _beside(rows: PlanNode, other: PlanNode) -> PlanNode:
    """At most as many rows as the other side leaves room for: the same for both, if it can."""
    most = MAX_JOINED_ROWS // min(_each(), _each() if other.stability is None else other.stability)
    return _limit_rows(rows, most)


def _each() -> int:
    """Rows of a person that enter a join of two tables from each, where nobody declared more."""
    return math.isqrt(MAX_JOINED_ROWS)


def _fits(rows: int | None, partners: int | None) -> bool:
    return rows is not None and partners is not None and rows * partners <= MAX_JOINED_ROWS


def too_many(product: int, limit: int = MAX_JOINED_ROWS) -> InvalidParameter:
    """The refusal of joins that make more than ``limit`` rows of one unit's."""
    return InvalidParameter(
        code="join_multiplies",
        expectation=f"joins that make few rows of one unit's: at most {limit} at one step",
        received=product,
        remedy="Join on a key that is unique in the other table, or ask about fewer tables.",
    )
