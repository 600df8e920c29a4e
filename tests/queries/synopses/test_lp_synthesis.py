"""Synthetic rows by linear programming, and the game behind them."""

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.queries.synopses.lp_synthesis import game_value, play, synthesise, whole_rows
from discreet.queries.workload.families import Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

LINE = Workload.of(Universe.of(x=range(6)), {"x": Ranges(6)})

DATA = np.array([9000, 500, 100, 200, 150, 50])


def test_synthetic_data_from_exact_answers_is_exact_up_to_rounding() -> None:
    """000a:H5."""
    means = LINE.answers(DATA / DATA.sum())
    found = synthesise(LINE, means, error=0.01)
    assert found.feasible
    assert found.violation == pytest.approx(0, abs=1e-7)
    assert found.rows.sum() == 600
    assert np.abs(found.answers(LINE) - means).max() <= 0.01
    assert "within 0.01" in str(found)


def test_infeasible_answers_fall_back_and_say_so() -> None:
    means = np.zeros(LINE.queries)  # the whole line has mean one
    found = synthesise(LINE, means, error=0.1)
    assert not found.feasible
    assert found.violation == pytest.approx(1)
    assert "no data is within 0.1" in str(found)
    with pytest.raises(InvalidParameter, match="answers_misfit"):
        synthesise(LINE, means[:-1], error=0.1)


def test_whole_rows_keep_their_number_and_stay_within_one() -> None:
    numbers = np.random.default_rng(1)
    for _ in range(50):
        shares = numbers.dirichlet(np.ones(7))
        rows = whole_rows(shares, 100)
        assert rows.sum() == 100
        assert np.abs(rows - 100 * shares).max() < 1
    floors = np.floor(100 * shares).sum()
    assert floors < 100, "rounding down, as printed, loses rows"


def test_the_game_has_value_zero_and_is_learnt() -> None:
    """000a:G9."""
    data = DATA / DATA.sum()
    means = LINE.answers(data)
    assert game_value(LINE, means).value == pytest.approx(0, abs=1e-7)
    played = play(LINE, means, error=0.05)
    assert played.value <= 0.05
    assert np.abs(LINE.answers(played.distribution) - means).max() == pytest.approx(played.value)
