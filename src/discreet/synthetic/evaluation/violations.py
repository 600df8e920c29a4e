"""How many rows of a table break what the owner said holds of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.synthetic.encoding.constraints import Constraint, Determined
from discreet.synthetic.encoding.encoded_column import Codes, EncodedColumn


def violations(
    columns: Mapping[str, EncodedColumn],
    codes: Mapping[str, Codes],
    constraints: Sequence[Constraint],
) -> dict[str, int]:
    """The number of rows that break each constraint, by the constraint in words."""
    found: dict[str, int] = {}
    for constraint in constraints:
        if isinstance(constraint, Determined):
            by, column = columns[constraint.by], columns[constraint.column]
            follows = constraint.codes(by, column)
            broken = follows[codes[constraint.by]] != codes[constraint.column]
            words = f"{constraint.column} follows from {constraint.by}"
        else:
            broken = np.ones(len(next(iter(codes.values()))), dtype=np.bool_)
            for name in constraint.columns:
                broken &= constraint.cells(name, columns[name])[codes[name]]
            words = f"impossible together: {', '.join(constraint.columns)}"
        while words in found:
            words += " "
        found[words] = int(broken.sum())
    return found
