"""Hypothesis strategies that draw neighbouring data sets full of awkward values.

Hypothesis is a development tool, so it is imported only when a strategy is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.core.errors import DiscreetError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    Pair: TypeAlias = tuple[list[Any], list[Any]]


def awkward_numbers() -> SearchStrategy[Any]:
    """Numbers that break careless code: NaN, infinities, −0.0, subnormals, huge integers.

    Small integers are frequent, so that duplicates are too.
    """
    _require_hypothesis()
    from hypothesis import strategies as st

    special = [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1.7e308, -1.7e308]
    huge = [2**53 + 1, 2**63, -(2**63) - 1, 10**40]
    return st.one_of(st.integers(-2, 2), st.sampled_from([*special, *huge]), st.floats())


def awkward_values() -> SearchStrategy[Any]:
    """Awkward numbers, None, booleans and text, empty text included."""
    _require_hypothesis()
    from hypothesis import strategies as st

    return st.one_of(awkward_numbers(), st.none(), st.booleans(), st.text(max_size=3))


def add_remove_pairs(values: SearchStrategy[Any], *, max_rows: int) -> SearchStrategy[Pair]:
    """Two data sets, one of which has one row more than the other, at any place.

    Contract: the smaller has at most ``max_rows`` rows and may be empty; either may be first.
    """
    _require_hypothesis()
    from hypothesis import strategies as st

    def insert(rows: list[Any], row: object, place: int) -> Pair:
        at = place % (len(rows) + 1)
        return rows, [*rows[:at], row, *rows[at:]]

    grown = st.builds(insert, rows=_rows(values, 0, max_rows), row=values, place=st.integers(0))
    return _either_order(grown)


def replace_pairs(values: SearchStrategy[Any], *, max_rows: int) -> SearchStrategy[Pair]:
    """Two data sets of equal size that differ in at most one row.

    Contract: between one and ``max_rows`` rows; the new row may equal the old one.
    """
    _require_hypothesis()
    from hypothesis import strategies as st

    def replace(rows: list[Any], row: object, place: int) -> Pair:
        at = place % len(rows)
        return rows, [*rows[:at], row, *rows[at + 1 :]]

    return st.builds(replace, rows=_rows(values, 1, max_rows), row=values, place=st.integers(0))


def _rows(values: SearchStrategy[Any], min_rows: int, max_rows: int) -> SearchStrategy[list[Any]]:
    """Lists with independent rows, and lists that repeat one row."""
    from hypothesis import strategies as st

    varied = st.lists(values, min_size=min_rows, max_size=max_rows)
    copies = st.builds(lambda row, n: [row] * n, values, st.integers(min_rows, max_rows))
    return st.one_of(varied, copies)


def _either_order(pairs: SearchStrategy[Pair]) -> SearchStrategy[Pair]:
    from hypothesis import strategies as st

    return st.one_of(pairs, pairs.map(lambda pair: (pair[1], pair[0])))


def _require_hypothesis() -> None:
    try:
        import hypothesis  # noqa: F401 - asked only whether it is there
    except ImportError as missing:
        raise DiscreetError(
            code="missing_hypothesis",
            expectation="the package hypothesis to be installed",
            remedy="Run `pip install 'discreet[test]'`.",
        ) from missing
