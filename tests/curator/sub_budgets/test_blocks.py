"""Blocks of time: new rows bring new budgets, and nobody is in more blocks than were paid for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.curator.sub_budgets import blocks as blocks_module
from discreet.errors import DiscreetError, Exhausted
from discreet.noise import Noiseless
from discreet.relational.bounding.partition_filter import SomeParts
from tests.curator.sub_budgets.amounts import used
from tests.curator.tables import private

MONTHS = "date_trunc('month', day)"
COUNT = "SELECT COUNT(*) AS n FROM visits"
ONE = dp.PureDP(epsilon=1)
HALF = dp.PureDP(epsilon=0.5)
PERSON = dp.Person("pid", max_rows=50)

Visit = tuple[int, int]
"""A person, and a month of 2024."""


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


def count(session: Any, text: str = COUNT) -> int:
    (row,) = session.sql(text, spend=HALF)
    return int(row["n"])


def held(visits: list[Visit], unit: Any, ledger: Any = None, last: int = 12, **more: Any) -> Any:
    """A curator over visits, each on the tenth of its month."""
    frame = pl.DataFrame(
        {"pid": [p for p, _ in visits], "day": [date(2024, m, 10) for _, m in visits]},
        schema={"pid": pl.Int64, "day": pl.Date},
    )
    columns = {"day": dp.Dates(date(2024, 1, 1), date(2024, last, 28))}
    if "randomness" not in more:
        more["randomness"] = Noiseless()
    return dp.Curator(
        visits=dp.table(frame, unit=unit, columns=columns),
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory() if ledger is None else ledger,
        engine=dp.DuckDB(threads=1),
        **more,
    )


def in_months(curator: Any, k: int = 1, settled: int = 12) -> Any:
    return curator.blocks(
        "visits", by=MONTHS, budget=ONE, k=k, settled=date(2024, settled, 1), name="the table"
    )


class TestRows:
    def test_each_block_has_a_budget_and_all_are_paid_for_once(self) -> None:
        curator = private()
        months = curator.blocks("visits", by=MONTHS, budget=ONE)
        for month in (1, 2, 3):
            months[date(2024, month, 17)].sql(COUNT, spend=ONE)
        with pytest.raises(Exhausted):
            months[date(2024, 2, 1)].sql(COUNT, spend=HALF)
        assert used(curator) == 1
        curator.ledger.verify()

    def test_a_day_means_the_block_that_holds_it(self) -> None:
        months = held([(1, 1), (2, 2), (3, 2)], dp.Row()).blocks("visits", by=MONTHS, budget=ONE)
        assert months[date(2024, 2, 1)] is months[date(2024, 2, 29)]
        assert months[datetime(2024, 2, 3, 12)] is months[date(2024, 2, 3)]
        assert [count(months[date(2024, m, 5)]) for m in (1, 2, 3)] == [1, 2, 0]

    def test_new_rows_bring_new_blocks_and_old_ones_keep_what_is_left(self, tmp_path: Path) -> None:
        place = tmp_path / "visits.ledger"
        for month, rows in ((1, [(1, 1)]), (2, [(1, 1), (2, 2)])):
            curator = held(rows, dp.Row(), ledger=place, last=month, randomness=dp.noise.SYSTEM)
            months = curator.blocks("visits", by=MONTHS, budget=ONE)
            months[date(2024, month, 1)].sql(COUNT, spend=HALF)
            assert used(curator) == 1
            curator.close()
        curator = held([(1, 1), (2, 2)], dp.Row(), ledger=place, last=2, randomness=dp.noise.SYSTEM)
        months = curator.blocks("visits", by=MONTHS, budget=ONE)
        assert [used(months[date(2024, month, 1)]) for month in (1, 2)] == [0.5, 0.5]
        months[date(2024, 1, 1)].sql(COUNT, spend=HALF, analyst="bob")
        with pytest.raises(Exhausted):
            months[date(2024, 1, 1)].sql(COUNT, spend=HALF, analyst="eve")

    @pytest.mark.parametrize(
        ("width", "days", "same"),
        [("week", (date(2024, 1, 8), date(2024, 1, 14)), True),
         ("week", (date(2024, 1, 14), date(2024, 1, 15)), False),
         ("day", (date(2024, 1, 14), date(2024, 1, 15)), False),
         ("quarter", (date(2024, 1, 14), date(2024, 3, 31)), True)],
    )  # fmt: skip
    def test_blocks_may_be_days_weeks_or_quarters(
        self, width: str, days: tuple[date, date], *, same: bool
    ) -> None:
        curator = held([(1, 1)], dp.Row())
        made = curator.blocks("visits", by=f"date_trunc('{width}', day)", budget=ONE)
        assert (made[days[0]] is made[days[1]]) is same

    def test_nothing_is_settled_for_rows(self) -> None:
        curator = held([(1, 1)], dp.Row())
        attempt = lambda: curator.blocks(  # noqa: E731
            "visits", by=MONTHS, budget=ONE, settled=date(2024, 2, 1)
        )
        assert code_of(attempt) == "blocks_not_settled"


class TestPeople:
    def test_k_and_settled_are_needed(self) -> None:
        curator = held([(1, 1)], PERSON)
        assert code_of(lambda: curator.blocks("visits", by=MONTHS, budget=ONE)) == "parts_without_k"
        attempt = lambda: curator.blocks("visits", by=MONTHS, budget=ONE, k=1)  # noqa: E731
        assert code_of(attempt) == "blocks_not_settled"
        assert used(curator) == 0

    def test_a_name_stands_for_one_table_of_all_that_share_a_ledger(self) -> None:
        curator = held([(1, 1)], PERSON)
        unnamed = lambda: curator.blocks(  # noqa: E731
            "visits", by=MONTHS, budget=ONE, k=1, settled=date(2024, 2, 1)
        )
        assert code_of(unnamed) == "blocks_without_name"
        assert used(curator) == 0

    @pytest.mark.parametrize(("unit", "paid"), [(PERSON, 3), (dp.Replace(PERSON), 6)])
    def test_k_blocks_are_paid_for(self, unit: Any, paid: int) -> None:
        curator = held([(1, 1)], unit)
        in_months(curator, k=3)
        assert used(curator) == paid

    def test_each_person_counts_in_their_first_blocks(self) -> None:
        months = in_months(held([(1, 1), (1, 2), (1, 3), (2, 3), (2, 3)], PERSON), k=2)
        assert [count(months[date(2024, m, 1)]) for m in (1, 2, 3)] == [1, 1, 2]

    def test_a_block_is_answered_once_it_is_settled(self) -> None:
        months = in_months(held([(1, 1), (2, 2)], PERSON), settled=2)
        assert count(months[date(2024, 1, 31)]) == 1
        assert code_of(lambda: months[date(2024, 2, 1)]) == "blocks_not_settled"

    def test_a_block_is_answered_once_its_days_are_declared(self) -> None:
        months = in_months(held([(1, 1), (2, 2)], PERSON, last=2))
        assert count(months[date(2024, 1, 31)]) == 1
        assert code_of(lambda: months[date(2024, 2, 1)]) == "blocks_not_settled"
        assert code_of(lambda: months[date(2024, 5, 1)]) == "part_unknown"

    def test_the_first_day_is_fixed_the_last_one_is_not(self) -> None:
        ledger = dp.ledger.Memory()
        in_months(held([(1, 1)], PERSON, ledger=ledger, last=3))
        in_months(held([(1, 1)], PERSON, ledger=ledger, last=4))
        frame = pl.DataFrame({"pid": [1], "day": [date(2024, 1, 10)]})
        columns = {"day": dp.Dates(date(2023, 12, 1), date(2024, 12, 31))}
        other = dp.Curator(
            visits=dp.table(frame, unit=PERSON, columns=columns),
            budget=dp.PureDP(epsilon=100),
            ledger=ledger,
            randomness=Noiseless(),
        )
        assert code_of(lambda: in_months(other)) == "allotment_terms"


@pytest.mark.parametrize(
    "by",
    ["month(day)", "day", "pid", "date_trunc('month', day + INTERVAL 1 DAY)", "year(day)"],
)
def test_what_is_no_block_of_time_is_refused(by: str) -> None:
    with pytest.raises(DiscreetError):
        held([(1, 1)], dp.Row()).blocks("visits", by=by, budget=ONE)


@pytest.mark.parametrize("day", ["2024-01-01", 3, None])
def test_blocks_are_found_by_day(day: Any) -> None:
    months = held([(1, 1)], dp.Row()).blocks("visits", by=MONTHS, budget=ONE)
    assert code_of(lambda: months[day]) == "not_a_day"


# Over all versions of a growing table ----------------------------------------------------------


def noticed(history: list[list[Visit]], person: int, k: int) -> set[int]:
    """The months whose answers, in some version of the table, change if the person never was.

    Version n holds what came in the first n + 1 months, and all of them are asked about then.
    """
    found = set()
    for latest, visits in enumerate(history, start=1):
        worlds = visits, [visit for visit in visits if visit[0] != person]
        asked = [in_months(held(world, PERSON), k=k, settled=latest + 1) for world in worlds]
        for month in range(1, latest + 1):
            day = date(2024, month, 1)
            if count(asked[0][day]) != count(asked[1][day]):
                found.add(month)
    return found


def grown(visits: list[Visit]) -> list[list[Visit]]:
    """A table that grows in the order of time: each month's rows come in that month."""
    return [[visit for visit in visits if visit[1] <= month] for month in range(1, 5)]


visits = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=3, max_size=9)


@settings(max_examples=4, phases=[Phase.generate])
@given(visits=visits, k=st.integers(1, 2))
def test_nobody_is_noticed_in_more_than_k_blocks_over_all_versions(
    visits: list[Visit], k: int
) -> None:
    assert len(noticed(grown(visits), visits[0][0], k)) <= k


OFTEN = [(person, month) for person in (1, 2, 3) for month in range(1, 5)]


def test_a_salted_choice_would_move_people_to_other_blocks_as_the_table_grows() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks_module, "FirstParts", lambda k: SomeParts(k, salt=5))
        assert any(len(noticed(grown(OFTEN), person, 1)) > 1 for person in (1, 2, 3))
    assert all(len(noticed(grown(OFTEN), person, 1)) == 1 for person in (1, 2, 3))


def test_rows_that_come_late_would_break_it_which_is_why_blocks_are_settled() -> None:
    late = grown(OFTEN[4:])  # persons 2 and 3 only
    late[0] += [(1, 1)]
    for version in late[1:]:
        version += [(1, 1)]
    promised = len(noticed(late, 1, 1))
    for number, version in enumerate(late):  # now the row of January comes in March
        late[number] = [visit for visit in version if visit != (1, 1)] + [(1, 2)] * (number > 0)
        late[number] += [(1, 1)] * (number > 1)
    assert promised == 1
    assert len(noticed(late, 1, 1)) == 2
