"""Rows with the columns that a query can see, by the names it may use for them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.plan.nodes import Rows
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class Visible:
    """A column in scope: the table's name or alias, its own name, and what it stands for."""

    qualifier: str
    name: str
    expression: Expression


@dataclass(frozen=True)
class Relation:
    """Rows and their visible columns."""

    rows: Rows
    columns: tuple[Visible, ...]

    def resolve(self, node: exp.Column) -> Expression:
        """The one column that a name means; names are not case-sensitive."""
        name, qualifier = node.name.lower(), node.table.lower()
        if node.args.get("db") or node.args.get("catalog"):
            raise unsupported(construct="names with three parts", remedy="Write table.column.")
        found = [
            column
            for column in self.columns
            if column.name.lower() == name
            and (not qualifier or column.qualifier.lower() == qualifier)
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
        known = sorted({column.name for column in self.columns})
        close = get_close_matches(node.name, known, n=1)
        raise InvalidParameter(
            code="unknown_column",
            expectation=f"one of the columns {known}",
            received=node.sql(),
            remedy=f"Did you mean {close[0]}?" if close else "Check the spelling.",
        )


def unsupported(*, construct: str, remedy: str) -> InvalidParameter:
    """The refusal of a construct that is not on the allow-list."""
    return InvalidParameter(
        code="unsupported_sql",
        expectation="SQL that the curator understands",
        received=construct,
        remedy=remedy,
    )
