"""OpenDP's vector noise, timed inside its own environment; started by the suite ``noise``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

RULES = {
    "discrete_laplace": ("make_laplace", "l1_distance", "i64"),
    "discrete_gaussian": ("make_gaussian", "l2_distance", "i64"),
    "float_laplace": ("make_laplace", "l1_distance", "f64"),
    "float_gaussian": ("make_gaussian", "l2_distance", "f64"),
}


@lru_cache
def measurement(law: str, scale: float) -> Any:
    """The measurement on vectors, built once, as a user would."""
    make, distance, kind = RULES[law]
    elements = dp.atom_domain(T=kind, nan=False) if kind == "f64" else dp.atom_domain(T=kind)
    space = dp.vector_domain(elements), getattr(dp, distance)(T=kind)
    return getattr(dp.m, make)(*space, scale=scale)


def seconds(request: dict[str, Any]) -> float:
    """Time one release of a fresh vector."""
    mechanism = measurement(request["law"], request["scale"])
    values = np.random.default_rng().integers(0, 1000, request["size"])
    vector = values if RULES[request["law"]][2] == "i64" else values / 8
    return clock(lambda: mechanism(vector))()


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve(seconds, "opendp", "numpy")
