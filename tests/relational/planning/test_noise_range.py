"""Noise whose square is no double is refused before it is paid for, wherever a formula reads it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError

ROWS = {"pid": np.arange(2000), "y": np.linspace(-1, 1, 2000)}
SPENDS = [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5)]
FORMULAS = [
    "AVG({})",
    "VARIANCE({})",
    "STDDEV_POP({})",
    "COVAR_POP({}, y)",
    "CORR({}, y)",
    "AVG({}) - AVG(y)",
    "SUM({}) / COUNT(*)",
]


def curator(budget: dp.PureDP | dp.ZCDP) -> dp.Curator:
    unit = dp.Person("pid", max_rows=1)
    table = dp.table(ROWS, unit=unit, columns={"y": dp.Number(-1.0, 1.0)})
    return dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory())


def outcome(sql: str, spend: dp.PureDP | dp.ZCDP) -> str:
    """What a question comes to; one that is refused costs nothing, and its preview says so."""
    with curator(spend) as asked:
        codes = [_code(door, sql, spend) for door in (asked.preview, asked.sql)]
        assert codes[0] == codes[1], sql
        assert len(list(asked.history())) == (codes[1] == "answered")
        return codes[1]


def _code(door: Callable[..., object], sql: str, spend: object) -> str:
    try:
        door(sql, spend=spend)
    except DiscreetError as refusal:
        return refusal.code
    return "answered"


@pytest.mark.parametrize("power", [-320, 60, 300])
@pytest.mark.parametrize("spend", SPENDS, ids=repr)
def test_formulas_of_wide_and_narrow_numbers_are_answered_or_refused_free(
    spend: dp.PureDP, power: int
) -> None:
    found = {
        outcome(f"SELECT {formula.format(f'y * 1e{power}')} AS n FROM t", spend)
        for formula in FORMULAS
    }
    if power == 60:
        assert found == {"answered"}
    if power == 300:
        assert "answered" not in found


def test_a_sum_is_shown_with_its_own_noise_however_wide() -> None:
    assert outcome("SELECT SUM(y * 1e300) AS n FROM t", dp.PureDP(epsilon=1)) == "answered"
    assert outcome("SELECT AVG(y * 1e300) AS n FROM t", dp.PureDP(epsilon=1)) == "bounds_too_far"
    assert (
        outcome("SELECT SUM(y * 1e300) / 3 AS n FROM t", dp.PureDP(epsilon=1)) == "bounds_too_far"
    )
