"""Whatever is passed to a calculator, it is refused with a code or answered."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import theory
from discreet.accounting.rdp.gaussian import GaussianCurve
from discreet.errors import DiscreetError

LAWS: dict[str, Any] = {"p": [0.6, 0.4], "q": [0.5, 0.5]}
SUM: dict[str, Any] = {"rows": 1000, "dimension": 10, "epsilon": 1, "delta": 1e-6}
GROUP: dict[str, Any] = {"cells": 64, "queries": 100, "records": 10**6, "epsilon": 1}
VALID: dict[str, dict[str, Any]] = {
    "descent_excess": SUM,
    "excess_floor": SUM,
    "l1_risk_rate": SUM,
    "marginals_floor": SUM,
    "risk_rate": SUM,
    "multiplicity_cap": {"rows": 1000, "draws": 1000, "failure": 1e-6},
    "risk_of_regret": {"regret": 9.0, "draws": 1000, "span": 1.0, "failure": 0.05},
    "strongly_convex_rate": {**SUM, "curvature": 1.0},
    "advanced_epsilon": {"epsilon": 0.1, "times": 10, "slack": 1e-6},
    "amplification_floor": {"base": np.ones(1), "rate": 0.1, "orders": np.full(1, 2.0)},
    "analytic_bound": {
        "curve": GaussianCurve(Fraction(1)), "rate": 0.1, "order": 2.0, "omega": 3.0
    },
    "approximate_max_divergence": {**LAWS, "delta": 0.01},
    "basic_delta": {"deltas": [1e-6]},
    "basic_epsilon": {"epsilons": [0.1]},
    "brute_force_error": {"scale": 3, "sample": 9, "failure": 0.1},
    "brute_force_scale": {"sample": 9, "epsilon": 1, "delta": 1e-6, "sensitivity": 1},
    "capacity": {"epsilon": 1, "slack": 1e-6, "scale": 100, "theorem": theory.advanced_epsilon},
    "central_count_variance": {"epsilon": 1},
    "closed_form_epsilon": {"loss": 0.5, "people": 1000, "delta": 1e-6},
    "closest_below": {**LAWS, "epsilon": 1},
    "closest_pair": {**LAWS, "epsilon": 0.01},
    "composed_epsilon": {"epsilons": [0.1], "deltas": [1e-7], "delta": 1e-6},
    "concentrated_epsilon": {"epsilons": [0.1], "slack": 1e-6},
    "construction_error": {
        "updates": 9, "queries": 9, "records": 10**5, "epsilon": 1, "confidence": 0.9,
        "delta": 0.0,
    },
    "decomposed": {**LAWS, "epsilon": 0.01, "delta": 0.2},
    "elastic_join": {"left": 9, "right": 3, "distance": 1},
    "elastic_self_join": {"most": 9, "distance": 1},
    "expected_analyst_rho": {"points": 9, "reach": 0.5, "share": 0.1},
    "expected_analyst_sum": {"rounds": 9, "batch": 3, "step": 0.1, "share": 0.1},
    "expected_data_rho": {"points": 9, "reach_x": 0.1, "reach_q": 0.1, "records": 100},
    "expected_data_sum": {"rounds": 9, "batch": 3, "step_x": 0.1, "step_q": 0.1, "records": 100},
    "generalising_sample": {"bits": 100, "failure": 0.05, "advantage": 1 / 3},
    "hardt_talwar": {"queries": 16, "cells": 1024, "epsilon": 1},
    "hockey_stick": {**LAWS, "epsilon": 0.1},
    "improved_epsilon": {"epsilon": 0.1, "times": 10, "slack": 1e-6},
    "kl_bound": {"epsilon": 1},
    "kl_divergence": LAWS,
    "laplace_workload_error": {"queries": 16, "epsilon": 1},
    "local_count_variance": {"people": 1000, "epsilon": 1},
    "loss_tail": {"epsilon": 1, "delta": 1e-6, "beyond": 2},
    "max_divergence": LAWS,
    "mwem_bound": {**GROUP, "rounds": 9},
    "net_error": {
        "fineness": 0.1, "candidates": 100, "records": 10**5, "epsilon": 1, "confidence": 0.9
    },
    "online_bound": {
        "cells": 4096, "questions": 1e6, "records": 1e6, "data_rho": 0.02, "analyst_rho": 0.02,
    },
    "online_updates": {"cells": 4096, "gap": 0.1, "step": 0.2},
    "online_sketch": {
        "cells": 4096, "questions": 1e6, "records": 1e6, "data_rho": 0.02, "analyst_rho": 0.02,
        "answers": 0.5,
    },
    "pmw_error": {**GROUP, "confidence": 0.9, "delta": 0.0},
    "printed_kl_bound": {"epsilon": 1},
    "printed_share": {"epsilon": 1, "times": 100, "slack": 1e-6},
    "printed_slack": {
        "epsilon": 1, "delta": 1e-6, "sample": 9, "rounds": 9, "advantage": 0.3, "sensitivity": 1
    },
    "privacy_losses": LAWS,
    "sampled_data_rho": {"draws": 9, "reach": 0.1, "records": 100},
    "sampled_data_sum": {"rounds": 9, "batch": 3, "step": 0.1, "records": 100},
    "sampled_mean_error": {"rate": 0.1, "units": 10, "sigma": 1},
    "sampling_failure": {"queries": 9, "rows": 100, "error": 0.1},
    "share_of": {
        "epsilon": 1, "times": 100, "slack": 1e-6, "theorem": theory.advanced_epsilon
    },
    "small_db_error": {**GROUP, "confidence": 0.9},
    "small_db_records": {
        "cells": 64, "queries": 100, "error": 0.1, "epsilon": 1, "confidence": 0.9
    },
    "smooth_linear": {"start": 9, "slope": 2, "beta": 0.1},
    "step_epsilon": {"updates": 9, "epsilon": 1, "delta": 1e-6},
    "subsample_rows": {"sample": 9, "error": 0.1, "failure": 0.1},
    "total_variation": LAWS,
    "vc_dimension": {"predicates": [[0, 1], [1, 1]]},
    "vc_floor": {"epsilon": 1},
}  # fmt: skip
ODD: list[Any] = [
    *(0, -1, 0.5, 1, 2, 1.5, math.nan, math.inf, -math.inf, 1e300, 1e-300, 2**70, 10**400),
    *(True, Fraction(1, 3), np.float64("nan"), np.int64(3), "x", b"", None, object()),
    *([], [1], [math.nan], [-1, 2], ["a"], [[1], [2, 3]], {}, np.array([[1.0, 2.0]])),
]


def calculators() -> dict[str, Callable[..., Any]]:
    found = {name: getattr(theory, name) for name in theory.__all__}
    return {name: each for name, each in found.items() if not inspect.isclass(each)}


def test_every_calculator_is_tried() -> None:
    assert set(calculators()) == set(VALID)


@pytest.mark.parametrize("name", VALID)
def test_odd_input_is_answered_or_refused_with_a_code(name: str) -> None:
    calculate, valid = calculators()[name], VALID[name]
    calculate(**valid)
    for part in valid:
        for odd in ODD:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    calculate(**{**valid, part: odd})
            except DiscreetError:
                continue
            except Exception as error:
                message = f"{name}({part}={odd!r}): {type(error).__name__}: {error}"
                raise AssertionError(message) from error
