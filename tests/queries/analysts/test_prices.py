"""Prices of the games: every draw of a batch, groups of whole analysts, tails that were cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.noise import SYSTEM
from discreet.queries.analysts.flags import hidden_delta, shown_delta, squares_law
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.query_set import QuerySet
from tests.queries.analysts.small_games import expected, sampled, shape_of, signed_law, tilts_of


def test_every_draw_of_a_batch_is_paid_for() -> None:
    game = sampled(shape_of(2, 2, 1), 10, 2, randomness=SYSTEM)
    one, three = (float(replace(game, batch_q=many).event.zcdp().rho) for many in (1, 3))
    assert three == pytest.approx(3 * one)
    cells = expected(shape_of(2, 2, 1), 10, 2, randomness=SYSTEM)
    one, three = (float(replace(cells, batch_x=many).event.zcdp().rho) for many in (1, 3))
    assert three == pytest.approx(3 * one)


def test_all_queries_of_a_hidden_analyst_share_one_cap() -> None:
    """One analyst of three asks four loud queries; together they are drawn once in s = 2."""
    shape = shape_of(2, 3, 4)
    rows = np.zeros((12, 2), dtype=np.uint8)
    rows[:4] = [255, 0]
    for protects, groups in ((OneAnalyst(), 3), (OneQuery(), 12)):
        game = sampled(shape, 50, 2, step_q=400, protects=protects)
        assert game.groups == groups
        tilts = tilts_of(game, QuerySet(shape, rows), np.array([50, 0]), [1, 1, 1])
        law = signed_law(tilts).reshape(2, 3, 4).sum(axis=(0, 2))
        assert (law[0] <= 0.5 + 1e-9) == isinstance(protects, OneAnalyst)


def test_tails_that_were_cut_are_part_of_delta() -> None:
    """Where everything else has vanished, what was cut is left."""
    for curve in (hidden_delta, shown_delta):
        assert curve(flags=1, pull=1e-3, epsilon=60) >= squares_law(1.0).cut > 0
