"""A column of identifiers: generated in the sample, never read from the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.noise.randomness import Source
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes


@dataclass(frozen=True)
class IdentifierColumn:
    """Numbers from ``first`` on, one for each row, behind ``prefix`` if there is one.

    >>> IdentifierColumn("P").decode(np.zeros(2, np.int64), None)
    ['P1', 'P2']
    """

    prefix: str | None = None
    first: int = 1

    @property
    def size(self) -> int:
        return 0

    @property
    def missing(self) -> bool:
        return False

    @property
    def labels(self) -> tuple[object, ...]:
        return ()

    def encode(self, values: Sequence[Any]) -> Codes:
        """Nothing: no identifier of the data has a cell."""
        return np.full(len(values), OUTSIDE, dtype=np.int64)

    def decode(self, codes: Codes, randomness: Source | None) -> list[Any]:
        numbers = range(self.first, self.first + len(codes))
        return list(numbers) if self.prefix is None else [f"{self.prefix}{n}" for n in numbers]

    def to_dict(self) -> Mapping[str, Any]:
        return {"column": "identifier", "prefix": self.prefix, "first": self.first}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> IdentifierColumn:
        """The column that ``to_dict`` wrote."""
        return cls(plain["prefix"], plain["first"])
