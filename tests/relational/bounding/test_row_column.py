"""A column that tells rows of a person apart: rows are chosen by its hash, it is not believed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import discreet as dp
from discreet.relational.bounding import person_groups, systematic
from discreet.relational.bounding.hashing import PORTABLE
from discreet.relational.bounding.systematic import systematic_sample
from discreet.relational.compile.dialect import ordered
from discreet.relational.execute.exact_aggregation import statements
from discreet.relational.identity.identity import canonical_text, private_part
from discreet.relational.plan.nodes import Scan, row_columns, scans
from tests.relational.engine_with_rows import DuckDBWithRows
from tests.relational.neighbours.worlds import Setting, Stand, breaches, one, shuffled

COLUMNS = {"w": dp.Category(["A", "B"]), "x": dp.Number(0, 30)}
TOLD = dp.Person("pid", max_rows=3, row="rid")
MEDIAN = "SELECT MEDIAN(x) AS m FROM t"
WHOLE = (
    MEDIAN,
    "SELECT w, MEDIAN(x) AS m, COUNT(DISTINCT x) AS d FROM t GROUP BY w",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT w, x FROM t) AS q",
    "SELECT MEDIAN(v) AS m FROM (SELECT pid, FIRST(x ORDER BY x) AS v FROM t GROUP BY pid) AS q",
    "SELECT MEDIAN(t.x) AS m FROM t JOIN p ON t.w = p.w",
    "SELECT MEDIAN(a.x) AS m FROM t AS a JOIN t AS b ON a.pid = b.pid",
    "SELECT MEDIAN(x) AS m FROM (SELECT w, x, pid FROM t UNION ALL SELECT w, 1, pid FROM t) AS q",
)
PARTNERS = pl.DataFrame({"w": ["A", "A", "B"], "r": [1, 2, 3]})

Ids = Sequence[int | None]


def table(rows: list[tuple[int, str, int]], ids: Ids, unit: Any = TOLD) -> Setting:
    frame = pl.DataFrame(
        {
            "pid": [pid for pid, _, _ in rows],
            "w": [w for _, w, _ in rows],
            "x": [x for _, _, x in rows],
            "rid": ids,
        },
        schema={"pid": pl.Int64, "w": pl.String, "x": pl.Int64, "rid": pl.Int64},
    )
    return one(frame, unit, COLUMNS, p=PARTNERS)


def kept(setting: Setting, sql: str = MEDIAN, salt: int = 0, home: Any = None) -> list[list[int]]:
    """How many rows of each value are left, by group."""
    stand = Stand(setting, home) if home is not None else Stand(setting)
    try:
        counts: list[list[int]] = stand.exact(stand.planned(sql), salt=salt).ranks[0].tolist()
    finally:
        stand.close()
    return counts


def test_each_row_has_the_same_chance() -> None:
    """Seven rows, three are kept, at 400 salts: chi-square, false alarm 1e-6."""
    stand = Stand(table([(1, "A", x) for x in range(7)], list(range(7))))
    try:
        planned = stand.planned(MEDIAN)
        found = [stand.exact(planned, salt=salt).ranks[0][0][:7] for salt in range(400)]
    finally:
        stand.close()
    assert all(sum(row) == 3 and max(row) == 1 for row in found)
    often = [sum(column) for column in zip(*found, strict=True)]
    wanted = 400 * 3 / 7
    # Negatively correlated within a sample, so this is at most chi-square with seven degrees.
    assert sum((n - wanted) ** 2 / wanted for n in often) < chi2.isf(1e-6, 7)
    assert len({tuple(row) for row in found}) > 10  # along content there are seven starts at most


def test_the_rows_kept_do_not_depend_on_the_columns_read() -> None:
    """Which of the rows 0 ... 9 stay is the same whether x or 30 - x is read."""
    rows, ids = [(1, "A", x) for x in range(10)], list(range(10))
    for salt in range(8):
        forward = kept(table(rows, ids), salt=salt)[0]
        backward = kept(table(rows, ids), "SELECT MEDIAN(30 - x) AS m FROM t", salt)[0]
        assert forward == backward[::-1]


@pytest.mark.parametrize("ids", [[None] * 9, [5] * 9], ids=["missing", "equal"])
def test_rows_that_share_a_value_or_have_none_are_a_sample_along_their_content(ids: Ids) -> None:
    rows = [(1, "A", 4)] * 6 + [(1, "A", 9)] * 3
    for salt in range(6):
        counts = kept(table(rows, ids), salt=salt)[0]
        assert (counts[4], counts[9]) == (2, 1)


_ROWS = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from("AB"), st.integers(0, 3)), min_size=1, max_size=14
)


@settings(max_examples=10, deadline=None)
@given(_ROWS, st.data(), st.integers(1, 3), st.none() | st.integers(1, 2))
def test_nobody_moves_more_than_declared_whatever_the_column_holds(
    rows: list[tuple[int, str, int]], data: st.DataObject, most: int, groups: int | None
) -> None:
    """Few values, so that many rows share one; and the order of the file changes nothing."""
    held = st.none() | st.integers(0, 2)
    ids = data.draw(st.lists(held, min_size=len(rows), max_size=len(rows)))
    unit = dp.Person("pid", max_rows=most, max_groups=groups, row="rid")
    setting = table(rows, ids, unit)
    found = breaches(
        setting, *WHOLE, salt=data.draw(st.integers(0, 9)), also=lambda f: [shuffled(f, 1)]
    )
    assert list(found) == []


def _found(setting: Setting) -> list[str]:
    return [
        fault
        for salt in range(2)
        for fault in breaches(setting, *WHOLE, salt=salt, also=lambda f: [shuffled(f, 2)])
    ]


def test_a_twin_that_believes_the_column_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordered by the hash alone, rows that share a value are kept by the order of the file."""
    rows = [(pid, "AB"[place % 2], 7 * place % 30) for pid in range(4) for place in range(6)]
    setting = table(rows, [place % 2 for place in range(len(rows))])
    assert _found(setting) == []
    monkeypatch.setattr(systematic, "ordered", lambda texts: ordered(list(texts)[:1]))
    assert _found(setting) != []


def test_a_twin_that_numbers_rows_by_their_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(pid, "AB"[place % 2], 7 * place % 30) for pid in range(4) for place in range(6)]
    setting = table(rows, list(range(len(rows))))
    assert _found(setting) == []

    def by_place(inside: str, **given: Any) -> str:
        numbered = f"SELECT * REPLACE (row_number() OVER () AS r0) FROM ({inside}) AS q"
        return systematic_sample(numbered if given["rows"] else inside, **given)

    monkeypatch.setattr(person_groups, "systematic_sample", by_place)
    assert _found(setting) != []


def _texts(stand: Stand, sql: str) -> list[str]:
    planned = stand.planned(sql)
    noised = [item.exact for item in planned.allocation.noised]
    ranks = [group[0].ranks for group in planned.choosing]
    return statements(planned.query, [*noised, *ranks], planned.person, stand.engine)


def test_sums_and_counts_do_not_read_it() -> None:
    stand = Stand(table([(1, "A", 1)], [1]))
    try:
        summed = _texts(stand, "SELECT COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT pid) AS p FROM t")
        assert len(summed) == 2
        assert not any("rid" in text for text in summed)
        assert all("rid" in text for text in _texts(stand, MEDIAN))
    finally:
        stand.close()


def test_it_is_part_of_what_is_measured_and_not_of_who_is_protected() -> None:
    first, second = (
        Stand(table([(1, "A", 1)], [1], unit)) for unit in (TOLD, dp.Person("pid", max_rows=3))
    )
    try:
        one_, two = (private_part(stand.planned(MEDIAN).query) for stand in (first, second))
        assert one_.unit == two.unit == dp.Person("pid", max_rows=3)
        assert canonical_text(one_) != canonical_text(two)
        assert canonical_text(one_).replace(",row='rid'", "") == canonical_text(two)
        assert "row" in repr(scans(one_.rows)[0])
        assert "row=" not in canonical_text(two)
    finally:
        first.close()
        second.close()


def test_tables_may_differ_in_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"pid": [1, 1, 2], "x": [1, 2, 3], "rid": [1, 2, 3]})
    tables: dict[str, Any] = {
        "t": dp.table(frame, unit=TOLD, columns={"x": dp.Number(0, 9)}),
        "s": dp.table(frame, unit=dp.Person("pid", max_rows=3), columns={"x": dp.Number(0, 9)}),
    }
    with dp.Curator(budget=dp.PureDP(epsilon=9), ledger=str(tmp_path / "l"), **tables) as curator:
        asked = "SELECT MEDIAN(t.x) AS m FROM t JOIN s ON t.pid = s.pid"
        curator.sql(asked, spend=dp.PureDP(epsilon=1))
    tables["t"] = dp.table(frame, unit=dp.Person("pid", max_rows=3), columns={"x": dp.Number(0, 9)})
    with dp.Curator(budget=dp.PureDP(epsilon=9), ledger=str(tmp_path / "l"), **tables) as curator:
        assert curator.spent == dp.PureDP(epsilon=1, unit=dp.Person("pid", max_rows=3))


def test_it_must_be_a_column_that_can_be_read() -> None:
    frame = pl.DataFrame({"pid": [1], "x": [1], "odd": [[1, 2]]})
    for row, code in (("nowhere", "unknown_column"), ("odd", "type_clash")):
        unit = dp.Person("pid", max_rows=1, row=row)
        declared = dp.table(frame, unit=unit, columns={"x": dp.Number(0, 9)})
        with pytest.raises(dp.errors.DiscreetError) as refused:
            dp.Curator(budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory(), t=declared)
        assert refused.value.code == code
    with pytest.raises(dp.errors.DiscreetError):
        dp.Person("pid", row="")


def test_the_portable_hash_keeps_the_same_rows_for_the_same_salt() -> None:
    rows, ids = [(1, "A", x) for x in range(10)], list(range(10))
    first, second = (
        kept(table(rows, ids), salt=3, home=DuckDBWithRows(PORTABLE)) for _ in range(2)
    )
    assert first == second
    assert sum(first[0]) == 3


def test_a_step_that_computes_its_columns_has_lost_it() -> None:
    stand = Stand(table([(1, "A", 1)], [1]))
    try:
        plain, union = (stand.planned(WHOLE[place]).query.rows for place in (0, 6))
        assert isinstance(plain, Scan)
        assert list(row_columns(plain)) == [plain.column("rid")]
        assert row_columns(union) == {}
    finally:
        stand.close()
