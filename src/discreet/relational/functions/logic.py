"""Three-valued logic, and tests for NULL and for truth."""

from __future__ import annotations

from discreet.relational.functions.comparison import truth
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import Accept, clash, takes
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import Kind

MAX_CONDITIONS = 10_000


def _takes_conditions(name: str) -> Accept:
    def accept(facts: tuple[Facts, ...]) -> tuple[Kind, ...]:
        conditions = all(part.empty or part.kind is Kind.TRUTH for part in facts)
        if not conditions or not 1 <= len(facts) <= MAX_CONDITIONS:
            raise clash(name, "conditions", facts, "Compare: x <> 0, x IS NOT NULL.")
        return (Kind.TRUTH,) * len(facts)

    return accept


def _takes_anything(facts: tuple[Facts, ...]) -> tuple[Kind, ...]:
    if len(facts) != 1:
        raise clash(name="IS NULL", expected="one value", facts=facts, remedy="Write x IS NULL.")
    return (facts[0].kind,)


def _and(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _or(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


AND = Function("and", _takes_conditions("AND"), truth, _and, strict=False, commutative=True)
OR = Function("or", _takes_conditions("OR"), truth, _or, strict=False, commutative=True)
NOT = Function("not", takes("NOT", Kind.TRUTH), truth, lambda value: not value)
IS_NULL = Function("is null", _takes_anything, truth, lambda value: value is None, strict=False)
IS_NOT_NULL = Function(
    "is not null", _takes_anything, truth, lambda value: value is not None, strict=False
)
IS_TRUE = Function(
    "is true", takes("IS TRUE", Kind.TRUTH), truth, lambda value: value is True, strict=False
)
IS_FALSE = Function(
    "is false", takes("IS FALSE", Kind.TRUTH), truth, lambda value: value is False, strict=False
)

FUNCTIONS = (AND, OR, NOT, IS_NULL, IS_NOT_NULL, IS_TRUE, IS_FALSE)
