"""At most so many rows of each person, whatever comes after: rows before they lose their owner.

Source: contract, "Bounding inside the engine". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.bounding.hashing import Content
from discreet.relational.bounding.systematic import systematic_sample
from discreet.relational.compile.compiler import Compiler, privacy_id, step_text, used_by
from discreet.relational.plan.nodes import Output, PlanNode, row_columns
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Column, Expression


@dataclass(frozen=True)
class Bounded(PlanNode):
    """At most ``limit`` rows of each person, a systematic sample along their content.

    Contract: which rows of a person stay is a function of that person's rows and the salt.
    """

    prefix: str
    rows: PlanNode
    limit: int
    expressions: tuple[Expression, ...]
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """The limit."""
        return self.limit

    @property
    def privacy_id(self) -> str | None:
        """The person still owns what is left."""
        return f"{self.prefix}!"

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The rows before."""
        return (self.rows,)

    def label(self) -> str:
        """The limit."""
        return f"at most {self.limit} rows per person, a systematic sample"


@step_text.register
def bounded(rows: Bounded, compiler: Compiler, needed: frozenset[str]) -> str:
    """A systematic sample of each person's rows: of the needed columns."""
    pairs = zip(rows.outputs, rows.expressions, strict=True)
    read = [expression for output, expression in pairs if output.name in needed]
    told = row_columns(rows.rows)
    used = used_by(read, rows.rows.privacy_id) | told.keys()
    own = tuple(Output(column, ColumnDomain(kind)) for column, kind in told.items())
    inside = compiler.computed(
        compiler.text(rows.rows, used),
        (rows.rows.privacy_id, rows.privacy_id),
        (*rows.outputs, *own),
        (*rows.expressions, *(Column(each.name, each.domain) for each in own)),
        needed | told.keys(),
    )
    name = compiler.dialect.identifier
    contents = [
        Content(name(output.name), output.domain.kind)
        for output in rows.outputs
        if output.name in needed
    ]
    owner = privacy_id(rows, name(rows.privacy_id or ""))
    named = [*(content.text for content in contents), owner.text]
    return systematic_sample(
        inside,
        named,
        [owner],
        contents,
        limit=rows.limit,
        by=compiler.shuffle,
        rows=[Content(name(column), kind) for column, kind in told.items()],
    )
