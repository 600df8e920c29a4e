"""How sure intervals may be: an answer that is paid for is written, or refused free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError

AGGREGATES = (
    "COUNT(*) AS a, SUM(y) AS b, AVG(x) AS c, AVG(y) AS d, VARIANCE(x) AS e, STDDEV(y) AS f, "
    "COVAR_POP(x, y) AS g, CORR(x, y) AS h, MEDIAN(x) AS i, GEOMEAN(x + 1) AS j, "
    "SUM(x) / COUNT(*) AS k, SUM(x) + SUM(y) AS l, AVG(x) - AVG(y) AS m"
)
ASKED = f"SELECT w, {AGGREGATES} FROM t GROUP BY w"
SPEND = dp.PureDP(epsilon=50)


@pytest.fixture
def source() -> dp.Curator:
    rows = {
        "y": np.linspace(-1, 1, 4000),
        "x": np.arange(4000) % 5,
        "w": np.array(["A", "B"] * 2000),
    }
    table = dp.table(
        rows,
        unit=dp.Row(),
        columns={"y": dp.Number(-1.0, 1.0), "x": dp.Number(0, 4), "w": dp.Category(["A", "B"])},
    )
    return dp.Curator(t=table, budget=dp.PureDP(epsilon=1e6), ledger=dp.ledger.Memory())


@pytest.mark.parametrize("risk", [1e-6, 1e-9, 1e-12], ids=str)
def test_every_aggregate_has_its_interval(source: dp.Curator, risk: float) -> None:
    answer = source.sql(ASKED, spend=SPEND, confidence=1 - risk)
    for column in answer.answers:
        if column.lower is not None and column.upper is not None:
            assert all(low < high for low, high in zip(column.lower, column.upper, strict=True))


@pytest.mark.parametrize("confidence", [1 - 1e-13, 1 - 2**-53, 1.0, 0.0, float("nan")])
@pytest.mark.parametrize(
    "door",
    [
        lambda s, c: s.sql(ASKED, spend=SPEND, confidence=c),
        lambda s, c: s.preview(ASKED, spend=SPEND, confidence=c),
        lambda s, c: s.batch({"a": ASKED}, spend=SPEND, confidence=c),
        lambda s, c: s.sql("SELECT COUNT(*) AS n FROM t", accuracy=dp.Within(5, confidence=c)),
    ],
    ids=["sql", "preview", "batch", "accuracy"],
)
def test_what_nobody_can_keep_is_refused_free(
    source: dp.Curator, door: Callable[..., object], confidence: float
) -> None:
    with pytest.raises(DiscreetError) as refusal:
        door(source, confidence)
    assert refusal.value.code in {"confidence_too_high", "not_a_probability", "not_finite"}
    assert list(source.history()) == []
