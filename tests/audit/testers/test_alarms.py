import pytest

from discreet.audit import FalseAlarms
from discreet.core.errors import InvalidParameter


def test_shares_add_up_to_the_stated_total() -> None:
    alarms = FalseAlarms(total=1e-6, tests=4)
    assert sum(alarms.alpha(name) for name in "abcd") == pytest.approx(1e-6)
    assert alarms.spent == pytest.approx(alarms.total)


def test_the_same_test_may_ask_twice() -> None:
    alarms = FalseAlarms(total=1e-6, tests=1)
    assert alarms.alpha("a") == alarms.alpha("a")
    assert alarms.spent == 1e-6


def test_one_test_too_many_is_refused() -> None:
    alarms = FalseAlarms(total=1e-6, tests=1)
    alarms.alpha("a")
    with pytest.raises(InvalidParameter, match="false_alarms_exhausted"):
        alarms.alpha("b")


@pytest.mark.parametrize(("total", "tests"), [(0.0, 1), (1.0, 1), (1e-6, 0)])
def test_rates_and_numbers_of_tests_are_checked(total: float, tests: int) -> None:
    with pytest.raises(InvalidParameter):
        FalseAlarms(total=total, tests=tests)
