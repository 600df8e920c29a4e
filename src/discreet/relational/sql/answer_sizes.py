"""How many rows a table of released values can have, from what is public.

A join of answers is looked at before anything is paid for: with each row of one side meeting each
of the other there would be too many pairs soon, but answers are mostly joined on their keys, and
then a row meets one other at most. So are windows: a running sum looks at half of all pairs of
rows, but in partitions by listed keys only at those of the same keys.

Source: contract, "What may be seen" (the resources of a question are public).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.relational.limits.public_work import too_many_public_rows
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import KeyOutput, Query
from discreet.relational.post_processing.evaluate import equal_places
from discreet.relational.post_processing.tables import (
    MAX_LOOKED_AT,
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
from discreet.relational.post_processing.windows import Window
from discreet.relational.types.expression import Call, Column, Expression

_DISCOVERED = 10_000
"""Keys to be discovered, of which nobody knows the number before they are named."""
_DISCOVERED_IN_ORDER = 1_000
"""The same where windows go through them: a running sum of discovered keys is answered."""

_FEW_NOISES = 64


@dataclass
class AnswerSizes:
    """The most rows of tables computed from answers, each of which is looked at once.

    ``parts`` are the queries that are paid for, to which more may come. Keys to be discovered are
    taken for ``discovered`` ones.
    """

    parts: Sequence[Query]
    discovered: int = _DISCOVERED
    _found: dict[int, tuple[TableNode, int]] = field(default_factory=dict)
    _seen: dict[int, tuple[TableNode, int]] = field(default_factory=dict)
    _noises: dict[tuple[int, int], tuple[TableNode, int]] = field(default_factory=dict)

    def looked_at(self, table: TableNode) -> int:
        """The most rows of all frames of a table's windows; tables count wherever they are read."""
        if id(table) not in self._seen:
            below = sum(self.looked_at(each) for each in _inputs(table))
            match table:
                case WindowedAnswer(source=source, windows=windows):
                    below += sum(self._in_frames(window, source) for window in windows)
                case Projected(source=source, expressions=expressions):
                    below += self.most_rows(source) * self._carried_on(expressions, source)
                case GroupedAnswer(source=source, aggregates=aggregates):
                    found = [each.argument for each in aggregates if each.argument is not None]
                    again = self._carried_on(found, source)
                    again += sum(_many(self._noises_of(each, source)) for each in found)
                    again += len(table.sets) > 1  # each set goes through all rows anew
                    below += self.most_rows(source) * again * len(table.sets)
            self._seen[id(table)] = (table, below)
        return self._seen[id(table)][1]

    def _in_frames(self, window: Window, source: TableNode) -> int:
        """The most rows of all frames, each once for each of its noises."""
        if not window.has_frames:
            return 0
        rows, size = self.most_rows(source), self._partition(window, source)
        noises = max([1, *(self._noises_of(each, source) for each in window.arguments)])
        return -(-rows * window.in_frames(size) // size) * noises

    def _carried_on(self, expressions: Iterable[Expression], table: TableNode) -> int:
        """Noises that arithmetic goes through in each row, such as those of a total beside it."""
        return sum(self._arithmetic(each, table)[1] for each in expressions)

    def _arithmetic(self, expression: Expression, table: TableNode) -> tuple[int, int]:
        """The noises that further arithmetic goes through, and those gone through so far."""
        if isinstance(expression, Column):
            return self.noises(table, int(expression.name[1:])), 0
        parts = [self._arithmetic(each, table) for each in expression.args]
        noises, done = sum(part[0] for part in parts), sum(part[1] for part in parts)
        if isinstance(expression, Call):
            if not expression.domain.kind.is_number:
                return 0, done  # it looks at the values themselves
            if expression.function.name == "divide" and parts[1][0]:
                return parts[0][0], done  # a quotient keeps both as they are
            if expression.function.name in ("cast", "coalesce", "nullif"):
                return noises, done
        else:
            noises = self._noises_of(expression, table)
        return noises, done + _many(noises)

    def _partition(self, window: Window, source: TableNode) -> int:
        return max(1, self._alike(source, _places(window.partition)))

    def noises(self, table: TableNode, place: int) -> int:
        """The most draws of noise behind a number of a column: at most one for each cell."""
        if (id(table), place) not in self._noises:
            found = min(self._most_noises(table, place), self._cells)
            self._noises[id(table), place] = (table, found)
        return self._noises[id(table), place][1]

    @property
    def _cells(self) -> int:
        return sum(self.most_rows(Answer(part, ())) for part in range(len(self.parts)))

    def _noises_of(self, expression: Expression, table: TableNode) -> int:
        return sum(self.noises(table, place) for place in _columns_in(expression))

    def _most_noises(self, table: TableNode, place: int) -> int:  # noqa: PLR0911 -- one for each
        match table:
            case Joined(left=left, right=right):
                size = len(left.columns)
                return self.noises(*((left, place) if place < size else (right, place - size)))
            case CombinedAnswers(left=left, right=right):
                return max(self.noises(left, place), self.noises(right, place))
            case Projected(source=source, expressions=expressions):
                return self._noises_of(expressions[place], source)
            case Arranged(source=source):
                return self.noises(source, place)
            case GroupedAnswer(source=source, keys=keys, sets=sets, aggregates=aggregates):
                if place < 2 * len(keys):
                    return 1
                argument = aggregates[place - 2 * len(keys)].argument
                each = 1 if argument is None else self._noises_of(argument, source)
                most = (self._alike(source, _places(keys[n] for n in chosen)) for chosen in sets)
                return each * max(most, default=1)
            case WindowedAnswer(source=source, windows=windows):
                if place < len(source.columns):
                    return self.noises(source, place)
                window = windows[place - len(source.columns)]
                each = sum(self._noises_of(argument, source) for argument in window.arguments)
                size = self._partition(window, source)
                return each * window.longest(size) if window.has_frames else each
        return 1

    def _alike(self, table: TableNode, places: frozenset[int]) -> int:
        """The most rows of a table that agree in some of its columns."""
        return min(self.most_rows(table), self._most_alike(table, places))

    def _most_alike(  # noqa: PLR0911 -- one for each node
        self, table: TableNode, places: frozenset[int]
    ) -> int:
        match table:
            case PublicRowsTable(entries=entries):
                return _largest(entries, places)
            case Answer(part=part):
                return _most_cells_alike(self.parts[part], places) or self.discovered
            case Joined():
                return self._most_pairs_alike(table, places)
            case CombinedAnswers(left=left, right=right):
                return self._alike(left, places) + self._alike(right, places)
            case GroupedAnswer(source=source, keys=keys, sets=sets):
                return sum(
                    1
                    if set(chosen) <= places
                    else self._alike(source, _places(keys[n] for n in chosen if n in places))
                    for chosen in sets
                )
            case Projected(source=source, expressions=expressions):
                return self._alike(source, _places(expressions[place] for place in places))
            case WindowedAnswer(source=source) | Arranged(source=source):
                own = range(len(source.columns))
                return self._alike(source, frozenset(place for place in places if place in own))
        return self.most_rows(table)

    def _most_pairs_alike(self, table: Joined, places: frozenset[int]) -> int:
        size = len(table.left.columns)
        left = frozenset(place for place in places if place < size)
        right = frozenset(place - size for place in places if place >= size)
        equal = equal_places(table.condition, size)
        if not table.outer:  # without a partner, the columns of the right are NULL in many rows
            left |= {one for one, other in equal if other in right}
            right |= {other for one, other in equal if one in left}
        found = [self._alike(table.left, left) * max(1, self._alike(table.right, right))]
        if _differ(table.right, {place for _, place in equal}, self.parts):
            found.append(self._alike(table.left, left))
        if not table.outer and _differ(table.left, {place for place, _ in equal}, self.parts):
            found.append(self._alike(table.right, right))
        return min(found)

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
            steps += _inputs(step)
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
                return keys.cells if isinstance(keys, KeySet) else self.discovered
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


def require_frames(table: TableNode, parts: Sequence[Query]) -> None:
    """Refuse a table in which all frames of windows together have too many rows."""
    seen = AnswerSizes(parts, discovered=_DISCOVERED_IN_ORDER).looked_at(table)
    if seen > MAX_LOOKED_AT:
        raise InvalidParameter(
            code="too_many_keys",
            expectation=f"at most {MAX_LOOKED_AT} rows in the frames of all windows together, each "
            "once for every noise in it, of totals in arithmetic, and in several grouping sets",
            received=seen,
            remedy="Ask for fewer keys or grouping sets, PARTITION BY some of them, end frames by "
            "ROWS BETWEEN 30 PRECEDING AND CURRENT ROW, or compute it from the answer.",
        )


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


def _many(noises: int) -> int:
    """Noises that count; a few are gone through in the time in which a row is computed."""
    return noises if noises > _FEW_NOISES else 0


def _inputs(table: TableNode) -> list[TableNode]:
    found = (getattr(table, name, None) for name in ("left", "right", "source"))
    return [each for each in found if each is not None]


def _places(expressions: Iterable[Expression]) -> frozenset[int]:
    """The columns among expressions; what else they divide by is left out."""
    return frozenset(int(each.name[1:]) for each in expressions if isinstance(each, Column))


def _columns_in(expression: Expression) -> set[int]:
    """The columns that an expression reads."""
    if isinstance(expression, Column):
        return {int(expression.name[1:])}
    return {place for each in expression.args for place in _columns_in(each)}


def _largest(entries: Sequence[Sequence[object]], places: Iterable[int]) -> int:
    """How many entries agree in these places at most."""
    chosen = sorted(places)
    if not chosen:
        return len(entries)
    counted = Counter(tuple(entry[place] for place in chosen) for entry in entries)
    return max(counted.values(), default=0)


def _most_cells_alike(query: Query, places: frozenset[int]) -> int:
    """How many cells of an answer agree in these of its columns at most; 0 if nobody knows."""
    shown = (query.outputs[place] for place in places)
    chosen = [output.number for output in shown if isinstance(output, KeyOutput)]
    if not isinstance(query.keys, KeySet):
        return 1 if set(chosen) == set(range(len(query.key_places))) else 0
    most = 1
    for number, block in enumerate(query.keys.blocks):
        own = {place for key in chosen for held, place in [query.key_places[key]] if held == number}
        most *= _largest(block.entries, own)
    return most


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
