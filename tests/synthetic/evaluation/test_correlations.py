"""Correlations in an evaluation are those of the tables, and identical tables have no gap."""

import numpy as np
import pytest

import discreet as dp
from discreet.synthetic.evaluation.correlations import cramers_v, order_correlation
from discreet.synthetic.evaluation.evaluate import evaluate
from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation

COLUMNS = {"a": dp.Number(0, 10), "b": dp.Number(0, 10), "c": dp.Category(["x", "y"])}


def table(rows: int, sign: int) -> dict[str, list[object]]:
    rng = np.random.default_rng(rows)
    a = rng.uniform(0, 10, rows)
    b = a if sign > 0 else 10 - a
    return {"a": a.tolist(), "b": b.tolist(), "c": ["x" if each < 5 else "y" for each in a]}


def compared(first: object, second: object) -> NonPrivateEvaluation:
    found = evaluate(first, second, columns=COLUMNS)
    assert isinstance(found, NonPrivateEvaluation)
    return found


@pytest.fixture(autouse=True)
def _without_a_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Correlations need none, and it takes most of the time."""
    monkeypatch.setattr("discreet.synthetic.evaluation.evaluate.can_learn", lambda: False)


def test_identical_tables_have_no_gap_and_a_turned_one_shows() -> None:
    real = table(400, 1)
    same = compared(real, real)
    assert same.scores.correlation == 0
    assert all(left == right for left, right in same.correlations.values())
    assert same.correlations["a", "b"][0] == pytest.approx(1)
    assert same.correlations["a", "c"][0] > 0.9
    turned = compared(real, table(400, -1))
    assert turned.correlations["a", "b"] == pytest.approx((1, -1))
    assert turned.scores.correlation == pytest.approx(2 / 3, abs=0.01)
    assert "correlation gap" in str(turned)
    independent = turned.references["independent columns"].correlation
    assert independent is not None
    assert independent > 0.5


@pytest.mark.parametrize("name", COLUMNS)
def test_one_column_has_no_pairs_and_is_evaluated(name: str) -> None:
    real = table(100, 1)
    found = evaluate(real, real, columns={name: COLUMNS[name]})
    assert isinstance(found, NonPrivateEvaluation)
    assert found.scores.correlation is None
    assert not found.correlations
    assert found.scores.marginals == {1: 0}
    assert "orrelation gap" not in str(found)


def test_both_measures_against_direct_computation() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        counts = rng.integers(0, 9, (int(rng.integers(2, 6)), int(rng.integers(2, 6))))
        rows = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
        if len(set(rows[0])) > 1 and len(set(rows[1])) > 1:
            direct = float(np.asarray(np.corrcoef(rows))[0, 1])
            assert order_correlation(counts.astype(float)) == pytest.approx(direct, abs=1e-9)
            assert 0 <= cramers_v(counts.astype(float)) <= 1
    two = np.array([[30.0, 10.0], [10.0, 30.0]])
    assert cramers_v(two) == pytest.approx(abs(order_correlation(two)))  # phi, for two by two
    assert cramers_v(np.outer([1.0, 2.0], [3.0, 5.0])) == pytest.approx(0, abs=1e-9)
    for empty in (np.zeros((2, 2)), np.array([[4.0, 3.0], [0.0, 0.0]])):
        assert order_correlation(empty) == cramers_v(empty) == 0
