"""Which kinds of arguments functions take: shared checks, and the refusal that explains itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.core.errors import Mismatch
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

Accept = Callable[[tuple[ColumnDomain, ...]], tuple[DataType, ...]]


def clash(name: str, expected: str, domain: Sequence[ColumnDomain], remedy: str) -> Mismatch:
    """The refusal of arguments of the wrong kind; kinds are public."""
    return Mismatch(
        code="type_clash",
        expectation=f"{expected} for {name}",
        received=", ".join(part.kind.value for part in domain) or "nothing",
        remedy=remedy,
    )


def takes(name: str, *kinds: DataType) -> Accept:
    """Exactly these kinds, one for each argument; dates pass for moments, wholes for reals."""

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        if len(domain) == len(kinds) and all(map(_fits, domain, kinds)):
            return kinds
        expected = ", ".join(kind.value for kind in kinds)
        raise clash(name, expected, domain, "Convert with CAST(x AS ...), or use another function.")

    return accept


def takes_numbers(name: str, count: int) -> Accept:
    """As many numbers as said, each kept in its kind."""

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        if len(domain) != count or not all(part.empty or part.kind.is_number for part in domain):
            raise clash(
                name,
                "one number" if count == 1 else f"{count} numbers",
                domain,
                "Convert text with CAST(x AS DOUBLE); count truth values with CASE.",
            )
        return tuple(part.kind if part.kind.is_number else DataType.INTEGER for part in domain)

    return accept


def takes_reals(name: str, count: int) -> Accept:
    """As many numbers as said, all as DOUBLE."""
    numbers = takes_numbers(name, count)
    return lambda domain: (DataType.DOUBLE,) * len(numbers(domain))


def takes_calendar(name: str) -> Accept:
    """One day or moment, kept in its kind."""

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        if len(domain) != 1 or not (domain[0].empty or domain[0].kind.is_calendar):
            raise clash(name, "one date or moment", domain, "Convert text with CAST(x AS DATE).")
        return (domain[0].kind if domain[0].kind.is_calendar else DataType.DATE,)

    return accept


def takes_alike(name: str, *, least: int, most: int) -> Accept:
    """Several values of one kind, after promotion: INTEGER to DOUBLE, DATE to TIMESTAMP."""

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        if not least <= len(domain) <= most:
            count = f"{least}" if least == most else f"{least} to {most}"
            raise clash(name, f"{count} arguments", domain, "Check the number of arguments.")
        return (common_kind(name, domain),) * len(domain)

    return accept


def common_kind(name: str, domain: Sequence[ColumnDomain]) -> DataType:
    """The kind that all have or can be promoted to; NULL has any."""
    kinds = {part.kind for part in domain if not part.empty}
    if not kinds:
        return domain[0].kind
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {DataType.INTEGER, DataType.DOUBLE}:
        return DataType.DOUBLE
    if kinds == {DataType.DATE, DataType.TIMESTAMP}:
        return DataType.TIMESTAMP
    raise clash(name, "values of one kind", domain, "Convert one of them with CAST(x AS ...).")


_STANDS_FOR = (
    DataType.TEXT,
    DataType.DOUBLE,
    DataType.INTEGER,
    DataType.TIMESTAMP,
    DataType.BOOLEAN,
)
"""What an untyped text may stand for, in the order in which it is tried."""


def accepted(accept: Accept, domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
    """The kinds that arguments are converted to; untyped texts are what the others ask for.

    A text file says of none of its fields what it is, so what it is compared with or computed with
    decides, which is public: text beside text, a number beside numbers, a moment beside days.
    """
    if not any(part.untyped for part in domain):
        return accept(domain)
    refusal: Mismatch | None = None
    for kind in _STANDS_FOR:
        try:
            return accept(tuple(ColumnDomain(kind) if p.untyped else p for p in domain))
        except Mismatch as other:
            refusal = refusal or other
    assert refusal is not None
    raise refusal


def shared_kind(name: str, domain: Sequence[ColumnDomain]) -> DataType:
    """The kind that all have or can be promoted to, untyped texts included."""
    return accepted(lambda parts: (common_kind(name, parts),), tuple(domain))[0]


def require_order(name: str, domain: Sequence[ColumnDomain]) -> None:
    """Refuse to put untyped texts in an order: as numbers they would have another one."""
    if sum(part.untyped for part in domain) < len(domain):
        return
    raise clash(
        name,
        "values of a known type",
        domain,
        'In a text file all is text: the owner may say types={"x": float}, or str; or write '
        "CAST(x AS DOUBLE).",
    )


def _fits(domain: ColumnDomain, kind: DataType) -> bool:
    promoted = {(DataType.INTEGER, DataType.DOUBLE), (DataType.DATE, DataType.TIMESTAMP)}
    return domain.empty or domain.kind is kind or (domain.kind, kind) in promoted
