"""Which rows of a person are kept: a function of that person's own rows and the salt."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.unit import Person, Replace, Row
from discreet.queries.workload.universe import Universe
from discreet.synthetic.bounded_records import bounded_records, records_of
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes
from discreet.synthetic.person_rows import kept_rows

SALT = b"0123456789abcdef"

Rows = list[tuple[int, int, int]]
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), max_size=40)


def kept(rows: Rows, most: int, salt: bytes = SALT) -> Counter[tuple[int, int, int]]:
    codes: Codes = np.array([row[1:] for row in rows], dtype=np.int64).reshape(len(rows), 2)
    found = kept_rows(codes, [row[0] for row in rows], max_rows=most, salt=salt)
    return Counter(row for row, keep in zip(rows, found, strict=True) if keep)


@settings(max_examples=60)
@given(ROWS, st.integers(1, 4))
def test_a_person_who_leaves_takes_their_own_rows_and_no_others(rows: Rows, most: int) -> None:
    whole = kept(rows, most)
    for person in range(5):
        without = kept([row for row in rows if row[0] != person], most)
        assert without == Counter({r: n for r, n in whole.items() if r[0] != person})


@settings(max_examples=60)
@given(ROWS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_nobody_keeps_too_many_or_too_few_and_order_does_not_matter(
    rows: Rows, most: int, order: object
) -> None:
    whole = kept(rows, most)
    had = Counter(row[0] for row in rows)
    has = Counter({p: sum(n for r, n in whole.items() if r[0] == p) for p in had})
    assert all(has[person] == min(had[person], most) for person in had)
    mixed = list(rows)
    order.shuffle(mixed)  # type: ignore[attr-defined]
    assert kept(mixed, most) == whole


def test_each_row_has_the_same_chance() -> None:
    rows = [(1, cell % 3, cell // 3) for cell in range(9)]
    found: Counter[tuple[int, int, int]] = Counter()
    runs = 3000
    for number in range(runs):
        found += kept(rows, 4, number.to_bytes(16, "little"))
    expected = runs * 4 / 9
    # Six deviations of a binomial on each of nine counts: a false alarm below 1e-7.
    assert all(abs(found[row] - expected) < 6 * np.sqrt(runs * 4 / 9 * 5 / 9) for row in rows)


def test_rows_of_nobody_are_dropped() -> None:
    found = kept_rows(np.zeros((3, 1), np.int64), [None, 1, None], max_rows=5, salt=SALT)
    assert found.tolist() == [False, True, False]


def test_counts_leave_rows_without_a_cell_out_or_keep_them_where_rows_are_exchanged() -> None:
    universe = Universe.of(a=range(2), b=range(2))
    codes = np.array([[0, 1], [1, OUTSIDE], [1, 1], [1, 1]], dtype=np.int64)
    added = bounded_records(universe, codes, Row())
    assert added.counts(["a", "b"]).tolist() == [[0, 1], [0, 2]]
    exchanged = bounded_records(universe, codes, Replace(Row()))
    assert exchanged.counts(["a", "b"]).tolist() == [[1, 1], [0, 2]]
    assert exchanged.counts(["b"]).tolist() == [1, 3]
    people = bounded_records(universe, codes, Person("id", max_rows=1), [1, 1, 2, 2])
    assert people.counts(["a"]).tolist() == [1, 1]
    assert records_of(people.unit) == 1
