"""Universes whose attributes are keys of GROUP BY over the rows of a plan.

Each attribute is a key expression with its finite public list of values: declared categories,
bins of bounded numbers, days, CASE, truth values, columns of public tables. A universe keeps the
questions it came from as text. Whoever counts reads them again with its own tables, scope and
unit, so a universe gives nobody more than the text would.

Source: ``discreet.core.source``; contract, "Columns" (public keys).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from discreet.core.errors import InvalidParameter
from discreet.queries.workload.universe import Attribute, Universe
from discreet.relational.aggregates.count import Count
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.plan.keys import Block, KeySet, not_finite
from discreet.relational.plan.query import AggregateOutput, KeyOutput, Query

Translate = Callable[[str], Query]
"""What a text asks, where it is asked."""


@dataclass(frozen=True)
class KeyedUniverse(Universe):
    """A universe, with the questions whose keys are its attributes.

    Records with a NULL key lie in no cell, unless NULL was listed among the key's values.
    """

    questions: tuple[str, ...]


@dataclass(frozen=True)
class Cells(KeySet):
    """Keys of a universe: one block for each attribute, and as many cells as there may be."""

    def __post_init__(self) -> None:
        """No limit here: nothing of this size is made until somebody counts."""


def column_questions(
    table: str, columns: Sequence[str], expressions: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """One question for each attribute of a table: columns by name, then expressions."""
    # In brackets on a line of its own, a text is one expression, and no comment hides the rest.
    keys = [(name, _quoted(name)) for name in columns]
    keys += [(name, f"({text}\n)") for name, text in expressions]
    return tuple(
        f"SELECT {text} AS {_quoted(name)}, COUNT(*) AS {_quoted(_unlike(name))} "
        f"FROM {_quoted(table)} GROUP BY 1"
        for name, text in keys
    )


def universe_from(questions: Sequence[str], translate: Translate) -> KeyedUniverse:
    """The universe of all combinations of the questions' keys."""
    return KeyedUniverse(_attributes(*crossed(questions, translate)), tuple(questions))


def query_of_universe(universe: Universe, translate: Translate) -> Query:
    """What a universe asks, here and now: the count of every cell.

    Refused where its attributes would have other values here than where it was made.
    """
    if not isinstance(universe, KeyedUniverse):
        raise InvalidParameter(
            code="universe_not_counted",
            expectation="a universe that says how its attributes are read from the tables",
            received=type(universe).__name__,
            remedy='Make it with curator.universe("adult", "sex", age="FLOOR(age / 10)").',
        )
    names, query = crossed(universe.questions, translate)
    if _attributes(names, query) != universe.attributes:
        raise InvalidParameter(
            code="universe_differs",
            expectation="a universe of the tables as they are declared here",
            received=list(universe.names),
            remedy="Make the universe with the curator that is to count.",
        )
    return query


def crossed(questions: Sequence[str], translate: Translate) -> tuple[tuple[str, ...], Query]:
    """One question that counts by the keys of all, and the names of the keys."""
    if not questions:
        raise InvalidParameter(
            code="attribute_names",
            expectation="at least one attribute",
            received=(),
            remedy='Name columns: curator.universe("adult", "sex", "race").',
        )
    asked = [translate(text) for text in questions]
    names: list[str] = []
    blocks: list[Block] = []
    for query in asked:
        _require_count(query)
        if query.rows != asked[0].rows:
            raise _refused(received="another table")
        for name, block in _named_keys(query):
            names.append(name)
            blocks.append(block)
    places = tuple((number, 0) for number in range(len(blocks)))
    outputs = tuple(KeyOutput(name, number) for number, name in enumerate(names))
    counted = replace(
        asked[0],
        keys=Cells(tuple(blocks)),
        key_places=places,
        outputs=(*outputs, AggregateOutput("", 0)),
    )
    return tuple(names), counted


def _attributes(names: Sequence[str], query: Query) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(name, tuple(value for (value,) in block.entries))
        for name, block in zip(names, query.keys.blocks, strict=True)
    )


def _named_keys(query: Query) -> list[tuple[str, Block]]:
    """The keys of a question by their names, each by itself: also columns of one public table."""
    assert isinstance(query.keys, KeySet)
    found = []
    for output in query.outputs:
        if isinstance(output, KeyOutput):
            number, place = query.key_places[output.number]
            block = query.keys.blocks[number]
            values = dict.fromkeys(entry[place] for entry in block.entries)
            entries = tuple((value,) for value in values)
            found.append((output.name, Block((block.expressions[place],), entries)))
    return found


def _require_count(query: Query) -> None:
    """Refuse everything but COUNT(*) by keys that are all named and known beforehand."""
    keys = [output for output in query.outputs if isinstance(output, KeyOutput)]
    if not isinstance(query.keys, KeySet):
        raise not_finite(", ".join(key.name for key in keys), query.keys.expressions[0].domain)
    later = query.having or query.order or query.limit is not None or query.offset
    if (
        query.aggregates != (Count(CountRows(None)),)
        or [type(output) for output in query.outputs].count(AggregateOutput) != 1
        or len(query.outputs) != len(keys) + 1
        or {key.number for key in keys} != set(range(len(query.key_places)))
        or later
    ):
        raise _refused(received="something else")


def _refused(*, received: str) -> InvalidParameter:
    return InvalidParameter(
        code="universe_question",
        expectation="keys of one table, or SELECT keys, COUNT(*) ... GROUP BY keys and no more",
        received=received,
        remedy="Name every key in SELECT; leave out HAVING, ORDER BY and LIMIT; put conditions "
        "into WHERE.",
    )


def _unlike(name: str) -> str:
    """Another name."""
    return "n" if name.lower() != "n" else "m"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
