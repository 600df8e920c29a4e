"""A column of numbers between public bounds, in bins; sampled anywhere inside of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, finite
from discreet.noise.randomness import Source
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes, uniform

BINS = 32
"""How many bins there are where nobody says it."""
FINE_CELLS = 128
"""How many cells of equal width are counted where bins are chosen privately."""


@dataclass(frozen=True)
class PrivateBins:
    """Bins of about equally many records, from noisy counts that are paid for.

    A column is counted in ``of`` cells of equal width, with noise, for a share of the spend; they
    are put together into ``bins`` bins. Inside of a bin, values are drawn by the noisy counts.
    """

    bins: int = BINS
    of: int = FINE_CELLS

    @classmethod
    def with_cells(cls, bins: int) -> PrivateBins:
        """So many bins of as many cells as usual, and at least four for each."""
        return cls(bins, of=max(FINE_CELLS, 4 * bins))

    def __post_init__(self) -> None:
        """Refuse fewer cells than bins."""
        object.__setattr__(self, "bins", count("bins", self.bins, least=2))
        object.__setattr__(self, "of", count("of", self.of, least=2))
        if self.of < self.bins:
            raise InvalidParameter(
                code="parameter_out_of_range",
                expectation="at least as many cells as bins",
                received=(self.bins, self.of),
                remedy="Write PrivateBins(32, of=128).",
            )


@dataclass(frozen=True)
class NumberColumn:
    """Numbers in the cells between ``edges``; those beyond the ends lie in the first or last.

    A cell holds its lower edge and not its upper one, but for the last, which holds both. ``whole``
    columns have whole edges, the last of which is one more than the greatest value.

    >>> age = NumberColumn.between(0, 119, bins=4, whole=True)
    >>> age.edges, age.encode([0, 31, 500, None]).tolist()
    ((0, 30, 60, 90, 120), [0, 1, 3, 4])
    """

    edges: tuple[float, ...]
    whole: bool = False
    missing: bool = True
    groups: int | None = None

    def __post_init__(self) -> None:
        """Refuse edges that are not finite and increasing."""
        given = [finite("edges", edge) for edge in self.edges]
        kind = int if self.whole else float
        edges = tuple(kind(edge) for edge in given)
        if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
            raise InvalidParameter(
                code="edges_not_increasing",
                expectation="at least two public edges of bins, increasing",
                received=edges[:8],
                remedy="Write NumberColumn((0, 18, 65, 120)).",
            )
        object.__setattr__(self, "edges", edges)

    @classmethod
    def between(
        cls,
        low: float,
        high: float,
        *,
        bins: int | PrivateBins = BINS,
        whole: bool = False,
        missing: bool = True,
    ) -> NumberColumn:
        """Bins of equal width from ``low`` to ``high``; each whole number by itself if few."""
        wanted = bins.of if isinstance(bins, PrivateBins) else count("bins", bins)
        low, high = finite("low", low), finite("high", high)  # type: ignore[assignment]
        if whole:
            first, values = math.ceil(low), math.floor(high) - math.ceil(low) + 1
            cells = min(wanted, max(values, 1))
            edges: Iterable[float] = [first + (place * values) // cells for place in range(cells)]
            edges = (*edges, first + values)
        else:
            edges = tuple(float(edge) for edge in np.linspace(float(low), float(high), wanted + 1))
            cells = wanted
        groups = None
        if isinstance(bins, PrivateBins) and bins.bins < cells:
            groups = bins.bins
        return cls(tuple(edges), whole=whole, missing=missing, groups=groups)

    def with_edges(self, more: Iterable[float]) -> NumberColumn:
        """The same with more public edges, so that no bin straddles any of them."""
        inside = {edge for edge in more if self.edges[0] < edge < self.edges[-1]}
        edges = tuple(sorted({*self.edges, *inside}))
        return NumberColumn(edges, self.whole, self.missing, self.groups)

    @property
    def bins(self) -> int:
        """How many cells there are, but that of missing values."""
        return len(self.edges) - 1

    @property
    def digits(self) -> int:
        """Decimals that tell something: inside of a bin values are drawn, so two beyond its width.

        >>> NumberColumn((0, 156.25, 312.5)).digits, NumberColumn((0, 0.5, 1)).digits
        (0, 3)
        """
        width = min(b - a for a, b in pairwise(self.edges))
        return max(0, 2 - math.floor(math.log10(width)))

    @property
    def size(self) -> int:
        return self.bins + self.missing

    @property
    def labels(self) -> tuple[object, ...]:
        last = len(self.edges) - 2
        told: list[object] = []
        for place, (low, high) in enumerate(pairwise(self.edges)):
            if self.whole:
                told.append(low if high == low + 1 else f"{low}–{high - 1}")
            else:
                told.append(f"[{low:g}, {high:g}{']' if place == last else ')'}")
        return (*told, *((None,) if self.missing else ()))

    def encode(self, values: Sequence[Any]) -> Codes:
        numbers = numbers_of(values)
        if self.whole:
            numbers = np.rint(numbers)
        inner = np.asarray(self.edges[1:-1], dtype=np.float64)
        codes = np.searchsorted(inner, numbers, side="right").astype(np.int64)
        codes[np.isnan(numbers)] = self.bins if self.missing else OUTSIDE
        return codes

    def decode(self, codes: Codes, randomness: Source) -> list[Any]:
        edges = np.asarray(self.edges, dtype=np.float64)
        inside = np.minimum(codes, self.bins - 1)
        low, high = edges[inside], edges[inside + 1]
        drawn = low + uniform(len(codes), randomness) * (high - low)
        if self.whole:
            drawn = np.minimum(np.floor(drawn), high - 1)
            told: list[Any] = drawn.astype(np.int64).tolist()
        else:
            told = np.clip(drawn, edges[0], edges[-1]).tolist()
        if self.missing:
            for place in np.flatnonzero(codes == self.bins):
                told[place] = None
        return told

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "column": "number",
            "edges": list(self.edges),
            "whole": self.whole,
            "missing": self.missing,
            "groups": self.groups,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> NumberColumn:
        """The column that ``to_dict`` wrote."""
        return cls(tuple(plain["edges"]), plain["whole"], plain["missing"], plain["groups"])


def numbers_of(values: Sequence[Any]) -> NDArray[np.float64]:
    """Values as reals; what is none, as not a number: each by itself, and none raises or warns."""
    if {type(value) for value in values} <= {int, float, bool, type(None)}:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            pass  # a whole number beyond all reals
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: object) -> float:
    if isinstance(value, np.ndarray | np.complexfloating):
        return math.nan  # also where NumPy would take a part of it with a warning
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        if not isinstance(value, int | Fraction):
            return math.nan
        return math.inf if value > 0 else -math.inf
    except Exception:  # a value of the data may fail in any way, and none may show
        return math.nan
