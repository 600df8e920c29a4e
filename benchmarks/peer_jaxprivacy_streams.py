"""jax-privacy's factorisations of prefix sums; started by the suite ``streams``.

A request has the ``kind`` (dense, banded, buffered or root), the ``horizon``, the ``bands`` or
buffers, the ``objective`` (mean or largest) and the path to write the ``error`` to: the root of the
mean or worst squared error of a prefix sum, at noise of one deviation per unit of the largest
column. What is timed is finding the factorisation, after one call that compiles it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import jax_privacy.matrix_factorization as mf  # type: ignore[import-not-found,unused-ignore]
from peers import serve


def found(request: dict[str, Any]) -> float:
    """The error of the factorisation that the peer finds."""
    n, reduction = request["horizon"], jnp.mean if request["objective"] == "mean" else jnp.max
    if request["kind"] == "dense":
        strategy = mf.dense.optimize(n, reduction_fn=reduction)
        errors = mf.dense.per_query_error(strategy_matrix=strategy)
        norm = jnp.max(jnp.sum(strategy**2, axis=0))
        return float(jnp.sqrt(reduction(errors) * norm))
    if request["kind"] == "banded":
        coefficients = mf.toeplitz.optimize_banded_toeplitz(
            n, request["bands"], reduction_fn=reduction
        )
    elif request["kind"] == "buffered":
        few, error = request["bands"], "mean" if request["objective"] == "mean" else "max"
        strategy = mf.buffered_toeplitz.optimize(n=n, error=error, min_buffers=few, max_buffers=few)
        coefficients = strategy.toeplitz_coefs(n)
    else:
        coefficients = mf.toeplitz.optimal_max_error_strategy_coefs(n)
    errors = mf.toeplitz.per_query_error(strategy_coef=coefficients, n=n)
    norm = mf.toeplitz.sensitivity_squared(coefficients, n=n)
    return float(jnp.sqrt(reduction(errors) * norm))


def seconds(request: dict[str, Any]) -> float:
    """Find it once and write its error."""
    start = time.perf_counter()
    error = found(request)
    took = time.perf_counter() - start
    Path(request["to"]).write_text(json.dumps({"error": error}))
    return took


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 -- as the peer spells it
    serve(seconds, "jax-privacy", "jax")
