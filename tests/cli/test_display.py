"""Numbers shown to people are on the safe side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.display import downward, upward

NUMBERS = st.floats(1e-300, 1e300)


@given(NUMBERS)
def test_upper_bounds_round_up_and_lower_bounds_down(value: float) -> None:
    above, below = float(upward(value)), float(downward(value))
    assert below <= value <= above
    assert above - below <= 2.1e-4 * value


def test_round_numbers_stay_round() -> None:
    assert [upward(value) for value in (0, 0.1, 2, 1e-5, 123456)] == [
        *("0", "0.1", "2", "1e-05", "1.2346e+05")
    ]
