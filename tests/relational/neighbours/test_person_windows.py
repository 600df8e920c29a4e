"""Windows over each person's rows: numbers, neighbours, running totals; nobody else's rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.compile.compiler import Compiler
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.person_windows import NumberedRow, PersonWindow, Windowed
from tests.relational.neighbours.test_person_statistics import MIXED, Row, a_row, crowd
from tests.relational.neighbours.worlds import Stand, breaches, shuffled

_OVER = "OVER (PARTITION BY pid ORDER BY day)"
QUESTIONS = (
    f"SELECT n, w, COUNT(*) AS c, SUM(x) AS a FROM (SELECT w, x, ROW_NUMBER() {_OVER} AS n FROM t) "
    "AS s GROUP BY n, w",
    f"SELECT COUNT(*) AS c, SUM(x - before) AS a, COUNT(DISTINCT pid) AS p FROM (SELECT pid, x, "
    f"LAG(x) {_OVER} AS before FROM t) AS s WHERE x > before",
    f"SELECT w, next, COUNT(*) AS c FROM (SELECT w, LEAD(w, 1) {_OVER} AS next FROM t) AS s "
    "GROUP BY w, next",
    f"SELECT k, SUM(total) AS a, SUM(mean) AS b, SUM(hi) AS h FROM (SELECT COUNT(*) {_OVER} AS k, "
    f"SUM(y) {_OVER} AS total, AVG(y) {_OVER} AS mean, MAX(x) {_OVER} AS hi FROM t) AS s "
    "GROUP BY k",
    "SELECT began, COUNT(*) AS c, SUM(z) AS a FROM (SELECT FIRST_VALUE(w) OVER (PARTITION BY pid "
    "ORDER BY day DESC, x) AS began, LAST_VALUE(x) OVER (PARTITION BY pid ORDER BY day ROWS "
    "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS z FROM t) AS s GROUP BY began",
    "SELECT SUM(three) AS a, SUM(every) AS b FROM (SELECT SUM(x) OVER (PARTITION BY pid ORDER BY "
    "day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS three, COUNT(x) OVER (PARTITION BY pid, w) "
    "AS every FROM t) AS s",
    f"SELECT w, COUNT(*) AS c, SUM(y) AS a FROM (SELECT * FROM t QUALIFY ROW_NUMBER() {_OVER} = 1)"
    " AS s GROUP BY w",
    "SELECT r, d, COUNT(*) AS c FROM (SELECT RANK() OVER q AS r, DENSE_RANK() OVER q AS d FROM t "
    "WINDOW q AS (PARTITION BY pid ORDER BY x)) AS s GROUP BY r, d",
    f"SELECT SUM(v) AS a FROM (SELECT LAG(x, 2, 7) {_OVER} AS v FROM t) AS s",
    f"SELECT SUM(n) AS a FROM (SELECT pid, MAX(n) AS n FROM (SELECT pid, ROW_NUMBER() {_OVER} AS n "
    "FROM t) AS s GROUP BY pid) AS q",
)


@pytest.mark.parametrize(
    "unit",
    [
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=3),
        dp.Person("pid", max_rows=9, max_groups=2),
        pytest.param(Replace(dp.Person("pid", max_rows=2)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_one_person_moves_no_more_than_declared(unit: PrivacyUnit) -> None:
    assert breaches(crowd(MIXED, unit), *QUESTIONS) == []


@settings(max_examples=12, deadline=None)
@given(st.lists(a_row, min_size=3, max_size=10), st.integers(1, 4), st.integers(0, 2**62 - 1))
def test_neighbours_of_any_rows(rows: list[Row], most: int, salt: int) -> None:
    unit = dp.Person("pid", max_rows=most)
    assert breaches(crowd(rows, unit), *QUESTIONS[:6], salt=salt) == []


# What they mean, by plain Python ----------------------------------------------------------------


def _ordered(rows: list[Row], person: int) -> list[Row]:
    """A person's rows by day, ties by x; NULL is last."""

    def last(value: Any) -> tuple[bool, Any]:
        return value is None, value or 0

    return sorted(
        (row for row in rows if row[0] == person), key=lambda row: (last(row[5]), last(row[2]))
    )


def _lags(own: list[Row]) -> list[int | None]:
    return [None, *(row[2] for row in own[:-1])][: len(own)]


def _running(own: list[Row]) -> list[int | None]:
    """Sums of x over rows up to this day, those of the same day included."""
    made: list[int | None] = []
    for row in own:
        day = 99 if row[5] is None else row[5]
        upto = [r[2] for r in own if (99 if r[5] is None else r[5]) <= day]
        known = [value for value in upto if value is not None]
        made.append(sum(known) if known else None)
    return made


@pytest.mark.parametrize(
    ("window", "meaning"),
    [
        ("ROW_NUMBER()", lambda own: list(range(1, len(own) + 1))),
        ("LAG(x)", _lags),
        ("LEAD(x)", lambda own: [*(row[2] for row in own[1:]), None][: len(own)]),
        ("SUM(x)", _running),
        ("FIRST_VALUE(x)", lambda own: [own[0][2]] * len(own) if own else []),
    ],
)
@settings(max_examples=15, deadline=None)
@given(rows=st.lists(a_row, min_size=1, max_size=12))
def test_windows_are_those_of_a_persons_rows(
    window: str, meaning: Callable[[list[Row]], list[int | None]], rows: list[Row]
) -> None:
    stand = Stand(crowd(rows, dp.Person("pid", max_rows=20)))
    try:
        planned = stand.planned(
            f"SELECT SUM(v) AS a, COUNT(v) AS n, SUM(v * x) AS b FROM (SELECT x, {window} {_OVER} "
            "AS v FROM t) AS s"
        )
        found = [int(part[0]) for part in stand.exact(planned).linear]
    finally:
        stand.close()
    pairs = [
        (value, row[2])
        for person in range(4)
        for row, value in zip(_ordered(rows, person), meaning(_ordered(rows, person)), strict=True)
        if value is not None
    ]
    wanted = [
        sum(value for value, _ in pairs),
        len(pairs),
        sum(value * x for value, x in pairs if x is not None),
    ]
    assert found == wanted


def test_rows_are_bounded_first_and_keep_their_person() -> None:
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=3)))
    planned = stand.planned(QUESTIONS[1])
    inner = planned.query.rows.inputs[0]
    assert isinstance(inner, Windowed)
    assert inner.stability == 3
    assert planned.person is not None
    assert planned.query.keys.cells == 1
    numbered = stand.planned(QUESTIONS[0])
    assert numbered.query.keys.cells == 3 * 3  # three numbers, three wards
    stand.close()


# Broken twins -----------------------------------------------------------------------------------


def found(*questions: str) -> list[str]:
    rows: list[Row] = [
        (person, "AB"[place % 2], (person + place) % 5, 0.1 * place, True, place // 3, "u")
        for person in range(5)
        for place in range(6)
    ]
    return breaches(
        crowd(rows, dp.Person("pid", max_rows=6)),
        *questions,
        also=lambda frames: [shuffled(frames, seed) for seed in (2, 3, 4)],
    )


def jumbled(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may hand on rows in any order; this one does."""
    real = Compiler.text

    def text(self: Compiler, rows: PlanNode, needed: frozenset[str]) -> str:
        made = real(self, rows, needed)
        shaken = f"SELECT * FROM ({made}) AS q ORDER BY random()"
        return shaken if isinstance(rows, Bounded) else made

    monkeypatch.setattr(Compiler, "text", text)


def test_the_real_code_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    jumbled(monkeypatch)
    assert found(*QUESTIONS) == []


def test_ties_that_are_not_broken_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = NumberedRow.text

    def text(
        self: NumberedRow, dialect: Dialect, rows: int, owner: str, content: Sequence[str]
    ) -> str:
        return real(self, dialect, rows, owner, ())

    jumbled(monkeypatch)
    monkeypatch.setattr(NumberedRow, "text", text)
    assert found(QUESTIONS[0]) != []


def test_windows_over_several_people_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the owner in PARTITION BY, whoever came first decides everybody's beginning."""
    rows: list[Row] = [(0, "B", 9, 0.0, True, 0, "u")]
    rows += [(person, "A", 0, 0.0, True, 1, "u") for person in range(1, 5)]
    setting = crowd(rows, dp.Person("pid", max_rows=1))
    question = (
        "SELECT began, COUNT(*) AS c FROM (SELECT FIRST_VALUE(w) "
        "OVER (PARTITION BY pid ORDER BY day) AS began FROM t) AS s GROUP BY began"
    )
    assert breaches(setting, question) == []
    real = PersonWindow.over

    def over(
        self: PersonWindow, dialect: Dialect, owner: str, content: Sequence[str], frame: str = ""
    ) -> str:
        return real(self, dialect, "1", content, frame)

    monkeypatch.setattr(PersonWindow, "over", over)
    assert breaches(setting, question) != []


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        ("SELECT ROW_NUMBER() OVER (ORDER BY x) AS n FROM t", "unsupported_sql"),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY w ORDER BY x) AS n FROM t", "unsupported_sql"),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY pid) AS n FROM t", "unsupported_sql"),
        ("SELECT LAG(x) OVER (PARTITION BY pid ORDER BY w) AS n FROM t", "unsupported_sql"),
        ("SELECT LAG(x, x) OVER (PARTITION BY pid ORDER BY y) AS n FROM t", "unsupported_sql"),
        ("SELECT LAG(x, 1, y) OVER (PARTITION BY pid ORDER BY y) AS n FROM t", "unsupported_sql"),
        (
            "SELECT LAST_VALUE(x) OVER (PARTITION BY pid ORDER BY y) AS n FROM t",
            "unsupported_sql",
        ),
        (
            "SELECT SUM(x) OVER (PARTITION BY pid ORDER BY y ROWS BETWEEN 1 FOLLOWING AND "
            "2 FOLLOWING) AS n FROM t",
            "unsupported_sql",
        ),
        ("SELECT MEDIAN(x) OVER (PARTITION BY pid) AS n FROM t", "unsupported_sql"),
        ("SELECT NTILE(3) OVER (PARTITION BY pid ORDER BY y) AS n FROM t", "unsupported_sql"),
        (
            "SELECT FIRST_VALUE(x IGNORE NULLS) OVER (PARTITION BY pid ORDER BY y) AS n FROM t",
            "unsupported_sql",
        ),
        ("SELECT SUM(note) OVER (PARTITION BY pid) AS n FROM t", "unsupported_sql"),
        ("SELECT LAG(x) OVER q AS n FROM t", "unsupported_sql"),
        (
            "SELECT ROW_NUMBER() OVER (PARTITION BY pid ORDER BY x) AS n FROM "
            "(SELECT DISTINCT pid, x FROM t) AS s",
            "unsupported_sql",
        ),
        ("SELECT DISTINCT COUNT(*) OVER (PARTITION BY pid) AS n FROM t", "unsupported_sql"),
        ("SELECT x AS n FROM t QUALIFY COUNT(*) OVER (PARTITION BY pid)", "type_clash"),
    ],
)
def test_other_windows_are_refused(inner: str, code: str) -> None:
    stand = Stand(crowd(MIXED, dp.Person("pid", max_rows=2)))
    with pytest.raises(DiscreetError) as caught:
        stand.planned(f"SELECT COUNT(*) AS c FROM ({inner}) AS s")
    assert caught.value.code == code, caught.value
    stand.close()


def test_without_people_there_are_no_windows() -> None:
    stand = Stand(crowd(MIXED, dp.Row()))
    with pytest.raises(DiscreetError, match="unsupported_sql"):
        stand.planned(QUESTIONS[0])
    stand.close()
