"""Streams: events per second, many keys at once, memory, and factorisations beside a peer's.

OpenDP 0.16 has no continual counters in Python (its trees are for data at rest), so jax-privacy is
the only peer: the same horizons and objectives, errors of what was found, and the time to find it.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from pathlib import Path

import numpy as np
import peers
from timing import Figure, alternate, clock, clock_on

import discreet as dp
from discreet import streams
from discreet.streams.factorisation.banded import banded_coefficients
from discreet.streams.factorisation.buffer_search import buffered_coefficients
from discreet.streams.factorisation.optimum import optimum

EVENTS = 10_000_000
KEYS = 100_000
DAY = 86_400
NORMAL = dp.ZCDP(rho=0.5)
CASES = (
    ("dense", 64, 0, "largest"),
    ("dense", 64, 0, "mean"),
    ("banded", 1024, 16, "largest"),
    ("banded", 1024, 256, "mean"),
    ("buffered", 1024, 4, "mean"),
    ("buffered", 16384, 3, "largest"),
    ("root", 4096, 0, "largest"),
)


_PARTS = {"banded": "bands", "buffered": "buffers"}


def figures() -> list[Figure]:
    """All figures of the suite."""
    return [*speed(), *keyed(), *memory(), *known_factor(), *beside_peer()]


def counter(kind: type, horizon: int, keys: int = 1) -> object:
    """A counter for one event."""
    return kind(horizon=horizon, keys=keys, spend=NORMAL, unit=streams.EventLevel())


def speed() -> list[Figure]:
    """Ten million events: as ticks of their own, and as times that are counted by the second."""
    own = np.ones((EVENTS, 1), dtype=np.int64)
    times = np.random.default_rng(1).integers(0, DAY, EVENTS)

    def by_second(live: streams.Counter) -> object:
        return live.run(np.bincount(times, minlength=DAY).reshape((-1, 1)))

    kinds = {"tree": streams.BinaryTree, "reduced_tree": streams.ReducedTree}
    timers = {
        f"{name}/own_ticks": clock_on(
            lambda kind=kind: counter(kind, EVENTS).open(), lambda live: live.run(own)
        )
        for name, kind in kinds.items()
    }
    kinds["square_root"] = streams.ToeplitzCounter
    timers |= {
        f"{name}/by_second": clock_on(lambda kind=kind: counter(kind, DAY).open(), by_second)
        for name, kind in kinds.items()
    }
    found = alternate("events", timers, rounds=3)
    return [
        Figure(
            name=f"streams/{name}/events_per_second",
            values=[EVENTS / each for each in seconds],
            unit="1/s",
            at_least=1e6,
            remark="10 million events, one core",
        )
        for name, seconds in found.items()
    ]


def keyed() -> list[Figure]:
    """One tick of a hundred thousand streams."""
    increments = np.random.default_rng(1).integers(0, 5, KEYS)
    timers, held = {}, []
    for name, kind in {"tree": streams.BinaryTree, "reduced_tree": streams.ReducedTree}.items():
        live = counter(kind, 1 << 20, KEYS).open()
        timers[name] = clock(lambda live=live: live.step(increments), calls=20)
        held.append((name, live.memory() / KEYS))
    found = alternate("keys", timers, rounds=5)
    ticks = [
        Figure(
            name=f"streams/{name}/100000_keys_tick",
            values=[1e3 * each for each in seconds],
            unit="ms",
        )
        for name, seconds in found.items()
    ]
    return ticks + [
        Figure(name=f"streams/{name}/bytes_per_key", values=[value], unit="B", remark="2**20 ticks")
        for name, value in held
    ]


def memory() -> list[Figure]:
    """Bytes of a tree counter, measured after all of its arrays have been used."""
    found = []
    for power in (10, 20, 30):
        live = counter(streams.BinaryTree, 1 << power).open()
        live.run(np.ones((1000, 1), dtype=np.int64))
        found.append(
            Figure(
                name=f"streams/tree/bytes/2**{power}",
                values=[live.memory()],
                unit="B",
                at_most=8 * (2 * power + 1),
            )
        )
    return found


def known_factor() -> list[Figure]:
    """How much the square root beats the tree by, stated and measured."""
    horizon, keys = 1 << 14, 200
    tree = streams.BinaryTree(
        horizon=horizon, levels=15, keys=keys, spend=NORMAL, unit=streams.EventLevel()
    )
    root = counter(streams.ToeplitzCounter, horizon, keys)
    nothing = np.zeros((horizon, keys), dtype=np.int64)
    worst = [
        math.sqrt(np.mean(each.open().run(nothing)[at] ** 2.0))
        for each, at in ((tree, horizon - 2), (root, horizon - 1))
    ]
    stated = math.sqrt(tree.variance(horizon - 1) / root.variance(horizon))
    return [
        Figure(
            name="streams/tree_over_square_root/stated",
            values=[stated],
            unit="x",
            at_least=3.4,
            remark="14.4914 / 4.1552 = 3.488 in the catalogue, at 16384 ticks",
        ),
        Figure(
            name="streams/tree_over_square_root/measured", values=[worst[0] / worst[1]], unit="x"
        ),
    ]


def ours(kind: str, horizon: int, bands: int, objective: str) -> tuple[float, float]:
    """The error of our factorisation, in whole numbers as it is used, and the seconds it took."""
    wanted = streams.ErrorObjective.MEAN if objective == "mean" else streams.ErrorObjective.LARGEST
    optimum.cache_clear()
    banded_coefficients.cache_clear()
    buffered_coefficients.cache_clear()
    start = time.perf_counter()
    given = {"horizon": horizon, "spend": NORMAL, "unit": streams.EventLevel()}
    if kind == "dense":
        made = streams.OptimalCounter(**given, objective=wanted)
        squares = np.array([made.variance(t) for t in range(1, horizon + 1)])
    else:
        made = (
            streams.BufferedToeplitzCounter(**given, buffers=bands, objective=wanted)
            if kind == "buffered"
            else streams.ToeplitzCounter(**given, bands=bands or None, objective=wanted)
        )
        squares = np.cumsum(made.errors**2) * made.noise.distribution.std**2
    took = time.perf_counter() - start
    return float(np.sqrt(squares.mean() if objective == "mean" else squares.max())), took


def beside_peer() -> list[Figure]:
    """Errors over the peer's, which may be at most a thousandth above it, and times over it."""
    found, reason = [], ""
    answers: list[tuple[float, float]] = []
    try:
        with (
            peers.Peer("jaxprivacy", "peer_jaxprivacy_streams.py") as running,
            tempfile.TemporaryDirectory() as folder,
        ):
            to = Path(folder) / "error.json"
            for kind, horizon, bands, objective in CASES:
                asked = {"kind": kind, "horizon": horizon, "bands": bands, "objective": objective}
                running.seconds(**asked, to=str(to))  # compiles
                took = running.seconds(**asked, to=str(to))
                answers.append((json.loads(to.read_text())["error"], took))
    except peers.Missing as missing:
        reason = f"MISSING jaxprivacy: {missing}"
    for place, case in enumerate(CASES):
        error, took = ours(*case)
        theirs = answers[place] if place < len(answers) else None
        few = f"/{case[2]}_{_PARTS[case[0]]}" if case[2] else ""
        label = f"streams/{case[0]}/{case[1]}{few}/{case[3]}"
        remark = reason if theirs is None else f"{error:.6f} against {theirs[0]:.6f}"
        found += [
            Figure(
                name=f"{label}/error_over_jaxprivacy",
                values=[] if theirs is None else [error / theirs[0]],
                unit="x",
                at_most=1.001,
                remark=remark,
            ),
            Figure(
                name=f"{label}/time_over_jaxprivacy",
                values=[] if theirs is None else [took / theirs[1]],
                unit="x",
                at_most=1,
                remark=f"{took:.3f} s of ours",
            ),
        ]
    return found
