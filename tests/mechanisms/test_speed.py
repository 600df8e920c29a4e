"""A mechanism costs little more than its sampler."""

import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms import DiscreteLaplace, Gaussian, Laplace
from discreet.noise import discrete_laplace, rounded_gaussian, rounded_laplace

SIZE = 10**6


def seconds(work: Callable[[], Any]) -> float:
    work()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@pytest.mark.slow
@pytest.mark.parametrize("values", [np.zeros(SIZE, dtype=np.int64), np.zeros(SIZE)])
def test_releasing_a_million_is_at_most_twice_the_noise(values: Any) -> None:
    kind: type = int if values.dtype == np.int64 else float
    laplace = Laplace(epsilon=0.5, sensitivity=1)
    gaussian = Gaussian(epsilon=0.5, delta=1e-6, sensitivity=1)
    for mechanism, sampler in ((laplace, rounded_laplace), (gaussian, rounded_gaussian)):
        scale: Fraction = mechanism._scale_in_steps(mechanism._exponent(SIZE, kind), SIZE, kind)
        noise = seconds(lambda s=sampler, b=scale: s(b, SIZE))  # type: ignore[misc]
        release = seconds(lambda m=mechanism: m.release(values))  # type: ignore[misc]
        assert release <= 2 * noise, f"{mechanism}: {release / noise:.2f} times its noise"


@pytest.mark.slow
def test_geometric_counts_too() -> None:
    mechanism = DiscreteLaplace(epsilon=0.5, sensitivity=1)
    values = np.zeros(SIZE, dtype=np.int64)
    noise = seconds(lambda: discrete_laplace(2, SIZE))
    assert seconds(lambda: mechanism.release(values)) <= 2 * noise
