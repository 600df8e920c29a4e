"""Which columns of an expression nobody declared: a refusal names them, not the expression."""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.relational.plan.nodes import Field, PlanNode, declared_field, field_of
from discreet.relational.schema.declarations import Category, Text
from discreet.relational.types.column_domain import require_bounds
from discreet.relational.types.expression import Column, Expression, columns


def undeclared(expression: Expression, name: str, rows: PlanNode) -> str:
    """The undeclared columns inside, as their tables name them; ``name`` where none is known."""
    found = filter(None, (field_of(each, rows) for each in sorted(columns(expression))))
    names = dict.fromkeys(
        field.name for _, field in found if isinstance(field.declaration, Text | None)
    )
    return ", ".join(names) or name


def key_remedy(expression: Expression, inside: str, rows: PlanNode) -> str:
    """What the owner may declare so that something is a key: of elements, what they are."""
    found = (declared_field(each, rows) for each in sorted(columns(expression)))
    made = [field for field in found if field is not None and field_of_element(field)]
    if made:
        return (
            f'Declare what the elements are: columns={{"{made[0].name}": dp.Text(max_elements=5, '
            "elements=dp.Category([...]))}, or dp.Discovered(); or join them with a public table."
        )
    return (
        f'Declare it: columns={{"{inside}": dp.Category([...])}}, with a public list, '
        "or dp.Discovered() to find its values privately."
    )


def field_of_element(field: Field) -> bool:
    """Whether a field is no column of a table, but what a step makes of one."""
    return not field.stored


def require_declared(value: Expression, name: str, rows: PlanNode) -> None:
    """Refuse an aggregate of what nobody declared."""
    if value.domain.declared:
        return
    inside = undeclared(value, name, rows)
    raise InvalidParameter(
        code="column_not_declared",
        expectation=f"declared columns inside an aggregate, here {inside}",
        received=name,
        remedy=f'Declare it: columns={{"{inside}": dp.Number(low, high)}} or dp.Category([...]).',
    )


def require_bounded(value: Expression, name: str, rows: PlanNode) -> None:
    """Refuse an aggregate of what has no public bounds.

    They follow from declarations, or from an expression that bounds whatever is inside of it:
    ``least(greatest(x, 0), 9)``, ``CASE WHEN note = 'ok' THEN 1 ELSE 0 END``. The statement clamps
    to them in either case.
    """
    if value.domain.bounded and not isinstance(value, Column):
        return
    require_declared(value, name, rows)
    require_bounds(value.domain, name)


def not_a_number(value: Expression, outer: str, rows: PlanNode) -> InvalidParameter:
    """The refusal to aggregate what is no number; it says where a declaration made it so."""
    found = field_of(value.name, rows) if isinstance(value, Column) else None
    remedy = "Aggregate a numeric column, or count instead."
    if found is not None and isinstance(found[1].declaration, Category):
        remedy = (
            f"{found[1].name} is declared as a category: count it or group by it; the owner may "
            "declare it with dp.Number instead."
        )
    return InvalidParameter(
        code="type_clash",
        expectation=f"a number inside {outer}",
        received=value.domain.kind.name,
        remedy=remedy,
    )
