"""What ``discreet synopsis`` is told in words: attributes, and the mechanism by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from typing import Any

from discreet.core.errors import InvalidParameter


class MechanismName(StrEnum):
    """The ways to make a synopsis that a name is enough for."""

    MARGINALS = "marginals"
    MATRIX = "matrix"
    MWEM = "mwem"


def parse_attributes(texts: list[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Columns by name, and expressions by the name before their ``=``.

    >>> parse_attributes(["sex,race", "age=FLOOR(age / 10)"])
    (('sex', 'race'), {'age': 'FLOOR(age / 10)'})
    """
    columns: list[str] = []
    expressions: dict[str, str] = {}
    for part in (part for text in texts for part in _parts(text)):
        name, equals, expression = part.partition("=")
        if not part.strip():
            continue
        if equals and name.strip().isidentifier():
            expressions[name.strip()] = expression.strip()
        else:
            columns.append(part.strip())
    if not columns and not expressions:
        raise InvalidParameter(
            code="attribute_names",
            expectation="at least one attribute",
            remedy="Write --attributes ward,age=FLOOR(age/10).",
        )
    return tuple(columns), expressions


def _parts(text: str) -> Iterator[str]:
    """The text between commas that are in no brackets and no quotes."""
    depth, quote, start = 0, "", 0
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign in "([") - (sign in ")]")
            if sign == "," and depth == 0:
                yield text[start:place]
                start = place + 1
    if text[start:].strip():
        yield text[start:]


def maker(mechanism: MechanismName, rounds: int | None) -> Callable[..., Any]:
    """What makes the mechanism of a workload and a spend."""
    if (mechanism is MechanismName.MWEM) != (rounds is not None):
        raise InvalidParameter(
            code="rounds_unclear",
            expectation="--rounds with --mechanism mwem, and with no other",
            received=mechanism.value,
            remedy="Write --mechanism mwem --rounds 8, or leave --rounds out.",
        )
    match mechanism:
        case MechanismName.MARGINALS:
            from discreet.queries.matrix.marginal_mechanism import MarginalMechanism

            return MarginalMechanism
        case MechanismName.MATRIX:
            from discreet.queries.matrix.mechanism import MatrixMechanism

            return MatrixMechanism
        case MechanismName.MWEM:
            from discreet.queries.mwem.mwem import MWEM
            from discreet.queries.record_count import NoisyRecordCount

            return partial(MWEM, rounds=int(rounds or 0), size=NoisyRecordCount())
