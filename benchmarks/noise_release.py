"""Releases: what a mechanism adds to its sampler, scalar latency, first use, and import."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from timing import Figure, Timer, alternate, clock, clock_on, ratios, scaled

from discreet.mechanisms import Gaussian, Laplace
from discreet.noise import rounded_gaussian, rounded_laplace

CALLS = 2000
MOST_OVER_SAMPLER = 2
MOST_IMPORT_SECONDS = 0.05


def whole(size: int) -> Any:
    """A vector of counts, new each time."""
    return np.random.default_rng().integers(0, 1000, size)


def real(size: int) -> Any:
    """A vector of reals, new each time."""
    return whole(size) / 8


def laplace() -> Laplace:
    """Laplace noise of scale 10."""
    return Laplace(epsilon=0.1, sensitivity=1)


def gaussian() -> Gaussian:
    """Gaussian noise of standard deviation 10."""
    unit = Gaussian(epsilon=1, delta=1e-5, sensitivity=1)
    return Gaussian(epsilon=1, delta=1e-5, sensitivity=10 / unit.noise_multiplier)


def release_figures(size: int, rounds: int) -> list[Figure]:
    """All figures about releases."""
    return [
        *overhead_figures(size, rounds),
        *latency_figures(rounds),
        *first_use_figures(rounds),
        *cold_figures(rounds),
    ]


def overhead_figures(size: int, rounds: int) -> list[Figure]:
    """Releases of whole arrays over their own sampler, at the scale in steps it is asked for."""
    found = []
    for mechanism, draw in ((laplace(), rounded_laplace), (gaussian(), rounded_gaussian)):
        for kind, fresh in ((int, whole), (float, real)):
            exponent = mechanism._exponent(size, kind)
            steps = mechanism._scale_in_steps(exponent, size, kind)
            name = f"noise/release/{type(mechanism).__name__.lower()}_{kind.__name__}"
            timers = {
                "release": clock_on(partial(fresh, size), mechanism.release),
                "sampler": clock(partial(draw, steps, size)),
            }
            seconds = alternate(name, timers, rounds=rounds)
            found += [
                Figure(name=f"{name}/seconds", values=seconds["release"], unit="s"),
                Figure(
                    name=f"{name}/sampler",
                    values=ratios(seconds["release"], seconds["sampler"]),
                    unit="x",
                    at_most=MOST_OVER_SAMPLER,
                    remark=f"sampler at {float(steps):.3g} steps",
                ),
            ]
    return found


def latency_figures(rounds: int) -> list[Figure]:
    """Releases of one number by a mechanism already used."""
    timers = {
        f"noise/scalar/{type(mechanism).__name__.lower()}_{type(value).__name__}": clock(
            partial(mechanism.release, value), calls=CALLS
        )
        for mechanism in (laplace(), gaussian())
        for value in (42, 42.0)
    }
    seconds = alternate("scalar latency", timers, rounds=rounds)
    return [
        Figure(name=f"{name}/warm", values=scaled(taken, 1e6), unit="us")
        for name, taken in seconds.items()
    ]


def first_use_figures(rounds: int) -> list[Figure]:
    """Building a mechanism at an epsilon never seen and releasing with it for the first time."""

    def laplace_release(value: float, epsilon: float) -> object:
        return Laplace(epsilon=epsilon, sensitivity=1).release(value)

    def gaussian_release(value: float, epsilon: float) -> object:
        return Gaussian(epsilon=epsilon, delta=1e-5, sensitivity=1).release(value)

    timers = {
        f"noise/first_use/{law}_{type(value).__name__}": clock_on(
            partial(random.uniform, low, 2 * low), partial(release, value)
        )
        for law, release, low in (
            ("laplace", laplace_release, 0.07),
            ("gaussian", gaussian_release, 0.25),
        )
        for value in (42, 42.0)
    }
    seconds = alternate("first use of a scale", timers, rounds=rounds)
    return [
        Figure(name=name, values=scaled(taken, 1e3), unit="ms") for name, taken in seconds.items()
    ]


def cold_figures(rounds: int) -> list[Figure]:
    """Imports and the first release in new processes; numpy's import is the part not ours."""
    release = "from discreet.mechanisms import Laplace; Laplace(epsilon=0.1, sensitivity=1)"
    timers = {
        "import": in_new_process("import discreet"),
        "first_release": in_new_process(f"{release}.release(42)"),
        "import_numpy": in_new_process("import numpy"),
    }
    seconds = alternate("cold start", timers, rounds=rounds)
    aim = {"import": MOST_IMPORT_SECONDS}
    return [
        Figure(
            name=f"noise/cold/{name}",
            values=scaled(taken, 1e3),
            unit="ms",
            at_most=1e3 * aim.get(name, float("inf")),
        )
        for name, taken in seconds.items()
    ]


def in_new_process(statement: str) -> Timer:
    """Time a statement in a new interpreter, without the interpreter's own start."""
    code = (
        f"import time; start = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    )

    def timer() -> float:
        command = [sys.executable, "-I", "-c", code]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(done.stdout)

    return timer
