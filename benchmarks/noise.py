"""Noise: samplers against numpy's unsafe one and the machine's floor; releases against OpenDP."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from noise_opendp import opendp_figures
from noise_release import release_figures
from timing import Figure, Timer, alternate, clock, ratios

from discreet.noise import discrete_gaussian, discrete_laplace, rounded_gaussian, rounded_laplace

SIZE = 1_000_000
ROUNDS = 11
LAWS = {
    "discrete_laplace": discrete_laplace,
    "discrete_gaussian": discrete_gaussian,
    "rounded_laplace": rounded_laplace,
    "rounded_gaussian": rounded_gaussian,
}
SCALES = {"0.3": 0.3, "10": 10, "1e6": 1e6, "2^31": 2**31}
MOST_OVER_NUMPY = {"0.3": 1, "10": 1, "1e6": 4, "2^31": 4}
PIECE = 1 << 17


def figures() -> list[Figure]:
    """All figures of this suite."""
    return [
        *sampler_figures(),
        *floor_figures(),
        *opendp_figures(SIZE),
        *release_figures(SIZE, ROUNDS),
    ]


def sampler_figures() -> list[Figure]:
    """Each law at each scale: seconds, and times the difference of two numpy geometrics."""
    found = []
    for label, scale in SCALES.items():
        timers = {law: clock(partial(draw, scale, SIZE)) for law, draw in LAWS.items()}
        timers["numpy"] = numpy_geometric_difference(scale)
        seconds = alternate(f"samplers, scale {label}", timers, rounds=ROUNDS)
        for law in timers:
            name = f"noise/{law}/scale={label}"
            found.append(Figure(name=f"{name}/seconds", values=seconds[law], unit="s"))
            if law != "numpy":
                over = ratios(seconds[law], seconds["numpy"])
                aim = MOST_OVER_NUMPY[label]
                found.append(Figure(name=f"{name}/numpy", values=over, unit="x", at_most=aim))
    return found


def numpy_geometric_difference(scale: float) -> Timer:
    """The non-private rival: a fast generator that can be predicted, and floating point."""
    generator = np.random.default_rng()
    p = -np.expm1(-1 / scale)
    return clock(lambda: generator.geometric(p, SIZE) - generator.geometric(p, SIZE))


@dataclass
class Counting:
    """The system's bytes, with a count of them."""

    used: int = field(default=0)

    @property
    def private(self) -> bool:
        """Its bytes are those of the operating system."""
        return True

    def bytes(self, count: int) -> bytes:
        """Fresh bytes, counted."""
        self.used += count
        return os.urandom(count)


def floor_figures() -> list[Figure]:
    """What no exact sampler can go below: its random bytes, and writing its results once."""
    memory = np.empty(SIZE, dtype=np.int64)
    timers: dict[str, Timer] = {"write": clock(lambda: memory.fill(7))}
    used = {}
    for law, draw in LAWS.items():
        source = Counting()
        draw(10, SIZE, source)
        used[law] = source.used
        timers[law] = clock(partial(draw, 10, SIZE))
        timers[f"{law} bytes"] = clock(partial(system_bytes, source.used))
    seconds = alternate("floor, scale 10", timers, rounds=ROUNDS)
    found = [Figure(name="noise/floor/write_8MB/seconds", values=seconds["write"], unit="s")]
    for law in LAWS:
        entropy = seconds[f"{law} bytes"]
        floor = [a + b for a, b in zip(entropy, seconds["write"], strict=True)]
        remark = f"os.urandom of {used[law] / 1e6:.2f} MB, plus the write"
        name = f"noise/{law}/scale=10/floor"
        found += [
            Figure(name=f"{name}_seconds", values=floor, unit="s", remark=remark),
            Figure(name=name, values=ratios(seconds[law], floor), unit="x"),
        ]
    return found


def system_bytes(count: int) -> None:
    """Ask the operating system for bytes in pieces that stay in cache."""
    for start in range(0, count, PIECE):
        os.urandom(min(PIECE, count - start))
