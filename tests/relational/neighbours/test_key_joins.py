"""Private tables joined on another key: the declared change holds, and its parts are all needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding import key_truncation
from discreet.relational.bounding.hashing import first_rows
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.bounding.person_rows import Bounded
from tests.relational.neighbours.tables import PUBLIC, STAY_COLUMNS, STAYS, frame, keyed
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.worlds import (
    Private,
    Setting,
    Stand,
    Worlds,
    breaches,
    shuffled,
)

OTHERS = [
    (1, "A", 4, "x"),
    (1, "A", 0, "1"),
    (2, "B", 3, "x"),
    (3, "A", 1, None),
    (3, "é", 2, "nan"),
    (None, "A", 4, "x"),
]
QUESTIONS = [
    "SELECT COUNT(*) AS n, SUM(t.x) AS s, SUM(u.v) AS v, MEDIAN(u.v) AS m FROM t JOIN u ON w = k",
    "SELECT t.f, COUNT(*) AS n, COUNT(DISTINCT u.v) AS d FROM t JOIN u ON t.w = u.k GROUP BY t.f",
    "SELECT u.v, COUNT(*) AS n, MAX(t.y) AS m FROM t LEFT JOIN u ON t.w = u.k GROUP BY u.v",
    "SELECT u.k, COUNT(*) AS n, SUM(t.y) AS s FROM t LEFT JOIN u ON t.note = u.note GROUP BY u.k",
    "SELECT a.w, COUNT(*) AS n, SUM(a.x - b.x) AS s FROM t a JOIN t b ON a.w = b.w GROUP BY a.w",
    "SELECT COUNT(*) AS n, SUM(b.y) AS s FROM t a LEFT JOIN t b ON a.x = b.x",
    "SELECT COUNT(*) AS n, SUM(u.v) AS s FROM t JOIN u ON t.w = u.k AND t.note = u.note",
    "SELECT p.region, SUM(u.v) AS s FROM t JOIN u ON t.w = u.k JOIN p ON t.w = p.w GROUP BY 1",
    "SELECT COUNT(*) AS n, SUM(b.v) AS s FROM t JOIN u ON t.w = u.k JOIN u b ON u.note = b.note",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT t.w, u.v FROM t JOIN u ON t.w = u.k) AS q",
    "SELECT COUNT(*) AS n FROM (SELECT w, x FROM t WHERE f) AS q JOIN u ON q.w = u.k",
]


@pytest.mark.parametrize(
    "cuts",
    [(1, 1), (1, 3), *(pytest.param(cut, marks=pytest.mark.slow) for cut in ((2, 1), (9, 9)))],
    ids=str,
)
@pytest.mark.parametrize(
    "unit",
    [
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=2, max_groups=1),
        pytest.param(dp.Row(), marks=pytest.mark.slow),
        pytest.param(Replace(dp.Person("pid", max_rows=2)), marks=pytest.mark.slow),
        pytest.param(Replace(dp.Row()), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_neighbours_stay_within_the_declared_change(
    unit: PrivacyUnit, cuts: tuple[int, int]
) -> None:
    assert breaches(keyed(ONE_OF_EACH, OTHERS, unit, *cuts), *QUESTIONS) == []


def test_rows_that_are_units_stay_within_it_too() -> None:
    setting = keyed(ONE_OF_EACH[:5], OTHERS[:4], dp.Row(), 1, 2)
    assert breaches(setting, *QUESTIONS[:6]) == []


def test_the_declared_change_is_that_of_the_contract() -> None:
    stand = Stand(keyed(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=5), 3, 2))
    for query in ("t JOIN u ON t.w = u.k", "t LEFT JOIN u ON t.w = u.k"):
        planned = stand.planned(f"SELECT COUNT(*) AS n FROM {query}")
        assert planned.query.rows.stability == 2 * (5 * 2 + 5 * 3)
        assert planned.person is None
    planned = stand.planned("SELECT COUNT(*) AS n FROM t a JOIN t b ON a.w = b.w")
    assert planned.query.rows.stability == 2 * (5 * 3 + 5 * 3)
    stand.close()


# The mathematics, by itself ---------------------------------------------------------------------

Rows = tuple[tuple[str, int], ...]


def _cut(rows: Rows, limit: int) -> Rows:
    """The first rows of each key by their value, which stands for the hash."""
    kept: list[tuple[str, int]] = []
    for key in "ab":
        kept += sorted(row for row in rows if row[0] == key)[:limit]
    return tuple(kept)


def _inner(left: Rows, right: Rows) -> Counter[object]:
    return Counter((a, b) for a in left for b in right if a[0] == b[0])


def _left(left: Rows, right: Rows) -> Counter[object]:
    keys = {key for key, _ in right}
    return _inner(left, right) + Counter((a, None) for a in left if a[0] not in keys)


def _tables(most: int) -> Iterator[Rows]:
    every = list(product("ab", range(3)))
    for size in range(most + 1):
        yield from combinations_with_replacement(every, size)


@pytest.mark.parametrize("join", [_inner, _left])
@pytest.mark.parametrize("cuts", [(1, 1), (2, 1), (1, 2)])
def test_every_small_join_changes_by_at_most_twice_the_products(
    cuts: tuple[int, int], join: Callable[[Rows, Rows], Counter[object]]
) -> None:
    """All tables of at most two rows by two, one person with one row on each side."""
    left, right = cuts
    tables, own = list(_tables(2)), list(_tables(1))
    largest = 0
    for a, b in product(tables, tables):
        before = join(_cut(a, left), _cut(b, right))
        for mine, other in product(own, own):
            after = join(_cut(a + mine, left), _cut(b + other, right))
            change = sum(((before - after) + (after - before)).values())
            largest = max(largest, change)
    bound = 2 * (right + left)
    assert largest <= bound
    assert largest > bound // 2  # the factor of two is needed


# Broken twins ----------------------------------------------------------------------------------


def crowd(unit: PrivacyUnit, left: int, right: int, people: int = 8, each: int = 3) -> Setting:
    """People whose rows crowd few keys, with values that tell them apart."""
    rows = [(person, place) for person in range(people) for place in range(each)]
    ids = [person for person, _ in rows]
    visits = pl.DataFrame(
        {"pid": ids, "c": [p % 2 for p in ids], "x": [(7 * p + 3 * i) % 9 for p, i in rows]}
    )
    stays = pl.DataFrame(
        {"pid": ids, "c": [i % 2 for _, i in rows], "v": [(5 * p + i) % 9 for p, i in rows]}
    )
    return Setting(
        {
            "t": Private(visits, unit, {"x": dp.Number(0, 8)}, {"c": left}),
            "u": Private(stays, unit, {"v": dp.Number(0, 8)}, {"c": right}),
        }
    )


BY_VALUE = "SELECT t.x, COUNT(*) AS n, SUM(u.v) AS s FROM t JOIN u ON t.c = u.c GROUP BY t.x"
SELF = "SELECT a.x, COUNT(*) AS n FROM t a JOIN t b ON a.c = b.c GROUP BY a.x"


def found(setting: Setting) -> list[str]:
    return [
        fault
        for salt in range(3)
        for fault in breaches(
            setting, BY_VALUE, SELF, salt=salt, also=lambda frames: [shuffled(frames, 2)]
        )
    ]


def _retold(rewrite: Callable[[str], str]) -> Callable[[pytest.MonkeyPatch], None]:
    """A twin that changes the text of the cut by key."""

    def install(monkeypatch: pytest.MonkeyPatch) -> None:

        def cut(*given: str) -> str:
            return rewrite(first_rows(*given))

        monkeypatch.setattr(key_truncation, "first_rows", cut)

    return install


def _by_rowid(text: str) -> str:
    head, _, tail = text.partition(") AS k FROM (")
    inside, _, end = tail.rpartition(") AS q) AS q WHERE")
    head = re.sub(r"ORDER BY .*$", "ORDER BY hash(rid)", head)
    numbered = f"SELECT *, row_number() OVER () AS rid FROM ({inside}) AS q"
    return f"{head}) AS k FROM ({numbered}) AS q) AS q WHERE{end}"


TWINS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "rows of a key chosen by a hash of rowid": _retold(_by_rowid),
    "keys are not cut": _retold(lambda text: re.sub(r"k <= \d+", "TRUE", text)),
    "the cut forgets that a row pushes another out": lambda monkeypatch: monkeypatch.setattr(
        Truncated, "stability", property(lambda self: self.rows.stability)
    ),
}


def test_the_real_code_passes() -> None:
    assert found(crowd(dp.Person("pid", max_rows=1), 1, 3)) == []


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_cut_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    TWINS[name](monkeypatch)
    assert found(crowd(dp.Person("pid", max_rows=1), 1, 3)) != []


def test_people_bounded_after_the_cut_instead_of_before_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting = crowd(dp.Person("pid", max_rows=1), 3, 3, people=3, each=8)
    assert found(setting) == []
    real = Worlds.numbers

    def numbers(self: Worlds, text: str) -> Any:
        return real(self, text.replace("CASE WHEN n <= 1 THEN", "CASE WHEN TRUE THEN"))

    monkeypatch.setattr(Worlds, "numbers", numbers)
    assert found(setting) != []


# What is refused, and what is not --------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("t JOIN u ON t.d = u.v", "t"),
        ("t JOIN u ON t.x = u.v", "u"),
        ("t a JOIN t b ON a.y = b.y", "y"),
        ("t JOIN u ON t.x + 1 = u.v", "max_rows_per"),
    ],
)
def test_a_missing_bound_is_refused_with_its_table_and_key(query: str, named: str) -> None:
    stand = Stand(keyed(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=2), 1, 1))
    with pytest.raises(DiscreetError) as caught:
        stand.planned(f"SELECT COUNT(*) AS n FROM {query}")
    assert caught.value.code in ("private_join", "type_clash")
    assert named in str(caught.value)
    stand.close()


def test_rows_of_two_owners_cannot_be_counted_as_people() -> None:
    stand = Stand(keyed(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=2), 1, 1))
    with pytest.raises(DiscreetError):
        stand.planned("SELECT COUNT(DISTINCT t.pid) AS n FROM t JOIN u ON t.w = u.k")
    stand.close()


def test_a_join_on_the_person_and_another_key_keeps_the_person() -> None:
    unit = dp.Person("pid", max_rows=2)
    setting = keyed(ONE_OF_EACH, OTHERS, unit, 1, 1)
    stand = Stand(setting)
    query = "SELECT COUNT(*) AS n, SUM(u.v) AS s FROM t JOIN u ON t.pid = u.pid AND t.w = u.k"
    planned = stand.planned(query)
    assert planned.person == unit
    assert not any(isinstance(step, Truncated | Bounded) for step in planned.query.rows.inputs)
    stand.close()
    assert breaches(setting, query) == []


def test_the_least_bound_of_a_combination_counts() -> None:
    stays = frame(STAYS, OTHERS)
    cuts = {"k": 7, ("k", "note"): 2}
    setting = Setting({"u": Private(stays, dp.Row(), STAY_COLUMNS, cuts)}, PUBLIC)
    stand = Stand(setting)
    for on, changed in (("a.k = b.k", 2 * (7 + 7)), ("a.k = b.k AND a.note = b.note", 2 * (2 + 2))):
        planned = stand.planned(f"SELECT COUNT(*) AS n FROM u a JOIN u b ON {on}")
        assert planned.query.rows.stability == changed
    stand.close()
