"""Releases of vectors against OpenDP's, which are exact too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from noise_release import gaussian, laplace, real, whole
from peers import Missing, Peer
from timing import Figure, Timer, alternate, clock_on, ratios, scaled

from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace
from discreet.mechanisms.additive import Additive

PEER_SIZE = 100_000
ROUNDS = 5
LEAST_SPEEDUP = 200


def laws_in_use() -> dict[str, tuple[Additive, Callable[[int], Any]]]:
    """Mechanisms of scale 10 with the vectors they release, named as OpenDP's are."""
    return {
        "discrete_laplace": (DiscreteLaplace(epsilon=0.1, sensitivity=1), whole),
        "discrete_gaussian": (DiscreteGaussian(rho=0.005, sensitivity=1), whole),
        "float_laplace": (laplace(), real),
        "float_gaussian": (gaussian(), real),
    }


def opendp_figures(size: int) -> list[Figure]:
    """Releases of vectors at scale 10: how many times as fast as OpenDP."""
    found = []
    try:
        with Peer("opendp", "peer_opendp_noise.py") as peer:
            for law in laws_in_use():
                found += against_opendp(peer, law, size)
    except Missing as reason:
        measured = {figure.name for figure in found}
        names = [f"noise/opendp/{law}/speedup" for law in laws_in_use()]
        remark = f"MISSING opendp: {reason}"
        found += [
            Figure(name=name, values=(), unit="x", at_least=LEAST_SPEEDUP, remark=remark)
            for name in names
            if name not in measured
        ]
    return found


def against_opendp(peer: Peer, law: str, size: int) -> list[Figure]:
    """One law: OpenDP on a tenth of the vector, its time taken ten times."""
    mechanism, fresh = laws_in_use()[law]
    name = f"noise/opendp/{law}"
    ask = partial(peer.seconds, law=law, scale=10.0)
    ours = clock_on(partial(fresh, size), mechanism.release)
    ask(size=1000)
    ours()
    timers: dict[str, Timer] = {"opendp": partial(ask, size=PEER_SIZE), "discreet": ours}
    seconds = alternate(f"opendp, {law}", timers, rounds=ROUNDS, warm=0)
    factor = size / PEER_SIZE
    remark = f"opendp {peer.versions['opendp']} on {PEER_SIZE:g} draws, times {factor:g}"
    theirs = scaled(seconds["opendp"], factor)
    return [
        Figure(name=f"{name}/seconds", values=theirs, unit="s", remark=remark),
        Figure(name=f"{name}/discreet_seconds", values=seconds["discreet"], unit="s"),
        Figure(
            name=f"{name}/speedup",
            values=ratios(theirs, seconds["discreet"]),
            unit="x",
            at_least=LEAST_SPEEDUP,
        ),
    ]
