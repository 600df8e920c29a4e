"""The text of derived columns: stored columns cleaned first, then the owner's expression.

Source: contract, "Columns".
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.nodes import DerivedField, Field
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Column, substitute


def with_inputs(place: str, fields: Iterable[Field], dialect: Dialect) -> str:
    """A table under the name ``t``, with the cleaned inputs of its derived columns beside them."""
    inputs = {
        each.name: each
        for field in fields
        if isinstance(field, DerivedField)
        for each in field.inputs
    }
    if not inputs:
        return f"{place} AS t"
    name = dialect.identifier
    items = ", ".join(
        f"{dialect.clean(f't.{name(each.name)}', each.stored, each.domain)} AS "
        f"{name(_input(each.name))}"
        for each in inputs.values()
    )
    return f"(SELECT t.*, {items} FROM {place} AS t) AS t"


def field_text(field: Field, domain: ColumnDomain, dialect: Dialect) -> str:
    """A column of such a table, cleaned: within ``domain`` whatever is stored or derived."""
    if not isinstance(field, DerivedField):
        return dialect.clean(f"t.{dialect.identifier(field.name)}", field.stored, domain)
    inputs = {each.name: Column(_input(each.name), each.domain) for each in field.inputs}
    return dialect.clean(
        f"({dialect.render(substitute(field.derivation, inputs))})", field.stored, domain
    )


def _input(name: str) -> str:
    return f"<{name}"
