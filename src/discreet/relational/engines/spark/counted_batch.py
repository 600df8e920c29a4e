"""A batch of Spark Structured Streaming as counts: the engine groups, only numbers come out.

Rows whose value is not declared are left out inside Spark, so not even their values are seen.

Source: contract, "What may be seen"; the protocol is :class:`~discreet.core.source.CountSource`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Categories
from discreet.core.errors import InvalidParameter
from discreet.core.unit import PrivacyUnit, Row


@dataclass(frozen=True)
class SparkBatch:
    """A DataFrame, as ``foreachBatch`` hands it out, counted by the declared values of a column."""

    frame: Any
    column: str
    values: tuple[str, ...]

    @property
    def unit(self) -> PrivacyUnit:
        """One row: nobody's rows of earlier batches are known here."""
        return Row()

    def domain(self, column: str) -> Categories:
        self._require(column)
        return Categories(self.values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        for column in columns:
            self._require(column)
        text = self.frame[self.column].cast("string")
        listed = self.frame.where(text.isin(list(self.values)))
        found = {
            str(row["value"]): int(row["count"])
            for row in listed.groupBy(text.alias("value")).count().collect()
        }
        return np.array([found.get(value, 0) for value in self.values], dtype=np.int64)

    def _require(self, column: str) -> None:
        if column != self.column:
            raise InvalidParameter(
                code="column_unknown",
                expectation=f"the column {self.column!r}, by which the batch is counted",
                received=column,
                remedy="Count by that column.",
            )
