"""No cell makes an optimiser raise or warn, whatever it is; shapes are refused, values never told.

Every public optimiser and learner that reads rows is here. Each odd cell stands in a row, in a
target, in both, in lists and in arrays of objects; neighbours that differ in one cell then do not
differ in errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.learn.cells import as_numbers, rows_of_numbers

from .test_odd_cells import ODD, objects

PURE = learn.Privacy(dp.PureDP(epsilon=1), dp.Row())
CLOSE = learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-3), dp.Row())
ROWS = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]]
SECRET = "patient 4711"

Reads = Callable[[Any, Any], object]
"""What is done with rows and targets."""


def leader(sums: Any) -> Any:
    return learn.FollowTheLeader(
        loss=learn.LogisticLoss(),
        clip=1.0,
        ridge=1.0,
        within=learn.EuclideanBall(1),
        passes=learn.Epochs(epochs=1, batches=2),
        sums=sums,
        dimension=2,
        privacy=CLOSE,
    )


def descent(**given: Any) -> Reads:
    made = learn.GradientDescent(loss=learn.HuberLoss(1), steps=2, clip=1.0, privacy=CLOSE, **given)
    return lambda x, y: made.minimise(x, y, rate_of_descent=0.1)


def first_column(x: Any) -> Any:
    return [row[0] for row in x] if isinstance(x, list) else x[:, 0]


BALL: dict[str, Any] = {"loss": learn.LogisticLoss(), "rows": learn.Ball(2), "privacy": PURE}
CUBE: dict[str, Any] = {"loss": learn.HuberLoss(1), "rows": learn.Cube(2), "privacy": PURE}
GRID = np.array([[0.0, 0.0], [1.0, 1.0]])
LINE = learn.ExponentialLine(loss=learn.AbsoluteLoss(), low=0, high=1, privacy=PURE, knots=5)
READERS: dict[str, Reads] = {
    "ObjectivePerturbation": learn.ObjectivePerturbation(**BALL, ridge=1).minimise,
    "OutputPerturbation": learn.OutputPerturbation(**CUBE, ridge=1).minimise,
    "ExponentialERM": learn.ExponentialERM(**CUBE, candidates=GRID).minimise,
    "ExponentialLine": lambda x, y: LINE.minimise(first_column(x), y),
    "FrankWolfe": learn.FrankWolfe(steps=2, radius=1.0, privacy=PURE).minimise,
    "SupportSelection": learn.SupportSelection(size=1, privacy=PURE).select,
    "GradientDescent": descent(within=learn.EuclideanBall(1)),
    "GradientDescent, sampled": descent(within=learn.EuclideanBall(1), rate=0.5),
    "GradientDescent, mirror": descent(within=learn.ProbabilitySimplex()),
    "FollowTheLeader, tree": leader(learn.TreeAggregation()).minimise,
    "FollowTheLeader, banded": leader(learn.BandedFactorisation()).minimise,
    "SoftmaxDescent": learn.SoftmaxDescent(classes=2, dimension=2, privacy=CLOSE, steps=2).minimise,
    "Leader": lambda x, y: leader(learn.TreeAggregation()).open().step(x, y),
    "Hedge": lambda x, y: list(
        learn.Hedge(experts=2, rounds=2, spend=dp.PureDP(epsilon=1)).choose(x)
    ),
    "DoublingHedge": lambda x, y: list(
        learn.DoublingHedge(experts=2, first=2, spend=dp.PureDP(epsilon=1)).choose(x)
    ),
    "LinearLearner": lambda x, y: learn.LinearLearner(
        dimension=2, rows=len(x), spend=dp.PureDP(epsilon=1)
    ).fit(x),
    "StatisticalQueries": lambda x, y: learn.StatisticalQueries(x, 1, PURE).answer(lambda _: y),
    "AgnosticLearner": lambda x, y: learn.AgnosticLearner(
        hypotheses=(lambda rows: y, lambda rows: [1] * len(rows)), privacy=PURE
    ).fit(x, y),
}
WIDE = {name for name in READERS if name.startswith(("FrankWolfe", "Support", "GradientDescent"))}
"""Those that learn from the rows how wide they are, and refuse lists for that."""


@pytest.mark.parametrize("name", READERS)
def test_no_cell_and_no_target_makes_it_raise_or_warn(name: str) -> None:
    reads = READERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for odd in (*ODD, SECRET, np.array(1.0)):
            cells = [[odd, 0.5], [0.5, odd], [0.5, 0.5]]
            for x, y in ((cells, [1, 0, odd]), (ROWS, [odd, odd, 1]), (cells, [1.0, 0.0, 1.0])):
                if name not in WIDE:
                    reads(x, y)
                column = objects([[each] for each in y])[:, 0]
                reads(objects(x), column)
        for kind in (np.float32, np.longdouble, np.int8, bool, complex, "U9"):
            array = np.array(ROWS).astype(kind)
            reads(array, array[:, 0])
        huge = np.array([[np.longdouble("1e4000"), 0], [0, 1], [1, 1]])
        reads(huge, huge[:, 0])


@pytest.mark.parametrize("name", READERS)
def test_neighbours_are_refused_alike_and_no_value_is_told(name: str) -> None:
    """Shapes are refused in the same words, whatever the cells are."""
    wrong: list[Callable[[Any], tuple[Any, Any]]] = [
        lambda cell: ([[cell, 0.5, 0.5], [0.5, 0.5, 0.5]], [1.0, cell]),
        lambda cell: ([[cell, 0.5], [0.5]], [1.0, cell]),
        lambda cell: ([[cell, 0.5], [0.5, 0.5]], [1.0, cell, 0.0]),
        lambda cell: (objects([[cell, 0.5], [0.5, 0.5]])[None], [1.0, cell]),
    ]
    for shape in wrong:
        told = {_said(READERS[name], *shape(cell)) for cell in (0.25, SECRET, None, 10**400, [1])}
        assert len(told) == 1, told
        assert not any(SECRET in each or "4711" in each for each in told)


def _said(reads: Reads, x: Any, y: Any) -> str:
    try:
        reads(x, y)
    except (InvalidData, InvalidParameter) as refused:
        return str(refused)
    return "taken"


def test_an_array_keeps_its_doubles_and_a_list_its_places() -> None:
    given = np.array(ROWS)
    assert as_numbers(given) is given
    assert rows_of_numbers([1.0, "x", None], 1).shape == (3, 1)
    assert np.isnan(rows_of_numbers([["x", 1.0]], 2)).tolist() == [[True, False]]


@pytest.mark.parametrize(
    "wrong",
    [np.array([4711.0, 2.0]), np.array(4711.0), np.array([[4711 + 1j, 1.0]])],
    ids=["one dimension", "none", "complex"],
)
def test_estimators_refuse_shapes_without_the_values_in_them(wrong: Any) -> None:
    import pandas as pd  # type: ignore[import-untyped]

    scaler = learn.StandardScaler(spend=dp.PureDP(epsilon=1), unit=dp.Row(), bounds=(0, 1))
    for form in [wrong, pd.Series(wrong)] if np.ndim(wrong) == 1 else [wrong]:
        with pytest.raises(InvalidData, match=r"rows_shape|complex_rows") as refused:
            scaler.fit(form)
        assert "4711" not in str(refused.value)
