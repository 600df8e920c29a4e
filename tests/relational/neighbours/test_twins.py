"""Broken twins: the checker that passes the real code must find fault with each of these."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.relational.bounding import person_rows
from discreet.relational.bounding.person_groups import PersonBounds
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.bounding.systematic import systematic_sample
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.planning import planned_query as inquiry_module
from discreet.relational.types.column_domain import ColumnDomain
from tests.relational.neighbours.reference import differences
from tests.relational.neighbours.worlds import Setting, Worlds, breaches, one, shuffled

WARDS = dp.Category(["A", "B", "C"])
COLUMNS = {"w": WARDS, "x": dp.Number(0, 100), "y": dp.Number(0.0, 1.0)}

Twin = Callable[[pytest.MonkeyPatch], None]


def crowd(unit: Any = None, people: int = 12) -> Setting:
    """People with five rows each, in all groups, with very different values."""
    rows = [(person, place) for person in range(people) for place in range(5)]
    frame = pl.DataFrame(
        {
            "pid": [person for person, _ in rows],
            "w": ["ABC"[(person + place) % 3] for person, place in rows],
            "x": [100 * (place % 2) for _, place in rows],
            "y": [1 / 3 + place / 7 for _, place in rows],
        }
    )
    public = pl.DataFrame({"w": ["A", "A", "A", "B"], "r": ["n", "s", "e", "n"]})
    return one(frame, unit or dp.Person("pid", max_rows=2, max_groups=2), COLUMNS, p=public)


def found(setting: Setting, *questions: str) -> list[str]:
    """Faults at a few salts and in a few orders of the rows."""
    return [
        fault
        for salt in range(3)
        for fault in breaches(
            setting, *questions, salt=salt, also=lambda frames: [shuffled(frames, 2)]
        )
    ]


GROUPED = "SELECT w, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY w"
ALONE = "SELECT COUNT(*) AS n, SUM(x) AS s FROM t"
JOINED = "SELECT COUNT(*) AS n FROM t JOIN p ON t.w = p.w"
DISTINCT = "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT pid, w, x, y FROM t) AS q"
QUESTIONS = (GROUPED, ALONE, DISTINCT)
WHOLE = "SELECT w, MEDIAN(x) AS m, COUNT(DISTINCT y) AS d FROM t GROUP BY w"
WHOLE_ALONE = "SELECT MEDIAN(x) AS m, COUNT(DISTINCT y) AS d FROM t"
"""What needs whole rows: some of a person's are left out."""


def test_the_real_code_passes() -> None:
    assert found(crowd(), *QUESTIONS, JOINED, WHOLE, WHOLE_ALONE) == []
    assert found(crowd(dp.Row(), people=2), JOINED) == []


def _rewritten(rewrite: Callable[[str], str]) -> Twin:
    """A twin that changes the text of bounding."""

    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        real = PersonBounds.text

        def text(self: PersonBounds, inside: str, *others: Any) -> str:
            numbered = f"SELECT *, row_number() OVER () AS rid FROM ({inside}) AS q"
            return rewrite(real(self, numbered, *others))

        monkeypatch.setattr(PersonBounds, "text", text)

    return install


def _order(text: str, order: str) -> str:
    return re.sub(
        r"row_number\(\) OVER \(PARTITION BY o(, cell)? ORDER BY [^)]*\) - 1 AS",
        rf"row_number() OVER (PARTITION BY o\1 ORDER BY {order}) - 1 AS",
        text,
    )


TWINS: dict[str, Twin] = {
    "rows chosen by a hash of rowid": _rewritten(lambda text: _order(text, "hash(rid)")),
    "rows chosen in the order of the file": _rewritten(lambda text: _order(text, "rid")),
    "ties left unbroken": _rewritten(lambda text: _order(text, "hash(o)")),
    "rows chosen by LIMIT": _rewritten(
        lambda text: re.sub(r"WHERE CASE WHEN n <= .*$", "LIMIT 24", text)
    ),
    "rows are not bounded": _rewritten(lambda text: text.replace("n <= 2 THEN", "n <= 5 THEN")),
    "a sample of everybody's rows": _rewritten(
        lambda text: text.replace("COUNT(*) OVER (PARTITION BY o)", "COUNT(*) OVER ()")
    ),
    "a rank over everybody": _rewritten(
        lambda text: text.replace(
            "row_number() OVER (PARTITION BY o ORDER", "row_number() OVER (ORDER"
        )
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_bounding_that_looks_at_others_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    TWINS[name](monkeypatch)
    assert found(crowd(dp.Person("pid", max_rows=2)), WHOLE, WHOLE_ALONE) != []


@pytest.mark.parametrize("forgotten", ["g <= 1", "n <= 2"])
def test_a_bound_that_is_not_enforced_is_caught(
    forgotten: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = dp.Person("pid", max_rows=5, max_groups=1, max_rows_per_group=2)
    frame = crowd().frames["t"].with_columns(w=pl.Series(["A", "A", "A", "B", "C"] * 12))
    setting = crowd(unit).with_frames({"t": frame})
    assert found(setting, WHOLE) == []
    _rewritten(lambda text: text.replace(forgotten, "TRUE"))(monkeypatch)
    assert found(setting, WHOLE) != []


def test_bounding_before_distinct_by_file_order_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def sample(inside: str, named: Any, within: Any, contents: Any, **given: Any) -> str:
        assert contents
        return systematic_sample(inside, named, within, (), **given)

    monkeypatch.setattr(person_rows, "systematic_sample", sample)
    assert found(crowd(), DISTINCT) != []


def test_rows_without_an_identifier_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = crowd()
    nobody = pl.DataFrame({"pid": [None, None], "w": ["A", "B"], "x": [100, 0], "y": [0.5, 0.5]})
    frame = pl.concat([setting.frames["t"], nobody.cast(setting.frames["t"].schema)])
    setting = setting.with_frames({"t": frame})
    assert found(setting, *QUESTIONS) == []
    real = Worlds.numbers

    def numbers(self: Worlds, text: str) -> Any:
        return real(self, text.replace('WHERE t."pid" IS NOT NULL', ""))

    monkeypatch.setattr(Worlds, "numbers", numbers)
    assert found(setting, *QUESTIONS) != []


def test_sums_of_doubles_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide_sum(self: DuckDBDialect, text: str) -> str:
        return f"CAST(COALESCE(SUM(CAST({text} AS DOUBLE)), 0) AS HUGEINT)"

    setting = crowd(dp.Row(), people=40)
    query = "SELECT SUM(y) AS s, SUM(y * y) AS q FROM t"
    spend = dp.PureDP(epsilon=1000)
    assert breaches(setting, query, spend=spend) == []
    monkeypatch.setattr(DuckDBDialect, "wide_sum", wide_sum)
    assert breaches(setting, query, spend=spend) != []


@pytest.mark.parametrize("name", ["bounds_of_person", "bounds_of_presence"])
def test_a_reach_that_forgets_rows_or_groups_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = GROUPED.replace("SUM(x)", "COUNT(DISTINCT pid)")
    assert found(crowd(), query) == []
    real = getattr(inquiry_module, name)
    monkeypatch.setattr(
        inquiry_module, name, lambda *given: replace(real(*given), rows=1, squares=1)
    )
    assert found(crowd(), query) != []


def test_a_reach_that_forgets_partners_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JoinedPublic, "stability", property(lambda self: self.rows.stability))
    assert found(crowd(dp.Row(), people=2), JOINED) != []


def test_cleaning_after_where_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the reference: a condition must see what the scan made of a value."""
    frame = pl.DataFrame({"w": ["A", "A", "B"], "x": [5, 1000, -7], "y": [0.5, float("nan"), 7.0]})
    setting = one(frame, dp.Row(), COLUMNS)
    questions = ["SELECT w, COUNT(*) AS n FROM t WHERE x <= 100 AND x >= 0 GROUP BY w"]
    questions += ["SELECT COUNT(*) AS n, COUNT(y) AS m FROM t WHERE y > 0.9"]
    assert differences(setting, *questions) == []

    def clean(self: DuckDBDialect, text: str, stored: str, domain: ColumnDomain) -> str:
        return text

    monkeypatch.setattr(DuckDBDialect, "clean", clean)
    assert differences(setting, *questions) != []


def test_reading_sums_as_stored_without_clamping_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"w": ["A", "B"], "x": [5, 1000], "y": [0.5, 7.0]})
    setting = one(frame, dp.Row(), COLUMNS)
    query = "SELECT SUM(y) AS s FROM t"
    assert breaches(setting, query) == []

    def steps(self: DuckDBDialect, text: str, domain: ColumnDomain, exponent: int) -> str:
        return f"CAST({text} * {2.0**-exponent!r} AS BIGINT)"

    monkeypatch.setattr(DuckDBDialect, "steps", steps)
    assert breaches(setting, query) != []
