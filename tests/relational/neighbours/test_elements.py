"""UNNEST of a private text: a row becomes at most as many rows as the public bound says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.elements import Unnested
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.plan.nodes import PlanNode, Scan
from tests.relational.neighbours.worlds import Private, Setting, Stand, breaches

Row = tuple[Any, ...]

TEXTS: Sequence[str | None] = (
    *("A", "A;B", "A;B;é;A;A;B;x", "B;A", "é;A;B", "", ";", ";;;;;;;", "A;;B", "7;3;9;1", "12"),
    *("A.B*C|D", "A--B--A", "日本;A;ß", "A;" * 2000, "a;b", " A;B ", "A;A;A;A", None),
)
SCHEMA: dict[str, Any] = {
    "pid": pl.Int64,
    "tags": pl.String,
    "pair": pl.String,
    "free": pl.String,
    "x": pl.Int64,
}
COLUMNS: dict[str, Any] = {
    "tags": dp.Text(max_elements=3, elements=dp.Category(["A", "B", "é", ""])),
    "pair": dp.Category(["A;B", "B", "", "A;A;B"]),
    "x": dp.Number(-3, 5),
}
a_row = st.tuples(
    st.integers(0, 3),
    st.sampled_from(TEXTS),
    st.sampled_from(["A;B", "B", "", "A;A;B", "B;B", None]),
    st.sampled_from(TEXTS),
    st.sampled_from([-3, 0, 1, 5, 9, None]),
)
MIXED: list[Row] = [
    (0, "A;B;é;A;A;B;x", "A;A;B", "7;3;9;1", 5),
    *((0, "A;A;A;A", "A;B", "A;A;A;A;A", 1) for _ in range(4)),
    (1, "", "", "", 0),
    (1, "A;;B", "B", ";;;;;;;", -3),
    (1, None, None, None, None),
    (2, "B;A", "A;B", "A.B*C|D", 5),
    (2, "A;" * 2000, "A;A;B", "A--B--A", 9),
    (3, "é;A;B", "B;B", "日本;A;ß", 1),
]
PUBLIC = {"p": pl.DataFrame({"tag": ["A", "B", "7"], "names": ["n;m", "m", "n;n;o"]})}

QUESTIONS = (
    "SELECT pair, COUNT(*) AS n FROM t, UNNEST(string_split(free, ';')[1:2]) AS u(e) "
    "WHERE e <> '' GROUP BY pair",
    "SELECT tag, COUNT(*) AS n, SUM(x) AS s FROM t CROSS JOIN UNNEST(string_split(tags, ';')) "
    "AS u(tag) GROUP BY tag",
    "SELECT COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT tag) AS d, MEDIAN(x) AS m FROM t, "
    "UNNEST(string_split(tags, ';')) AS u(tag) WHERE tag <> 'A'",
    "SELECT tag, COUNT(*) AS n FROM t LEFT JOIN UNNEST(string_split(tags, ';')) AS u(tag) ON TRUE "
    "WHERE x > 0 GROUP BY tag",
    "SELECT COUNT(*) AS n FROM t LEFT JOIN UNNEST(string_split(free, ';')[1:2]) AS u(e) ON TRUE",
    "SELECT place, COUNT(*) AS n FROM t, UNNEST(string_split(tags, ';')) WITH ORDINALITY "
    "AS u(tag, place) GROUP BY place",
    "SELECT o, COUNT(*) AS n, SUM(o * x) AS s FROM t CROSS JOIN UNNEST(SPLIT(free, ';')) AS e "
    "WITH OFFSET AS o WHERE o < 4 GROUP BY o",
    "SELECT part, COUNT(*) AS n FROM (SELECT pid, x, unnest(string_split(pair, ';')) AS part "
    "FROM t) AS s GROUP BY part",
    "SELECT SUM(least(greatest(CAST(e AS BIGINT), 0), 9)) AS s, COUNT(*) AS n FROM t, "
    "UNNEST(string_split(free, ';')[1:5]) AS u(e)",
    "SELECT COUNT(*) AS n FROM t, UNNEST(string_split(free, '.')[1:3]) AS u(e)",
    "SELECT COUNT(*) AS n FROM t, UNNEST(string_split(free, '--')[1:2]) AS u(e) WHERE e = 'B'",
    "SELECT p.tag, COUNT(*) AS n FROM t CROSS JOIN UNNEST(string_split(free, ';')[1:3]) AS u(e) "
    "JOIN p ON p.tag = u.e GROUP BY p.tag",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT tag, x FROM t CROSS JOIN "
    "UNNEST(string_split(lower(tags), ';')) AS u(tag)) AS s",
    "SELECT k, COUNT(*) AS n FROM (SELECT tags, x, length(e) AS k FROM t, "
    "UNNEST(string_split(tags, ';')[1:2]) AS u(tag), UNNEST(string_split(pair, ';')) AS w(e)) AS s "
    "WHERE k < 2 GROUP BY k",
    "SELECT u.name, COUNT(*) AS n FROM t JOIN (SELECT p.tag, name FROM p CROSS JOIN "
    "UNNEST(string_split(p.names, ';')) AS w(name)) AS u ON t.free = u.tag GROUP BY u.name",
)
OF_PEOPLE = (
    "SELECT tag, COUNT(DISTINCT pid) AS n FROM t, UNNEST(string_split(tags, ';')) AS u(tag) "
    "GROUP BY tag",
    "SELECT k, COUNT(*) AS n FROM (SELECT pid, COUNT(DISTINCT tag) AS k FROM t CROSS JOIN "
    "UNNEST(string_split(tags, ';')) AS u(tag) GROUP BY pid) AS s GROUP BY k",
    "SELECT a.tag, COUNT(*) AS n FROM (SELECT pid, tag FROM t, UNNEST(string_split(tags, ';')) "
    "AS u(tag)) AS a JOIN t ON a.pid = t.pid GROUP BY a.tag",
)


def table(rows: Sequence[Row], unit: PrivacyUnit) -> Setting:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(SCHEMA)}
    return Setting({"t": Private(pl.DataFrame(columns, schema=SCHEMA), unit, COLUMNS)}, PUBLIC)


@pytest.mark.parametrize(
    "unit",
    [
        dp.Row(),
        dp.Person("pid", max_rows=3, max_groups=2, max_rows_per_group=1),
        pytest.param(Replace(dp.Row()), marks=pytest.mark.slow),
        pytest.param(dp.Person("pid", max_rows=2), marks=pytest.mark.slow),
        pytest.param(dp.Person("pid", max_rows=4, max_groups=1), marks=pytest.mark.slow),
        pytest.param(Replace(dp.Person("pid", max_rows=2)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_one_unit_moves_no_more_than_declared(unit: PrivacyUnit) -> None:
    people = isinstance(unit, dp.Person) or "Person" in str(unit)
    assert breaches(table(MIXED, unit), *QUESTIONS, *(OF_PEOPLE if people else ())) == []


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(a_row, min_size=2, max_size=8),
    st.sampled_from([dp.Row(), dp.Person("pid", max_rows=1), dp.Person("pid", max_rows=3)]),
    st.integers(0, 2**62 - 1),
)
def test_neighbours_of_any_rows(rows: list[Row], unit: PrivacyUnit, salt: int) -> None:
    assert breaches(table(rows, unit), *QUESTIONS, salt=salt) == []


def test_a_row_of_many_elements_is_caught_where_the_statement_does_not_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sound = DuckDBDialect.unnested

    def uncut(self: DuckDBDialect, *args: Any, most: int, kept: bool) -> str:
        return sound(self, *args, most=4096, kept=kept)

    monkeypatch.setattr(DuckDBDialect, "unnested", uncut)
    for unit in (dp.Row(), dp.Person("pid", max_rows=2)):
        inner = (
            "SELECT DISTINCT tag, o FROM t CROSS JOIN UNNEST(SPLIT(free, ';')) AS tag WITH OFFSET "
            "AS o WHERE o < 2"
        )
        asked = (
            "SELECT COUNT(*) AS n FROM t, UNNEST(string_split(free, ';')[1:2]) AS u(e)"
            if unit == dp.Row()
            else f"SELECT COUNT(*) AS n FROM ({inner}) AS s"
        )
        found = breaches(table(MIXED, unit), asked)
        assert (found != []) is (unit == dp.Row())  # people are bounded once more, at the end


# What it means, by plain Python -----------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6),
    separator=st.sampled_from([";", ".", "--", "*", "|", "A", "本"]),
    most=st.integers(1, 5),
)
def test_elements_are_the_first_parts_of_the_text(
    texts: list[str | None], separator: str, most: int
) -> None:
    rows = [(0, None, None, text, 1) for text in texts]
    stand = Stand(table(rows, dp.Row()))
    try:
        planned = stand.planned(
            f"SELECT COUNT(*) AS n, SUM(length(e)) AS s, SUM(o) AS p FROM t, UNNEST(string_split("
            f"free, '{separator}')[1:{most}]) AS u(e) WITH OFFSET AS o"
        )
        found = [int(part[0]) for part in stand.exact(planned).linear]
    finally:
        stand.close()
    parts = [
        part for text in texts if text is not None for part in enumerate(text.split(separator))
    ]
    kept = [(place, part) for place, part in parts if place < most]
    assert found == [len(kept), sum(len(part) for _, part in kept), sum(p for p, _ in kept)]


def unnested(rows: PlanNode) -> Unnested:
    """The step that unnests."""
    while not isinstance(rows, Unnested):
        (rows,) = rows.inputs
    return rows


FORMS = (
    "FROM t CROSS JOIN UNNEST(string_split(tags, ';')) AS u(tag)",
    "FROM t, UNNEST(str_split(t.tags, ';')) AS u(tag)",
    "FROM t, LATERAL unnest(string_to_array(t.tags, ';')) AS u(tag)",
    "FROM t CROSS JOIN LATERAL unnest(string_to_array(t.tags, ';')) AS u(tag)",
    "FROM t JOIN LATERAL (SELECT unnest(string_to_array(tags, ';')) AS tag) AS u ON TRUE",
    "FROM t CROSS JOIN UNNEST(SPLIT(tags, ';')) AS tag",
    "FROM t, string_to_table(tags, ';') AS tag",
    "FROM t, regexp_split_to_table(tags, ';') AS u(tag)",
    "FROM t LATERAL VIEW explode(split(tags, ';')) u AS tag",
    "FROM (SELECT *, unnest(string_split(tags, ';')) AS tag FROM t) AS s",
    "FROM (SELECT pid, x, explode(split(tags, ';')) AS tag FROM t) AS s",
    "FROM (SELECT unnest(regexp_split_to_array(tags, ';')) AS tag FROM t) AS s",
)


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_write_it_is_the_same_plan(form: str) -> None:
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=2)))
    try:
        planned = stand.planned(f"SELECT tag, COUNT(*) AS n {form} GROUP BY tag")
        step = unnested(planned.query.rows)
        assert (step.most, step.asked, step.separator) == (3, None, ";")
        wanted = stand.exact(stand.planned(QUESTIONS[1])).linear[0]
        assert stand.exact(planned).linear[0].tolist() == wanted.tolist()
        assert planned.query.person is not None
        assert planned.query.person.max_rows == 6  # two rows of three elements
    finally:
        stand.close()


def test_in_the_select_it_is_grouped_by_its_name() -> None:
    stand = Stand(table(MIXED, dp.Row()))
    try:
        planned = stand.planned(
            "SELECT unnest(string_split(tags, ';')) AS tag, COUNT(*) AS n FROM t GROUP BY tag"
        )
        assert [entry for (entry,) in planned.query.keys.blocks[0].entries] == ["A", "B", "é", ""]
    finally:
        stand.close()


@pytest.mark.parametrize(
    ("bound", "most"),
    [
        ("UNNEST(string_split(free, ';')[1:4]) AS u(e)", 4),
        ("UNNEST((string_to_array(free, ';'))[:4]) AS u(e)", 4),
        ("UNNEST(list_slice(string_split(free, ';'), 1, 4)) AS u(e)", 4),
        ("UNNEST(string_split(tags, ';')[1:2]) AS u(e)", 2),
        ("UNNEST(string_split(tags, ';')[1:9]) AS u(e)", 3),
        ("UNNEST(string_split(pair, ';')) AS u(e)", 3),
        ("UNNEST(SPLIT(free, ';')) AS e WITH OFFSET AS o WHERE o < 4", 4),
        ("UNNEST(SPLIT(free, ';')) AS e WITH OFFSET AS o WHERE o <= 4 AND x > 0", 5),
        ("UNNEST(SPLIT(free, ';')) AS e WITH OFFSET WHERE offset BETWEEN 1 AND 2", 3),
        ("UNNEST(SPLIT(free, ';')) AS e WITH OFFSET AS o WHERE 4 > o", 4),
        ("UNNEST(string_split(free, ';')) WITH ORDINALITY AS u(e, k) WHERE k <= 4", 4),
        ("UNNEST(string_split(free, ';')) WITH ORDINALITY AS u(e, k) WHERE u.k < 4", 3),
    ],
)
def test_the_least_public_bound_holds(bound: str, most: int) -> None:
    stand = Stand(table(MIXED, dp.Row()))
    try:
        planned = stand.planned(f"SELECT COUNT(*) AS n FROM t, {bound}")
        assert unnested(planned.query.rows).most == most
        assert planned.query.rows.stability == most
    finally:
        stand.close()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("FROM t, UNNEST(string_split(free, ';')) AS u(e)", "elements_not_bounded"),
        (
            "FROM t, UNNEST(SPLIT(free, ';')) AS e WITH OFFSET AS o WHERE o < 4 OR x > 0",
            "elements_not_bounded",
        ),
        (
            "FROM t, UNNEST(SPLIT(free, ';')) AS e WITH OFFSET AS x WHERE t.x < 4",
            "elements_not_bounded",
        ),
        ("FROM t, UNNEST(string_split(free || tags, ';')) AS u(e)", "elements_not_bounded"),
        ("FROM t, UNNEST(string_split(free, ';')[2:4]) AS u(e)", "unsupported_sql"),
        ("FROM t, UNNEST(string_split(free, tags)[1:4]) AS u(e)", "unsupported_sql"),
        ("FROM t, UNNEST(string_split(free, '')[1:4]) AS u(e)", "unsupported_sql"),
        ("FROM t, UNNEST(string_split(x, ';')[1:4]) AS u(e)", "type_clash"),
        ("FROM t, UNNEST(x) AS u(e)", "unsupported_sql"),
        ("FROM t, UNNEST(regexp_split_to_array(free, '[;,]')[1:4]) AS u(e)", "unsupported_sql"),
        ("FROM t RIGHT JOIN UNNEST(string_split(tags, ';')) AS u(e) ON TRUE", "unsupported_sql"),
        (
            "FROM t LEFT JOIN UNNEST(string_split(tags, ';')) AS u(e) ON e = 'A'",
            "unsupported_sql",
        ),
        ("FROM t, UNNEST(string_split(tags, ';')) AS u(e, f)", "values_columns"),
        ("FROM UNNEST(string_split(tags, ';')) AS u(e), t", "unsupported_sql"),
        (
            "FROM (SELECT unnest(string_split(tags, ';')) AS a, unnest(string_split(pair, ';')) "
            "AS b FROM t) AS s",
            "unsupported_sql",
        ),
    ],
)
def test_what_has_no_public_bound_or_means_something_else_is_refused(asked: str, code: str) -> None:
    stand = Stand(table(MIXED, dp.Row()))
    try:
        with pytest.raises(DiscreetError) as refusal:
            stand.planned(f"SELECT COUNT(*) AS n {asked}")
        assert refusal.value.code == code
    finally:
        stand.close()


def test_elements_that_nobody_declared_are_no_key() -> None:
    stand = Stand(table(MIXED, dp.Row()))
    try:
        with pytest.raises(DiscreetError) as refusal:
            stand.planned(
                "SELECT e, COUNT(*) AS n FROM t, UNNEST(string_split(free, ';')[1:4]) AS u(e) "
                "GROUP BY e"
            )
        assert refusal.value.code == "key_not_declared"
        assert "elements=" in refusal.value.remedy
    finally:
        stand.close()


def test_rows_of_a_person_are_limited_before_each_becomes_several() -> None:
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=2)))
    try:
        asked = "SELECT COUNT(*) AS n FROM t, UNNEST(string_split(free, ';')[1:{}]) AS u(e)"
        assert unnested(stand.planned(asked.format(5)).query.rows).rows.stability == 1_000
        assert unnested(stand.planned(asked.format(4_000)).query.rows).rows.stability == 250
        assert isinstance(unnested(stand.planned(asked.format(1)).query.rows).rows, Scan)
    finally:
        stand.close()


def test_too_many_elements_of_elements_are_refused_before_anything_is_paid() -> None:
    stand = Stand(table(MIXED, dp.Row()))
    try:
        one = "SELECT COUNT(*) AS n FROM t, UNNEST(string_split(free, ';')[1:4096]) AS a(e)"
        two = f"{one}, UNNEST(string_split(pair, ';')) AS b(f)"
        assert stand.planned(two).query.rows.stability == 3 * 4096
        with pytest.raises(DiscreetError) as refusal:
            stand.planned(f"{two}, UNNEST(string_split(free, 'B')[1:4096]) AS c(g)")
        assert refusal.value.code == "join_multiplies"
    finally:
        stand.close()


def test_elements_of_several_branches_add_up() -> None:
    stand = Stand(table(MIXED, dp.Person("pid", max_rows=2)))
    one = "SELECT pid, o FROM t, UNNEST(SPLIT(free, ';')) AS e WITH OFFSET AS o WHERE o < 1000"
    try:
        stand.planned(f"SELECT COUNT(*) AS n FROM ({' UNION ALL '.join([one] * 4)}) AS s")
        with pytest.raises(DiscreetError) as refusal:
            stand.planned(f"SELECT COUNT(*) AS n FROM ({' UNION ALL '.join([one] * 5)}) AS s")
        assert refusal.value.code == "join_multiplies"
    finally:
        stand.close()


def test_elements_are_cleaned_as_declared() -> None:
    """Those that nobody listed are NULL; numbers are read and clamped."""
    frame = pl.DataFrame({"pid": [1, 2], "tags": ["A;Q;B", "A;A"], "sizes": ["3;x;12", "-4;2"]})
    columns = {
        "tags": dp.Text(max_elements=3, elements=dp.Category(["A", "B"])),
        "sizes": dp.Text(max_elements=3, elements=dp.Integer(0, 9)),
    }
    stand = Stand(Setting({"t": Private(frame, dp.Row(), columns)}))
    try:
        every = "COUNT(*) AS n, COUNT(e) AS m, COUNT(DISTINCT e) AS d"
        tags = f"SELECT {every} FROM t, UNNEST(string_split(tags, ';')) AS u(e)"
        sizes = "SELECT SUM(e) AS s, COUNT(e) AS n FROM t, UNNEST(string_split(sizes, ';')) AS u(e)"
        found = [
            [int(part[0]) for part in stand.exact(stand.planned(asked)).linear]
            for asked in (tags, sizes)
        ]
        assert found == [[5, 4, 2], [3 + 9 + 0 + 2, 4]]
    finally:
        stand.close()
