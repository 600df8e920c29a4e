"""Rows that the question itself brings, or that follow from public tables alone.

``VALUES``, ``UNNEST`` of constants, inner queries over public tables, and the public lists of keys
that a condition is tried on. An engine holds them as a table, whatever their number: a statement
never spells them out.

Source: contract, "Columns" (public keys), "What may be seen".
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.plan.keys import Block
from discreet.relational.plan.nodes import Output, PlanNode


@dataclass(frozen=True)
class PublicRows(PlanNode):
    """Constant rows: no unit adds any or takes one away."""

    prefix: str
    outputs: tuple[Output, ...]
    listed: Block

    @classmethod
    def of(
        cls, prefix: str, outputs: tuple[Output, ...], entries: tuple[tuple[object, ...], ...]
    ) -> PublicRows:
        """Entries with one value for each output, of its kind or NULL."""
        return cls(prefix, outputs, Block((), entries))

    @property
    def stability(self) -> int | None:
        """None of them is anybody's."""
        return 0

    @property
    def privacy_id(self) -> str | None:
        """Nobody's."""
        return None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """Nothing below."""
        return ()

    def label(self) -> str:
        """How many there are."""
        return f"{len(self.listed.entries)} public rows"


@step_text.register
def public_rows(rows: PublicRows, compiler: Compiler, needed: frozenset[str]) -> str:
    """The needed columns of the engine's table of them."""
    name = compiler.dialect.identifier
    table = compiler.listed(rows.listed.entries, [output.domain.kind for output in rows.outputs])
    items = [
        f"t.v{place} AS {name(output.name)}"
        for place, output in enumerate(rows.outputs)
        if output.name in needed
    ]
    return f"SELECT {', '.join(items) or '1 AS one'} FROM {table} AS t"
