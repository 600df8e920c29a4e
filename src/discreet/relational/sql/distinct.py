"""SELECT DISTINCT at the top: keys without GROUP BY, or rows that their keys tell apart anyway.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

from sqlglot import exp

from discreet.relational.plan.query import KeyOutput, Output
from discreet.relational.sql.relation import unsupported


def as_groups(select: exp.Select) -> exp.Select:
    """The same question with GROUP BY, where DISTINCT columns are asked for without aggregates."""
    distinct = select.args.get("distinct")
    if distinct is None:
        return select
    if distinct.args.get("on"):
        raise unsupported(construct="DISTINCT ON", remedy="It would choose among private rows.")
    columns = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    if select.args.get("group") or any(node.find(exp.AggFunc, exp.Star) for node in columns):
        return select
    made = select.copy()
    made.set("group", exp.Group(expressions=[node.copy() for node in columns]))
    return made


def require_distinct(select: exp.Select, outputs: tuple[Output, ...], keys: int) -> None:
    """Refuse DISTINCT where keys that are not shown may leave equal rows: their noise differs."""
    shown = {output.number for output in outputs if isinstance(output, KeyOutput)}
    if select.args.get("distinct") is not None and shown != set(range(keys)):
        raise unsupported(
            construct="DISTINCT without all keys",
            remedy="Noise makes equal numbers different; show the keys, or leave DISTINCT out.",
        )
