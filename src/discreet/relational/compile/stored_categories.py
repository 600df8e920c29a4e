"""Categories that may be read as they are stored: what is not in their list meets nothing there.

To look a text up in its list, for each row, takes longer than what follows. A key of a question,
or of a join with public rows, need not be looked up first: it is compared with listed values.

Source: contract, "Columns". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.nodes import DerivedField, PlanNode, field_of
from discreet.relational.schema.declarations import Category
from discreet.relational.types.expression import Column, Expression


def stored_category(expression: Expression, rows: PlanNode, dialect: Dialect) -> Column | None:
    """The stored column behind a plain category of a private table.

    None for anything else, and where values so stored do not compare with listed ones as they are.
    """
    if not isinstance(expression, Column) or not rows.as_stored:
        return None
    found = field_of(expression.name, rows)
    if found is None:
        return None
    scan, field = found
    if (
        scan.private
        and not isinstance(field, DerivedField)
        and isinstance(field.declaration, Category)
        and dialect.kind_of(field.stored) is field.domain.kind
        and dialect.compares(field.stored)
    ):
        return Column(scan.stored(field.name), expression.domain)
    return None
