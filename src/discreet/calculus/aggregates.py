"""Tables to exact numbers: counts, clamped sums in grid steps, and histograms.

Everything is summed in whole numbers, so the order of rows never matters, and a stability is a
whole number too (or the root of two, rounded up).

Source: 000a:A10, 000a:A12, 004a:A2, 004d:F7, boosting-and-analysts:L1; contract, "Numbers".
Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from discreet.calculus.adjacency import per_step, size_is_public, table
from discreet.calculus.cleaning import not_numbers
from discreet.calculus.containment import FAILED, attempt, contained
from discreet.calculus.steps import Grid
from discreet.calculus.transformation import Transformation, stable
from discreet.core.domain import Categories, Integers, Nullable, Reals, Vector
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.metric import L1, L2, LInf, Metric
from discreet.core.space import Space

if TYPE_CHECKING:
    from discreet.calculus.rows import Table
    from discreet.core.parameters import Number

_ROOT_OF_TWO = 1.4142135623730951
"""The least float above the root of two."""


def count_rows(space: Space, *, metric: Metric | None = None) -> Transformation[Table, int]:
    """How many rows there are.

    Contract: tables under AddRemove. Under ChangeOne the number of rows is public and there is
    nothing to protect: refused. On one number L1, L2 and LInf are the same; ``metric`` says which
    the next step expects, L1 if nothing is said.
    Guarantee: 1-stable.
    Source: 000a:A10.
    """
    if size_is_public(space):
        raise InvalidParameter(
            code="count_is_public",
            expectation="a table whose number of rows is private",
            received=table(space).size,
            remedy="Under ChangeOne the number of rows is public: use it as it is. To count rows "
            "with a property, use histogram with one key.",
        )
    table(space)
    return Transformation(space, Space(Integers(0), _norm(metric)), len, stable(1))


def sum_rows(
    space: Space, *, lower: Number, upper: Number, grid: Number, metric: Metric | None = None
) -> Transformation[Table, int]:
    """The sum of clamped numbers, in steps of a public power-of-two grid.

    Contract: records are Integers or Reals, or Nullable of these. Infinities clamp. What is not
    a number, NaN and None included, counts as nothing; only under ChangeOne without declared
    nulls, where it cannot occur, it would count as the bound nearest to nothing.
    Guarantee: each number is clamped, rounded to the nearest step and added up in exact whole
    numbers. With low = floor(lower/grid) and high = ceil(upper/grid), it is
    max(|low|, |high|)-stable under AddRemove, and (high - low)-stable under ChangeOne, where
    low and high are first stretched to include 0 if rows may be null.
    Source: 000a:A10, 004a:A2, 004d:F7.

    >>> from discreet.core.domain import Reals, Rows
    >>> from discreet.core.metric import AddRemove
    >>> from discreet.core.space import Space
    >>> total = sum_rows(Space(Rows(Reals()), AddRemove()), lower=0, upper=1, grid=0.25)
    >>> total((0.5, 0.3, 7.0)), total.map(1)
    (7, 4)
    """
    record = table(space).record
    numbers = record.inner if isinstance(record, Nullable) else record
    if not isinstance(numbers, (Integers, Reals)):
        raise not_numbers(record)
    steps = Grid.of(lower=lower, upper=upper, step=grid)
    absent = 0
    if size_is_public(space) and not isinstance(record, Nullable):
        absent = min(max(0, steps.low), steps.high)
    stability = per_step(
        space,
        add_remove=max(abs(steps.floor), abs(steps.ceiling)),
        change_one=max(steps.ceiling, absent) - min(steps.floor, absent),
    )
    output = Space(Integers(), _norm(metric))
    return Transformation(space, output, lambda rows: steps.total(rows, absent), stability)


def histogram(
    space: Space,
    keys: Sequence[Any],
    *,
    key: Callable[[Any], Any] | None = None,
    metric: Metric | None = None,
) -> Transformation[Table, tuple[int, ...]]:
    """How many rows have each of some public keys, in the order of ``keys``.

    Contract: ``key`` is pure; without it rows are their own keys. Rows with other keys, or on
    which ``key`` raises, are left out; NaN counts as None, which is a key only if listed.
    ``metric`` is L1() (assumed), L2() or LInf().
    Guarantee: 1-stable under AddRemove in each metric. Under ChangeOne 2 in L1, the root of two
    in L2, 1 in LInf; with a single key 1 in all.
    Source: 000a:A10, boosting-and-analysts:L1.
    """
    norm = _norm(metric)
    place = places(keys)
    cells = Vector(Integers(0), len(place))

    def apply(rows: Table) -> tuple[int, ...]:
        counts = [0] * len(place)
        with contained():
            for row in rows:
                cell = find(place, key, row)
                if cell is not None:
                    counts[cell] += 1
        return tuple(counts)

    exchanged: dict[Metric, float] = {L1(): 2, L2(): _ROOT_OF_TWO, LInf(): 1}
    change_one = 1 if len(place) == 1 else exchanged[norm]
    table(space)
    stability = per_step(space, add_remove=1, change_one=change_one)
    return Transformation(space, Space(cells, norm), apply, stability)


def places(keys: Sequence[Any]) -> dict[Any, int]:
    """The position of each public key; NaN is no key, since it does not equal itself."""
    listed = Categories(tuple(keys)).values
    if any(key != key for key in listed):  # noqa: PLR0124 - NaN
        raise InvalidParameter(
            code="nan_as_key",
            expectation="keys that equal themselves",
            received=math.nan,
            remedy="List None instead: NaN counts as None.",
        )
    return {key: place for place, key in enumerate(listed)}


def find(place: dict[Any, int], key: Callable[[Any], Any] | None, row: Any) -> int | None:
    """The position of a row's key among the public ones, if it has one; never raises."""
    found = row if key is None else attempt(key, row)
    unlike_itself = attempt(lambda: bool(found != found))  # noqa: PLR0124 - NaN
    if found is FAILED or unlike_itself is FAILED:
        return None
    position = attempt(place.get, None if unlike_itself else found)
    return position if isinstance(position, int) else None


def _norm(metric: Metric | None) -> Metric:
    chosen = L1() if metric is None else metric
    if chosen not in (L1(), L2(), LInf()):
        raise Mismatch(
            code="not_a_norm",
            expectation="L1(), L2() or LInf() as the metric of numbers",
            received=chosen,
            remedy="Pass the metric that the mechanism at the end of the pipeline measures in.",
        )
    return chosen
