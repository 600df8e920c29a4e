"""Record what the peers say about random events: ``python accounting_battery.py > battery.json``.

Run in an environment with the peers of ``peers.toml`` (``.bench/accountants/bin/python`` once
``make bench only=accounting`` has built it); the results are in ``tests/accounting/battery.json``,
which a test prices again. For each expression: epsilon at delta by dp-accounting, optimistic and
pessimistic, and by prv-accountant, lower and upper; ``null`` where a peer has no such mechanism,
or fails.
"""

from __future__ import annotations

import json
import math
import random
import sys
import warnings
from importlib.metadata import version
from typing import Any

import prv_accountant as prv  # type: ignore[import-not-found,unused-ignore]
from dp_accounting.pld import (  # type: ignore[import-not-found,unused-ignore]
    common,
)
from dp_accounting.pld import (
    privacy_loss_distribution as pld,
)

SIZE = 240
SEED = 20240229
DISCRETE_SIZE = 40
DISCRETE_SEED = 20261117


def expression(draw: random.Random, kinds: dict[str, Any]) -> dict[str, Any]:
    """A list of [kind, parameters, times], and a delta."""
    parts = []
    for _ in range(draw.choice((1, 1, 2, 3, 5))):
        kind = draw.choice(list(kinds))
        most = 2000 if kind.startswith("sampled") else 200
        times = draw.choice((1, 1, 2, round(math.exp(draw.uniform(0, math.log(most))))))
        parts.append([kind, *kinds[kind](draw, times), times])
    return {"delta": float(f"{10 ** draw.uniform(-10, -2):.3g}"), "parts": parts}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _loss(draw: random.Random, times: int) -> float:
    return _short(math.exp(draw.uniform(math.log(0.01), math.log(2))) / times**0.4)


def _multiplier(draw: random.Random, times: int) -> float:
    return _short(math.exp(draw.uniform(math.log(0.6), math.log(20))) * times**0.4)


def _rate(draw: random.Random) -> float:
    return _short(math.exp(draw.uniform(math.log(0.001), math.log(0.5))))


KINDS = {
    "gaussian": lambda draw, times: [_multiplier(draw, times)],
    "laplace": lambda draw, times: [_loss(draw, times)],
    "discrete": lambda draw, times: [_loss(draw, times)],
    "approximate": lambda draw, times: [_loss(draw, times), _short(1e-13 / times)],
    "sampled_gaussian": lambda draw, times: [_short(draw.uniform(0.7, 6)), _rate(draw)],
    "sampled_laplace": lambda draw, times: [_short(draw.uniform(0.1, 3)), _rate(draw)],
}

DISCRETE = {
    "discrete_gaussian": lambda draw, times: [min(_multiplier(draw, times), 60.0)],
    "sampled_discrete_gaussian": lambda draw, times: [_short(draw.uniform(0.7, 6)), _rate(draw)],
    "gaussian": KINDS["gaussian"],
    "discrete": KINDS["discrete"],
}


def expressions() -> list[dict[str, Any]]:
    """All of them; what holds a discrete Gaussian comes last."""
    draw = random.Random(SEED)
    cases = [expression(draw, KINDS) for _ in range(SIZE)]
    draw = random.Random(DISCRETE_SEED)
    discrete: list[dict[str, Any]] = []
    while len(discrete) < DISCRETE_SIZE:
        case = expression(draw, DISCRETE)
        if any("discrete_gaussian" in part[0] for part in case["parts"]):
            discrete.append(case)
    return cases + discrete


def google(case: dict[str, Any], *, pessimistic: bool, interval: float) -> float:
    """Epsilon by dp-accounting's privacy loss distributions."""
    options = {"pessimistic_estimate": pessimistic, "value_discretization_interval": interval}
    dots = {**options, "use_connect_dots": pessimistic}
    total = None
    for kind, *values, times in case["parts"]:
        if kind == "gaussian":
            one = pld.from_gaussian_mechanism(values[0], **dots)
        elif kind == "laplace":
            one = pld.from_laplace_mechanism(1 / values[0], **dots)
        elif kind == "discrete":
            one = pld.from_discrete_laplace_mechanism(values[0], **dots)
        elif kind == "approximate":
            spend = common.DifferentialPrivacyParameters(*values)
            one = pld.from_privacy_parameters(spend, value_discretization_interval=interval)
        elif kind == "discrete_gaussian":
            one = pld.from_discrete_gaussian_mechanism(values[0], **dots)
        elif kind == "sampled_discrete_gaussian":
            one = pld.from_discrete_gaussian_mechanism(values[0], sampling_prob=values[1], **dots)
        elif kind == "sampled_gaussian":
            one = pld.from_gaussian_mechanism(values[0], sampling_prob=values[1], **dots)
        else:
            one = pld.from_laplace_mechanism(1 / values[0], sampling_prob=values[1], **dots)
        one = one.self_compose(times) if times > 1 else one
        total = one if total is None else total.compose(one)
    assert total is not None
    return float(total.get_epsilon_for_delta(case["delta"]))


def microsoft(case: dict[str, Any]) -> tuple[float, float] | None:
    """Lower and upper epsilon by prv-accountant."""
    makers = {
        "gaussian": prv.GaussianMechanism,
        "laplace": lambda epsilon: prv.LaplaceMechanism(mu=epsilon),
        "sampled_gaussian": lambda z, rate: prv.PoissonSubsampledGaussianMechanism(
            sampling_probability=rate, noise_multiplier=z
        ),
    }
    parts = case["parts"]
    if any(kind not in makers for kind, *_ in parts):
        return None
    mechanisms = [makers[kind](*values) for kind, *values, _ in parts]
    times = [part[-1] for part in parts]
    accountant = prv.PRVAccountant(
        prvs=mechanisms,
        max_self_compositions=times,
        eps_error=0.005,
        delta_error=case["delta"] / 1000,
    )
    lower, _, upper = accountant.compute_epsilon(case["delta"], times)
    return max(float(lower), 0.0), float(upper)


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.15g}")


def main() -> None:
    """Write all cases to standard output."""
    warnings.simplefilter("ignore")
    cases = []
    for case in expressions():
        fine = sum(part[-1] for part in case["parts"]) < 200
        interval = 2e-5 if fine else 1e-4
        case["interval"] = interval
        for name, pessimistic in (("google_low", False), ("google_high", True)):
            if not pessimistic and any(part[0] == "approximate" for part in case["parts"]):
                case[name] = None  # always rounded up there
                continue
            try:
                case[name] = _rounded(google(case, pessimistic=pessimistic, interval=interval))
            except Exception as failure:  # recorded as unknown; the peer's limits are not ours
                print(name, case, failure, file=sys.stderr)
                case[name] = None
        try:
            bounds = microsoft(case)
        except Exception as failure:
            print("microsoft", case, failure, file=sys.stderr)
            bounds = None
        case["microsoft"] = None if bounds is None else [_rounded(each) for each in bounds]
        cases.append(case)
        print(len(cases), end=" ", file=sys.stderr, flush=True)
    versions = {name: version(name) for name in ("dp-accounting", "prv-accountant")}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    print(f'{{"versions":{json.dumps(versions)},"cases":[\n{lines}\n]}}')


if __name__ == "__main__":
    main()
