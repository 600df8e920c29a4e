"""The online game of the paper with proved constants."""

import math
from typing import Any

import numpy as np
import pytest

from discreet.theory import online_proved as bound
from discreet.theory.online_game import online_sketch
from discreet.theory.online_proved import GAP, NOISE, SAMPLING, online_bound, online_updates

GIVEN: dict[str, Any] = {
    "cells": 4096, "questions": 1e6, "data_rho": 0.024356, "analyst_rho": 0.024356
}  # fmt: skip


def moves(gap: float, step: float, most: int, seed: int) -> int:
    """How often pools of one to two s random queries that are off by ``gap`` move a hypothesis."""
    rng = np.random.default_rng(seed)
    cells, s, moved = 64, 4, 0
    data = rng.dirichlet(np.full(cells, 0.05))
    weights = np.zeros(cells)
    while moved < most:
        law = np.exp(weights - weights.max())
        law /= law.sum()
        queries = rng.random((4000, cells)) < rng.random((4000, 1))
        off = queries @ (law - data)
        hard = np.flatnonzero(np.abs(off) >= gap)[: int(rng.integers(s, 2 * s + 1))]
        if len(hard) < s:
            break
        weights -= step * (np.sign(off[hard]) @ queries[hard]) / s
        moved += 1
    return moved


@pytest.mark.parametrize("steps", [1, 2, 8 / 3])
@pytest.mark.parametrize("gap", [0.1, 0.2, 0.3])
def test_no_hypothesis_moves_more_often(gap: float, steps: float) -> None:
    most = online_updates(cells=64, gap=gap, step=steps * gap)
    for seed in range(4):
        assert 0 < moves(gap, steps * gap, math.ceil(most) + 10, seed) <= most


def test_the_entropy_falls_by_what_is_said_at_every_pool() -> None:
    """Random laws, signed queries of any sizes of pools, and steps of up to 8/3 of the gap."""
    rng = np.random.default_rng(2)
    for _ in range(3000):
        law, data = rng.dirichlet(np.full(16, 0.3), 2) + 1e-9
        law, data = law / law.sum(), data / data.sum()
        s = int(rng.integers(1, 5))
        queries = rng.integers(0, 2, (int(rng.integers(s, 2 * s + 1)), 16)).astype(float)
        off = queries @ (law - data)
        gap = float(np.abs(off).min())
        if not gap:
            continue
        step = rng.random() * 8 / 3 * gap
        signed = np.sign(off) @ queries / s
        after = law * np.exp(-step * signed)
        after /= after.sum()
        fell = float(data @ np.log(after / law))
        assert fell >= step * gap - step**2 / 8 - 1e-12


def test_numbers_and_slope_of_the_bound() -> None:
    assert online_updates(cells=4096, gap=0.1, step=0.4) == pytest.approx(
        math.log(4096) / (2 * 0.1**2)
    )
    assert online_updates(cells=4096, gap=0.1, step=0.8) == math.inf
    found = [online_bound(**GIVEN, records=n) for n in (1e5, 1e6, 1e7)]
    assert [round(each.alpha, 3) for each in found] == [1.528, 0.621, 0.252]
    for each, records in zip(found, (1e5, 1e6, 1e7), strict=True):
        assert 2.8 < each.alpha / online_sketch(**GIVEN, records=records).alpha < 3.2
        assert 2 * each.s * each.updates == pytest.approx(each.hard)
        told = each.updates * each.cells * (2 * GAP * each.alpha) ** 2 / (8 * each.s**2)
        assert told == pytest.approx(GIVEN["analyst_rho"] / 2)
    far = [online_bound(**GIVEN, records=n).alpha for n in (1e8, 1e10)]
    assert math.log10(far[1] / far[0]) / 2 == pytest.approx(-0.4, abs=0.02)


def test_no_other_shares_do_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers have a small part of the cost and move the best shares by as little."""
    best = online_bound(**GIVEN, records=1e6).alpha
    for gap in (0.3, 0.35, 0.45, 0.5):
        for sampling in (0.1, 0.15, 0.2, 0.25, 0.3):
            monkeypatch.setattr(bound, "GAP", gap)
            monkeypatch.setattr(bound, "SAMPLING", sampling)
            monkeypatch.setattr(bound, "NOISE", (1 - gap - sampling) / 2)
            assert online_bound(**GIVEN, records=1e6).alpha > best
    assert math.isclose(GAP + SAMPLING + 2 * NOISE, 1)


def test_a_sparse_vector_errs_by_no_more_than_its_part() -> None:
    """400 runs of 20 rounds and 2 000 questions: 26 or more failures have a chance below 1e-6."""
    rng, rounds, asked, error = np.random.default_rng(7), 20, 2000, 500.0
    answered = 2 * math.log(2 * rounds / bound._BETA)
    rho = bound._of_one(rounds, asked, error) - answered / error**2 / 2
    each = math.sqrt(2 * rho)
    worst = np.abs(rng.laplace(0, 2 / each, (400, rounds))).max(axis=1)
    worst += np.abs(rng.laplace(0, 4 / each, (400, asked))).max(axis=1)
    assert int((worst > NOISE * error).sum()) < 26
