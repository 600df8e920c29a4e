"""Every estimator from sums through the engine: right, found again, previewed, refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.decomposition as plain_decomposition
import sklearn.naive_bayes as plain_bayes
from sklearn.pipeline import make_pipeline

import discreet as dp
from discreet import learn
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.curator.budget import as_written
from discreet.learn.load_models import model_from_json
from discreet.noise import Noiseless
from discreet.release.promise import promised

RNG = np.random.default_rng(1)
X = RNG.uniform(-1, 1, (4000, 3)) * [1, 2, 3] + [0, 1, 2]
LABELS = np.where(X[:, 0] + X[:, 1] > 1, "sick", "fit")
HOLES = np.where(np.arange(4000) % 3 == 0, np.nan, X[:, 1])
FRAME = pl.DataFrame(
    {
        **{f"x{n}": X[:, n] for n in range(3)},
        "hole": pl.Series(HOLES).fill_nan(None),
        "whole": RNG.integers(0, 10, 4000),
        "state": LABELS,
        "id": np.arange(4000) // 4,
    }
)
COLUMNS: dict[str, Any] = {
    "x0": dp.Number(-1, 1),
    "x1": dp.Number(-1, 3),
    "x2": dp.Number(-1, 5),
    "hole": dp.Number(-1, 3),
    "whole": dp.Number(0, 9),
    "state": dp.Category(["sick", "fit", "gone"]),
}
SPEND = dp.PureDP(epsilon=10)
THREE = "SELECT x0, x1, x2 FROM people"
LABELLED = "SELECT x0, x1, x2, state FROM people"


def curator(unit: Any = None, **more: Any) -> dp.Curator:
    people = dp.table(FRAME, unit=dp.Row() if unit is None else unit, columns=COLUMNS)
    more = {"budget": dp.PureDP(epsilon=100), "ledger": dp.ledger.Memory(), **more}
    return dp.Curator(people=people, **more)


def quiet(unit: Any = None) -> dp.Curator:
    return curator(unit, randomness=Noiseless())


def test_naive_bayes_through_the_engine_is_the_usual_one() -> None:
    model = learn.GaussianNB(classes=["sick", "fit"])
    found = quiet().fit(model, LABELLED, target="state", spend=SPEND)
    true = plain_bayes.GaussianNB().fit(X, LABELS)
    assert found.classes_.tolist() == ["fit", "sick"]
    assert found.theta_ == pytest.approx(true.theta_, abs=0.02)
    assert found.class_prior_ == pytest.approx(true.class_prior_, abs=0.01)
    assert found.score(X, LABELS) > true.score(X, LABELS) - 0.01
    every = quiet().fit(learn.GaussianNB(), LABELLED, target="state", spend=SPEND)
    assert every.classes_.tolist() == ["fit", "gone", "sick"]


def test_components_and_scalers_through_the_engine_are_the_usual_ones() -> None:
    source = quiet()
    found = source.fit(learn.PCA(2), THREE, spend=SPEND)
    true = plain_decomposition.PCA(2).fit(X)
    assert abs((found.components_ * true.components_).sum(axis=1)) == pytest.approx(1, abs=1e-3)
    scaler = source.fit(learn.StandardScaler(), "SELECT x0, whole FROM people", spend=SPEND)
    assert scaler.mean_ == pytest.approx([X[:, 0].mean(), FRAME["whole"].mean()], abs=0.01)
    assert scaler.scale_ == pytest.approx([X[:, 0].std(), FRAME["whole"].std()], rel=0.01)
    imputer = source.fit(learn.SimpleImputer(), "SELECT x0, hole FROM people", spend=SPEND)
    assert imputer.statistics_ == pytest.approx([X[:, 0].mean(), np.nanmean(HOLES)], abs=0.01)


@pytest.mark.parametrize(
    ("model", "text", "target"),
    [
        (learn.Ridge(), THREE, "x2"),
        (learn.LinearRegression(), THREE, "x2"),
        (learn.GaussianNB(), LABELLED, "state"),
        (learn.PCA(1), THREE, None),
        (learn.StandardScaler(), THREE, None),
        (learn.SimpleImputer(), THREE, None),
    ],
    ids=lambda each: type(each).__name__ if hasattr(each, "fit") else None,
)
@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("id", max_rows=2)], ids=["row", "person"])
def test_the_same_fit_is_found_again_for_nothing(
    model: Any, text: str, target: str | None, unit: Any, tmp_path: Path
) -> None:
    source = curator(unit)
    first = source.fit(type(model)(**model.get_params()), text, target=target, spend=SPEND)
    left = source.remaining
    assert left == dp.PureDP(epsilon=90, unit=unit)
    again = source.fit(type(model)(**model.get_params()), text, target=target, spend=SPEND)
    assert source.remaining == left
    assert again.to_json() == first.to_json()
    assert again.guarantee_ == dp.PureDP(epsilon=10, unit=unit)
    assert again.event_.epsilon(delta=0) == 10
    first.save(tmp_path / "model.json")
    read = learn.load(tmp_path / "model.json")
    assert read.to_json() == first.to_json()
    assert type(read) is type(first)
    assert str(read.statement) == str(first.statement)
    assert source.preview_fit(model, text, target=target, spend=SPEND).affordable == 9


def test_another_parameter_is_another_fit() -> None:
    source = curator()
    for model in (learn.Ridge(), learn.Ridge(alpha=2), learn.Ridge(target_bounds=(0, 4))):
        before = source.remaining
        source.fit(model, THREE, target="x2", spend=SPEND)
        assert source.remaining != before
    before = source.remaining
    source.fit(learn.Ridge(alpha=2), THREE, target="x2", spend=dp.PureDP(epsilon=9))
    source.fit(learn.Ridge(alpha=2), THREE, target="x2", spend=SPEND, analyst="somebody")
    assert before == dp.PureDP(epsilon=70, unit=dp.Row())
    assert source.remaining == dp.PureDP(epsilon=51, unit=dp.Row())


def test_an_estimator_of_ones_own_is_bought_as_such() -> None:
    """It is handed exact sums: refused wherever nobody may bring a measurement of one's own."""

    class Own(learn.Ridge):
        pass

    allowed = {"filter": ["x2"], "group": [], "aggregate": ["x0", "x1", "x2"]}
    source = curator(policy=dp.Policy(tables={"people": allowed}, max_spend={"epsilon": 20}))
    source.fit(learn.Ridge(), THREE, target="x2", spend=SPEND)
    for call in (source.fit, source.preview_fit):
        with pytest.raises(DiscreetError, match="policy_measurement"):
            call(Own(), THREE, target="x2", spend=SPEND)
    assert source.remaining == dp.PureDP(epsilon=90, unit=dp.Row())


@pytest.mark.parametrize(
    ("budget", "spend"),
    [
        (dp.ZCDP(rho=1), dp.ZCDP(rho=0.5)),
        (dp.ApproxDP(epsilon=9, delta=1e-5), dp.ApproxDP(epsilon=2, delta=1e-6)),
        (dp.ApproxDP(epsilon=9, delta=1e-5), dp.PureDP(epsilon=2)),
    ],
)
def test_every_budget_pays_and_models_say_what_was_promised(budget: Any, spend: Any) -> None:
    source = curator(budget=budget)
    for model, text, target in (
        (learn.Ridge(), THREE, "x2"),
        (learn.GaussianNB(), LABELLED, "state"),
    ):
        if source.preview_fit(model, text, target=target, spend=spend).affordable:
            made = source.fit(model, text, target=target, spend=spend)
            assert made.guarantee_ == promised(as_written(spend), made.event_).per(dp.Row())
            assert str(model_from_json(made.to_json()).statement) == str(made.statement)
    assert source.remaining != budget.per(dp.Row())


def test_exchanged_people_cost_twice_the_noise() -> None:
    noises = [
        curator(unit).preview_fit(learn.PCA(), THREE, spend=SPEND).noise
        for unit in (dp.Row(), dp.Replace(dp.Row()), dp.Person("id", max_rows=3))
    ]
    assert noises == pytest.approx([noises[0], 2 * noises[0], 3 * noises[0]])


def test_the_end_of_a_statement_or_remark_may_stand_in_the_text() -> None:
    source = quiet()
    for text in (f"{THREE};", f"{THREE} -- all of them", f"  {THREE} ; "):
        assert source.fit(learn.PCA(), text, spend=SPEND).n_features_in_ == 3


def test_a_part_fits_to_its_own_rows() -> None:
    parts = quiet().partition("people", by="state", budget=dp.PureDP(epsilon=20))
    for label in ("sick", "fit"):
        found = parts[label].fit(learn.StandardScaler(), THREE, spend=SPEND)
        assert found.mean_ == pytest.approx(X[label == LABELS].mean(axis=0), abs=0.01)


def test_a_preview_says_price_and_noise_and_costs_nothing() -> None:
    source = curator()
    seen = source.preview_fit(learn.LinearRegression(), THREE, target="x2", spend=SPEND)
    assert source.remaining == dp.PureDP(epsilon=100, unit=dp.Row())
    assert seen.price == dp.PureDP(epsilon=10, unit=dp.Row())
    assert seen.affordable == 10
    assert seen.sums == 2 + 2 * 2 + 3
    assert seen.event == dp.events.Pure(epsilon=10)
    level, slopes = seen.groups  # a tenth of the spend for two sums, the rest for seven
    assert (level.sums, slopes.sums) == (2, 7)
    assert level.noise == pytest.approx(math.sqrt(3 * 4 / 3) / 1)
    assert slopes.noise == pytest.approx(math.sqrt(8 * 9 / 3) / 9)
    assert seen.noise_of_means(seen.rows_wanted) == pytest.approx(0.01, rel=0.01)
    assert "x0 -1 to 1" in str(seen)
    less = source.preview_fit(
        learn.LinearRegression(), THREE, target="x2", spend=dp.PureDP(epsilon=1)
    )
    assert less.noise == pytest.approx(10 * seen.noise)


@pytest.mark.parametrize(
    ("model", "text", "target", "code"),
    [
        (learn.PCA(), THREE, "x0", "fit_columns"),
        (learn.GaussianNB(), LABELLED, None, "fit_columns"),
        (learn.GaussianNB(classes=["sick", "well"]), LABELLED, "state", "classes_missing"),
        (learn.GaussianNB(classes=["sick"]), LABELLED, "state", "classes_missing"),
        (learn.PCA(4), THREE, None, "too_many_components"),
        (learn.Ridge(alpha=-1), THREE, "x2", "alpha"),
        (learn.Ridge(bounds=(0, [1, 2, 3])), THREE, "x2", "bounds_missing"),
        (learn.Ridge(bounds=7), THREE, "x2", "bounds_missing"),
        (learn.StandardScaler(bounds=(1, 0)), THREE, None, "bounds_"),
        (make_pipeline(learn.PCA(), learn.Ridge()), THREE, "x2", "no scaler needs to stand"),
        (plain_bayes.GaussianNB(), LABELLED, "state", "not_from_moments"),
        (learn.PCA(), "SELECT state, x0 FROM people", None, "SUM|number"),
        (learn.PCA(), "SELECT x0, FROM WHERE", None, "sql_syntax"),
        (learn.PCA(), "SELECT x0 FROM people; SELECT x1 FROM people", None, "sql_syntax"),
        (learn.PCA(), "SELECT * FROM people", None, "fit_columns"),
        (learn.PCA(), "SELECT x0 FROM nowhere", None, "table"),
        (learn.PCA(), "SELECT AVG(x0) AS a FROM people", None, "inner_aggregate|aggregate"),
        (learn.PCA(), "SELECT x0 FROM people LIMIT 3", None, "unsupported|LIMIT"),
    ],
)
def test_what_cannot_be_fitted_is_refused_for_nothing(
    model: Any, text: str, target: str | None, code: str
) -> None:
    source = curator()
    for call in (source.fit, source.preview_fit):
        with pytest.raises(DiscreetError, match=code):
            call(model, text, target=target, spend=SPEND)
    assert source.remaining == dp.PureDP(epsilon=100, unit=dp.Row())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT x0, state FROM people", "fit_not_numbers"),
        ("SELECT x0, x1 > 0 AS high FROM people", "fit_not_numbers"),
        ("SELECT x0, x1 * state AS wrong FROM people", "type_clash"),
    ],
)
def test_columns_that_are_no_numbers_are_refused_in_words_of_fits(text: str, code: str) -> None:
    asked = curator()
    with pytest.raises(DiscreetError, match=code):
        asked.fit(learn.LinearRegression(), text, target="x0", spend=SPEND)
    assert asked.spent == curator().spent


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "model.json"
    fitted = quiet().fit(learn.Ridge(), THREE, target="x2", spend=SPEND)
    good = json.loads(fitted.to_json())
    for bad in (
        "{",
        "[]",
        json.dumps({**good, "form": "model/9"}),
        json.dumps({**good, "model": "learn.Unknown"}),
        json.dumps({**good, "fitted": {**good["fitted"], "more_": 1}}),
        json.dumps({**good, "parameters": {"bounds": {"code": "os.system"}}}),
        json.dumps({key: each for key, each in good.items() if key != "event"}),
    ):
        place.write_text(bad, encoding="utf-8")
        with pytest.raises(InvalidParameter, match="model_not_json"):
            learn.load(place)
