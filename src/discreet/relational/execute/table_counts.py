"""Counts of a universe's cells, in the engine: what synopses see of private tables.

All marginals are counted over the same records. A row is a record if it has a key in every
attribute; where rows belong to people, at most ``records`` of each person's are kept, chosen by
a salted hash of all attributes, once for the whole release. So with any one person added or
removed every marginal changes by at most ``records`` in L1, and all of them by the same records.

Under ``Replace`` the number of rows of every private table is public: one row of one table is
exchanged for another row of that table. There every row is a record: one without a key in every
attribute counts in the universe's first cell.

Source: ``discreet.core.source``; contract, "Bounding inside the engine". Proof:
``proofs/counting.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Categories, Domain
from discreet.core.errors import EngineFailed, InvalidData, InvalidParameter
from discreet.core.unit import Person, PrivacyUnit, Replace, Row, add_remove
from discreet.noise.randomness import SYSTEM, integer
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.cell_counts import block_counts, marginal_counts
from discreet.queries.workload.universe import LARGEST, Universe
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.exact_aggregation import aggregate_exactly, statements
from discreet.relational.functions.logic import AND, IS_NOT_NULL, IS_NULL, OR
from discreet.relational.limits.resources import require_size
from discreet.relational.plan.keyed_universe import Cells, Translate, query_of_universe
from discreet.relational.plan.keys import Block, KeySet
from discreet.relational.plan.nodes import Filtered, Output, PlanNode, Scan
from discreet.relational.plan.query import Query
from discreet.relational.types.expression import MAX_NODES, Call, Column, Expression

_PREFIX = "universe"


@dataclass(frozen=True)
class TableCounts:
    """Counts rows of a plan by the attributes of a universe; a ``BlockCountSource``.

    Contract: one object serves one release, or one conversation. ``query`` says what the
    universe's attributes are, as :func:`query_of_universe` gives it. ``salt`` decides which rows of
    a person are kept; whoever counts again for the same release passes the same one. ``private``
    names the private tables there are.
    """

    universe: Universe
    query: Query
    engine: Engine
    salt: int = field(default_factory=lambda: integer(SYSTEM, 62), repr=False)
    private: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        universe: Universe,
        translate: Translate,
        engine: Engine,
        private: frozenset[str] = frozenset(),
    ) -> TableCounts:
        """Counts for a universe whose questions mean what ``translate`` says; none is made yet."""
        query = query_of_universe(universe, translate)
        require_size(query, (CountRows(None),))
        return cls(universe, query, engine, private=private)

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is at stake."""
        return self.query.unit

    def domain(self, column: str) -> Domain:
        """The values of an attribute."""
        return Categories(self.universe.attributes[self.universe.place(column)].values)

    @cached_property
    def records(self) -> int:
        """The most records of one unit: rows of a person after bounding, or changed rows."""
        if self.query.person is not None:
            return self.query.person.rows()
        changed = self.query.rows.stability
        if not changed:
            raise InvalidParameter(
                code="public_question",
                expectation="a private table in the universe",
                remedy="Public tables need no curator; read them directly.",
            )
        return changed

    @cached_property
    def size(self) -> RecordCount:
        """How many records there are: public where rows are exchanged, else to be bought.

        Under ``Replace`` all rows of one private table are records, and are counted here; that
        number is the same in all neighbours. A condition, a join or a person with several rows
        would make it private again, and is refused. Under add/remove, refused where a cut by key
        lets one row take another's place.
        """
        if isinstance(self.unit, Replace):
            return PublicCount(self._rows)
        if _exchanges(self.query.rows):
            raise InvalidParameter(
                code="records_exchanged",
                expectation="rows that one unit can only add or remove",
                received="private tables joined on another key than the person",
                remedy="Join on the person, or ask this join with `sql`.",
            )
        return NoisyRecordCount()

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Exact counts by some attributes, one axis each. Private: only noise may follow."""
        if self.at_once:
            return marginal_counts(self._table, self.universe, columns)
        places = tuple(map(self.universe.place, columns))
        shown = tuple(self.universe.attributes[place] for place in places)
        Universe(shown).require_explicit(method="the counts of a marginal")
        found = self._tally(self._marginal(places), None)
        return found.reshape(tuple(attribute.size for attribute in shown))

    def block_counts(
        self, columns: Sequence[str], within: Mapping[str, Sequence[int]]
    ) -> NDArray[np.int64]:
        """Exact counts by some attributes, of the values at some places alone.

        Every block is counted over the same records: which of a person's are kept is decided by
        all attributes and the salt, before any value is left out.
        """
        if self.at_once:
            return block_counts(self._table, self.universe, columns, within)
        places = tuple(map(self.universe.place, columns))
        wanted = [
            tuple(within.get(name, range(self.universe.shape[p])))
            for name, p in zip(columns, places, strict=True)
        ]
        shape = tuple(map(len, wanted))
        _require_block(math.prod(shape))
        whole = self._marginal(places)
        blocks = tuple(
            Block(block.expressions, tuple(block.entries[code] for code in codes))
            for block, codes in zip(whole.keys.blocks, wanted, strict=True)
        )
        asked = replace(whole, keys=Cells(blocks))
        found = aggregate_exactly(asked, [CountRows(None)], [], None, self.engine, salt=self.salt)
        table = np.asarray(found.linear[0], dtype=np.int64).reshape(shape)
        first = [codes.index(0) if 0 in codes else None for codes in wanted]
        if isinstance(self.unit, Replace) and None not in first:
            table[tuple(first)] += self._outside
        return table

    @cached_property
    def _outside(self) -> int:
        """Rows without a key in every attribute, where they count in the first cell."""
        inside = self._marginal(())
        found = aggregate_exactly(inside, [CountRows(None)], [], None, self.engine, salt=self.salt)
        return self._rest(int(found.linear[0].sum()))

    def text(self, columns: Sequence[str]) -> str:
        """What the engine would run for some attributes, with a salt of zero."""
        places = tuple(map(self.universe.place, columns))
        asked = (self.query, self._person) if self.at_once else (self._marginal(places), None)
        (found,) = statements(asked[0], [CountRows(None)], asked[1], self.engine)
        return found

    @property
    def at_once(self) -> bool:
        """Whether all cells are counted in one go, and marginals added up from that."""
        return self.universe.size <= LARGEST

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        return self._tally(self.query, self._person)

    @property
    def _person(self) -> Person | None:
        """People whose rows are bounded in number alone, where rows have owners."""
        person = self.query.person
        return None if person is None else Person(person.id, max_rows=self.records)

    def _tally(self, query: Query, person: Person | None) -> NDArray[np.int64]:
        found = aggregate_exactly(query, [CountRows(None)], [], person, self.engine, salt=self.salt)
        return self.completed(np.asarray(found.linear[0], dtype=np.int64))

    def completed(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts of cells with rows that have none in the first, where every row is a record."""
        if not isinstance(self.unit, Replace):
            return table
        # Row by row: whoever has no cell of their own is in the first one, in every marginal.
        table[0] += self._rest(int(table.sum()))
        return table

    def _rest(self, inside: int) -> int:
        """How many rows there are beside those ``inside`` the universe."""
        rest = self._rows - inside
        if rest < 0:
            raise InvalidData(
                code="records_differ",
                expectation="as many rows as when they were counted",
                remedy="Keep the table as it is during a release.",
            )
        return rest

    @cached_property
    def _rows(self) -> int:
        """The number of rows of the table, which ``Replace`` makes public."""
        rows = self.query.rows
        whole = isinstance(rows, Scan) and rows.table in self.private
        if not whole or not isinstance(add_remove(self.unit), Row):
            raise InvalidParameter(
                code="records_unknown",
                expectation="under Replace, all rows of one private table, each a person",
                received=self.unit,
                remedy="Leave out WHERE and joins and declare dp.Replace(dp.Row()); or declare the "
                "table with dp.Row() or dp.Person(...), under which records are added or removed.",
            )
        everything = replace(self.query, keys=KeySet(()), key_places=())
        try:
            found = aggregate_exactly(
                everything, [CountRows(None)], [], None, self.engine, salt=self.salt
            )
        except Exception:  # what an engine says may show a row
            found = None
        if found is None:
            raise EngineFailed(
                code="engine_failed",
                expectation="an engine that counts the rows of the table",
                remedy="Ask the data owner to count them with the engine itself.",
            )
        return int(found.linear[0].sum())

    def keyed(self) -> Query:
        """A question whose keys are all attributes, about the records: what every marginal reads.

        Rows are chosen as for any marginal: every attribute is named above them.
        """
        rows, blocks = self._records
        return replace(self.query, rows=rows, keys=Cells(blocks))

    def _marginal(self, places: tuple[int, ...]) -> Query:
        """A question whose keys are some of the attributes, about the records of all of them."""
        rows, blocks = self._records
        others = [block for place, block in enumerate(blocks) if place not in places]
        rows = _within(rows, others)
        keys = Cells(tuple(blocks[place] for place in places))
        return replace(self.query, rows=rows, keys=keys)

    @cached_property
    def _records(self) -> tuple[PlanNode, tuple[Block, ...]]:
        """The rows that are counted, and the keys as they are read there."""
        rows, blocks = self.query.rows, self.query.keys.blocks
        if self._person is None:
            return rows, blocks
        expressions = tuple(block.expressions[0] for block in blocks)
        outputs = tuple(
            Output(f"{_PREFIX}.{place}", expression.domain)
            for place, expression in enumerate(expressions)
        )
        # Rows outside the universe use up nobody's share.
        inside = _within(rows, blocks)
        kept = Bounded(_PREFIX, inside, self.records, expressions, outputs)
        read = tuple(
            Block((Column(output.name, output.domain),), block.entries)
            for output, block in zip(outputs, blocks, strict=True)
        )
        return kept, read


def _within(rows: PlanNode, blocks: Sequence[Block]) -> PlanNode:
    """Rows whose every key is one of its block's values. It names each key, also where all are.

    A step below keeps rows by the content of the columns that are named above it: so every
    marginal names all attributes, and all are counted over the same rows. Many keys are looked at
    in several steps, since an expression may have only so many parts.
    """
    together: list[Expression] = []
    parts = 0
    for condition in map(_build_key_condition, blocks):
        size = getattr(condition, "nodes", 1)
        if together and parts + size >= MAX_NODES:
            rows, together, parts = Filtered(rows, _all(together)), [], 0
        together.append(condition)
        parts += size
    return Filtered(rows, _all(together)) if together else rows


def _build_key_condition(block: Block) -> Expression:
    """That a key is one of its block's values."""
    (key,) = block.expressions
    known: Expression = Call(IS_NOT_NULL, (key,))
    return Call(OR, (Call(IS_NULL, (key,)), known)) if (None,) in block.entries else known


def _all(conditions: Sequence[Expression]) -> Expression:
    return conditions[0] if len(conditions) == 1 else Call(AND, tuple(conditions))


def _require_block(cells: int) -> None:
    if cells > LARGEST:
        raise InvalidParameter(
            code="universe_too_large",
            expectation=f"at most {LARGEST} cells in a block",
            received=cells,
            remedy="Ask for fewer values at a time.",
        )


def _exchanges(rows: PlanNode) -> bool:
    """Whether rows may come as others go."""
    return isinstance(rows, Truncated) or any(map(_exchanges, rows.inputs))
