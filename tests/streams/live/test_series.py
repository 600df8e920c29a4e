"""Statistics of live streams: what batches add up to, what is told, and how they are written."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EVERY
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.rules import LeaveOut
from discreet.streams.live.series import (
    QuantileSeries,
    name_answers_of_key,
    require_statistic,
    statistic_from_dict,
    statistic_to_dict,
    told_within,
)
from discreet.streams.statistics.histogram import Quantiles
from discreet.streams.statistics.totals import BoundedNumber, RunningAverage, RunningTotal

BOUNDS = BoundedNumber(low=Fraction(-3, 2), high=7, step=0.5)
ALL: list[Any] = [
    RunningTotal(BOUNDS),
    RunningAverage(BOUNDS),
    QuantileSeries(Quantiles([0.1, 2, 3, 5, 9]), (0.1, 0.5)),
]
NUMBERS = st.lists(st.floats(allow_nan=False), max_size=20)


@pytest.mark.parametrize("statistic", ALL)
@given(first=NUMBERS, second=NUMBERS, one=st.floats(allow_nan=False))
def test_batches_add_up_and_an_event_moves_what_it_is_priced_for(
    statistic: Any, first: list[float], second: list[float], one: float
) -> None:
    def added(*batches: list[float]) -> Any:
        keys = KeysByList(("A", "B"), LeaveOut(), statistic)
        for batch in batches:
            for value in batch:
                keys.add(0, 1, None, value)
            keys.settle()
        assert keys._values == {}
        return keys.close(0)

    assert (added(first, second) == added([*second, *first])).all()
    moved = added(first, [*second, one]) - added(first, second)
    assert (moved[: statistic.keys] == 0).all()
    contribution = statistic.contribution
    assert np.abs(moved).sum() <= contribution.l1
    assert (moved.astype(object) ** 2).sum() <= contribution.l2_squared
    assert np.abs(moved).max() <= contribution.largest


@pytest.mark.parametrize("statistic", [None, *ALL])
def test_what_the_ledger_holds_is_read_as_it_was(statistic: Any) -> None:
    assert statistic_from_dict(statistic_to_dict(statistic)) == statistic


def test_the_ledgers_form_never_changes() -> None:
    assert [statistic_to_dict(each) for each in ALL] == [
        {"tag": "total/1", "low": "-3/2", "high": "7", "step": "1/2"},
        {"tag": "average/1", "low": "-3/2", "high": "7", "step": "1/2"},
        {
            "tag": "quantiles/1",
            "cuts": ["3602879701896397/36028797018963968", "2", "3", "5", "9"],
            "levels": ["3602879701896397/36028797018963968", "1/2"],
        },
    ]


def test_counts_and_sums_have_an_error_and_others_none() -> None:
    assert [told_within(each, 8.0) for each in (None, *ALL)] == [8.0, 4.0, None, None]
    assert name_answers_of_key(None, "A", np.array([3])) == {"A": 3}
    assert name_answers_of_key(ALL[0], "A", np.array([3])) == {"A": 1.5}
    assert list(name_answers_of_key(ALL[2], EVERY, np.zeros(8))) == ["10%", "50%"]


@pytest.mark.parametrize("given", [1, "sum", Quantiles([1, 2])])
def test_what_is_no_statistic_is_refused(given: Any) -> None:
    with pytest.raises(InvalidParameter, match="not_a_live_statistic"):
        require_statistic(given)
    with pytest.raises(InvalidParameter):
        QuantileSeries(Quantiles([1, 2]), ())
    with pytest.raises(InvalidParameter):
        statistic_from_dict({"tag": "mode/1"})
