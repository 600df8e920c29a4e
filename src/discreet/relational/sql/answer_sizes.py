"""How many rows a table of released values can have, from what is public.

A join of answers is looked at before anything is paid for: with each row of one side meeting each
of the other there would be too many pairs soon, but answers are mostly joined on their keys, and
then a row meets one other at most.

Source: contract, "What may be seen" (the resources of a question are public).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.relational.limits.public_work import too_many_public_rows
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import KeyOutput, Query
from discreet.relational.post_processing.evaluate import equal_places
from discreet.relational.post_processing.tables import (
    MAX_PAIRS,
    MAX_PUBLIC_PAIRS,
    Answer,
    Arranged,
    CombinedAnswers,
    GroupedAnswer,
    Joined,
    OneRow,
    Projected,
    PublicRowsTable,
    TableNode,
    WindowedAnswer,
)
from discreet.relational.types.expression import Column

_DISCOVERED = 10_000
"""Keys to be discovered, of which nobody knows the number before they are named."""


@dataclass
class AnswerSizes:
    """The most rows of tables computed from answers, each of which is looked at once.

    ``parts`` are the queries that are paid for, to which more may come.
    """

    parts: Sequence[Query]
    _found: dict[int, tuple[TableNode, int]] = field(default_factory=dict)

    def require_pairs(self, joined: Joined) -> None:
        """Refuse a join that would look at too many pairs of rows."""
        if self.most_rows(joined) > MAX_PAIRS:
            sides = [self.most_rows(side) for side in (joined.left, joined.right)]
            raise InvalidParameter(
                code="too_many_keys",
                expectation=f"at most {MAX_PAIRS} pairs of rows in a join of answers",
                received=f"{sides[0]} rows beside {sides[1]}",
                remedy="Join them on all of their keys, join before aggregating, or ask for fewer.",
            )

    def are_few(self, table: TableNode, limit: int) -> bool:
        """Whether all steps of a table together make at most so many rows: it may be tried out."""
        steps = [table]
        for step in steps:  # it grows meanwhile
            inputs = (getattr(step, name, None) for name in ("left", "right", "source"))
            steps += [each for each in inputs if each is not None]
        return sum(self.most_rows(step) for step in reversed(steps)) <= limit

    def most_rows(self, table: TableNode) -> int:
        """The most rows that a table can have; of keys to be discovered, some."""
        if id(table) not in self._found:  # by value, rows would be compared with each other
            self._found[id(table)] = (table, self._most(table))
        return self._found[id(table)][1]

    def _most(self, table: TableNode) -> int:  # noqa: PLR0911 -- one for each
        match table:
            case OneRow():
                return 1
            case PublicRowsTable(entries=entries):
                return len(entries)
            case Answer(part=part):
                keys = self.parts[part].keys
                return keys.cells if isinstance(keys, KeySet) else _DISCOVERED
            case Joined():
                return self._most_pairs(table)
            case CombinedAnswers(left=left, right=right):
                return self.most_rows(left) + self.most_rows(right)
            case GroupedAnswer(source=source, sets=sets):
                below = self.most_rows(source)
                return sum(below if chosen else 1 for chosen in sets)
            case Arranged(source=source, limit=limit):
                below = self.most_rows(source)
                return below if limit is None else min(below, limit)
        return self.most_rows(table.source)

    def _most_pairs(self, table: Joined) -> int:
        """Rows of a join: those of one side alone, where each meets one other at most."""
        left, right = (self.most_rows(side) for side in (table.left, table.right))
        equal = equal_places(table.condition, len(table.left.columns))
        if _differ(table.right, {place for _, place in equal}, self.parts):
            return left
        if _differ(table.left, {place for place, _ in equal}, self.parts):
            return left + right if table.outer else right
        return left * max(1, right)


@dataclass
class PublicWork:
    """What joins of public tables in one question may look at, before anybody pays."""

    left: int = MAX_PUBLIC_PAIRS
    _sizes: AnswerSizes = field(default_factory=lambda: AnswerSizes([]))

    def take(self, joined: Joined) -> None:
        """Refuse a join for which too little is left."""
        self.left -= self._sizes.most_rows(joined)
        if self.left < 0:
            raise too_many_public_rows(
                expectation=f"at most {MAX_PUBLIC_PAIRS} pairs of rows in all joins of public "
                "tables that are aggregated inside the question"
            )


def _differ(table: TableNode, places: set[int], parts: Sequence[Query]) -> bool:
    """Whether no two rows of a table agree in these columns; NULL agrees with nothing."""
    if isinstance(table, PublicRowsTable):
        found = zip(*([row[place] for row in table.entries] for place in places), strict=True)
        whole = [values for values in found if None not in values]
        return len(set(whole)) == len(whole) and (bool(places) or len(table.entries) <= 1)
    known = _apart(table, parts)
    return known is not None and known <= places


def _apart(  # noqa: PLR0911 -- one for each node
    table: TableNode, parts: Sequence[Query]
) -> frozenset[int] | None:
    """Columns in which no two rows agree; None where none are known."""
    match table:
        case OneRow():
            return frozenset()
        case Answer(part=part):
            query = parts[part]
            shown = {
                output.number: place
                for place, output in enumerate(query.outputs)
                if isinstance(output, KeyOutput)
            }
            every = set(range(len(query.key_places)))
            return frozenset(shown.values()) if every == set(shown) else None
        case GroupedAnswer(sets=(chosen,)):
            return frozenset(chosen)
        case WindowedAnswer(source=source) | Arranged(source=source):
            return _apart(source, parts)
        case Projected(source=source, expressions=expressions):
            below = _apart(source, parts)
            seen = {
                int(each.name[1:]): place
                for place, each in enumerate(expressions)
                if isinstance(each, Column)
            }
            found = below is not None and below <= set(seen)
            return frozenset(seen[place] for place in below or ()) if found else None
        case Joined(left=left, right=right):
            sides = [_apart(side, parts) for side in (left, right)]
            if sides[0] is None or sides[1] is None:
                return None
            return sides[0] | {len(left.columns) + place for place in sides[1]}
    return None
