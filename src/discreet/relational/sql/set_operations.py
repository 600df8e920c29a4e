"""INTERSECT and EXCEPT of rows inside FROM, for one column: each value once, if the other has it.

``SELECT pid FROM a INTERSECT SELECT pid FROM b`` is ``SELECT DISTINCT pid FROM (SELECT pid FROM a)
WHERE pid IN (SELECT pid FROM b)``. What may stand in IN is decided where that is read.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.relational.sql.reading import copied, rewritten
from discreet.relational.sql.relation import unsupported

_LEFT = "left rows"


def as_condition(node: exp.Intersect | exp.Except) -> exp.Expression:
    """The SELECT DISTINCT that a set operation of rows stands for."""
    word = type(node).__name__.upper()
    items = node.this.expressions if isinstance(node.this, exp.Select) else []
    given = [key for key, value in node.args.items() if value and key not in _READ]
    if len(items) != 1 or items[0].is_star or given or not node.args.get("distinct"):
        raise unsupported(
            construct=f"{word} of rows that have several columns",
            remedy="Write it for one column, or IN (SELECT ...) and NOT IN (SELECT ...).",
        )
    name = items[0].alias_or_name
    test = exp.In(
        this=exp.column(name, table=_LEFT, quoted=True),
        query=exp.Subquery(this=copied(node.expression)),
    )
    alias = exp.TableAlias(this=exp.to_identifier(_LEFT, quoted=True))
    made = exp.Select(
        distinct=exp.Distinct(),
        expressions=[exp.column(name, table=_LEFT, quoted=True)],
        from_=exp.From(this=exp.Subquery(this=copied(node.this), alias=alias)),
        where=exp.Where(this=test if isinstance(node, exp.Intersect) else exp.Not(this=test)),
    )
    return rewritten(made, node)


_READ = ("this", "expression", "distinct")
