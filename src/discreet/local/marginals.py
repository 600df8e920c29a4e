"""Tables of several attributes: one set of attributes for each person, reconciled afterwards.

:class:`HadamardMarginals` sends one parity and gives all marginals of up to k binary attributes.
:class:`SplitMarginals` asks each person about one set of attributes: all sets of k (the plain
way), one set of all (which is then summed out), or a few larger ones chosen by
:func:`covering_sets`. Tables that overlap are reconciled; what no set covers is fitted from those
that do.

Source: 004a:C14, C15 (all coefficients of up to k bits are needed, not those of k alone), C16, C17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count
from discreet.local.frequencies import simplex
from discreet.local.hadamard import HadamardResponse, best_bits
from discreet.local.masks import MaskedHadamard
from discreet.local.split import QuestionPart, SplitPeople
from discreet.local.tally import Tally

Floats = NDArray[np.float64]
_ROUNDS = 50
_MOST_CELLS = 1 << 18


@dataclass(frozen=True, kw_only=True)
class HadamardMarginals:
    """All marginals of up to ``order`` of ``attributes`` binary attributes; bit j is attribute j.

    >>> len(HadamardMarginals(epsilon=1, attributes=10, order=3).oracle.masks)
    175
    """

    epsilon: Number
    attributes: int
    order: int

    @cached_property
    def oracle(self) -> MaskedHadamard:
        """What people are asked: a parity of at most ``order`` of their attributes."""
        masks = tuple(
            sum(1 << each for each in chosen)
            for size in range(1, count("order", self.order) + 1)
            for chosen in combinations(range(count("attributes", self.attributes)), size)
        )
        return MaskedHadamard(epsilon=self.epsilon, domain=1 << self.attributes, masks=masks)

    def marginal(self, tally: Tally, attributes: Sequence[int]) -> Floats:
        """The table of some attributes, one axis each: 2**-k times sums of signed coefficients."""
        _require_attributes(attributes, self.attributes, most=self.order)
        found, _ = self.oracle.coefficients(tally)
        by_mask = {0: 1.0, **dict(zip(self.oracle.masks, found.tolist(), strict=True))}
        k = len(attributes)
        table = np.zeros((2,) * k)
        for cell in np.ndindex(*table.shape):
            for subset in np.ndindex(*table.shape):
                mask = sum(1 << attributes[i] for i in range(k) if subset[i])
                sign = -1 if sum(a & b for a, b in zip(cell, subset, strict=True)) % 2 else 1
                table[cell] += sign * by_mask[mask]
        scaled: Floats = table / 2**k
        return scaled


@dataclass(frozen=True, kw_only=True)
class SplitMarginals:
    """Attributes of ``sizes`` values each; every person reports the cell of one of ``sets``.

    A record is the number whose digits are the attributes, the first most significant.
    """

    epsilon: Number
    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Refuse sets of unknown attributes."""
        for chosen in self.sets:
            _require_attributes(chosen, len(self.sizes), most=len(self.sizes))

    def numbers(self, records: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of attribute values as the numbers that clients take."""
        found = np.zeros(len(records), dtype=np.int64)
        for place, size in enumerate(self.sizes):
            found = found * size + records[:, place]
        return found

    @cached_property
    def oracle(self) -> SplitPeople:
        """What people are asked: one part for each set."""
        parts = []
        for chosen in self.sets:
            digits = tuple((prod(self.sizes[each + 1 :]), self.sizes[each]) for each in chosen)
            oracle = HadamardResponse(
                epsilon=self.epsilon,
                domain=prod(size for _, size in digits),
                bits=best_bits(self.epsilon),
            )
            parts.append(QuestionPart(digits, oracle))
        return SplitPeople(epsilon=self.epsilon, domain=prod(self.sizes), parts=tuple(parts))

    def tables(self, tally: Tally) -> dict[tuple[int, ...], Floats]:
        """The table of each set: reconciled where sets overlap, none negative, adding up to one."""
        found = {
            chosen: each.shares.reshape([self.sizes[i] for i in chosen])
            for chosen, each in zip(self.sets, self.oracle.estimates(tally), strict=True)
        }
        for _ in range(_ROUNDS):
            found = reconciled(found)
            found = {
                chosen: simplex(table.ravel()).reshape(table.shape)
                for chosen, table in found.items()
            }
        return reconciled(found)

    def marginal(self, tally: Tally, attributes: Sequence[int]) -> Floats:
        """The table of some attributes: summed out of a set that has them all, else fitted.

        The fit is the law of largest entropy over the sets that touch the wanted attributes, which
        agrees with every set on what they share.
        """
        wanted = tuple(attributes)
        _require_attributes(wanted, len(self.sizes), most=len(self.sizes))
        tables = self.tables(tally)
        covering = [chosen for chosen in self.sets if set(wanted) <= set(chosen)]
        if covering:
            found: Floats = np.mean(
                [summed(tables[each], each, wanted) for each in covering], axis=0
            )
            return found
        touching = [chosen for chosen in self.sets if set(chosen) & set(wanted)]
        scope = tuple(sorted(set(wanted).union(*touching)))
        if prod(self.sizes[i] for i in scope) > _MOST_CELLS:
            scope = wanted
        joint = fitted(tables, scope, tuple(self.sizes[i] for i in scope))
        return summed(joint, scope, wanted)


def summed(table: Floats, attributes: Sequence[int], wanted: Sequence[int]) -> Floats:
    """A table of fewer attributes, in the order wanted."""
    left = [each for each in attributes if each in wanted]
    away = tuple(i for i, each in enumerate(attributes) if each not in wanted)
    order = [left.index(each) for each in wanted if each in left]
    return np.transpose(table.sum(axis=away), order)


def reconciled(tables: dict[tuple[int, ...], Floats]) -> dict[tuple[int, ...], Floats]:
    """Tables that agree on what they share: shared sums are averaged, differences spread evenly.

    Averages weigh a table by how few cells it sums, which is one over its variance. From small
    shared sets to large ones, so that later steps do not undo earlier ones.
    """
    found = dict(tables)
    shared = {tuple(sorted(set(a) & set(b))) for a, b in combinations(found, 2) if set(a) & set(b)}
    for common in sorted({(), *shared}, key=lambda each: (len(each), each)):
        holders = [chosen for chosen in found if set(common) <= set(chosen)]
        sums = {each: summed(found[each], each, common) for each in holders}
        weights = {each: sums[each].size / found[each].size for each in holders}
        total = sum(weights.values())
        best = sum(weights[each] * sums[each] for each in holders) / total
        if not common:
            best = np.ones(())
        for each in holders:
            gap = (best - sums[each]) * weights[each]
            shape = [found[each].shape[each.index(i)] if i in common else 1 for i in each]
            kept = [i for i in each if i in common]
            aligned = np.transpose(gap, [common.index(i) for i in kept]) if common else gap
            found[each] = found[each] + aligned.reshape(shape)
    return found


def fitted(
    tables: dict[tuple[int, ...], Floats], wanted: tuple[int, ...], shape: tuple[int, ...]
) -> Floats:
    """Iterative proportional fitting of a table to all sums that the others have of it."""
    joint = np.full(shape, 1 / prod(shape))
    targets = []
    for chosen, table in tables.items():
        common = tuple(i for i in wanted if i in chosen)
        if common:
            targets.append((common, np.maximum(summed(table, chosen, common), 0.0)))
    for _ in range(_ROUNDS):
        for common, target in targets:
            now = summed(joint, wanted, common)
            ratio = np.divide(target, now, out=np.zeros_like(target), where=now > 0)
            view = [shape[i] if each in common else 1 for i, each in enumerate(wanted)]
            joint = joint * ratio.reshape(view)
        joint /= joint.sum()
    return joint


def covering_sets(
    *, epsilon: Number, sizes: Sequence[int], order: int, people: int
) -> tuple[tuple[int, ...], ...]:
    """Sets of equal size that cover all marginals of ``order``, with the least expected error.

    Larger sets are fewer, so that each has more people, but have more cells to be summed. Sets are
    found greedily; the error is that of a marginal's cells, from public numbers alone.
    """
    many = len(sizes)
    best: tuple[float, tuple[tuple[int, ...], ...]] | None = None
    oracle = HadamardResponse(epsilon=epsilon, domain=2, bits=best_bits(epsilon))
    for width in range(order, min(many, order + 3) + 1):
        sets = _greedy(many, order, width)
        cells = max(prod(sizes[i] for i in chosen) for chosen in sets)
        if cells > 1 << 16 or comb(many, width) > 20_000:
            continue
        error = oracle.variance * len(sets) / people * cells
        if best is None or error < best[0]:
            best = (error, sets)
    if best is None:
        raise InvalidParameter(
            code="local_marginals_too_large",
            expectation="marginals of at most 65 536 cells",
            received=order,
            remedy="Ask for marginals of fewer attributes, or group their values.",
        )
    return best[1]


def _greedy(many: int, order: int, width: int) -> tuple[tuple[int, ...], ...]:
    """Sets of ``width`` until every ``order`` of attributes is inside one."""
    left = set(combinations(range(many), order))
    chosen = []
    options = list(combinations(range(many), width))
    while left:
        best = max(options, key=lambda each: len(left & set(combinations(each, order))))
        chosen.append(best)
        left -= set(combinations(best, order))
    return tuple(chosen)


def _require_attributes(attributes: Sequence[int], many: int, *, most: int) -> None:
    inside = all(0 <= each < many for each in attributes)
    if not inside or len(set(attributes)) < len(attributes) or not 0 < len(attributes) <= most:
        raise InvalidParameter(
            code="local_attributes",
            expectation=f"one to {most} different attributes of {many}",
            received=tuple(attributes),
            remedy="Name attributes by their place, from zero.",
        )
