"""No rows, one or two, one class, nothing but NaN: neighbours are answered alike, or refused alike.

Every public name of ``discreet.learn`` stands here: with how it reads rows, or among those that
read none. Compared is all that is no noisy number: whether there is an answer, its attributes and
their shapes, or the words of the refusal; warnings are errors. Nothing here can fail by chance.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from sklearn.base import clone

import discreet as dp
from discreet import learn

from .estimators import ESTIMATORS
from .test_odd_cells import objects
from .test_odd_rows import LINE, READERS

UNITS = {
    "rows come and go": dp.Row(),
    "rows are exchanged": dp.Replace(dp.Row()),
    "people come and go": dp.Person("id", max_rows=2),
}
Outcome = tuple[Any, ...]
Reads = Callable[[Any, Any, Any, Any], object]
"""What is done with rows, targets and whose they are, for a unit."""


def fitted(estimator: Any) -> Reads:
    def fit(x: Any, y: Any, unit: Any, people: Any) -> object:
        return clone(estimator).set_params(unit=unit).fit(x, y, people=people)

    return fit


def searched(x: Any, y: Any, unit: Any, people: Any) -> object:
    model = learn.LogisticRegression(bounds=(-1, 1), classes=[0, 1])
    grid = {"C": [0.1, 1.0]}
    search = learn.GridSearch(model, grid, spend=dp.PureDP(epsilon=1), unit=unit, runs=2)
    return search.fit(x, y, people=people)


def scored(x: Any, y: Any, unit: Any, people: Any) -> object:
    model = learn.Ridge(bounds=(-1, 1), target_bounds=(-1, 1))
    given: dict[str, Any] = {"spend": dp.PureDP(epsilon=1), "unit": unit, "people": people}
    return learn.cross_val_score(model, x, y, split=learn.KFold(2), **given)


def split(x: Any, y: Any, unit: Any, people: Any) -> object:
    learn.train_test_split(len(x), unit=unit, people=people)
    return None  # sides are for whoever holds the rows, as many as these


def of_rows(reads: Callable[[Any, Any], object]) -> Reads:
    """Those that were made for rows that come and go."""
    return lambda x, y, unit, people: reads(x, y)


EXPORTED: dict[str, Reads] = {
    **{type(each).__name__: fitted(each) for each in ESTIMATORS},
    **{name: of_rows(reads) for name, reads in READERS.items() if name != "LinearLearner"},
    "ExponentialLine": of_rows(lambda x, y: LINE.minimise(np.full(len(x), 0.5), y)),
    "GridSearch": searched,
    "cross_val_score": scored,
    "train_test_split": split,
}
FOR_EVERY_UNIT = {type(each).__name__ for each in ESTIMATORS} | {
    "GridSearch",
    "cross_val_score",
    "train_test_split",
}
READ_NO_ROWS = {
    *("AbsoluteLoss", "HuberLoss", "LogisticLoss", "SmoothHingeLoss", "Privacy"),
    *("Ball", "Cube", "EuclideanBall", "ProbabilitySimplex", "Holdout", "KFold"),
    *("BandedFactorisation", "Epochs", "TreeAggregation", "chance_of_trying", "stopping_law"),
    *("load", "LinearLearner"),  # whose number of rows is declared, at least one
}
ONE = [0.5, -0.5]
TWO = [0.1, 0.2]
BAD = [float("nan"), float("nan")]
FAR = [float("inf"), 0.5]
TABLES: dict[str, tuple[list[Any], list[Any]]] = {
    "no rows": ([], []),
    "one row": ([ONE], [1]),
    "one bad row": ([BAD], [None]),
    "one far row": ([FAR], [7]),
    "two classes": ([ONE, TWO], [1, 0]),
    "one class": ([ONE, TWO], [1, 1]),
    "a constant column": ([ONE, [0.5, 0.2]], [1, 0]),
    "nothing but NaN": ([BAD, BAD], [None, float("nan")]),
}
FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "array": lambda rows: np.array(rows, dtype=float).reshape(-1, 2),
    "objects": lambda rows: objects(rows) if rows else np.empty((0, 2), dtype=object),
    "frame": lambda rows: pd.DataFrame(rows, columns=["a", "b"]),
    "list": list,
}


def outcome(reads: Reads, table: str, form: str, unit: Any) -> Outcome:
    rows, targets = TABLES[table]
    people = list(range(len(rows))) if isinstance(unit, dp.Person) else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return "answered", shape(reads(FORMS[form](rows), list(targets), unit, people))
        except dp.errors.DiscreetError as refused:
            return refused.code, str(refused)


def shape(answer: Any) -> Any:
    """What an answer is beside its noisy numbers."""
    if isinstance(answer, np.ndarray):
        return answer.shape
    if not hasattr(answer, "__dict__"):  # a number, a list of them, or nothing
        return type(answer).__name__
    kept = {name: each for name, each in vars(answer).items() if name.endswith("_")}
    return sorted((name, np.shape(each)) for name, each in kept.items() if name != "best_params_")


def covered_names() -> set[str]:
    return {name.partition(",")[0] for name in EXPORTED}


def test_every_public_name_is_covered() -> None:
    assert covered_names() - {"Leader"} | READ_NO_ROWS == set(learn.__all__)
    assert not covered_names() & READ_NO_ROWS


def neighbours(unit: Any) -> Iterator[tuple[str, ...]]:
    """Tables that one unit leads between, by the numbers of their rows."""
    sizes = {name: len(rows) for name, (rows, _) in TABLES.items()}
    if isinstance(unit, dp.Replace):
        for rows in set(sizes.values()):
            yield tuple(name for name, found in sizes.items() if found == rows)
    else:
        yield tuple(TABLES)


@pytest.mark.parametrize("name", EXPORTED)
def test_few_rows_are_answered_like_any_others(name: str) -> None:
    met: Counter[str] = Counter()
    for said, unit in UNITS.items():
        if said != "rows come and go" and name not in FOR_EVERY_UNIT:
            continue
        for form in FORMS:
            for tables in neighbours(unit):
                found = {each: outcome(EXPORTED[name], each, form, unit) for each in tables}
                assert len(set(map(repr, found.values()))) == 1, (said, form, found)
                met.update(f"{form}: {each[0]}" for each in found.values())
    assert all(met[f"{form}: answered"] for form in ("array", "objects")), met


def test_bounds_of_each_feature_say_how_wide_a_list_without_rows_is() -> None:
    scaler = learn.StandardScaler(
        spend=dp.PureDP(epsilon=1), unit=dp.Row(), bounds=([0, 0, 0], [1, 1, 1])
    )
    for rows in ([], [[0.1, 0.2, 0.3]], [(1, None, "x")] * 2):
        assert clone(scaler).fit(rows).mean_.shape == (3,)
    assert scaler.fit([]).transform([]).shape == (0, 3)
    with pytest.raises(dp.errors.InvalidData, match="rows_shape"):
        clone(scaler).set_params(bounds=(0, 1)).fit([[0.1, 0.2]])


def test_predictions_of_no_rows_are_none() -> None:
    for each in ESTIMATORS:
        model = clone(each).fit(np.zeros((3, 2)), [0, 1, 2])
        told = getattr(model, "predict", None) or model.transform
        assert len(told(np.empty((0, 2)))) == 0
