"""Prices of the games in closed form against their exact sums and the catalogue's numbers."""

import pytest

from discreet.theory.analyst_games import (
    expected_analyst_rho,
    expected_analyst_sum,
    expected_data_rho,
    expected_data_sum,
    sampled_data_rho,
    sampled_data_sum,
)


def test_the_data_price_of_three_rounds_on_four_records() -> None:
    assert sampled_data_sum(rounds=3, batch=1, step=1, records=4) == 0.0390625


@pytest.mark.parametrize("rounds", [1, 2, 10, 400])
def test_closed_forms_are_never_below_the_sums_and_close_for_many_rounds(rounds: int) -> None:
    step_x, step_q, n, b = 1.2, 0.16, 1000, 7
    pairs = [
        (
            sampled_data_sum(rounds=rounds, batch=b, step=step_q, records=n),
            sampled_data_rho(draws=b * rounds, reach=step_q * rounds, records=n),
        ),
        (
            expected_data_sum(rounds=rounds, batch=b, step_x=step_x, step_q=step_q, records=n),
            expected_data_rho(
                points=b * rounds, reach_x=step_x * rounds, reach_q=step_q * rounds, records=n
            ),
        ),
        (
            expected_analyst_sum(rounds=rounds, batch=b, step=step_x, share=1 / 50),
            expected_analyst_rho(points=b * rounds, reach=step_x * rounds, share=1 / 50),
        ),
    ]
    for exact, closed in pairs:
        assert exact <= closed
        if rounds == 400:
            assert exact > 0.98 * closed
