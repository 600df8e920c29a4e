"""BigQuery's bounds inside aggregates: clamps of rows, and of what a person brings to a group."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from tests.relational.frontends.hospital import curator
from tests.relational.neighbours.worlds import Setting, Stand, breaches, one

QUESTIONS = (
    "SELECT SUM(x, contribution_bounds_per_row => (1, 4)) AS s, "
    "AVG(y, contribution_bounds_per_row => (-.5, 1.5)) AS a FROM t",
    "SELECT w, SUM(x, contribution_bounds_per_group => (2, 6)) AS s, "
    "COUNT(*, contribution_bounds_per_group => (0, 2)) AS n FROM t GROUP BY w",
    "SELECT w, AVG(y, contribution_bounds_per_group => (0, 1)) AS a, COUNT(*) AS n, "
    "COUNT(DISTINCT pid) AS p FROM t GROUP BY w",
    "SELECT COUNT(x, contribution_bounds_per_group => (0, 1)) AS n, "
    "SUM(y, contribution_bounds_per_group => (-1, 1)) FILTER (WHERE x > 2) AS s FROM t",
    "SELECT x > 3 AS k, COUNTIF(w = 'A', contribution_bounds_per_group => (0, 1)) AS n FROM t "
    "GROUP BY k HAVING n > 0 ORDER BY n",
    "SELECT ANON_VAR_POP(x CLAMPED BETWEEN 0 AND 3) AS v, "
    "ANON_PERCENTILE(y, 0.5 CLAMPED BETWEEN -1 AND 1) AS m FROM t",
)
Row = tuple[int | None, str | None, int | None, float | None]
MIXED: list[Row] = [
    *((1, "A", 3, 0.1), (1, "A", 3, 0.1), (1, "A", 9, 2.25), (1, "B", 0, None)),
    *((2, "B", 5, -1.5), (2, "B", None, -1.5), (3, None, 2, 0.1), (None, "A", 9, 2.25)),
]


def table(rows: list[Row], unit: PrivacyUnit) -> Setting:
    names = ["pid", "w", "x", "y"]
    kinds = [pl.Int64, pl.String, pl.Int64, pl.Float64]
    frame = pl.DataFrame(
        {name: [row[place] for row in rows] for place, name in enumerate(names)},
        schema=dict(zip(names, kinds, strict=True)),
    )
    columns = {
        "w": dp.Category(["A", "B"]),
        "x": dp.Number(0, 9),
        "y": dp.Number(-1.5, 2.25),
    }
    return one(frame, unit, columns)


@pytest.fixture(scope="module")
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


def exact(text: str, unit: PrivacyUnit | None = None) -> list[list[int]]:
    stand = Stand(table(MIXED, unit or dp.Person("pid", max_rows=20)))
    try:
        planned = stand.planned(text)
        places = [item.places or 0 for item in planned.allocation.noised]
        found = stand.exact(planned).linear
        return [(part >> k).tolist() for part, k in zip(found, places, strict=True)]
    finally:
        stand.close()


def test_each_row_is_clamped() -> None:
    assert exact("SELECT SUM(x, contribution_bounds_per_row => (1, 4)) AS s FROM t") == [
        [3 + 3 + 4 + 1 + 4 + 2]
    ]
    struct = "SELECT SUM(x, contribution_bounds_per_row => STRUCT(1, 4)) AS s FROM t"
    assert exact(struct) == exact("SELECT SUM(least(greatest(x, 1), 4)) AS s FROM t")


def test_what_a_person_brings_to_a_group_is_clamped() -> None:
    by_ward = "SELECT w, SUM(x, contribution_bounds_per_group => (2, 6)) AS s FROM t GROUP BY w"
    assert exact(by_ward) == [[6, 2 + 5]]
    counted = "SELECT w, COUNT(*, contribution_bounds_per_group => (0, 2)) AS n FROM t GROUP BY w"
    assert exact(counted) == [[2, 1 + 2]]
    alone = "SELECT SUM(x, contribution_bounds_per_group => (2, 6)) AS s FROM t"
    assert exact(alone) == [[6 + 5 + 2]]
    # The mean of people's means, as BigQuery has it.
    mean = "SELECT w, AVG(x, contribution_bounds_per_group => (0, 4)) AS a FROM t GROUP BY w"
    present, total = exact(mean)
    assert present == [1, 2]
    assert (total[0] > 0, total[1]) == (True, 0)  # from the midpoint: 4 - 2, and 0 - 2 + 4 - 2


def test_where_a_row_is_a_person_its_share_is_its_own_value() -> None:
    text = "SELECT SUM(x, contribution_bounds_per_group => (2, 6)) AS s FROM t"
    assert exact(text, dp.Row()) == [[3 + 3 + 6 + 2 + 5 + 2 + 6]]
    text = "SELECT w, COUNT(x, contribution_bounds_per_group => (0, 1)) AS s FROM t GROUP BY w"
    assert exact(text, dp.Row()) == [[4, 2]]


@pytest.mark.parametrize(
    "unit",
    [
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=3, max_groups=1),
        dp.Person("pid", max_rows=9, max_rows_per_group=2),
        Replace(dp.Person("pid", max_rows=2)),
        dp.Row(),
    ],
    ids=str,
)
def test_one_person_moves_no_more_than_declared(unit: PrivacyUnit) -> None:
    questions = [text for text in QUESTIONS if "pid" not in text or unit != dp.Row()]
    assert breaches(table(MIXED, unit), *questions) == []


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3) | st.none(),
            st.sampled_from(["A", "B", None]),
            st.integers(-3, 12) | st.none(),
            st.sampled_from([-1.5, 0.1, 1 / 3, 2.25, None]),
        ),
        min_size=2,
        max_size=9,
    ),
    st.integers(1, 4),
    st.integers(0, 2**62 - 1),
)
def test_neighbours_of_any_rows(rows: list[Row], most: int, salt: int) -> None:
    unit = dp.Person("pid", max_rows=most)
    assert breaches(table(rows, unit), *QUESTIONS[1:5], salt=salt) == []


def test_a_person_has_one_share_of_each_group() -> None:
    """Three rows and two groups: twice the bound, not three times; and L2 is the root of it."""
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=3)))
    planned = stand.planned(QUESTIONS[1])
    assert planned.person is not None
    assert planned.person.max_rows_per_group == 1
    assert [part.contributions.l1(1) for part in planned.parts] == [2, 2]
    assert float(planned.parts[0].contributions.l2(1)) == pytest.approx(2**0.5)
    text = planned.texts(stand.database)[0]
    assert "WHEN n > 1 OR t > 2" in text  # one row in a group, two in all
    stand.close()


def test_bounds_only_narrow_what_is_declared(hospital: dp.Curator) -> None:
    def l1(bounds: str) -> float:
        text = f"SELECT SUM(age, contribution_bounds_per_row => {bounds}) AS s FROM visits"
        return hospital.explain(text).measures[0].l1

    assert l1("(0, 9)") == 5 * 9
    assert l1("(-1000, 1000)") == 5 * 110


def test_columns_without_a_name_are_called_after_the_call(hospital: dp.Curator) -> None:
    text = "SELECT SUM(age, contribution_bounds_per_row => (0, 9)), " + (
        "COUNT(*, contribution_bounds_per_group => (0, 3)) FROM visits"
    )
    rows = hospital.preview(text, spend=dp.PureDP(epsilon=1))
    assert [column.name for column in rows.columns] == ["sum(age)", "count(*)"]


def test_strings_and_comments_are_left_alone(hospital: dp.Curator) -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE note = 'x => (1, 2) CLAMPED BETWEEN' -- a => b"
    assert "x => (1, 2)" in hospital.explain(text).sql[0]


@pytest.mark.parametrize(
    ("select", "code"),
    [
        ("SUM(age, bounds => (0, 9))", "unsupported_sql"),
        ("SUM(age, contribution_bounds_per_row => (0, ward))", "unsupported_sql"),
        ("SUM(age, contribution_bounds_per_row => 9)", "unsupported_sql"),
        ("SUM(age, contribution_bounds_per_row => (0, 9, 4))", "unsupported_sql"),
        ("SUM(age, contribution_bounds_per_row => (9, 0))", "bounds_crossed"),
        (
            "SUM(age, contribution_bounds_per_row => (0, 9), "
            "contribution_bounds_per_group => (0, 9))",
            "unsupported_sql",
        ),
        ("COUNT(*, contribution_bounds_per_row => (0, 9))", "unsupported_sql"),
        ("VAR_POP(age, contribution_bounds_per_group => (0, 9))", "unsupported_sql"),
        (
            "MEDIAN(cost), SUM(age, contribution_bounds_per_group => (0, 9)) AS s",
            "unsupported_sql",
        ),
        ("COUNT(*, report_format => 'PROTO')", "unsupported_sql"),
        ("ANON_SUM(age CLAMPED BETWEEN 0 AND ward)", "unsupported_sql"),
        ("SUM(ward, contribution_bounds_per_row => (0, 9))", "type_clash"),
        ("SUM(age, contribution_bounds_per_row =>", "unsupported_sql"),
        ("abs(age, contribution_bounds_per_row => (0, 9))", "unsupported_sql"),
    ],
)
def test_what_is_not_meant_so_is_refused_by_name(
    select: str, code: str, hospital: dp.Curator
) -> None:
    with pytest.raises(DiscreetError) as caught:
        hospital.preview(f"SELECT {select} FROM visits", spend=dp.PureDP(epsilon=1))
    assert caught.value.code == code, caught.value


def test_a_person_column_is_not_needed() -> None:
    """Rows that reach their person through another table have shares too."""
    orders = pl.DataFrame({"order": [1, 2], "who": [5, 6]})
    items = pl.DataFrame({"order": [1, 1, 2], "price": [3, 4, 5]})
    with dp.Curator(
        orders=dp.table(orders, unit=dp.Person("who", max_rows=4), columns={}),
        items=dp.table(
            items,
            unit=dp.Person("order", max_rows=4, via="orders.who"),
            columns={"price": dp.Number(0, 9)},
        ),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
    ) as made:
        text = "SELECT SUM(price, contribution_bounds_per_group => (0, 6)) AS s FROM items"
        assert made.explain(text).measures[0].l1 == 6


# Broken twin ------------------------------------------------------------------------------------


def test_a_share_that_is_not_clamped_is_harmless_behind_the_last_clamp_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from discreet.relational.engines.duckdb.dialect import DuckDBDialect
    from discreet.relational.functions.choice import LEAST

    rows: list[Row] = [*[(1, "A", 9, 1.0)] * 4, (2, "A", 1, 1.0)]
    unit, text = dp.Person("pid", max_rows=4), QUESTIONS[1]
    templates = {**DuckDBDialect.templates, LEAST.name: "{0}"}
    monkeypatch.setattr(DuckDBDialect, "templates", templates)
    assert breaches(table(rows, unit), text) == []
    monkeypatch.setattr(DuckDBDialect, "clean_number", lambda _, shown, domain: shown)
    assert breaches(table(rows, unit), text) != []
