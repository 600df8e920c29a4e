"""Lists of quantiles in SQL: the best way for levels and spend, at no more than the spend."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.events.event import Event
from discreet.core.parameters import exact
from discreet.curator.sql import planned_sql

PURE, DENSE = dp.PureDP(epsilon=1), dp.ZCDP(rho=0.125)
RENYI = dp.RenyiDP(alpha=4, epsilon=0.5)
UNITS = {
    "rows": dp.Row(),
    "people": dp.Person("pid", max_rows=6, max_groups=2, max_rows_per_group=3),
    "replaced": dp.Replace(dp.Person("pid", max_rows=2)),
}
BUDGETS = {
    PURE: dp.PureDP(epsilon=9),
    DENSE: dp.ZCDP(rho=9),
    RENYI: dp.RenyiDP(alpha=4, epsilon=9),
}


def listed(number: int, by: str = "") -> str:
    levels = ", ".join(f"{i / (number + 1):.6f}" for i in range(1, number + 1))
    keys = (f"{by}, ", f" GROUP BY {by}") if by else ("", "")
    return f"SELECT {keys[0]}QUANTILE(x, [{levels}]) AS q FROM t{keys[1]}"


def curator(spend: Any, unit: Any) -> dp.Curator:
    frame = pl.DataFrame(
        {
            "pid": [i // 3 for i in range(900)],
            "x": [i * i % 1000 for i in range(900)],
            "w": ["ab"[i % 2] for i in range(900)],
        }
    )
    columns: dict[str, Any] = {"x": dp.Number(0, 1000), "w": dp.Category(["a", "b"])}
    table = dp.table(frame, unit=unit, columns=columns)
    return dp.Curator(t=table, budget=BUDGETS[spend], ledger=dp.ledger.Memory())


@pytest.fixture
def rows() -> Iterator[dp.Curator]:
    with curator(PURE, dp.Row()) as made:
        yield made


def price(event: Event, spend: Any) -> Fraction:
    if isinstance(spend, dp.PureDP):
        return exact(event.epsilon(delta=0))
    if isinstance(spend, dp.ZCDP):
        return exact(event.zcdp().rho)
    return exact(float(event.rdp(orders=[4])[0]))


CASES = [(number, spend, unit) for number in (2, 3) for spend in BUDGETS for unit in UNITS]


@pytest.mark.parametrize(
    ("number", "spend", "unit"),
    [*CASES, (5, PURE, "people"), (99, PURE, "people"), (70, RENYI, "people")],
    ids=str,
)
def test_every_way_costs_the_spend_and_no_more(number: int, spend: Any, unit: str) -> None:
    with curator(spend, UNITS[unit]) as made:
        planned = planned_sql(made.context, listed(number, "w"), spend)[1]
        paid, worth = price(planned.event, spend), exact(getattr(spend, "rho", 0) or spend.epsilon)
        # The exponential mechanism costs a little less than the eighth that it is planned by.
        assert 0.8 * float(worth) < paid <= worth * (1 + Fraction(1, 10**9))
        answer = made.sql(listed(number, "w"), spend=spend)
    assert len(answer) == 2
    for row in range(2):
        values: list[Any] = [column.values[row] for column in answer.answers]
        assert values == sorted(values)
        assert all(0 <= value <= 1000 for value in values)


@pytest.mark.parametrize(
    ("number", "spend", "way"),
    [
        (2, PURE, "JointQuantiles"),
        (3, PURE, "RecursiveQuantiles"),
        (5, PURE, "JointQuantiles"),
        (99, PURE, "QuantileTree"),
        (2, DENSE, "JointQuantiles"),
        (5, DENSE, "RecursiveQuantiles"),
    ],
)
def test_the_way_is_told_by_the_statement(number: int, spend: Any, way: str) -> None:
    with curator(spend, dp.Row()) as made:
        answer = made.sql(listed(number), spend=spend)
    assert answer.statement["measures"][-1]["mechanism"] == way


def test_stated_ranks_hold(rows: dp.Curator) -> None:
    answer = rows.sql(listed(2), spend=PURE)
    assert "where no rows are tied" in answer.answers[0].note
    off = float(answer.answers[0].note.split("within ")[1].split(" rows")[0])
    values = sorted(i * i % 1000 for i in range(900))
    for column, level in zip(answer.answers, (1 / 3, 2 / 3), strict=True):
        found: Any = column.values[0]
        below = sum(value < found for value in values)
        upto = sum(value <= found for value in values)
        assert below - off <= level * 900 <= upto + off, "wrong once in 20 runs at most, here 1e-5"


def test_a_batch_takes_the_best_way(rows: dp.Curator) -> None:
    batch = rows.batch({"q": listed(2), "n": "SELECT COUNT(*) AS n FROM t"}, spend=PURE)
    assert batch["q"].statement["measures"][-1]["mechanism"] == "JointQuantiles"
