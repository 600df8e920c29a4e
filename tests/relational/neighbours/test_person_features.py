"""Features of each person's rows: one row per person, within bounds, whatever the order of rows."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.plan.features import Added, Averaged, Earliest
from discreet.relational.types.data_type import DataType
from tests.relational.neighbours.tables import both, visits
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.worlds import Setting, Stand, Worlds, breaches, one, shuffled

OTHERS = [(1, "A", 4, "x"), (1, "B", 4, "y"), (2, "A", 1, "x"), (None, "A", 4, "x")]
FEATURES = (
    "(SELECT pid, COUNT(*) AS n, COUNT(y) AS m, COUNT(DISTINCT x) AS k, SUM(x) AS sx, SUM(y) AS sy,"
    " AVG(x) AS ax, AVG(y) AS ay, MIN(y) AS lo, MAX(x) AS hi, FIRST(w ORDER BY x) AS fw,"
    " LAST(f ORDER BY y) AS lf, FIRST(y ORDER BY x DESC) AS fy, COUNT_IF(f) AS cf, SUM(f) AS sf,"
    " SUM(x) FILTER (WHERE w = 'A') AS xa FROM t GROUP BY pid)"
)
QUESTIONS = [
    f"SELECT COUNT(*) AS r, COUNT(DISTINCT pid) AS p, SUM(n) AS a, SUM(m) AS b, SUM(k) AS c, "
    f"SUM(sx) AS d, SUM(sy) AS e, AVG(ay) AS g, SUM(lo) AS h, SUM(cf + sf) AS i FROM "
    f"{FEATURES} AS s",
    f"SELECT fw, COUNT(*) AS r, SUM(fy) AS a, MEDIAN(n) AS b, SUM(xa) AS c "
    f"FROM {FEATURES} AS s GROUP BY fw",
    f"SELECT n, lf, COUNT(*) AS r, SUM(hi) AS a FROM {FEATURES} AS s WHERE sx > 0 GROUP BY n, lf",
    f"SELECT bin(sy, -6, 9, 5) AS b, COUNT(*) AS r, SUM(ax) AS a FROM {FEATURES} AS s GROUP BY b",
    f"SELECT p.region, COUNT(*) AS r FROM {FEATURES} AS s JOIN p ON s.fw = p.w GROUP BY 1",
    f"SELECT t.w, COUNT(*) AS r, SUM(t.x - s.hi) AS a FROM {FEATURES} AS s "
    "JOIN t USING (pid) GROUP BY t.w",
    "SELECT COUNT(*) AS r, SUM(z) AS a FROM (SELECT pid, COUNT(*) AS z FROM t GROUP BY pid "
    "HAVING z > 1 AND MAX(x) > 0) AS s",
]


@pytest.mark.parametrize(
    "unit",
    [
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=3),
        dp.Person("pid", max_rows=9, max_groups=1),
        pytest.param(Replace(dp.Person("pid", max_rows=2)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_person_is_one_row_within_its_bounds(unit: PrivacyUnit) -> None:
    assert breaches(visits(ONE_OF_EACH, unit), *QUESTIONS) == []


def test_two_tables_meet_at_the_person() -> None:
    setting = both(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=2))
    other = "(SELECT pid, SUM(v) AS sv, COUNT(*) AS c FROM u GROUP BY pid) AS r"
    questions = [
        f"SELECT COUNT(*) AS n, SUM(s.n * r.sv) AS a FROM {FEATURES} AS s JOIN {other} USING (pid)",
        f"SELECT r.c, COUNT(*) AS n FROM {FEATURES} AS s LEFT JOIN {other} "
        "ON s.pid = r.pid GROUP BY 1",
    ]
    assert breaches(setting, *questions) == []
    stand = Stand(setting)
    assert [stand.planned(query).query.rows.stability for query in questions] == [1, 1]
    stand.close()


def test_one_person_changes_one_row_and_stays_the_unit() -> None:
    stand = Stand(visits(ONE_OF_EACH, dp.Person("pid", max_rows=7, max_groups=3)))
    planned = stand.planned(
        f"SELECT n, COUNT(*) AS r, SUM(sx) AS a FROM {FEATURES} AS s GROUP BY n"
    )
    assert planned.person is not None
    assert planned.person.max_rows == 1
    assert [part.contributions.l1(1) for part in planned.parts] == [1, 1]
    assert planned.query.keys.cells == 8
    stand.close()


def test_bounds_follow_from_those_of_rows_and_values() -> None:
    stand = Stand(visits(ONE_OF_EACH, dp.Person("pid", max_rows=4)))
    planned = stand.planned(f"SELECT SUM(sx) AS a, SUM(hi) AS b, SUM(k) AS c FROM {FEATURES} AS s")
    bounds = [(part.measure.low, part.measure.high) for part in planned.parts]  # type: ignore[union-attr]
    assert bounds == [(-12, 20), (-3, 5), (0, 4)]
    stand.close()


@pytest.mark.parametrize("rows", [1, 3, 1000, 2**40])
@pytest.mark.parametrize("high", [1e-9, 0.1, 50_000.0, 2.0**399])
def test_sums_of_reals_are_exact_doubles(rows: int, high: float) -> None:
    from discreet.relational.types.column_domain import ColumnDomain
    from discreet.relational.types.expression import Column

    column = Column("x", ColumnDomain(DataType.DOUBLE, -high / 3, high, None, declared=True))
    for feature in (Added(column), Averaged(column)):
        low, most = feature.steps(rows)
        assert rows * max(abs(low), abs(most)) <= 2**53
        domain = feature.domain(rows)
        assert domain.low <= -high / 3
        assert domain.high >= high


# Broken twins ----------------------------------------------------------------------------------


def crowd() -> Setting:
    """People with five rows each: ties in the order, and reals whose sum depends on its order."""
    rows = [(person, place) for person in range(9) for place in range(5)]
    table = pl.DataFrame(
        {
            "pid": [person for person, _ in rows],
            "x": [(person * 7 + place * 3) % 11 for person, place in rows],
            "y": [(1 + person + place) / 7 + 10.0 ** -(place * 3) for person, place in rows],
            "d": [place // 3 for _, place in rows],
        }
    )
    columns = {"x": dp.Number(0, 10), "y": dp.Number(0.0, 4.0), "d": dp.Number(0, 1)}
    return one(table, dp.Person("pid", max_rows=3), columns)


ASKED = (
    "SELECT SUM(n) AS a, SUM(s) AS b, SUM(z) AS c FROM (SELECT pid, COUNT(*) AS n, "
    "FIRST(x ORDER BY d) AS s, LAST(x ORDER BY d) AS z FROM t GROUP BY pid) AS q"
)
REALS = "SELECT SUM(s) AS a FROM (SELECT pid, SUM(y) AS s FROM t GROUP BY pid) AS q"


def found(*questions: str, epsilon: float = 1.0) -> list[str]:
    return [
        fault
        for salt in range(3)
        for fault in breaches(
            crowd(),
            *questions,
            salt=salt,
            spend=dp.PureDP(epsilon=epsilon),
            also=lambda frames: [shuffled(frames, seed) for seed in (2, 3, 4)],
        )
    ]


def test_the_real_code_passes() -> None:
    assert found(ASKED) == []
    assert found(REALS, epsilon=1e6) == []


def test_a_first_row_among_ties_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may take any row of a tie; this one does."""

    def text(self: Earliest, dialect: Dialect, rows: int, rank: str) -> str:
        value, order = (dialect.identifier(column.name) for column in self.reads)
        return f"arg_min({value}, {order} + random() / 2)"

    monkeypatch.setattr(Earliest, "text", text)
    assert found(ASKED) != []


def rows_not_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Worlds.numbers

    def numbers(self: Worlds, text: str) -> Any:
        return real(self, text.replace("CASE WHEN n <= 3 THEN", "CASE WHEN TRUE THEN"))

    monkeypatch.setattr(Worlds, "numbers", numbers)


def test_rows_not_bounded_before_features_are_harmless_behind_the_last_clamp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows_not_bounded(monkeypatch)
    assert found(ASKED) == []


def test_rows_not_bounded_before_features_are_caught_without_the_last_clamp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows_not_bounded(monkeypatch)
    monkeypatch.setattr(DuckDBDialect, "clean_number", lambda _, text, domain: text)
    assert found(ASKED) != []


def test_sums_of_doubles_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may add in any order; this one does."""

    def plain(self: Added, dialect: Dialect, rows: int, rank: str) -> str:
        return f"SUM({dialect.identifier(self.argument.name)} ORDER BY random())"

    monkeypatch.setattr(Added, "text", plain)
    assert found(REALS, epsilon=1e6) != []


# What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        ("SELECT w, COUNT(*) AS n FROM t GROUP BY w", "unsupported_sql"),
        ("SELECT pid, w, COUNT(*) AS n FROM t GROUP BY ROLLUP (pid, w)", "unsupported_sql"),
        ("SELECT COUNT(*) AS n FROM t", "unsupported_sql"),
        ("SELECT pid, x, COUNT(*) AS n FROM t GROUP BY pid", "not_grouped"),
        ("SELECT pid, FIRST(w) AS n FROM t GROUP BY pid", "unsupported_sql"),
        ("SELECT pid, FIRST(note ORDER BY x) AS n FROM t GROUP BY pid", "column_not_declared"),
        ("SELECT pid, FIRST(w ORDER BY x NULLS FIRST) AS n FROM t GROUP BY pid", "unsupported_sql"),
        ("SELECT pid, FIRST(w ORDER BY x, y) AS n FROM t GROUP BY pid", "unsupported_sql"),
        ("SELECT pid, FIRST(x ORDER BY w) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, SUM(z) AS n FROM t GROUP BY pid", "missing_bound"),
        ("SELECT pid, SUM(w) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, MIN(w) AS n FROM t GROUP BY pid", "type_clash"),
        ("SELECT pid, MIN(z) AS n FROM t GROUP BY pid", "column_not_declared"),
        ("SELECT pid, CORR(x, y) AS n FROM t GROUP BY pid", "unsupported_sql"),
        ("SELECT pid, COUNT(*) FROM t GROUP BY pid", "column_without_name"),
        ("SELECT * FROM t GROUP BY pid", "column_without_name"),
        ("SELECT pid, COUNT(*) AS n FROM t GROUP BY pid ORDER BY n LIMIT 3", "unsupported_sql"),
        ("SELECT pid, COUNT(*) AS n FROM t GROUP BY pid HAVING COUNT(*)", "type_clash"),
        ("SELECT DISTINCT pid, COUNT(*) AS n FROM t GROUP BY pid", "unsupported_sql"),
        (
            "SELECT pid, COUNT(*) AS n FROM (SELECT DISTINCT pid FROM t) AS q GROUP BY pid",
            "unsupported_sql",
        ),
    ],
)
def test_what_is_no_feature_is_refused(inner: str, code: str) -> None:
    stand = Stand(visits(ONE_OF_EACH, dp.Person("pid", max_rows=2)))
    with pytest.raises(DiscreetError) as caught:
        stand.planned(f"SELECT COUNT(*) AS c FROM ({inner}) AS s")
    assert caught.value.code == code, caught.value
    stand.close()


def test_without_people_there_are_no_features() -> None:
    stand = Stand(visits(ONE_OF_EACH, dp.Row()))
    with pytest.raises(DiscreetError, match="features need"):
        stand.planned(
            "SELECT COUNT(*) AS c FROM (SELECT pid, COUNT(*) AS n FROM t GROUP BY pid) AS s"
        )
    stand.close()


def test_a_sum_that_might_not_fit_is_refused() -> None:
    table = pl.DataFrame({"pid": [1], "x": [1]})
    stand = Stand(one(table, dp.Person("pid", max_rows=1000), {"x": dp.Number(0, 2**60)}))
    with pytest.raises(DiscreetError, match="feature_overflows"):
        stand.planned(
            "SELECT COUNT(*) AS c FROM (SELECT pid, SUM(x) AS n FROM t GROUP BY pid) AS s"
        )
    stand.close()
