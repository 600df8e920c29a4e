"""Models fitted through the engine: the same sums as in memory, paid for from the budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import learn
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.source import Products
from discreet.learn.box import Box
from discreet.learn.estimators.moment_estimator import moments_of
from discreet.noise import Noiseless
from discreet.relational.execute.bounded_columns import BoundedColumns, ColumnTotals
from discreet.relational.execute.table_moments import TableMoments

RNG = np.random.default_rng(4)
AGE = RNG.uniform(0, 100, 5000)
SMOKES = RNG.integers(0, 2, 5000).astype(float)
COST = 10 + AGE / 2 + 20 * SMOKES + RNG.normal(0, 5, 5000)
COLUMNS: dict[str, Any] = {
    "age": dp.Number(0, 100),
    "smokes": dp.Number(0, 1),
    "cost": dp.Number(0, 100),
}
SQL = "SELECT age, smokes, cost FROM visits"


def curator(unit: Any = None, cost: Any = COST, **more: Any) -> dp.Curator:
    frame = pl.DataFrame({"age": AGE, "smokes": SMOKES, "cost": cost, "id": np.arange(5000) // 5})
    visits = dp.table(frame, unit=dp.Row() if unit is None else unit, columns=COLUMNS)
    more = {"budget": dp.PureDP(epsilon=30), "ledger": dp.ledger.Memory(), **more}
    return dp.Curator(visits=visits, **more)


def test_a_model_is_fitted_and_paid_for() -> None:
    source = curator()
    model = source.fit(learn.LinearRegression(), SQL, target="cost", spend=dp.PureDP(epsilon=10))
    assert model.coef_ == pytest.approx([0.5, 20], rel=0.15)
    assert model.guarantee_ == dp.PureDP(epsilon=10, unit=dp.Row())
    assert model.event_.epsilon(delta=0) == 10
    assert source.history()[0].query.startswith("LinearRegression of ")
    assert source.remaining == dp.PureDP(epsilon=20, unit=dp.Row())
    assert model.predict([[50, 1]])[0] == pytest.approx(55, abs=6)
    with pytest.raises(DiscreetError):
        source.fit(learn.Ridge(), SQL, target="cost", spend=dp.PureDP(epsilon=21))
    assert source.remaining == dp.PureDP(epsilon=20, unit=dp.Row())


def source_of(source: dp.Curator, text: str, columns: list[str], bounds: Any) -> TableMoments:
    context = source.context
    declared = ColumnTotals.of(text, columns, context.query)
    engine = context.database.engine
    read = BoundedColumns.of(declared, bounds, context.query, engine, needed=columns[0])
    return TableMoments.of(read, Products.ALL)


def test_the_engine_adds_up_what_memory_adds_up() -> None:
    """Missing features count as the middle, rows without a target nowhere."""
    cost = COST.copy()
    cost[::7] = np.nan
    source = curator(cost=cost)
    bounds = [0.0, 0.0, 0.0], [100.0, 100.0, 1.0]
    found = source_of(source, SQL, ["cost", "age", "smokes"], bounds)
    boxes = Box.of((0, 100), 1), Box.of(([0, 0], [100, 1]), 2)
    rows = np.stack([AGE, SMOKES], axis=1)
    wanted = moments_of(((cost[:, None], boxes[0]), (rows, boxes[1])), ~np.isnan(cost))
    assert found.records == 1
    products = found.moments().products[0]
    assert products[0, 0] == wanted[0, 0]
    gap = np.array((products - wanted) / 2**72, dtype=float)
    assert abs(gap).max() < 5000 * 2.0**-27
    assert found.moments().there.tolist() == [[(~np.isnan(cost)).sum()] * 3]


def test_all_rows_of_a_person_count_for_the_noise() -> None:
    source = curator(dp.Person("id", max_rows=2))
    text = "SELECT age, cost FROM visits"
    found = source_of(source, text, ["cost", "age"], ([0.0, 0.0], [100.0, 100.0]))
    assert found.records == 2
    # A thousand people with five rows each, of which two count.
    assert found.moments().products[0, 0, 0] == 2 * 1000 << 72
    seen = []

    class Recorder(learn.Ridge):
        def fit_moments(self, privacy: Any, *more: Any) -> Any:
            seen.append(privacy.rows_that_differ)
            return super().fit_moments(privacy, *more)

    model = source.fit(Recorder(), text, target="cost", spend=dp.PureDP(epsilon=10))
    assert seen == [2]
    assert model.guarantee_.unit == dp.Person("id", max_rows=2)


def test_a_column_may_stand_twice_and_a_constant_not() -> None:
    source = curator(randomness=Noiseless())
    text = "SELECT age, age AS years, 2 * age AS twice, cost FROM visits"
    model = source.fit(learn.Ridge(), text, target="cost", spend=dp.PureDP(epsilon=20))
    assert len(model.coef_) == 3
    assert model.score(np.stack([AGE, AGE, 2 * AGE], axis=1), COST) > 0.5
    with pytest.raises(InvalidParameter):
        source.fit(
            learn.Ridge(),
            "SELECT 1 AS one, cost FROM visits",
            target="cost",
            spend=dp.PureDP(epsilon=1),
        )


def test_bounds_of_the_estimator_take_the_place_of_declared_ones() -> None:
    model = learn.LinearRegression(bounds=([0, 0], [50, 1]), target_bounds=(0, 60))
    source = curator(randomness=Noiseless())
    source.fit(model, SQL, target="cost", spend=dp.PureDP(epsilon=20))
    assert model.predict([[1000, 1]])[0] <= 60


@pytest.mark.parametrize(
    ("text", "target", "code"),
    [
        (SQL, "weight", "fit_columns"),
        ("SELECT cost FROM visits", "cost", "fit_columns"),
        ("SELECT age, age AS age, cost FROM visits", "cost", "fit_columns"),
    ],
)
def test_what_names_no_target_and_features_is_refused(text: str, target: str, code: str) -> None:
    source = curator()
    with pytest.raises(InvalidParameter, match=code):
        source.fit(learn.Ridge(), text, target=target, spend=dp.PureDP(epsilon=1))
    with pytest.raises(InvalidParameter, match="not_from_moments"):
        source.fit(object(), SQL, target="cost", spend=dp.PureDP(epsilon=1))
    assert source.remaining == dp.PureDP(epsilon=30, unit=dp.Row())
