"""What dp-accounting, OpenDP and autodp charge; started by the suite ``accounting``.

A request names the ``peer`` and the ``case``; the answer, in place of a time, is the price: rho for
cases that begin with ``rho``, else epsilon at the case's delta. A case that a peer has no mechanism
for is an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opendp.prelude as opendp  # type: ignore[import-not-found,unused-ignore]
from autodp import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    mechanism_zoo,
    transformer_zoo,
)
from dp_accounting.pld import (  # type: ignore[import-not-found,unused-ignore]
    common,
)
from dp_accounting.pld import (
    privacy_loss_distribution as pld,
)
from peers import serve

opendp.enable_features("contrib")

SGD_DELTA = 1e-5
DELTA = 1e-6


def _google(one: Any, times: int = 1, delta: float = DELTA) -> float:
    return float((one.self_compose(times) if times > 1 else one).get_epsilon_for_delta(delta))


def _autodp(one: Any, times: int = 1, delta: float = DELTA) -> float:
    many = transformer_zoo.Composition()([one], [times]) if times > 1 else one
    return float(many.get_approxDP(delta))


def _sampled() -> Any:
    sample = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
    inner = mechanism_zoo.ExactGaussianMechanism(sigma=1.0)
    inner.neighboring = "add_remove"
    return sample(inner, 0.01, improved_bound_flag=True)


def _converted(rho: float) -> float:
    """OpenDP's conversion of rho to epsilon at delta."""
    space = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    noise = opendp.m.make_gaussian(*space, scale=(1 / (2 * rho)) ** 0.5)
    profile = opendp.c.make_zCDP_to_approxDP(noise).map(1)
    return float(profile.epsilon(delta=DELTA))


PRICES: dict[tuple[str, str], Callable[[], float]] = {
    ("dp-accounting", "gaussian"): lambda: _google(pld.from_gaussian_mechanism(1.0)),
    ("dp-accounting", "laplace"): lambda: _google(pld.from_laplace_mechanism(1.0)),
    ("dp-accounting", "discrete_gaussian"): lambda: _google(
        pld.from_discrete_gaussian_mechanism(1.0)
    ),
    ("dp-accounting", "discrete_laplace"): lambda: _google(
        pld.from_discrete_laplace_mechanism(1.0)
    ),
    ("dp-accounting", "laplace_1000"): lambda: _google(pld.from_laplace_mechanism(10.0), 1000),
    ("dp-accounting", "discrete_gaussian_1000"): lambda: _google(
        pld.from_discrete_gaussian_mechanism(20.0), 1000
    ),
    ("dp-accounting", "approximate_100"): lambda: _google(
        pld.from_privacy_parameters(common.DifferentialPrivacyParameters(0.1, 1e-9)), 100
    ),
    ("dp-accounting", "sgd"): lambda: _google(
        pld.from_gaussian_mechanism(1.0, sampling_prob=0.01), 10_000, SGD_DELTA
    ),
    ("opendp", "rho_laplace"): lambda: float(
        opendp.c.make_pureDP_to_zCDP(
            opendp.m.make_laplace(
                opendp.atom_domain(T=int), opendp.absolute_distance(T=int), scale=1.0
            )
        ).map(1)
    ),
    ("opendp", "discrete_gaussian"): lambda: _converted(0.5),
    ("opendp", "discrete_gaussian_1000"): lambda: _converted(1000 / 800),
    ("autodp", "gaussian"): lambda: _autodp(mechanism_zoo.ExactGaussianMechanism(sigma=1.0)),
    ("autodp", "laplace"): lambda: _autodp(mechanism_zoo.LaplaceMechanism(b=1.0)),
    ("autodp", "laplace_1000"): lambda: _autodp(mechanism_zoo.LaplaceMechanism(b=10.0), 1000),
    ("autodp", "sgd"): lambda: _autodp(_sampled(), 10_000, SGD_DELTA),
}


def price(request: dict[str, Any]) -> float:
    """The price, or an error where the peer has none."""
    return PRICES[request["peer"], request["case"]]()


if __name__ == "__main__":
    serve(price, "dp-accounting", "opendp", "autodp")
