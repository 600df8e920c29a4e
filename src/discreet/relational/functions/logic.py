"""Three-valued logic, and tests for NULL and for truth."""

from __future__ import annotations

from discreet.relational.functions.comparison import truth
from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import Accept, clash, takes
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

MAX_CONDITIONS = 10_000


def _takes_conditions(name: str) -> Accept:
    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        conditions = all(part.empty or part.kind is DataType.BOOLEAN for part in domain)
        if not conditions or not 1 <= len(domain) <= MAX_CONDITIONS:
            raise clash(name, "conditions", domain, "Compare: x <> 0, x IS NOT NULL.")
        return (DataType.BOOLEAN,) * len(domain)

    return accept


def _takes_anything(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
    if len(domain) != 1:
        raise clash(name="IS NULL", expected="one value", domain=domain, remedy="Write x IS NULL.")
    return (domain[0].kind,)


def _and(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _or(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


AND = Function("and", _takes_conditions("AND"), truth, _and, strict=False, commutative=True)
OR = Function("or", _takes_conditions("OR"), truth, _or, strict=False, commutative=True)
NOT = Function("not", takes("NOT", DataType.BOOLEAN), truth, lambda value: not value)
IS_NULL = Function("is null", _takes_anything, truth, lambda value: value is None, strict=False)
IS_NOT_NULL = Function(
    "is not null", _takes_anything, truth, lambda value: value is not None, strict=False
)
IS_TRUE = Function(
    "is true", takes("IS TRUE", DataType.BOOLEAN), truth, lambda value: value is True, strict=False
)
IS_FALSE = Function(
    "is false",
    takes("IS FALSE", DataType.BOOLEAN),
    truth,
    lambda value: value is False,
    strict=False,
)

FUNCTIONS = (AND, OR, NOT, IS_NULL, IS_NOT_NULL, IS_TRUE, IS_FALSE)
