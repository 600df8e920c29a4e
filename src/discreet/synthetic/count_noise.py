"""Noise beside the number of rows: which columns have more cells than a table has rows for.

Only public numbers enter, and the noisy total that was paid for: how many cells are counted, and
how much noise each of them gets. So what is too fine is told before it is bought, and afterwards.

Source: contract, "What may be seen" (warnings use noisy values that were paid for).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.mechanisms.for_spend import WholeNoise, deviation
from discreet.synthetic.budget_split import budget_split
from discreet.synthetic.encoding.table_encoding import TableEncoding

MUCH = 0.2
"""The share of rows that noise may move before it is worth a warning."""
_HALF_ABSOLUTE = 0.4
"""Half the mean absolute value of noise, for a deviation of one: .40 if Gaussian, .35 if Laplace"""


@dataclass(frozen=True)
class CountNoise:
    """The cells of everything that is counted first, by name, and the deviation of each count."""

    cells: Mapping[str, int]
    deviation: float

    @classmethod
    def of(cls, mechanism: Any, encoding: TableEncoding) -> CountNoise | None:
        """Of a mechanism for an encoded table; None for one that does not tell its noise."""
        while hasattr(mechanism, "inner"):  # after private bins
            mechanism = mechanism.inner
        cells = {each.name: each.size for each in encoding.attributes}
        cells |= {name: n + gap for name, (n, gap) in encoding.binned_privately.items()}
        split = budget_split(mechanism)
        noise, terms = getattr(mechanism, "noise", None), getattr(mechanism, "terms", None)
        if terms is not None and "columns" in split:
            share = max(split["columns"], float(getattr(mechanism, "most_for_columns", 0)))
            noise = terms.noise(share / len(cells))
        elif terms is not None and "cells" in split:
            noise, cells = terms.noise(1), {"all columns together": math.prod(cells.values())}
        return cls(cells, deviation(noise)) if isinstance(noise, WholeNoise) else None

    def estimate_moved_share(self, name: str, total: float) -> float:
        """The share of rows that noise would move to other cells if nothing were put together."""
        return min(1.0, _HALF_ABSOLUTE * self.cells[name] * self.deviation / max(total, 1.0))

    @property
    def finest(self) -> str:
        """What has most cells."""
        return max(self.cells, key=lambda name: self.cells[name])

    @property
    def rows_needed(self) -> int:
        """So many rows that noise moves a fifth of them at most, in what has most cells."""
        return math.ceil(_HALF_ABSOLUTE * self.cells[self.finest] * self.deviation / MUCH)

    def warnings(self, total: float) -> tuple[str, ...]:
        """What is drowned by noise in a table of about ``total`` rows, and what to do.

        >>> for each in CountNoise({"sex+age": 244, "ward": 3}, 35.0).warnings(5000):
        ...     print(each)
        sex+age: 244 combinations, each with noise of about 35. In about 5,000 rows it adds up to \
68 % of them: rare values are put together, or wrong. Use fewer bins or values, constraints on \
fewer columns, or a larger spend.
        """
        drowned: dict[tuple[int, bool], list[str]] = {}
        for name, cells in self.cells.items():
            if self.estimate_moved_share(name, total) > MUCH:
                drowned.setdefault((cells, "+" in name), []).append(name)
        return tuple(
            f"{', '.join(names)}: {cells:,} {'combinations' if tied else 'cells'}, each with noise "
            f"of about {self.deviation:,.3g}. In about {max(total, 0):,.0f} rows it adds up to "
            f"{100 * self.estimate_moved_share(names[0], total):.0f} % of them: rare values are "
            "put together, or wrong. Use fewer bins or values"
            f"{', constraints on fewer columns' if tied else ''}, or a larger spend."
            for (cells, tied), names in drowned.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; :meth:`from_dict` reads it."""
        return {"cells": dict(self.cells), "deviation": self.deviation}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CountNoise:
        """What ``to_dict`` wrote."""
        return cls(dict(plain["cells"]), float(plain["deviation"]))
