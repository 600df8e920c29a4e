"""Joins on other keys and features of people mean the same on every engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit
from discreet.relational.bounding.hashing import NATIVE, PORTABLE
from tests.relational.conformance.engines import Maker, others
from tests.relational.conformance.rows import people
from tests.relational.conformance.test_conformance import differences
from tests.relational.neighbours.worlds import Setting, breaches

JOINS = (
    "SELECT COUNT(*) AS n, SUM(t.x) AS a, SUM(s.v) AS b FROM t JOIN s ON t.w = s.k",
    "SELECT t.w, COUNT(*) AS n, MEDIAN(s.v) AS m FROM t JOIN s ON t.w = s.k GROUP BY t.w",
    "SELECT s.v, COUNT(*) AS n, SUM(t.y) AS a FROM t LEFT JOIN s ON t.d = s.at GROUP BY s.v",
    "SELECT a.f, COUNT(*) AS n, SUM(a.x - b.x) AS s FROM t a JOIN t b ON a.w = b.w GROUP BY a.f",
    "SELECT COUNT(*) AS n FROM t a LEFT JOIN t b ON a.y = b.y AND a.w = b.w",
    "SELECT COUNT(*) AS n, SUM(s.v) AS a FROM t JOIN s ON t.pid = s.pid AND t.w = s.k",
)
_PER = (
    "(SELECT pid, COUNT(*) AS n, COUNT(DISTINCT w) AS k, SUM(x) AS sx, SUM(y) AS sy, AVG(y) AS ay,"
    " MIN(d) AS lo, MAX(y) AS hi, FIRST(w ORDER BY d) AS fw, LAST(f ORDER BY x) AS lf,"
    " LAST(y ORDER BY d) AS ly FROM t GROUP BY pid HAVING COUNT(*) > 1) AS q"
)
FEATURES = (
    f"SELECT COUNT(*) AS c, SUM(n) AS a, SUM(sx) AS b, SUM(sy) AS e, AVG(ay) AS g FROM {_PER}",
    f"SELECT fw, COUNT(*) AS c, SUM(ly) AS a, COUNT(DISTINCT pid) AS p FROM {_PER} GROUP BY fw",
    f"SELECT lf, n, COUNT(*) AS c, SUM(hi) AS a FROM {_PER} GROUP BY lf, n",
    f"SELECT lo, COUNT(*) AS c, MEDIAN(k) AS m FROM {_PER} WHERE sy > 0 GROUP BY lo",
    f"SELECT COUNT(*) AS c, SUM(q.n * r.v) AS a FROM {_PER} LEFT JOIN "
    "(SELECT pid, SUM(v) AS v FROM s GROUP BY pid) AS r ON q.pid = r.pid",
)
EVERY = (*JOINS, *FEATURES)


def keyed(unit: PrivacyUnit, most: int) -> Setting:
    """The people of the other questions, whose tables may be joined on further keys."""
    setting = people(unit)
    keys = {"t": ("w", "d", "y"), "s": ("k", "at")}
    return replace(
        setting,
        private={
            name: replace(table, max_rows_per=dict.fromkeys(keys[name], most))
            for name, table in setting.private.items()
        },
    )


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize(
    "unit", [dp.Person("pid", max_rows=3), dp.Person("pid", max_rows=1)], ids=str
)
def test_exact_numbers_are_equal_on_every_engine(unit: dp.Person, maker: Maker) -> None:
    # Nobody with one row has n > 1, so that no key of `lf, n` is permitted then.
    asked = [text for text in EVERY if unit.rows() > 1 or "GROUP BY lf, n" not in text]
    assert list(differences(lambda: keyed(unit, 2), asked, maker, PORTABLE)) == []


@pytest.mark.parametrize("maker", others())
def test_native_hashes_agree_where_nothing_is_cut(maker: Maker) -> None:
    unit = dp.Person("pid", max_rows=1000)
    assert list(differences(lambda: keyed(unit, 1000), EVERY, maker, NATIVE)) == []


@pytest.mark.parametrize("maker", others())
def test_neighbours_stay_within_the_declared_change(maker: Maker) -> None:
    home = maker.home(NATIVE)
    try:
        setting = keyed(dp.Person("pid", max_rows=2), 2)
        assert breaches(setting, *JOINS[:4], *FEATURES[:3], home=home) == []
    finally:
        home.close()
