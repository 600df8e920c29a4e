"""The place of each row among those that share its key: what a limit on rows per key would keep.

A key with n rows gives the numbers 1 to n, whichever row gets which. So of a key's rows those with
a number of at most t are as many as a cut to t rows would keep, and the rows beyond t as many as it
would leave out. One row more adds one number, the next one of its key, and changes no other: rows
that differ by d give numbers that differ by d, not by 2d as those of the cut itself do.

Source: contract, "Units and neighbours"; 004b:A21(d). Proof: ``proofs/learnt_limits.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.compile.compiler import Compiler, step_text, used_by
from discreet.relational.plan.nodes import Output, PlanNode
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class NumberedByKey(PlanNode):
    """For each row its number within its key, from one, and nothing else of it.

    Numbers beyond ``most`` count as the one after it. Rows of which a part of the key is NULL meet
    nobody, and are dropped.
    """

    prefix: str
    rows: PlanNode
    keys: tuple[Expression, ...]
    most: int
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """As below: a row that comes adds the next number of its key."""
        return self.rows.stability

    @property
    def privacy_id(self) -> str | None:
        """None: a number is that of no row in particular."""
        return None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"rows numbered within each key, up to {self.most}"


@step_text.register
def numbered_by_key(rows: NumberedByKey, compiler: Compiler, needed: frozenset[str]) -> str:
    """The numbers alone: no order within a key, since rows of one key are not told apart."""
    name = compiler.dialect.identifier
    keyed = [Output(f"{rows.prefix}?{place}", e.domain) for place, e in enumerate(rows.keys)]
    wanted = frozenset(output.name for output in keyed)
    inside = compiler.computed(
        compiler.text(rows.rows, used_by(rows.keys)), (None, None), keyed, rows.keys, wanted
    )
    keys = [name(output.name) for output in keyed]
    met = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    by = ", ".join(keys)
    counted = (
        f"SELECT row_number() OVER (PARTITION BY {by} ORDER BY {by}) AS k "
        f"FROM ({inside}) AS q WHERE {met}"
    )
    (number,) = rows.outputs
    beyond = f"CASE WHEN k > {rows.most} THEN {rows.most + 1} ELSE k END"
    held = f"CAST({beyond} AS BIGINT) AS {name(number.name)}"
    return f"SELECT {held if needed else '1 AS one'} FROM ({counted}) AS q"
