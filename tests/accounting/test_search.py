"""Bisection ends on the side where the condition was found to hold."""

import pytest

from discreet.core.search import greatest, greatest_above_zero, least


@pytest.mark.parametrize("edge", [1e-9, 0.3, 1.0, 12345.678])
@pytest.mark.parametrize("close", [1e-3, 1e-12])
def test_the_greatest_point_is_found_by_doubling_and_passed(edge: float, close: float) -> None:
    seen: dict[float, bool] = {}

    def holds(value: float) -> bool:
        return seen.setdefault(value, value <= edge)

    found = greatest_above_zero(holds, close=close)
    assert seen[found]
    assert edge * (1 - 2 * close) <= found <= edge


def test_where_nothing_passes_it_is_zero() -> None:
    assert greatest_above_zero(lambda value: False) == 0


def test_both_ends_are_as_close_as_asked() -> None:
    assert 2 <= least(lambda value: value >= 2, 0, 10, close=1e-3) <= 2 * 1.001
    assert 2 * 0.998 <= greatest(lambda value: value <= 2, 0, 10, close=1e-3) <= 2
