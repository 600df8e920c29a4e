"""What dp-accounting, OpenDP and autodp charge; started by the suite ``accounting_prices``.

A request names the ``peer``, the ``case`` and the ``notion``; the answer, in place of a time, is
the price: pure epsilon, rho, the Rényi divergence of order 8, mu, or epsilon at the case's delta.
What a peer has no way to say is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import opendp.prelude as opendp  # type: ignore[import-not-found,unused-ignore]
from autodp import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    mechanism_zoo,
    transformer_zoo,
)
from dp_accounting import (  # type: ignore[import-not-found,unused-ignore]
    dp_event,
    privacy_accountant,
)
from dp_accounting.pld import (  # type: ignore[import-not-found,unused-ignore]
    common,
)
from dp_accounting.pld import (
    privacy_loss_distribution as pld,
)
from dp_accounting.rdp import (  # type: ignore[import-not-found,unused-ignore]
    rdp_privacy_accountant,
)
from peers import serve
from scipy import stats

opendp.enable_features("contrib")

DELTAS = {"sgd": 1e-5}
DELTA = 1e-6
ORDER = 8.0
LEVELS = [k / 1000 for k in range(1, 1000)]
MANY = 100
KEPT = math.e / (math.e + MANY - 1)
"""How often randomized response at an epsilon of one tells the truth."""

Price = Callable[[], float]
Losses = dict[str, Callable[[], Any]]


def _given(epsilon: float, delta: float = 0.0) -> Any:
    return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta))


LOSSES: Losses = {
    "gaussian": lambda: pld.from_gaussian_mechanism(1.0),
    "laplace": lambda: pld.from_laplace_mechanism(1.0),
    "discrete_laplace": lambda: pld.from_discrete_laplace_mechanism(0.5, sensitivity=2),
    "discrete_gaussian": lambda: pld.from_discrete_gaussian_mechanism(1.0),
    "pure_5": lambda: _given(5.0),
    "response_100": lambda: pld.from_randomized_response(MANY * (1 - KEPT) / (MANY - 1), MANY),
    "laplace_1000": lambda: pld.from_laplace_mechanism(10.0).self_compose(1000),
    "discrete_gaussian_1000": lambda: pld.from_discrete_gaussian_mechanism(20.0).self_compose(1000),
    "approximate_100": lambda: _given(0.1, 1e-9).self_compose(100),
    "sgd": lambda: pld.from_gaussian_mechanism(1.0, sampling_prob=0.01).self_compose(10_000),
    "mixed": lambda: (
        pld.from_gaussian_mechanism(10.0)
        .self_compose(50)
        .compose(pld.from_laplace_mechanism(10.0).self_compose(100))
        .compose(_given(0.05).self_compose(100))
    ),
}
"""dp-accounting's privacy loss distributions."""


def _google(case: str, delta: float) -> float:
    return float(LOSSES[case]().get_epsilon_for_delta(delta))


def _many(event: Any, times: int) -> Any:
    return dp_event.SelfComposedDpEvent(event, times)


ADDED = privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACED = privacy_accountant.NeighboringRelation.REPLACE_ONE
EVENTS: dict[str, tuple[Any, Any]] = {
    "gaussian": (dp_event.GaussianDpEvent(1.0), ADDED),
    "laplace": (dp_event.LaplaceDpEvent(1.0), ADDED),
    "discrete_gaussian": (dp_event.ZCDpEvent(0.5), ADDED),
    "response_100": (
        dp_event.RandomizedResponseDpEvent(MANY * (1 - KEPT) / (MANY - 1), MANY),
        REPLACED,
    ),
    "laplace_1000": (_many(dp_event.LaplaceDpEvent(10.0), 1000), ADDED),
    "discrete_gaussian_1000": (_many(dp_event.ZCDpEvent(1 / 800), 1000), ADDED),
    "sgd": (
        _many(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 10_000),
        ADDED,
    ),
}
"""dp-accounting's events, for its Rényi accountant."""


def _google_order(case: str) -> float:
    event, neighbours = EVENTS[case]
    accountant = rdp_privacy_accountant.RdpAccountant([ORDER], neighbours)
    accountant.compose(event)
    return float(accountant.rdp[0])


def _composed(*parts: tuple[Any, int]) -> Any:
    return transformer_zoo.Composition()([one for one, _ in parts], [times for _, times in parts])


def _sampled(inner: Any, rate: float, *, improved: bool) -> Any:
    sample = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
    inner.neighboring = "add_remove"
    return sample(inner, rate, improved_bound_flag=improved)


MECHANISMS: Losses = {
    "gaussian": lambda: mechanism_zoo.ExactGaussianMechanism(sigma=1.0),
    "laplace": lambda: mechanism_zoo.LaplaceMechanism(b=1.0),
    "discrete_gaussian": lambda: mechanism_zoo.DiscreteGaussianMechanism(sigma=1.0),
    "sampled_discrete_gaussian": lambda: _sampled(
        mechanism_zoo.DiscreteGaussianMechanism(sigma=1.0), 0.1, improved=False
    ),
    "pure_5": lambda: mechanism_zoo.PureDP_Mechanism(eps=5.0),
    "exponential": lambda: mechanism_zoo.ExponentialMechanism(eps=1.0),
    "laplace_1000": lambda: _composed((mechanism_zoo.LaplaceMechanism(b=10.0), 1000)),
    "discrete_gaussian_1000": lambda: _composed(
        (mechanism_zoo.DiscreteGaussianMechanism(sigma=20.0), 1000)
    ),
    "sgd": lambda: _composed(
        (_sampled(mechanism_zoo.ExactGaussianMechanism(sigma=1.0), 0.01, improved=True), 10_000)
    ),
    "mixed": lambda: _composed(
        (mechanism_zoo.ExactGaussianMechanism(sigma=10.0), 50),
        (mechanism_zoo.LaplaceMechanism(b=10.0), 100),
        (mechanism_zoo.PureDP_Mechanism(eps=0.05), 100),
    ),
}
"""autodp's mechanisms."""
STATED = {case: MECHANISMS[case] for case in ("discrete_gaussian", "exponential")}
"""Those that state their rho."""
CURVES = {"gaussian": MECHANISMS["gaussian"]}
"""Those with a trade-off curve that is not converted from orders."""


def _mu(mechanism: Any) -> float:
    """The mu of autodp's trade-off curve, at a thousand levels."""
    normal = stats.norm
    return max(float(normal.isf(a) - normal.ppf(mechanism.get_fDP(a))) for a in LEVELS)


REALS = opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)
WHOLES = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)


def _noisy_max(measure: Any) -> Any:
    scores = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)
    return opendp.m.make_noisy_max(*scores, measure, scale=2.0)


def _response() -> Any:
    return opendp.m.make_randomized_response(list(range(MANY)), KEPT)


PURE: Losses = {
    "laplace": lambda: opendp.m.make_laplace(*REALS, scale=1.0).map(1.0),
    "discrete_laplace": lambda: opendp.m.make_laplace(*WHOLES, scale=2.0).map(2),
    "pure_5": lambda: opendp.m.make_laplace(*REALS, scale=0.2).map(1.0),
    "response_100": lambda: _response().map(1),
    "exponential": lambda: _noisy_max(opendp.max_divergence()).map(1),
    "laplace_1000": lambda: _opendp_many(opendp.m.make_laplace(*REALS, scale=10.0), 1000, 1.0),
}
"""What OpenDP's measurements map to, purely."""


def _opendp_many(one: Any, times: int, moved: float) -> float:
    return float(opendp.c.make_composition([one] * times).map(moved))


def _concentrated(noise: Any) -> Any:
    return opendp.c.make_pureDP_to_zCDP(noise)


def _opendp_mixed() -> float:
    gaussian = opendp.m.make_gaussian(*REALS, scale=10.0)
    laplace = _concentrated(opendp.m.make_laplace(*REALS, scale=10.0))
    small = _concentrated(opendp.m.make_laplace(*REALS, scale=20.0))
    return float(
        opendp.c.make_composition([gaussian] * 50 + [laplace] * 100 + [small] * 100).map(1.0)
    )


RHO: Losses = {
    "gaussian": lambda: opendp.m.make_gaussian(*REALS, scale=1.0).map(1.0),
    "laplace": lambda: _concentrated(opendp.m.make_laplace(*REALS, scale=1.0)).map(1.0),
    "discrete_laplace": lambda: _concentrated(opendp.m.make_laplace(*WHOLES, scale=2.0)).map(2),
    "discrete_gaussian": lambda: opendp.m.make_gaussian(*WHOLES, scale=1.0).map(1),
    "pure_5": lambda: _concentrated(opendp.m.make_laplace(*REALS, scale=0.2)).map(1.0),
    "response_100": lambda: _concentrated(_response()).map(1),
    "exponential": lambda: _noisy_max(opendp.zero_concentrated_divergence()).map(1),
    "laplace_1000": lambda: _opendp_many(
        _concentrated(opendp.m.make_laplace(*REALS, scale=10.0)), 1000, 1.0
    ),
    "discrete_gaussian_1000": lambda: _opendp_many(
        opendp.m.make_gaussian(*WHOLES, scale=20.0), 1000, 1
    ),
    "mixed": _opendp_mixed,
}
"""What OpenDP's measurements map to, in rho."""


def _converted(rho: float) -> float:
    """OpenDP's conversion of rho to epsilon at delta."""
    noise = opendp.m.make_gaussian(*WHOLES, scale=(1 / (2 * rho)) ** 0.5)
    profile = opendp.c.make_zCDP_to_approxDP(noise).map(1)
    return float(profile.epsilon(delta=DELTA))


def _opendp_epsilon(case: str) -> float:
    """The better of the pure price and the conversion."""
    found = [float(PURE[case]())] if case in PURE else []
    return min([*found, _converted(float(RHO[case]()))])


def price(request: dict[str, Any]) -> float:
    """The price, or an error where the peer has none."""
    case, asked = request["case"], (request["peer"], request["notion"])
    delta = DELTAS.get(case, DELTA)
    answers: dict[tuple[str, str], Price] = {
        ("dp-accounting", "pure"): lambda: _google(case, 0.0),
        ("dp-accounting", "renyi"): lambda: _google_order(case),
        ("dp-accounting", "epsilon"): lambda: _google(case, delta),
        ("opendp", "pure"): lambda: float(PURE[case]()),
        ("opendp", "rho"): lambda: float(RHO[case]()),
        ("opendp", "epsilon"): lambda: _opendp_epsilon(case),
        ("autodp", "pure"): lambda: float(MECHANISMS[case]().get_pureDP()),
        ("autodp", "rho"): lambda: float(STATED[case]().params["rho"]),
        ("autodp", "renyi"): lambda: float(MECHANISMS[case]().get_RDP(ORDER)),
        ("autodp", "mu"): lambda: _mu(CURVES[case]()),
        ("autodp", "epsilon"): lambda: float(MECHANISMS[case]().get_eps(delta)),
    }
    return answers[asked]()


if __name__ == "__main__":
    serve(price, "dp-accounting", "opendp", "autodp")
