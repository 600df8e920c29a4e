"""How much text a question writes for one row: a public number, with a limit.

Each text is short (``TEXT_LIMIT``), but a question may compute many of them, in one step or in
steps upon steps. What it computes for one row of each of its steps, results on the way included,
is added up from the facts of its expressions alone, so a refusal is free and tells nothing.

Source: contract, "What may be seen" (the resources of a question are public).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import accumulate

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.text import CONCAT
from discreet.relational.plan.keys import Block
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import TEXT_LIMIT, Kind
from discreet.relational.types.expression import Call, Case, Column, Literal

MOST_WRITTEN = 64 * TEXT_LIMIT
"""Letters, of four bytes at most: 1 MiB for a row."""


def written(step: object) -> int:
    """Letters of text computed for one row by all expressions in a plan or a question.

    Columns and constants are not written anew; equal expressions of one step are written once.
    """
    return sum(sum(map(_letters, calls)) for calls in _calls(step))


def require_short(step: object) -> None:
    """Refuse a question that writes more text for a row than any may."""
    found = written(step)
    if found > MOST_WRITTEN:
        raise InvalidParameter(
            code="too_much_text",
            expectation=f"at most {MOST_WRITTEN} letters of text computed for one row",
            received=found,
            remedy="Compute fewer texts, or shorter ones: left(x, 20), or declared categories.",
        )


def _letters(call: Call) -> int:
    """Letters of a result, and of all that is held on the way to it."""
    if call.function != CONCAT:
        return call.facts.letters
    _, *held = accumulate(arg.facts.letters for arg in call.args)
    return call.facts.letters + sum(min(so_far, 2 * TEXT_LIMIT) for so_far in held)


def _calls(step: object) -> Iterator[set[Call]]:
    """The different calls that give text, step by step."""
    waiting: list[object] = [step]
    while waiting:
        found = set[Call]()
        parts = _parts(waiting.pop())
        while parts:
            part = parts.pop()
            if isinstance(part, Call | Case):
                parts.extend(part.args)
                if isinstance(part, Call) and part.facts.kind is Kind.TEXT:
                    found.add(part)
            elif isinstance(part, tuple):
                parts.extend(part)
            elif is_dataclass(part) and not isinstance(part, Column | Literal | Facts):
                waiting.append(part)
        yield found


def _parts(step: object) -> list[object]:
    """What a step is made of; lists of keys have no expressions in them."""
    if isinstance(step, Block):
        return [step.expressions]
    assert is_dataclass(step)
    return [getattr(step, item.name) for item in fields(step)]
