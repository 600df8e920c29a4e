"""What a column is to synthesis: finitely many numbered cells, and values for each of them.

The cells are public. They follow from what the owner declared, or from counts that were paid for;
never from the values themselves. Encoding is total: whatever a row holds, it has a cell, or lies
outside and is left out by a fixed rule.

Source: contract, "Columns".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import Source, words64

OUTSIDE = -1
"""The code of what lies in no cell."""

Codes = NDArray[np.int64]


@runtime_checkable
class EncodedColumn(Protocol):
    """A column with cells numbered from zero; a missing value, if it has a cell, has the last."""

    @property
    def size(self) -> int:
        """How many cells there are; none for a column that is generated."""

    @property
    def missing(self) -> bool:
        """Whether missing values have a cell of their own; else their rows are left out."""

    @property
    def labels(self) -> tuple[object, ...]:
        """A public name for each cell; None for missing values."""

    def encode(self, values: Sequence[Any]) -> Codes:
        """The cell of each value, or ``OUTSIDE``."""

    def decode(self, codes: Codes, randomness: Source) -> list[Any]:
        """A value for each cell; where a cell has many, one of them at random."""

    def to_dict(self) -> Mapping[str, Any]:
        """What :func:`~discreet.synthetic.encoding.stored.column_from_dict` reads."""


def uniform(size: int, randomness: Source) -> NDArray[np.float64]:
    """Numbers from [0, 1), each of 53 random bits: to place values inside cells."""
    return (words64(randomness, size) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def require_several(name: str, column: EncodedColumn) -> None:
    """Refuse a column that can have one value only: it tells nothing, and needs no synthesis."""
    if column.size == 1:
        raise InvalidParameter(
            code="column_one_valued",
            expectation=f"at least two cells for the column {name!r}",
            received=1,
            remedy="Leave it out, and add its one value to the sample yourself.",
        )
