"""One table to many parts, and many to one.

Source: 004d:F5, F6, 004c:8-4; contract, "Units and neighbours". Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from discreet.calculus.adjacency import (
    nullable,
    per_step,
    private_size,
    size_is_public,
    table,
)
from discreet.calculus.aggregates import find, places
from discreet.calculus.containment import attempt, contained
from discreet.calculus.rows import member
from discreet.calculus.transformation import Transformation, stable
from discreet.core.content import content
from discreet.core.domain import Domain, Parts, Rows, Tables, Vector
from discreet.core.errors import Mismatch
from discreet.core.metric import AddRemove, ChangeOne, Hamming, Metric, SumOverParts
from discreet.core.parameters import count
from discreet.core.space import Space

if TYPE_CHECKING:
    from discreet.calculus.rows import Table


def partition(
    space: Space, keys: Sequence[Any], key: Callable[[Any], Any]
) -> Transformation[Table, dict[Any, tuple[Any, ...]]]:
    """One table cut into parts by a public list of keys.

    Contract: ``key`` is pure. Rows with other keys are left out; every key has a part, an empty
    one perhaps. People with many rows are refused: their rows may lie in many parts.
    Guarantee: 1-stable into SumOverParts under AddRemove, 2-stable under ChangeOne.
    Source: 004d:F5.
    """
    place = places(keys)
    record = table(space).record
    output = Space(Parts(tuple(place), Rows(record)), SumOverParts())

    def apply(rows: Table) -> dict[Any, tuple[Any, ...]]:
        parts: list[list[Any]] = [[] for _ in place]
        with contained():
            for row in rows:
                part = find(place, key, row)
                if part is not None:
                    parts[part].append(row)
        return {name: tuple(parts[i]) for name, i in place.items()}

    return Transformation(space, output, apply, per_step(space, add_remove=1, change_one=2))


def union(space: Space) -> Transformation[Any, tuple[Any, ...]]:
    """All rows of all parts, or of several tables with the same records, as one table.

    Contract: under SumOverParts. Tables under AddRemovePeople are refused, because a person may
    own rows in each: bound_silos comes first, and its stability is the sum of the bounds.
    Guarantee: 1-stable into AddRemove.
    Source: 004d:F5, 004c:8-4.
    """
    records = _records(space.domain)
    if space.metric != SumOverParts() or len(set(records)) != 1:
        raise Mismatch(
            code="cannot_unite",
            expectation="parts or tables with the same records under SumOverParts",
            received=space.metric,
            remedy="Map the tables to the same records; bound people's rows with bound_silos.",
        )

    def apply(parts: Any) -> tuple[Any, ...]:
        tables = parts.values() if hasattr(parts, "values") else parts
        return tuple(row for rows in tables for row in rows)

    return Transformation(space, private_size(records[0]), apply, stable(1))


def sample_and_aggregate(
    space: Space,
    *,
    blocks: int,
    block_of: Callable[[Any], int],
    function: Callable[[tuple[Any, ...]], Any],
    output: Domain,
    metric: Metric,
) -> Transformation[Table, tuple[Any, ...]]:
    """Any function, run on each block of a partition of the record universe.

    Contract: ``block_of`` is a pure function of a row, a number below ``blocks``; rows for which
    it is not are left out. ``function`` gets the rows of a block in an order that depends on
    their content alone, and is pure; where it raises, or leaves ``output``, the value is None.
    ``metric`` is Hamming() for a vector of values, AddRemove() for a table of them, ChangeOne()
    for a table of public size.
    Guarantee: from AddRemove 1-stable into Hamming and ChangeOne, 2-stable into AddRemove; from
    ChangeOne twice that.
    Source: 004d:F6, corrected there: "1-stable" holds for Hamming only.
    """
    table(space)
    number = count("blocks", blocks)
    into = nullable(output)
    values, factor = _values(into, number, metric)
    place = {block: block for block in range(number)}

    def apply(rows: Table) -> tuple[Any, ...]:
        cut: list[list[tuple[bytes, Any]]] = [[] for _ in place]
        with contained():
            for row in rows:
                block, written = find(place, block_of, row), attempt(content, row)
                if block is not None and isinstance(written, bytes):
                    cut[block].append((written, row))
            return tuple(member(into, attempt(function, _sorted(block))) for block in cut)

    return Transformation(
        space, values, apply, stable(2 * factor if size_is_public(space) else factor)
    )


def _values(into: Domain, number: int, metric: Metric) -> tuple[Space, int]:
    if metric == Hamming():
        return Space(Vector(into, number), metric), 1
    if metric == ChangeOne():
        return Space(Rows(into, number), metric), 1
    if metric == AddRemove():
        return Space(Rows(into), metric), 2
    raise Mismatch(
        code="no_metric_for_blocks",
        expectation="Hamming(), AddRemove() or ChangeOne() on the values of the blocks",
        received=metric,
        remedy="Choose the metric that the aggregation at the end expects.",
    )


def _sorted(block: list[tuple[bytes, Any]]) -> tuple[Any, ...]:
    return tuple(row for _, row in sorted(block, key=lambda pair: pair[0]))


def _records(domain: Domain) -> list[Domain]:
    if isinstance(domain, Parts):
        return [domain.rows.record]
    return [rows.record for rows in domain.tables] if isinstance(domain, Tables) else []
