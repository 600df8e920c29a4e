"""Exactness costs little: ratios to NumPy's own, inexact samplers, measured in one run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from discreet.noise import discrete_laplace, rounded_gaussian, rounded_laplace

SIZE = 1_000_000


def seconds(work: Callable[[], object], repeat: int = 7) -> float:
    """The best of several runs: other work on the machine only adds to a run."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "times"), [(0.3, 2.0), (10, 1.5), (1e6, 4.0), (2.0**31, 4.0)])
def test_exact_noise_keeps_up_with_differences_of_numpy_s_geometric(
    scale: float, times: float
) -> None:
    rng = np.random.default_rng(1)
    success = -np.expm1(-1 / scale)
    peer = seconds(lambda: rng.geometric(success, SIZE) - rng.geometric(success, SIZE))
    for draw in (rounded_laplace, discrete_laplace, rounded_gaussian):
        draw(scale, 10_000)
        assert seconds(lambda d=draw: d(scale, SIZE)) < times * peer, draw  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-300, 1e-3, 31.999, 127.999, 2.0**55])
def test_tables_are_built_in_a_moment(scale: float) -> None:
    for draw in (rounded_laplace, discrete_laplace, rounded_gaussian):
        start = time.perf_counter()
        draw(scale, 1)
        assert time.perf_counter() - start < 0.5
