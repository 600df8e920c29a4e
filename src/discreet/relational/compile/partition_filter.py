"""Text of one part of a table: people are cut down to few parts first, then the part is taken.

The hash is the portable one whatever the engine uses elsewhere: all questions to a partition, on
whatever engine and version, must keep a person in the same parts.

Source: contract, "Bounding inside the engine". Proof: ``proofs/sharing.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.relational.bounding.hashing import PORTABLE, Content
from discreet.relational.plan.partition_filter import Kept, SomeParts
from discreet.relational.types.expression import columns

if TYPE_CHECKING:
    from discreet.relational.compile.compiler import Compiler


def kept(compiler: Compiler, rows: Kept, needed: frozenset[str]) -> str:
    """The needed columns of the rows in the part; a row without a part is in none."""
    dialect = compiler.dialect
    part, value = dialect.render(rows.part), dialect.literal(rows.value)
    used, who = needed | columns(rows.part), ""
    if rows.keeping.at_most is not None:
        assert rows.owner is not None
        used |= {rows.owner}
        who = f" AND {dialect.identifier(rows.owner)} IN ({_people(compiler, rows, value)})"
    return f"SELECT * FROM ({compiler.text(rows.rows, used)}) AS q WHERE {part} = {value}{who}"


def _people(compiler: Compiler, rows: Kept, value: str) -> str:
    """Who is kept in the part: people and their parts, each pair once, ranked for each person."""
    dialect, keeping = compiler.dialect, rows.keeping
    assert rows.owner is not None
    owner, part = dialect.identifier(rows.owner), dialect.render(rows.part)
    order = ["p"]
    if isinstance(keeping, SomeParts):
        contents = (compiler.who(rows, owner), Content("p", rows.part.facts.kind))
        order = [PORTABLE.write(dialect, contents, keeping.salt), "p"]
    inside = compiler.text(rows.rows, columns(rows.part) | {rows.owner})
    pairs = f"SELECT DISTINCT {owner}, {part} AS p FROM ({inside}) AS q WHERE {part} IS NOT NULL"
    return (
        f"SELECT {owner} FROM (SELECT {owner}, p, row_number() OVER (PARTITION BY {owner} "
        f"ORDER BY {', '.join(order)}) AS k FROM ({pairs}) AS q) AS q "
        f"WHERE k <= {keeping.at_most} AND p = {value}"
    )
