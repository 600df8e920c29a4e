"""Faults that an attack found, each as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.mechanisms import MONOTONE, AboveThreshold

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("id", max_rows=1)], ids=str)
def test_a_discovered_key_does_not_show_the_sign_of_anybodys_zero(unit: Any) -> None:
    """Of a group's rows an engine shows any; negative zero equals zero and looks different."""
    rows = {
        "id": np.arange(400),
        "word": np.array(["tea"] * 400),
        "zero": np.array([-0.0] + [0.0] * 399),
    }
    columns: dict[str, Any] = {
        "word": dp.Discovered(),
        "zero": dp.Category([0.0, 1.0]),
        "id": dp.Number(0, 400),
    }
    table = dp.table(rows, unit=unit, columns=columns)
    budget = dp.ApproxDP(epsilon=20, delta=1e-4)
    with dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory()) as curator:
        for key in ("zero", "zero * (CASE WHEN id < 5 THEN -1 ELSE 1 END)"):
            text = f"SELECT word, {key} AS z, COUNT(*) AS n FROM t GROUP BY word, {key}"
            shown = curator.sql(text, spend=SPEND).keys["z"]
            assert [np.signbit(float(str(value))) for value in shown] == [False] * len(shown)


def test_rising_scores_are_believed_only_of_numbers_that_rise() -> None:
    rows = pl.DataFrame({"x": [1, -1] * 20, "y": [1, 0] * 20, "k": ["a", "b"] * 20})
    columns = {"x": dp.Number(-1, 1), "y": dp.Number(0, 1)}
    rising = AboveThreshold(epsilon=1, threshold=1000, sensitivity=8, scores=MONOTONE)

    def asked(unit: Any, text: str) -> str:
        table = dp.table(rows, unit=unit, columns=columns, max_rows_per={"k": 2})
        budget = dp.PureDP(epsilon=9)
        with dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory()) as curator:
            watch = curator.open(rising, spend=dp.PureDP(epsilon=1))
            try:
                watch.ask(text)
            except DiscreetError as refusal:
                return refusal.code
            return ""

    count = "SELECT COUNT(*) AS n FROM t"
    join = "SELECT COUNT(*) AS n FROM t a JOIN t b ON a.k = b.k"
    assert asked(dp.Row(), count) == ""
    assert asked(dp.Row(), "SELECT SUM(y) AS s FROM t") == ""
    for unit, text in [
        (dp.Row(), "SELECT SUM(x) AS s FROM t"),
        (dp.Row(), "SELECT SUM(-y) AS s FROM t"),
        (dp.Row(), join),
        (dp.Replace(dp.Row()), count),
    ]:
        assert asked(unit, text) == "scores_not_monotone"


def test_a_release_that_names_no_key_can_be_read_again_and_combined() -> None:
    rows = pl.DataFrame({"id": [1, 2], "k": ["a", "b"], "x": [1, 2]})
    columns: dict[str, Any] = {"k": dp.Discovered(), "x": dp.Number(0, 9)}
    table = dp.table(rows, unit=dp.Person("id", max_rows=1), columns=columns)
    budget = dp.ApproxDP(epsilon=10, delta=1e-5)
    text = "SELECT k, COUNT(*) AS n, MEDIAN(x) AS m, QUANTILE(x, 0.9) AS p FROM t GROUP BY k"
    tiny = dp.ApproxDP(epsilon=1, delta=1e-9)
    with dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory()) as curator:
        first = curator.sql(text, spend=tiny)
        assert len(curator.sql(text, spend=tiny, confidence=0.8)) == len(first) == 0
        counts = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
        older = curator.sql(counts, spend=tiny)
        newer = curator.sql(counts, spend=dp.ApproxDP(epsilon=1.5, delta=1e-9))
        assert len(newer.combine(older)) == 0
