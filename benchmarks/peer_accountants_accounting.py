"""dp-accounting and prv-accountant pricing lists of events; started by the suite ``accounting``.

A request has ``parts`` (lists of kind, parameters and times), ``delta``, and ``interval`` for
dp-accounting or none for prv-accountant. With ``most`` an epsilon above it is an error, so that the
suite can look for the coarsest interval that is tight enough.
"""

from __future__ import annotations

from typing import Any

import prv_accountant as prv  # type: ignore[import-not-found,unused-ignore]
from dp_accounting.pld import common  # type: ignore[import-not-found,unused-ignore]
from dp_accounting.pld import (
    privacy_loss_distribution as pld,
)
from peers import serve
from timing import clock


def distribution(kind: str, values: list[float], interval: float) -> Any:
    """One event as dp-accounting's privacy loss distribution."""
    options = {"value_discretization_interval": interval}
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(values[0], **options)
    if kind == "sampled_gaussian":
        return pld.from_gaussian_mechanism(values[0], sampling_prob=values[1], **options)
    if kind == "laplace":
        return pld.from_laplace_mechanism(1 / values[0], **options)
    spend = common.DifferentialPrivacyParameters(values[0], 0)
    return pld.from_privacy_parameters(spend, **options)


def google(parts: list[list[Any]], delta: float, interval: float) -> float:
    """Epsilon by dp-accounting."""
    total = None
    for kind, *values, times in parts:
        one = distribution(kind, values, interval)
        one = one.self_compose(times) if times > 1 else one
        total = one if total is None else total.compose(one)
    assert total is not None
    return float(total.get_epsilon_for_delta(delta))


def microsoft(parts: list[list[Any]], delta: float, error: float) -> float:
    """The upper epsilon of prv-accountant."""
    makers = {
        "gaussian": prv.GaussianMechanism,
        "laplace": lambda epsilon: prv.LaplaceMechanism(mu=epsilon),
        "pure": prv.PureDPMechanism,
        "sampled_gaussian": lambda z, rate: prv.PoissonSubsampledGaussianMechanism(
            sampling_probability=rate, noise_multiplier=z
        ),
    }
    mechanisms = [makers[kind](*values) for kind, *values, _ in parts]
    times = [part[-1] for part in parts]
    accountant = prv.PRVAccountant(
        prvs=mechanisms,
        max_self_compositions=times,
        eps_error=error,
        delta_error=delta / 1000,
    )
    return float(accountant.compute_epsilon(delta, times)[2])


def seconds(request: dict[str, Any]) -> float:
    """Time one price."""
    parts, delta = request["parts"], request["delta"]
    found: list[float] = []
    if "interval" in request:
        took = clock(lambda: found.append(google(parts, delta, request["interval"])))()
    else:
        took = clock(lambda: found.append(microsoft(parts, delta, request["error"])))()
    if found[-1] > request.get("most", float("inf")):
        message = f"epsilon {found[-1]} is not tight"
        raise ValueError(message)
    return took


if __name__ == "__main__":
    serve(seconds, "dp-accounting", "prv-accountant", "numpy", "scipy")
