"""Values that are too rare to be told apart under noise, merged into one of each attribute.

A merged value's count has one noise in place of many, and every table that has the attribute
shrinks. Which values are merged is decided from noisy counts that were paid for. Afterwards a
merged value's count is shared among those it stands for, by what is known of them.

Source: modern-data:A2 (compression).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.noise.randomness import Source
from discreet.noise.sampling import permutation
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.rows import shares


@dataclass(frozen=True, eq=False)
class MergedValues:
    """For each attribute, the merged value that each value belongs to, and its share of that."""

    codes: tuple[NDArray[np.int64], ...]
    shares: tuple[Floats, ...]

    @classmethod
    def none(cls, sizes: Sequence[int]) -> MergedValues:
        """Nothing is merged."""
        return cls(tuple(np.arange(size) for size in sizes), tuple(np.ones(size) for size in sizes))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has once some are merged."""
        return tuple(int(codes.max()) + 1 for codes in self.codes)

    @cached_property
    def _merges(self) -> tuple[bool, ...]:
        return tuple(len(codes) > size for codes, size in zip(self.codes, self.sizes, strict=True))

    def merge(self, table: NDArray[np.int64], places: Sequence[int]) -> NDArray[np.int64]:
        """Counts by merged values."""
        for axis, place in enumerate(places):
            if self._merges[place]:
                order = np.argsort(self.codes[place], kind="stable")
                starts = np.searchsorted(self.codes[place][order], np.arange(self.sizes[place]))
                table = np.add.reduceat(table.take(order, axis=axis), starts, axis=axis)
        return table

    def spread(self, table: Floats, places: Sequence[int]) -> Floats:
        """A table by merged values, shared out among all values."""
        for axis, place in enumerate(places):
            if self._merges[place]:
                sides = [1] * table.ndim
                sides[axis] = -1
                table = table.take(self.codes[place], axis=axis) * self.shares[place].reshape(sides)
        return table

    def split(self, rows: NDArray[np.int64], randomness: Source) -> NDArray[np.int64]:
        """Rows of merged values as rows of values."""
        found = rows.copy()
        for place, codes in enumerate(self.codes):
            if not self._merges[place]:
                continue
            for code in range(self.sizes[place]):
                values = np.flatnonzero(codes == code)
                chosen = np.flatnonzero(rows[:, place] == code)
                law = self.shares[place][values][None, :]
                number = shares(law, np.array([len(chosen)]), randomness)[0]
                drawn = np.repeat(values, number)
                found[chosen, place] = drawn[permutation(len(drawn), randomness)]
        return found

    def to_dict(self) -> list[object]:
        """Codes and shares of the attributes that are merged, for JSON."""
        return [
            {"codes": packed(codes), "shares": packed(parts)} if merges else None
            for codes, parts, merges in zip(self.codes, self.shares, self._merges, strict=True)
        ]


def merged_from_dict(plain: object, universe: Universe) -> MergedValues:
    """What :meth:`MergedValues.to_dict` described."""
    if not isinstance(plain, list) or len(plain) != len(universe.shape):
        raise not_plain()
    codes, parts = [], []
    for entry, size in zip(plain, universe.shape, strict=True):
        if entry is None:
            codes.append(np.arange(size))
            parts.append(np.ones(size))
            continue
        if not isinstance(entry, Mapping):
            raise not_plain()
        codes.append(unpacked(entry.get("codes")).astype(np.int64))
        parts.append(unpacked(entry.get("shares")))
        used = np.unique(codes[-1])
        if codes[-1].shape != (size,) or parts[-1].shape != (size,):
            raise not_plain()
        if not np.array_equal(used, np.arange(len(used))) or not (parts[-1] >= 0).all():
            raise not_plain()
    return MergedValues(tuple(codes), tuple(parts))


def merge_rare(
    counts: Sequence[Floats],
    deviations: Sequence[float],
    *,
    threshold: float,
    kept: Collection[int] = (),
) -> MergedValues:
    """Merge all values of an attribute whose noisy count is below ``threshold`` deviations.

    Fewer than two such values are left alone, and so are attributes in ``kept``. Within the merged
    value, shares follow the noisy counts as far as they differ by more than noise would.
    """
    codes, parts = [], []
    for place, (noisy, deviation) in enumerate(zip(counts, deviations, strict=True)):
        rare = (noisy < threshold * deviation) & (place not in kept)
        code, share = np.arange(len(noisy)), np.ones(len(noisy))
        if rare.sum() >= 2:
            code[~rare] = np.arange((~rare).sum())
            code[rare] = (~rare).sum()
            share[rare] = _shares(noisy[rare], deviation)
        codes.append(code)
        parts.append(share)
    return MergedValues(tuple(codes), tuple(parts))


def _shares(noisy: Floats, deviation: float) -> Floats:
    """Noisy counts drawn to their mean by how much of their spread is noise, as shares."""
    mean = max(float(noisy.mean()), 0.0)
    spread = float(noisy.var())
    kept = max(0.0, 1 - deviation**2 / spread) if spread > 0 else 0.0
    drawn = np.maximum(mean + kept * (noisy - mean), 0.0)
    total = drawn.sum()
    return drawn / total if total > 0 else np.full(len(noisy), 1 / len(noisy))
