"""Which kinds of arguments functions take: shared checks, and the refusal that explains itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.core.errors import Mismatch
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import Kind

Accept = Callable[[tuple[Facts, ...]], tuple[Kind, ...]]


def clash(name: str, expected: str, facts: Sequence[Facts], remedy: str) -> Mismatch:
    """The refusal of arguments of the wrong kind; kinds are public."""
    return Mismatch(
        code="type_clash",
        expectation=f"{expected} for {name}",
        received=", ".join(part.kind.value for part in facts) or "nothing",
        remedy=remedy,
    )


def takes(name: str, *kinds: Kind) -> Accept:
    """Exactly these kinds, one for each argument; dates pass for moments, wholes for reals."""

    def accept(facts: tuple[Facts, ...]) -> tuple[Kind, ...]:
        if len(facts) == len(kinds) and all(map(_fits, facts, kinds)):
            return kinds
        expected = ", ".join(kind.value for kind in kinds)
        raise clash(name, expected, facts, "Convert with CAST(x AS ...), or use another function.")

    return accept


def takes_numbers(name: str, count: int) -> Accept:
    """As many numbers as said, each kept in its kind."""

    def accept(facts: tuple[Facts, ...]) -> tuple[Kind, ...]:
        if len(facts) != count or not all(part.empty or part.kind.is_number for part in facts):
            raise clash(
                name,
                "one number" if count == 1 else f"{count} numbers",
                facts,
                "Convert text with CAST(x AS DOUBLE); count truth values with CASE.",
            )
        return tuple(part.kind if part.kind.is_number else Kind.WHOLE for part in facts)

    return accept


def takes_reals(name: str, count: int) -> Accept:
    """As many numbers as said, all as REAL."""
    numbers = takes_numbers(name, count)
    return lambda facts: (Kind.REAL,) * len(numbers(facts))


def takes_calendar(name: str) -> Accept:
    """One day or moment, kept in its kind."""

    def accept(facts: tuple[Facts, ...]) -> tuple[Kind, ...]:
        if len(facts) != 1 or not (facts[0].empty or facts[0].kind.is_calendar):
            raise clash(name, "one date or moment", facts, "Convert text with CAST(x AS DATE).")
        return (facts[0].kind if facts[0].kind.is_calendar else Kind.DATE,)

    return accept


def takes_alike(name: str, *, least: int, most: int) -> Accept:
    """Several values of one kind, after promotion; WHOLE becomes REAL and DATE becomes MOMENT."""

    def accept(facts: tuple[Facts, ...]) -> tuple[Kind, ...]:
        if not least <= len(facts) <= most:
            count = f"{least}" if least == most else f"{least} to {most}"
            raise clash(name, f"{count} arguments", facts, "Check the number of arguments.")
        return (common_kind(name, facts),) * len(facts)

    return accept


def common_kind(name: str, facts: Sequence[Facts]) -> Kind:
    """The kind that all have or can be promoted to; NULL has any."""
    kinds = {part.kind for part in facts if not part.empty}
    if not kinds:
        return facts[0].kind
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {Kind.WHOLE, Kind.REAL}:
        return Kind.REAL
    if kinds == {Kind.DATE, Kind.MOMENT}:
        return Kind.MOMENT
    raise clash(name, "values of one kind", facts, "Convert one of them with CAST(x AS ...).")


def _fits(facts: Facts, kind: Kind) -> bool:
    promoted = {(Kind.WHOLE, Kind.REAL), (Kind.DATE, Kind.MOMENT)}
    return facts.empty or facts.kind is kind or (facts.kind, kind) in promoted
