"""Rows per key and per person, learnt: no unit moves the counts by more than is paid for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.key_numbering import NumberedByKey
from discreet.relational.plan.rows_per import RowsPer
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.rows_per import ladder_question
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql import relation
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.tables import visits
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.worlds import (
    PURE,
    SALT,
    Private,
    Setting,
    Stand,
    Worlds,
    faults_of,
    people,
    without,
)

LADDER = (1, 2, 4)
ASKED = [
    RowsPer("t", "w", LADDER),
    RowsPer("t", "note", LADDER),
    RowsPer("t", "y", (2,)),
    RowsPer("t", ("w", "f"), LADDER),
]
UNITS = [
    dp.Person("pid", max_rows=1),
    dp.Person("pid", max_rows=2, max_groups=1),
    dp.Person("pid", max_rows=9),
    dp.Row(),
    Replace(dp.Person("pid", max_rows=2)),
    Replace(dp.Row()),
]


def planned(stand: Stand, asked: RowsPer) -> PlannedQuery:
    about = query_from(f"SELECT COUNT(*) AS n FROM {asked.table}", stand.database)
    return PlannedQuery(ladder_question(about, asked, stand.database), PURE, MOST_ROWS)


def breaches(setting: Setting, *questions: RowsPer, salt: int = SALT) -> list[str]:
    """Everything by which neighbours are farther apart than declared; none is right."""
    stand = Stand(setting)
    try:
        inquiries = [(each.words, planned(stand, each)) for each in questions]
        return [
            f"{words}: {fault}"
            for words, faults in faults_of(stand, inquiries, salt, lambda frames: [])
            for fault in faults
        ]
    finally:
        stand.close()


def questions(unit: PrivacyUnit) -> list[RowsPer]:
    owned = isinstance(unit.unit if isinstance(unit, Replace) else unit, dp.Person)
    return [*ASKED, RowsPer("t", ladder=LADDER)] if owned else ASKED


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_stay_within_the_declared_change(unit: PrivacyUnit) -> None:
    assert breaches(visits(ONE_OF_EACH, unit), *questions(unit)) == []


cells = st.tuples(st.integers(1, 4), st.sampled_from(["A", "B", None]))


@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(cells, min_size=1, max_size=14), st.sampled_from(UNITS), st.integers(0, 99))
def test_generated_tables(
    rows: Sequence[tuple[int, str | None]], unit: PrivacyUnit, salt: int
) -> None:
    setting = keys_of(rows, unit)
    asked = [RowsPer("t", "w", LADDER)]
    asked += [RowsPer("t", ladder=LADDER)] if len(questions(unit)) > len(ASKED) else []
    assert breaches(setting, *asked, salt=salt) == []


def keys_of(rows: Sequence[tuple[int, str | None]], unit: PrivacyUnit) -> Setting:
    frame = pl.DataFrame(rows, schema={"pid": pl.Int64, "w": pl.String}, orient="row")
    return Setting({"t": Private(frame, unit, {})})


# What is counted --------------------------------------------------------------------------------

ROWS = [
    *[(person, "A") for person in range(7)],
    *[(person, "B") for person in range(3)],
    (9, "C"),
    (9, None),
]


def test_what_lies_beyond_a_limit_is_what_a_cut_to_it_leaves_out() -> None:
    stand = Stand(keys_of(ROWS, dp.Row()))
    counts = stand.exact(planned(stand, RowsPer("t", "w", (1, 2, 3, 5)))).linear[0].tolist()
    sizes = Counter(word for _, word in ROWS if word is not None).values()
    for place, most in enumerate((1, 2, 3, 5)):
        assert sum(counts[place + 1 :]) == sum(max(size - most, 0) for size in sizes)
    assert sum(counts) == len(ROWS) - 1  # the row without a key meets nobody
    stand.close()


def test_people_are_counted_by_all_of_their_rows() -> None:
    rows = [(person, "A") for person in range(4) for _ in range(person + 1)]
    stand = Stand(keys_of(rows, dp.Person("pid", max_rows=1)))  # a limit that everybody exceeds
    made = planned(stand, RowsPer("t", ladder=(1, 3)))
    assert stand.exact(made).linear[0].tolist() == [1, 2, 1]
    assert made.parts[0].contributions.rows == 1
    stand.close()


def test_one_row_adds_one_number_where_the_cut_itself_exchanges_two() -> None:
    """The reason why learning costs R, and the join 2 (r tau' + r' tau)."""
    setting = keys_of(ROWS, dp.Row())
    stand = Stand(setting)
    made = planned(stand, RowsPer("t", "w", (1, 2, 3, 5)))
    assert made.query.rows.stability == 1
    frames = setting.frames
    base = stand.exact(made).linear[0]
    moved = [
        int(abs(base - stand.exact(made, stand.add(without(setting, frames, who))).linear[0]).sum())
        for who in people(setting, frames)
    ]
    assert set(moved) == {0, 1}
    stand.close()


# Broken twins -----------------------------------------------------------------------------------

CROWD = [(person, "AB"[place % 2]) for person in range(6) for place in range(4)]


def _sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row gets the size of its key: one row more moves all of them."""
    real = Worlds.numbers

    def numbers(self: Worlds, text: str) -> Any:
        assert "SELECT row_number() OVER (PARTITION BY" in text
        return real(self, re.sub(r"row_number\(\) OVER \((.*?) ORDER BY .*?\)", _SIZE, text))

    monkeypatch.setattr(Worlds, "numbers", numbers)


_SIZE = r"COUNT(*) OVER (\1)"


def _people_not_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows numbered with all rows of a person, at the price of the bounded ones."""
    monkeypatch.setattr(relation, "person_rows", lambda rows, catalog: 100)
    monkeypatch.setattr(NumberedByKey, "stability", property(lambda self: 1))


TWINS = {
    "each row gets the size of its key": _sizes,
    "people are not bounded first": _people_not_bounded,
}


def found(unit: PrivacyUnit) -> Iterator[str]:
    yield from breaches(keys_of(CROWD, unit), RowsPer("t", "w", (1, 2, 4, 8)))


def test_the_real_code_passes() -> None:
    assert list(found(dp.Person("pid", max_rows=1))) == []


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_numbering_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    TWINS[name](monkeypatch)
    assert list(found(dp.Person("pid", max_rows=1)))
