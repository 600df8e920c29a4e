"""Questions simulated on invented rows: free, marked, and blind to the data."""

from datetime import date, datetime

import numpy as np
import pytest

import discreet as dp
from discreet.curator.simulate import MARK
from discreet.errors import InvalidParameter

COLUMNS = {
    "ward": dp.Category(["A", "B", None]),
    "age": dp.Number(0, 110),
    "cost": dp.Number(-5.5, 1000),
    "day": dp.Dates(date(2020, 1, 1), date(2020, 12, 31)),
}
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(age) AS a, SUM(cost) AS c FROM visits GROUP BY ward",
    "SELECT month(day) AS m, COUNT(DISTINCT patient) AS n FROM visits GROUP BY m",
    "SELECT MEDIAN(age) AS m FROM visits WHERE remark LIKE 't%' AND seen > '2020-01-01'",
    "SELECT w.name, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.name",
]


def rows(n: int) -> dict[str, np.ndarray]:
    return {
        "patient": np.array([f"p{i}" for i in range(n)]),
        "ward": np.array(["A"] * n),
        "age": np.full(n, 40),
        "cost": np.full(n, 7.5),
        "day": np.full(n, np.datetime64("2020-03-01")),
        "seen": np.full(n, np.datetime64(datetime(2020, 3, 1, 12))),
        "remark": np.array(["fine"] * n),
    }


def curator(n: int, unit: object = dp.Person("patient", max_rows=4)) -> dp.Curator:
    wards = dp.public({"ward": np.array(["A", "B"]), "name": np.array(["one", "two"])})
    table = dp.table(rows(n), unit=unit, columns=COLUMNS)  # type: ignore[arg-type]
    budget = dp.ApproxDP(epsilon=1, delta=1e-6)
    return dp.Curator(visits=table, wards=wards, budget=budget, ledger=dp.ledger.Memory())


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("patient", max_rows=4)], ids=str)
def test_a_simulation_answers_at_no_charge_and_says_what_it_is(text: str, unit: object) -> None:
    if isinstance(unit, dp.Row) and "patient" in text:
        text = text.replace("DISTINCT patient", "*")
    with curator(10, unit) as c:
        release = c.simulate(text, spend=dp.PureDP(epsilon=0.5))
        assert release.warnings[0] == MARK
        assert MARK in str(release)
        assert c.spent.epsilon == 0  # type: ignore[attr-defined]
        assert not list(c.history())


def test_a_simulation_does_not_depend_on_the_data() -> None:
    """With hardly any noise, tables of ten and a hundred rows give alike."""
    found = []
    for n in (10, 100):
        with curator(n, dp.Row()) as c:
            release = c.simulate(QUESTIONS[1], spend=dp.PureDP(epsilon=1e6), rows=500)
            found.append({name: release[name].values[:2] for name in ("n", "a", "c")})
    assert found[0]["n"] == found[1]["n"]
    assert sum(found[0]["n"]) == 500  # type: ignore[arg-type]
    for name in ("a", "c"):
        assert found[0][name] == pytest.approx(found[1][name], abs=1)


def test_a_simulation_follows_people_through_other_tables() -> None:
    orders = dp.table(
        {"order_id": np.arange(5), "customer": np.arange(5)},
        unit=dp.Person("customer", max_rows=3),
        columns={},
    )
    items = dp.table(
        {"order_id": np.arange(5), "price": np.arange(5)},
        unit=dp.Person("order_id", via="orders.customer", max_rows=3),
        columns={"price": dp.Number(0, 10)},
    )
    budget, ledger = dp.PureDP(epsilon=1), dp.ledger.Memory()
    with dp.Curator(orders=orders, items=items, budget=budget, ledger=ledger) as c:
        text = "SELECT COUNT(*) AS n, SUM(price) AS s FROM items"
        release = c.simulate(text, spend=dp.PureDP(epsilon=1e6), rows=300)
        assert 100 < release["n"].values[0] <= 300  # type: ignore[operator]


def test_what_cannot_be_asked_cannot_be_simulated() -> None:
    with curator(10) as c:
        with pytest.raises(InvalidParameter, match="column"):
            c.simulate("SELECT SUM(nothing) AS s FROM visits", spend=dp.PureDP(epsilon=1))
        with pytest.raises(InvalidParameter, match="rows"):
            c.simulate(QUESTIONS[0], spend=dp.PureDP(epsilon=1), rows=0)
