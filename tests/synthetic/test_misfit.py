"""What a model leaves out of pairs widens intervals, as its own measurements tell."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import discreet as dp
from discreet.core.arrays import Ints
from discreet.core.errors import InvalidParameter
from discreet.core.unit import Row
from discreet.noise.randomness import SYSTEM
from discreet.queries import NoisyRecordCount, Universe, Workload
from discreet.queries.workload.coded_records import CodedRecords
from discreet.synthetic.aim import AIM
from discreet.synthetic.counted_estimate import CountedEstimate
from discreet.synthetic.graphical.graphical_model import GraphicalModel
from discreet.synthetic.simulated_errors import SimulatedErrors

SIZES = {"a": 4, "b": 5, "c": 2, "d": 6, "e": 3, "f": 2, "g": 4}
UNIVERSE = Universe.of(**{name: range(size) for name, size in SIZES.items()})
NAMES = list(SIZES)


def tied_rows(numbers: np.random.Generator, rows: int = 2000) -> Ints:
    """Columns that go together in more ways than a small spend can measure."""
    a = numbers.integers(0, 4, rows)
    b = (a + numbers.integers(0, 2, rows) + (numbers.random(rows) < 0.3)) % 5
    c = (numbers.random(rows) < 0.1 + b / 6).astype(np.int64)
    d = numbers.integers(0, 6, rows)
    e = (d // 2 + (numbers.random(rows) < 0.25)) % 3
    f = (c ^ (e == 1) ^ (numbers.random(rows) < 0.2)).astype(np.int64)
    g = np.minimum(3, numbers.poisson(0.5 + 0.5 * f + 0.2 * a))
    return np.stack([a, b, c, d, e, f, g], axis=1)


def mechanism() -> AIM:
    return AIM(
        workload=Workload.marginals(UNIVERSE, 2),
        spend=dp.ApproxDP(epsilon=1, delta=1e-6),
        size=NoisyRecordCount(),
    )


@pytest.fixture(scope="module")
def model() -> GraphicalModel:
    return mechanism().release(CodedRecords(UNIVERSE, tied_rows(np.random.default_rng(1)), Row()))


def test_pairs_that_were_not_measured_have_an_error_of_their_own(model: GraphicalModel) -> None:
    sure = replace(model, misfit=5000.0)
    for pair in combinations(NAMES, 2):
        weights = np.zeros([SIZES[name] for name in pair])
        weights[0, 0] = 1
        together = sure.measured_together(pair)
        assert (sure.misfit_variance(pair, weights) == 0) == together
        assert sure.misfit_variance(pair, np.ones_like(weights)) == pytest.approx(0)
    for name in NAMES:
        assert sure.misfit_variance([name], np.ones(SIZES[name])) == 0
    assert any(sure.measured_together(pair) for pair in combinations(NAMES, 2))
    assert not sure.measured_together(NAMES)


def test_a_misfit_is_kept_with_the_model_and_nothing_else_is_read(model: GraphicalModel) -> None:
    plain = dict(model.to_dict())
    assert GraphicalModel.from_dict(plain, UNIVERSE, model.event).misfit == model.misfit
    for wrong in (-1.0, math.inf, math.nan, "much", True):
        with pytest.raises(InvalidParameter):
            GraphicalModel.from_dict(plain | {"misfit": wrong}, UNIVERSE, model.event)
    del plain["misfit"]  # as files were written before
    assert GraphicalModel.from_dict(plain, UNIVERSE, model.event).misfit == 0


def test_an_estimate_says_where_columns_were_not_measured_together() -> None:
    assert "not measured together" in str(CountedEstimate(5, 1, 9, 0.1, 0.95, measured=False))
    assert "not measured together" not in str(CountedEstimate(5, 1, 9, 0.1, 0.95))


@pytest.mark.slow
def test_intervals_hold_where_columns_were_not_measured_together() -> None:
    """Of 500 questions by two or three columns about 490 held (in 30 tables), 460 by noise alone.

    Those of one table miss together, about four at a time: fewer than 470 of 500 are more than
    four deviations off.
    """
    numbers = np.random.default_rng(4)
    asked = noise_alone = held = 0
    while asked < 500:
        counts = CodedRecords(UNIVERSE, tied_rows(numbers), Row())
        made = mechanism().release(counts)
        rows = [np.asarray(made.sample(randomness=SYSTEM)) for _ in range(12)]
        samples = [CodedRecords(UNIVERSE, each, Row()) for each in rows]
        errors = SimulatedErrors(tuple((each, mechanism().release(each)) for each in samples))
        for _ in range(120):
            names = list(numbers.choice(NAMES, int(numbers.integers(2, 4)), replace=False))
            if made.measured_together(names):
                continue
            weights = np.ones(())
            for name in names:
                weights = weights[..., None] * numbers.permutation(
                    np.arange(SIZES[name]) < numbers.integers(1, SIZES[name])
                )
            error = abs(float(((made.marginal(names) - counts.counts(names)) * weights).sum()))
            half = errors.half_width(names, weights, 0.95)
            misfit = errors.times(0.95) * math.sqrt(made.misfit_variance(names, weights))
            asked, noise_alone = asked + 1, noise_alone + (error <= half)
            held += error <= math.hypot(half, misfit)
    assert held >= 0.94 * asked
    assert held > noise_alone
