"""A private table whose columns are cells: what counts it, and when two questions are the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.guarantee import Guarantee
from discreet.curator.context import Context, tables_read
from discreet.curator.stored_answer import Known
from discreet.curator.synopsis.universe import counts_of, universe_of
from discreet.curator.synthetic.cell_expressions import attribute_expressions
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.identity.identity import CanonicalText, any_snapshot, identity
from discreet.synthetic.encoding.table_encoding import TableEncoding


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Public parts alone; ``source`` counts, and has counted nothing yet."""

    context: Context
    name: str
    encoding: TableEncoding
    source: TableCounts

    @classmethod
    def of(cls, context: Context, name: str, encoding: TableEncoding) -> EncodedTable:
        """The engine numbers the cells of every attribute."""
        universe = universe_of(context, name, (), attribute_expressions(encoding))
        return cls(context, name, encoding, counts_of(context, universe))

    @property
    def columns_text(self) -> str:
        """The columns and their cells, as they are compared."""
        return json.dumps(self.encoding.to_dict(), sort_keys=True)

    def identify_question(self, verb: str, asked: Mapping[str, object], spend: Guarantee) -> Known:
        """Equal where all of this is, on the same data; the order of parts is fixed for ever."""
        query = self.source.query
        tables = tables_read(query)
        parts = {
            "question": CanonicalText.of(query),
            **asked,
            "spend": spend,
            "snapshot": self.context.snapshot(tables),
            "rows": self.context.declared_rows(tables),
        }
        return Known(
            identity(verb, parts),
            any_snapshot=any_snapshot(verb, parts),
            snapshots=self.context.snapshot_names(tables),
        )
