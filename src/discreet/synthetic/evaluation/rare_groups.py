"""What became of rare values: whether they are still there, and how much more or less often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.synthetic.encoding.encoded_column import Codes, EncodedColumn

RARE = 0.02
"""The share of real rows below which a value is rare."""


@dataclass(frozen=True)
class RareGroup:
    """A value that few real rows have, with its number of rows in both tables.

    ``synthetic`` is as if the synthetic table had as many rows as the real one.
    """

    column: str
    value: str
    real: int
    synthetic: float


def rare_groups(
    columns: Mapping[str, EncodedColumn], real: Mapping[str, Codes], synthetic: Mapping[str, Codes]
) -> tuple[RareGroup, ...]:
    """Every value of a column with fewer than two in a hundred real rows, rarest first."""
    found = []
    for name, column in columns.items():
        if name not in real:
            continue
        counts = _counts(real[name], column.size)
        made = _counts(synthetic[name], column.size)
        rows = int(counts.sum())
        scale = rows / max(1, int(made.sum()))
        found += [
            RareGroup(name, str(column.labels[cell]), int(counts[cell]), float(made[cell] * scale))
            for cell in np.flatnonzero((counts > 0) & (counts < RARE * rows))
        ]
    return tuple(sorted(found, key=lambda each: each.real))


def _counts(codes: Codes, size: int) -> Codes:
    return np.bincount(codes[codes >= 0], minlength=size).astype(np.int64)
