"""Rows with the columns that a query can see, by the names it may use for them.

``Steps`` makes rows of rows: each step has a number of its own, so that column names are unique.

Source: contract, "Units and neighbours". Proof: ``proofs/relational.md``, ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.derived_limits import Declared
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.plan.nodes import Distinct, Output, PlanNode, UnionAll
from discreet.relational.sql.answer_sizes import PublicWork
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.limits import declared_in, person_rows
from discreet.relational.sql.padded_rows import Padded
from discreet.relational.types.expression import Column, Expression

_MAX_STEPS = 200


@dataclass(frozen=True)
class Visible:
    """A column in scope: the table's name or alias, its own name, and what it stands for.

    One that USING merged with another is ``merged``: it is meant only with its table's name.
    """

    qualifier: str
    name: str
    expression: Expression
    merged: bool = False


@dataclass(frozen=True)
class SQLRelation:
    """Rows and their visible columns; ``padded`` says of which joins public rows alone are kept."""

    rows: PlanNode
    columns: tuple[Visible, ...]
    padded: Padded = ()

    @cached_property
    def _by_name(self) -> dict[str, list[Visible]]:
        """Columns by their names in small letters."""
        found: dict[str, list[Visible]] = {}
        for column in self.columns:
            found.setdefault(column.name.lower(), []).append(column)
        return found

    def resolve(self, node: exp.Column) -> Expression:
        """The one column that a name means; names are not case-sensitive."""
        name, qualifier = node.name.lower(), node.table.lower()
        if node.args.get("db") or node.args.get("catalog"):
            raise unsupported(construct="names with three parts", remedy="Write table.column.")
        found = [
            column
            for column in self._by_name.get(name, ())
            if (column.qualifier.lower() == qualifier if qualifier else not column.merged)
        ]
        if len(found) == 1:
            return found[0].expression
        if found:
            raise InvalidParameter(
                code="ambiguous_column",
                expectation="a column name that means one column",
                received=node.sql(),
                remedy="Put the table's name before it: "
                + " or ".join(f"{column.qualifier}.{column.name}" for column in found)
                + ".",
            )
        raise self._unknown(node)

    def _unknown(self, node: exp.Column) -> InvalidParameter:
        """The refusal of a name; one with a table's name is never told to do without it.

        Without it, the name could mean a column of another table: another question, at a price.
        """
        qualifier = node.table.lower()
        own = [each for each in self.columns if qualifier in ("", each.qualifier.lower())]
        known = sorted({column.name for column in own or self.columns})
        close = get_close_matches(node.name, known, n=1) if own else []
        if not own:
            tables = dict.fromkeys(column.qualifier for column in self.columns)
            shown = ", ".join(name for name in tables if name.isidentifier())
            remedy = f"No table here is called {node.table}; there are: {shown or 'none'}."
        elif close:
            remedy = f"Did you mean {node.table + '.' if node.table else ''}{close[0]}?"
        else:
            remedy = "Check the spelling."
        if isinstance(node.this, exp.Identifier) and node.this.args.get("quoted"):
            remedy += f" Text stands in single quotes, '{node.name}'; double quotes are for names."
        return InvalidParameter(
            code="unknown_column",
            expectation=f"one of the columns {known}",
            received=node.sql(),
            remedy=remedy,
        )


@dataclass
class Steps:
    """Makes the steps of one question."""

    catalog: Catalog
    public_work: PublicWork = field(default_factory=PublicWork)
    _made: int = field(default=0)

    @cached_property
    def declared(self) -> Declared:
        """What the owner declared, with the limits that follow from it for the steps so far."""
        return declared_in(self.catalog)

    def prefix(self, word: str) -> str:
        """A prefix that no other step of the question has."""
        self._made += 1
        if self._made > _MAX_STEPS:
            raise unsupported(
                construct=f"more than {_MAX_STEPS} tables and inner queries",
                remedy="Common tables count wherever they are named; ask something shorter.",
            )
        return f"{self._made}#{word}"

    def computed(self, made: SQLRelation, word: str, step: Callable[..., PlanNode]) -> SQLRelation:
        """Rows after a step that computes every visible column anew."""
        if made.padded:
            raise unsupported(
                construct="RIGHT or FULL JOIN below DISTINCT, UNION or a join on another key",
                remedy="Write JOIN there: every key of the public table appears anyway.",
            )
        prefix = self.prefix(word)
        outputs = tuple(
            Output(f"{prefix}.{place}", column.expression.domain)
            for place, column in enumerate(made.columns)
        )
        rows = step(prefix, made.rows, tuple(column.expression for column in made.columns), outputs)
        return SQLRelation(
            rows,
            tuple(
                replace(column, expression=Column(output.name, output.domain))
                for column, output in zip(made.columns, outputs, strict=True)
            ),
        )

    def disowned(self, made: SQLRelation) -> SQLRelation:
        """At most R rows of each person, so that what follows need not know whose they are."""
        if not made.rows.privacy_id:
            return made
        limit = person_rows(made.rows, self.catalog)

        def bounded(prefix: str, rows: PlanNode, expressions: Any, outputs: Any) -> Bounded:
            return Bounded(prefix, rows, limit, expressions, outputs)

        return self.computed(made, "bounded", bounded)

    def projected(self, made: SQLRelation) -> SQLRelation:
        """The same rows with every visible column computed."""

        def projected(prefix: str, rows: PlanNode, expressions: Any, outputs: Any) -> UnionAll:
            return UnionAll(prefix, ((rows, expressions),), outputs)

        return self.computed(made, "computed", projected)

    def distinct(self, made: SQLRelation) -> SQLRelation:
        """Each combination once; a person's rows are bounded first, since rows lose their owner."""
        below = self.disowned(made) if made.rows.privacy_id else made
        return self.computed(below, "distinct", Distinct)


def unsupported(*, construct: str, remedy: str) -> InvalidParameter:
    """The refusal of a construct that is not on the allow-list."""
    return InvalidParameter(
        code="unsupported_sql",
        expectation="SQL that the curator understands",
        received=construct,
        remedy=remedy,
    )
