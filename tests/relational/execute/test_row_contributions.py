"""The few lines that privacy rests on, one by one: each is enough without what lies below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.parameters import exact as exact_number
from discreet.relational.aggregates.measures import CountRows, Total
from discreet.relational.aggregates.sum import Sum
from discreet.relational.bounding.hashing import Hashed, Hashing
from discreet.relational.compile.dialect import Dialect
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.planning import discovered_keys as discovering
from discreet.relational.planning import planned_query as planned
from discreet.relational.planning.discovered_keys import Discovering, planned_query_for
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql.translate import query_from
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column
from tests.relational.engine_with_rows import DuckDBWithRows
from tests.relational.neighbours.lies import lying, setting
from tests.relational.neighbours.worlds import Setting, Stand, one


class Alike(Hashing):
    """Everything hashes to the same number: the worst luck there can be."""

    def write(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        return dialect.literal(0)

    def number(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        return dialect.literal(0)


def exact(found: Setting, sql: str, **total: Any) -> int:
    """The one exact number of a question, with other bounds for its sum if some are given."""
    stand = Stand(found)
    try:
        asked = stand.planned(sql)
        if total:
            (made,) = asked.query.aggregates
            assert isinstance(made, Sum)
            narrow = Sum(replace(made.total, **total))
            asked = replace(asked, query=replace(asked.query, aggregates=(narrow,)))
        return int(stand.exact(asked).linear[0][0])
    finally:
        stand.close()


def test_a_column_of_the_scan_is_clamped_again_where_the_sum_is_narrower() -> None:
    assert exact(setting(dp.Row()), "SELECT SUM(x) AS s FROM t", low=-3, high=5) == 5 - 3 + 1 + 0
    assert exact(setting(dp.Row()), "SELECT SUM(x) AS s FROM t") == 70 - 900_000 + 1


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT abs(x) AS v FROM t UNION ALL SELECT 1 AS v FROM t WHERE x = 0",
        "SELECT DISTINCT abs(x) AS v FROM t",
        "SELECT pid, MAX(abs(x)) AS v FROM t GROUP BY pid",
    ],
    ids=["union", "distinct", "features"],
)
def test_a_computed_column_is_clamped_before_anything_reads_it(rows: str) -> None:
    asked = f"SELECT COUNT(*) AS n FROM ({rows}) AS q WHERE v > 2"
    with lying("narrow"):
        assert exact(setting(dp.Person("pid", max_rows=9)), asked) == 0


@given(
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
    st.integers(-40, 20),
    st.floats(0, 1),
    st.sampled_from([0, 1]),
)
def test_no_contribution_exceeds_the_steps_of_its_sum(
    low: float, width: float, exponent: int, share: float, centred: int
) -> None:
    """Bounds off the grid are rounded outward, so nearest steps of what lies inside stay inside."""
    high = low + width
    column = Column("x", ColumnDomain(DataType.DOUBLE, low, high, declared=True))
    total = Total(column, low, high, (low + high) / 2 if centred else 0, exponent)
    value = min(max(low + share * width, low), high)
    step = Fraction(2) ** exponent
    assert abs(round(Fraction(value) / step) - total.centre_steps()) <= total.steps()
    assert total.steps() * step >= max(
        Fraction(high) - total.centre_steps() * step, total.centre_steps() * step - Fraction(low)
    )


def test_groups_of_one_hash_are_still_told_apart() -> None:
    rows = pl.DataFrame({"pid": [1] * 6 + [2], "w": ["A", "B", "C", "A", "B", "C", "A"]})
    person = dp.Person("pid", max_rows=6, max_groups=1)
    found = one(rows, person, {"w": dp.Category(["A", "B", "C"])})
    stand = Stand(found, DuckDBWithRows(hashing=Alike()))
    try:
        asked = stand.planned("SELECT w, COUNT(*) AS n FROM t GROUP BY w")
        whole = aggregate_exactly(
            asked.query, [CountRows()], [], asked.person, stand.database.engine, salt=1
        )
        counts = [int(count) for count in whole.linear[0]]
    finally:
        stand.close()
    assert counts == [3, 0, 0]  # two of one person in the first group, one of the other


def discovered(spend: Any) -> Discovering:
    rows = pl.DataFrame({"pid": [1, 2], "w": ["A", "B"], "x": [1, 2]})
    person = dp.Person("pid", max_rows=2, max_groups=2)
    stand = Stand(one(rows, person, {"w": dp.Discovered(), "x": dp.Number(0, 10)}))
    try:
        asked = query_from("SELECT w, SUM(x) AS s FROM t GROUP BY w", stand.database)
    finally:
        stand.close()
    made = planned_query_for(asked, spend, MOST_ROWS)
    assert isinstance(made, Discovering)
    return made


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
def test_names_and_answers_share_one_delta(epsilon: float, delta: float) -> None:
    made = discovered(dp.ApproxDP(epsilon=epsilon, delta=delta))
    deltas = [
        exact_number(getattr(share, "delta", 0)) for share in made.shares if share is not None
    ]
    epsilons = [exact_number(share.epsilon) for share in made.shares if share is not None]  # type: ignore[attr-defined]
    assert sum(deltas) <= exact_number(delta)
    assert sum(epsilons) <= exact_number(epsilon)


def test_both_shares_of_delta_are_tried() -> None:
    """Normal noise takes half of delta at a small epsilon; without it the names have all."""
    small, large = (
        discovered(dp.ApproxDP(epsilon=epsilon, delta=0.1)).shares[1] for epsilon in (0.1, 5.0)
    )
    assert {type(small), type(large)} == {dp.ApproxDP, dp.PureDP}


@pytest.mark.parametrize("module", [planned, discovering])
def test_every_release_draws_a_salt_of_its_own(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """False alarms: two equal salts, or one of zero, about one in 2**60."""
    salts: list[int] = []

    class Seen(Exception):
        """The salt was seen; nothing need run."""

    def see(*_: Any, salt: int, **__: Any) -> Any:
        salts.append(salt)
        raise Seen

    monkeypatch.setattr(module, "aggregate_exactly" if module is planned else "candidates", see)
    rows = pl.DataFrame({"pid": [1], "w": ["A"]})
    kind = dp.Category(["A"]) if module is planned else dp.Discovered()
    stand = Stand(one(rows, dp.Person("pid", max_rows=1, max_groups=1), {"w": kind}))
    try:
        asked = query_from("SELECT w, COUNT(*) AS n FROM t GROUP BY w", stand.database)
        made: PlannedQuery = planned_query_for(asked, dp.ApproxDP(epsilon=1, delta=1e-6), MOST_ROWS)
        for number in range(6):
            if number % 3 == 1:
                made.preflight(stand.database)  # which writes what the next one runs, and no other
            with pytest.raises(Seen):
                made.release(stand.database)
    finally:
        stand.close()
    assert len({*salts, 0}) == 7


def test_a_bound_that_no_double_holds_is_taken_as_the_clamp_takes_it() -> None:
    high = 2**100 + 2**47 + 1  # the nearest double is 2**47 - 1 above it
    total = Total(
        Column("x", ColumnDomain(DataType.DOUBLE, declared=True)), -high, high, exponent=41
    )
    assert exact_number(total.domain.high) / 2**41 <= total.steps()
    assert exact_number(high) / 2**41 <= total.steps() - 63
