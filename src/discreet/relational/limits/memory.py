"""How much a question writes for one row and holds of one unit: public numbers, with limits.

*For one row.* Each text is short (``TEXT_LIMIT``), but a question may compute many of them, in one
step or in steps upon steps. What it computes for one row of each of its steps, results on the way
included, is added up.

*Of one unit.* A join makes few rows of one unit's, but unions add them up, and joins on another key
multiply what their owner declared. A step that sorts or tells rows apart keeps the texts of all of
them: a million rows of one person, of ten texts each, are more than a machine has room
for, and then the person's presence would decide whether there is an answer. So rows, and the
product, have limits of their own.

All follow from the plan and the facts of its expressions alone, so a refusal is free and tells
nothing.

Source: contract, "What may be seen" (the resources of a question are public).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from discreet.core.errors import InvalidParameter
from discreet.core.parts import field_names, parts_of
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.aggregates.measures import CountValues
from discreet.relational.bounding.before_joins import MAX_JOINED_ROWS, too_many
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.key_truncation import JoinedByKey, Truncated
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.text import CONCAT
from discreet.relational.plan.keys import Block, DiscoveredKeys, KeySet
from discreet.relational.plan.nodes import Distinct, Filtered, PlanNode, Scan, UnionAll, upwards
from discreet.relational.post_processing.tables import PublicRowsTable
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, columns

MAX_HELD = 1 << 26
"""Letters, of four bytes at most: 256 MiB for a unit."""

MAX_WRITTEN = 64 * TEXT_LIMIT
"""Letters, of four bytes at most: 1 MiB for a row."""

_JOINS = 4
"""How many joins of ``MAX_JOINED_ROWS`` rows each may meet at one step."""


def require_rows(rows: PlanNode) -> None:
    """Refuse a plan with a step at which there are too many rows of one unit."""
    limit = _JOINS * MAX_JOINED_ROWS
    most = max(count_rows_by_step(rows).values())
    if most > limit:
        raise too_many(most, limit)


def count_rows_by_step(rows: PlanNode) -> dict[int, int]:
    """Rows that each step makes of one unit, by the step's identity.

    Those that a person has in a table are not made.
    """
    found: dict[int, int] = {}
    for step in upwards(rows):
        below = [found[id(each)] for each in step.inputs]
        match step:
            case JoinedByKey(left, right):
                number = below[0] * right.limit + below[1] * left.limit
            case JoinedPublic():
                number = found[id(step.rows)] * max(step.partners, 1)
            case Unnested():
                number = found[id(step.rows)] * step.most
            case Filtered() | PartitionFilter() | Distinct() | UnionAll() | Truncated():
                number = sum(below)
            case _:
                number = sum(below) if step.stability is None else step.stability
        found[id(step)] = number
    return found


def require_room(
    rows: PlanNode, keys: KeySet | DiscoveredKeys, aggregates: Iterable[Aggregate]
) -> None:
    """Refuse a question that would hold more text of one unit than any may."""
    counted = [
        measure.argument
        for aggregate in aggregates
        for measure in aggregate.measures
        if isinstance(measure, CountValues)
    ]
    steps = count_rows_by_step(rows)
    last = steps[id(rows)] * sum(part.domain.letters for part in (*_keys(keys), *counted))
    named = frozenset(_find_read_columns((rows, _keys(keys), tuple(aggregates))))
    found = max(last, *_count_held_letters(rows, named, steps), 0)
    if found > MAX_HELD:
        raise InvalidParameter(
            code="too_much_text",
            expectation=f"at most {MAX_HELD} letters of text in the rows that joins make of one "
            "unit's",
            received=found,
            remedy="Join on a key that is unique in the other table, or leave texts out of what is "
            "joined: filter by them in FROM (...), and shorten them: left(x, 20).",
        )


def _count_held_letters(
    rows: PlanNode, named: frozenset[str], number: Mapping[int, int]
) -> Iterator[int]:
    """What each step holds of its inputs, and of what it computes.

    Joins on another key are left out: how many rows they let through is the owner's declaration.
    """
    texts = [columns(step.text) for step in upwards(rows) if isinstance(step, Unnested)]
    lengths = _lengths(rows, named.union(*texts))
    waiting = [(rows, named)]
    while waiting:
        step, read = waiting.pop()
        computed = sum(output.domain.letters for output in getattr(step, "outputs", ()))
        if isinstance(step, Unnested):
            read |= columns(step.text)  # which ends there, unless a step above reads it too
        for below in step.inputs:
            if not isinstance(step, Filtered | Truncated | JoinedByKey):
                known = lengths[id(below)]
                letters = sum(known[name] for name in read & known.keys())
                yield number[id(below)] * max(letters, computed)
            waiting.append((below, read))


def _lengths(rows: PlanNode, named: frozenset[str]) -> dict[int, dict[str, int]]:
    """The letters of each of some columns that the rows of a step have, by the step's identity."""
    found: dict[int, dict[str, int]] = {}
    for step in upwards(rows):
        outputs = getattr(step, "outputs", None)
        if isinstance(step, Scan):
            own = {step.column(name): field.domain.letters for name, field in step.fields.items()}
        elif outputs is not None:
            own = {output.name: output.domain.letters for output in outputs}
        else:
            own = {}
            for below in step.inputs:
                own |= found[id(below)]
            if isinstance(step, Unnested):
                # Together the elements of a row have no more letters than its text.
                own[step.element.name] = -(-step.text.domain.letters // step.most)
            found[id(step)] = own
            continue
        found[id(step)] = {name: own[name] for name in own.keys() & named}
    return found


def _keys(keys: KeySet | DiscoveredKeys) -> tuple[Expression, ...]:
    if isinstance(keys, DiscoveredKeys):
        return keys.expressions
    return tuple(key for block in keys.blocks for key in block.expressions)


def _find_read_columns(part: object) -> Iterator[str]:
    """The columns that are read anywhere, but for a text that is read to be unnested."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Column):
            yield part.name
        elif part.__class__ in _WRITE_NOTHING:
            continue
        elif isinstance(part, tuple):
            waiting.extend(part)
        elif isinstance(part, Block):
            waiting.append(part.expressions)
        elif isinstance(part, Unnested):
            waiting.append(part.rows)
        else:
            waiting += parts_of(part)


def count_written_letters(step: object) -> int:
    """Letters of text computed for one row by all expressions in a plan or a question.

    Columns and constants are not written anew; equal expressions of one step are written once.
    """
    return sum(sum(map(_letters, calls)) for calls in _calls(step))


def require_short(step: object) -> None:
    """Refuse a question that writes more text for a row than any may."""
    found = count_written_letters(step)
    if found > MAX_WRITTEN:
        raise InvalidParameter(
            code="too_much_text",
            expectation=f"at most {MAX_WRITTEN} letters of text computed for one row",
            received=found,
            remedy="Compute fewer texts, or shorter ones: left(x, 20), or declared categories.",
        )


def _letters(call: Call) -> int:
    """Letters of a result, and of all that is held on the way to it."""
    if call.function != CONCAT:
        return call.domain.letters
    _, *held = accumulate(arg.domain.letters for arg in call.args)
    return call.domain.letters + sum(min(so_far, 2 * TEXT_LIMIT) for so_far in held)


def _calls(step: object) -> Iterator[set[Call]]:
    """The different calls that give text, step by step."""
    waiting: list[object] = [step]
    while waiting:
        found = set[Call]()
        parts = _parts(waiting.pop())
        while parts:
            part = parts.pop()
            if part.__class__ in _WRITE_NOTHING:
                continue
            if isinstance(part, Call | Case):
                parts.extend(part.args)
                if isinstance(part, Call) and part.domain.kind is DataType.TEXT:
                    found.add(part)
            elif isinstance(part, tuple):
                parts.extend(part)
            elif field_names(part):
                waiting.append(part)
        if found:
            yield found


_WRITE_NOTHING = frozenset(
    {type(None), bool, int, float, str, Column, Literal, ColumnDomain, Scan, PublicRowsTable}
)
"""Kinds of parts in which nothing is computed, of which there are many."""


def _parts(step: object) -> list[object]:
    """What a step is made of; lists of keys have no expressions in them."""
    if isinstance(step, Block):
        return [step.expressions]
    return list(parts_of(step))
