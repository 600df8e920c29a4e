"""Saved models, releases and statements: whatever stands in a file, reading it is safe.

Every place of every kind of file is changed to every strange value (``audit``); a fixed share runs
always. Places and values are drawn by fixed seeds; the files hold noise, so that what is found in
one run may be missed in another, and never the other way round.
"""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import discreet as dp
from discreet import synthetic
from discreet.curator.synopsis.stored_form import synopsis_from_json, synopsis_to_json
from discreet.learn.load_models import model_from_json
from discreet.queries import MarginalMechanism, MatrixMechanism, Workload
from discreet.release.statement import Statement
from discreet.synthetic.stored_form import synthetic_from_json
from tests.curator.tables import private
from tests.fuzz.saved_files import (
    GONE,
    STRANGE,
    SavedFile,
    Told,
    changed,
    changes,
    try_changes,
)
from tests.learn.estimators import ESTIMATORS

RNG = np.random.default_rng(5)
X = RNG.uniform(-10, 10, (40, 3))
Y = RNG.integers(0, 3, 40)
SHARE = 40
"""Changes of each file that run always."""


def use_model(model: Any) -> None:
    """Predictions for usual rows, none, and rows that are no numbers; the statement."""
    wide = model.n_features_in_
    for rows in (np.resize(X, (9, wide)), np.empty((0, wide)), np.full((2, wide), np.nan)):
        for name in ("predict", "predict_proba", "transform", "decision_function"):
            if hasattr(model, name):
                assert len(getattr(model, name)(rows)) == len(rows)
    if hasattr(model, "coef_intervals"):
        model.coef_intervals(confidence=0.9)
    assert str(model.statement)
    assert model_from_json(model.to_json()).to_json() == model.to_json()


def use_release(release: Any) -> None:
    assert str(release)
    assert str(release.statement)
    assert release.statement.to_json()
    assert list(release) is not None
    assert release.to_json()
    for answer in release.answers:
        assert answer.values is not None


def use_statement(statement: Any) -> None:
    assert str(statement)
    assert statement.to_markdown()
    assert statement.to_json()


def use_synthetic(release: Any) -> None:
    assert len(release.sample(3)[release.columns[0]]) == 3
    assert release.marginal(release.columns[-1]) is not None
    assert release.to_json()
    assert str(release)
    assert str(release.statement)


@cache
def saved_models() -> dict[str, SavedFile]:
    return {
        type(each).__name__: SavedFile(clone(each).fit(X, Y).to_json(), model_from_json, use_model)
        for each in ESTIMATORS
    }


@cache
def saved_releases() -> dict[str, SavedFile]:
    frame = pl.DataFrame({"ward": ["A", "B"] * 50, "age": [30.0, 60.5] * 50})
    found: dict[str, SavedFile] = {}
    columns: dict[str, Any] = {"ward": dp.Category(["A", "B"]), "age": dp.Number(0, 99)}
    with dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns=columns),
        budget=dp.ApproxDP(epsilon=100, delta=1e-3),
        ledger=dp.ledger.Memory(),
    ) as curator:
        questions = {
            "counts": ("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", dp.PureDP(epsilon=1)),
            "mean": ("SELECT AVG(age) AS m, SUM(age) AS s FROM t", dp.PureDP(epsilon=1)),
            "normal": ("SELECT SUM(age) AS s FROM t", dp.ApproxDP(epsilon=1, delta=1e-5)),
        }
        for name, (sql, spend) in questions.items():
            made = curator.sql(sql, spend=spend)
            found[name] = SavedFile(made.to_json(), dp.Release.from_json, use_release)
        told: Any = made.statement
        statement = told.to_json()
    found["statement"] = SavedFile(statement, Statement.from_json, use_statement)
    return found


def use_synopsis(release: Any) -> None:
    workload = Workload.marginals(release.universe, 1)
    try:
        assert len(release.answers(workload)) == workload.queries
        assert str(release.table(release.universe.names[0]))
    except dp.errors.DiscreetError as refused:
        if refused.code != "marginal_not_measured":  # one that the file does not hold
            raise
    assert str(release.statement)


@cache
def saved_synopses() -> dict[str, SavedFile]:
    curator = private(budget=dp.PureDP(epsilon=10))
    universe = curator.universe("visits", "ward", old="age > 50")
    found = {}
    for kind in (MarginalMechanism, MatrixMechanism):
        made = curator.synopsis(
            Workload.marginals(universe, 2), mechanism=kind, spend=dp.PureDP(epsilon=1)
        )
        text = synopsis_to_json(made)
        found[kind.__name__] = SavedFile(text, synopsis_from_json, use_synopsis)
    return found


@cache
def saved_synthetic() -> dict[str, SavedFile]:
    columns = {"a": dp.Category(["x", "y"]), "b": dp.Number(0, 10), "c": dp.Integer(0, 3)}
    table = {"a": ["x", "y"] * 40, "b": [3.5, 9.0] * 40, "c": [1, 2] * 40}
    found = {}
    for kind in (synthetic.AIM, synthetic.PrivBayes, synthetic.FullHistogram):
        maker = synthetic.Synthesizer(
            columns=columns, unit=dp.Row(), spend=dp.PureDP(epsilon=1), mechanism=kind, bins=3
        )
        release = maker.fit(table).release_
        assert release is not None
        found[kind.__name__] = SavedFile(release.to_json(), synthetic_from_json, use_synthetic)
    return found


def every_file() -> dict[str, SavedFile]:
    return {**saved_models(), **saved_releases(), **saved_synthetic(), **saved_synopses()}


NAMES = (
    *(type(each).__name__ for each in ESTIMATORS),
    *("counts", "mean", "normal", "statement", "AIM", "PrivBayes", "FullHistogram"),
    *("MarginalMechanism", "MatrixMechanism"),
)


def test_the_lie_that_was_believed_is_refused() -> None:
    """An event of epsilon 1 beside a guarantee of 1/1000, and one beyond all numbers."""
    for saved in (saved_models()["Ridge"], saved_releases()["counts"], saved_synthetic()["AIM"]):
        plain = json.loads(saved.text)
        for epsilon in (0.001, 0.999, 10**400):
            plain["guarantee"]["epsilon"] = epsilon
            with pytest.raises(dp.errors.DiscreetError):
                saved.load(json.dumps(plain))
        plain["guarantee"]["epsilon"] = 2  # holds as well
        saved.load(json.dumps(plain))


HALVES: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
    ("Ridge", ("fitted", "equations_"), GONE),
    ("Ridge", ("fitted", "equations_", "equations", "scales", 1), 1.7e308),
    ("Ridge", ("parameters", "alpha"), 10**400),
    ("GaussianNB", ("fitted", "classes_", "array", 0), GONE),
    ("GaussianNB", ("fitted", "theta_", "array", 0), GONE),
    ("GaussianNB", ("fitted", "class_prior_", "array", 0), GONE),
    ("LogisticRegression", ("fitted", "classes_", "array", 0), GONE),
    ("LogisticRegression", ("fitted", "intercept_", "array", 0), GONE),
    ("RandomForestClassifier", ("fitted", "classes_", "array", 0), GONE),
    ("RandomForestClassifier", ("fitted", "leaf_counts_", "array", 0), GONE),
    ("MarginalMechanism", ("guarantee", "unit"), None),
    ("MarginalMechanism", ("synopsis", "residuals", 0), GONE),
    ("MarginalMechanism", ("synopsis", "residuals", 1, "variance"), -1.0),
    ("MarginalMechanism", ("synopsis", "noise", "law", "scale"), 1.7e308),
    ("MarginalMechanism", ("synopsis", "noise", "law", "step"), 5e-324),
    ("counts", ("guarantee", "unit"), None),
    ("statement", ("guarantee", "unit"), None),
)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [pytest.param(*half, id="-".join(map(str, (half[0], *half[1])))) for half in HALVES],
)
def test_half_a_file_is_refused_whatever_the_noise(name: str, path: Any, value: Any) -> None:
    """Each was taken, and failed when it was asked: always, or where noise had it so."""
    saved = every_file()[name]
    with pytest.raises(dp.errors.DiscreetError):
        saved.load(json.dumps(changed(json.loads(saved.text), path, value)))


@pytest.mark.parametrize("classes", [[0, 1], ["a", "b"], [0, 1, 2, 3]], ids=str)
def test_classifiers_of_two_and_of_four_classes_come_back(classes: list[Any]) -> None:
    target = [classes[place % 2] for place in range(len(X))]
    for each in ESTIMATORS:
        if hasattr(each, "classes"):
            made = clone(each).set_params(classes=classes).fit(X, target)
            assert model_from_json(made.to_json()).predict(X).tolist() == made.predict(X).tolist()


def test_a_stream_whose_noise_costs_more_than_its_spend_is_refused() -> None:
    unit = dp.streams.EventLevel()
    tree = dp.streams.BinaryTree(horizon=4, spend=dp.PureDP(epsilon=1), unit=unit)
    state: Any = tree.open().state()
    assert dp.streams.from_state(state).event.epsilon(delta=0) <= 1
    state["mechanism"]["spend"] = {**state["mechanism"]["spend"], "epsilon": 0.01}
    with pytest.raises(dp.errors.DiscreetError, match="stream_state_unreadable"):
        dp.streams.from_state(state)


@pytest.mark.parametrize("spend", [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5)])
def test_a_stream_whose_noise_is_for_fewer_events_than_its_unit_has_is_refused(spend: Any) -> None:
    """The price follows from the noise, for neighbours as far apart as it was made for."""
    unit = dp.streams.UserLevel("id", max_events=3)
    counter = dp.streams.ReducedTree(horizon=64, spend=spend, unit=unit)
    state: Any = counter.open().state()
    assert dp.streams.from_state(state).event == counter.event
    state["mechanism"]["unit"] = {**state["mechanism"]["unit"], "max_events": 300}
    with pytest.raises(dp.errors.DiscreetError, match="stream_state_unreadable"):
        dp.streams.from_state(state)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_is_refused_or_as_good_as_any(name: str) -> None:
    saved, told = every_file()[name], Told()
    chosen = random.Random(name).sample(changes(saved), SHARE)
    try_changes(saved, chosen, told)
    assert told.faults == []
    assert told.ends["refused"] > SHARE / 4, told.ends


@pytest.mark.audit
@pytest.mark.parametrize("name", NAMES)
def test_every_changed_file_is_refused_or_as_good_as_any(name: str) -> None:
    saved, told = every_file()[name], Told()
    try_changes(saved, changes(saved), told)
    assert told.faults == []
    assert set(told.met) == set(STRANGE)
    assert told.ends["taken"], "nothing was taken: nothing was used"
