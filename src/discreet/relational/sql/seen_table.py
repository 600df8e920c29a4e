"""Tables of released values with the names that SQL has for their columns, and what is computed.

``Later`` is what a SELECT computes after its aggregates: columns, conditions and order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.post_processing.tables import TableNode
from discreet.relational.sql.reading import copied
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.split_select import SelectParts, named_outputs
from discreet.relational.types.expression import Expression


@dataclass
class SeenTable:
    """A table of released values with the names under which its columns are seen."""

    node: TableNode
    names: list[tuple[str, str]]
    placed: dict[int, Expression] = field(default_factory=dict)

    def resolve(self, column: exp.Column) -> Expression:
        """The column that a name means."""
        if id(column) in self.placed:
            return self.placed[id(column)]
        name, qualifier = column.name.lower(), column.table.lower()
        found = [
            place
            for place, (table, own) in enumerate(self.names)
            if own.lower() == name and (not qualifier or table.lower() == qualifier)
        ]
        if len(found) == 1:
            return self.node.columns[found[0]].column(found[0])
        raise InvalidParameter(
            code="ambiguous_column" if found else "unknown_column",
            expectation=f"one of the columns {sorted({own for _, own in self.names})}",
            received=column.sql(),
            remedy="Name a column that the inner query selects, with its table where two have it.",
        )

    def with_node(self, node: TableNode) -> None:
        """The same names over a table with columns added at the end."""
        added = node.columns[len(self.names) :]
        self.names += [("", f"\x00{column.name}") for column in added]
        self.node = node


@dataclass
class Later:
    """What is computed after aggregates: columns, conditions and order, over their columns."""

    select: exp.Select
    outputs: list[tuple[str, exp.Expression]]
    having: exp.Expression | None
    qualify: exp.Expression | None
    order: list[exp.Expression]

    @classmethod
    def of(
        cls, select: exp.Select, split: SelectParts | None, seen: SeenTable | None = None
    ) -> Later:
        """Of a SELECT; over the columns of ``split`` where it aggregates."""
        named = named_outputs(select) if seen is None else _stars(select, seen)
        aliases = {name.lower(): node for name, node in named}

        def over(node: exp.Expression) -> exp.Expression:
            if split is not None:
                return split.over(node)
            known = [] if seen is None else [own.lower() for _, own in seen.names]
            return _aliased(copied(node), aliases, known)

        clauses: dict[str, Any] = {
            name: select.args.get(name) for name in ("having", "qualify", "order")
        }
        outputs = [
            (name, split.over(node) if split is not None else copied(node)) for name, node in named
        ]
        holder = [exp.Paren(this=node) for _, node in outputs]  # so that it can be replaced
        # Different rows are put in order by their own columns, afterwards.
        plain = clauses["order"] is not None and not select.args.get("distinct")
        terms = clauses["order"].expressions if plain else []
        order = []
        for term in terms:
            made = copied(term)
            literal = isinstance(term.this, exp.Literal)
            made.set("this", term.this.copy() if literal else exp.Paren(this=over(term.this)))
            order.append(made)
        having, qualify = clauses["having"], clauses["qualify"]
        return cls(
            select,
            list(zip([name for name, _ in outputs], holder, strict=True)),
            None if having is None else exp.Paren(this=over(having.this)),
            None if qualify is None else exp.Paren(this=over(qualify.this)),
            order,
        )

    def nodes(self) -> list[exp.Expression]:
        """Everything that may hold a window or a subquery."""
        conditions = [node for node in (self.having, self.qualify) if node is not None]
        return [*(node for _, node in self.outputs), *conditions, *self.order]


def _stars(select: exp.Select, seen: SeenTable) -> list[tuple[str, exp.Expression]]:
    found: list[tuple[str, exp.Expression]] = []
    for item, pair in zip(select.expressions, named_outputs(select), strict=True):
        star = isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        )
        if not star:
            found.append(pair)
            continue
        if any(item.args.get(part) for part in ("except_", "except", "replace", "rename")):
            raise unsupported(construct="* with EXCEPT or REPLACE", remedy="List the columns.")
        wanted = item.table.lower() if isinstance(item, exp.Column) else ""
        for table, name in seen.names:
            if not name.startswith("\x00") and wanted in ("", table.lower()):
                found.append((name, exp.column(name, table=table or None, quoted=True)))
    return found


def _aliased(
    node: exp.Expression, aliases: Mapping[str, exp.Expression], known: list[str]
) -> exp.Expression:
    """A node of ORDER BY or QUALIFY with the names of output columns as what they stand for."""

    def meant(part: exp.Expression) -> exp.Expression:
        if not isinstance(part, exp.Column) or part.table or part.name.lower() in known:
            return part
        target = aliases.get(part.name.lower())
        return part if target is None else exp.Paren(this=target.copy())

    return node.transform(meant)
