"""What theorems promise and forbid: calculators for planning and teaching. No data is read.

No mechanism here, and none is charged by these numbers: mechanisms carry tighter ones of their own.
Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.theory.analyst_games import (
        expected_analyst_rho,
        expected_analyst_sum,
        expected_data_rho,
        expected_data_sum,
        sampled_data_rho,
        sampled_data_sum,
    )
    from discreet.theory.boosting import (
        brute_force_error,
        brute_force_scale,
        generalising_sample,
        printed_slack,
        subsample_rows,
    )
    from discreet.theory.composition import (
        advanced_epsilon,
        basic_delta,
        basic_epsilon,
        capacity,
        composed_epsilon,
        concentrated_epsilon,
        improved_epsilon,
        printed_share,
        share_of,
    )
    from discreet.theory.divergences import (
        Decomposition,
        approximate_max_divergence,
        closest_below,
        closest_pair,
        decomposed,
        hockey_stick,
        kl_bound,
        kl_divergence,
        loss_tail,
        max_divergence,
        printed_kl_bound,
        privacy_losses,
        total_variation,
    )
    from discreet.theory.elastic_sensitivity import (
        elastic_join,
        elastic_self_join,
        smooth_linear,
    )
    from discreet.theory.halving import Halving
    from discreet.theory.lower_bounds import (
        central_count_variance,
        hardt_talwar,
        laplace_workload_error,
        local_count_variance,
        vc_dimension,
        vc_floor,
    )
    from discreet.theory.online_game import OnlineSketch, online_sketch
    from discreet.theory.online_proved import online_bound, online_updates
    from discreet.theory.optimisation import (
        descent_excess,
        excess_floor,
        l1_risk_rate,
        marginals_floor,
        multiplicity_cap,
        risk_of_regret,
        risk_rate,
        strongly_convex_rate,
    )
    from discreet.theory.query_release import (
        construction_error,
        mwem_bound,
        net_error,
        pmw_error,
        sampling_failure,
        small_db_error,
        small_db_records,
        step_epsilon,
    )
    from discreet.theory.sampling import (
        amplification_floor,
        analytic_bound,
        closed_form_epsilon,
        sampled_mean_error,
    )

__all__ = [
    "Decomposition",
    "Halving",
    "OnlineSketch",
    "advanced_epsilon",
    "amplification_floor",
    "analytic_bound",
    "approximate_max_divergence",
    "basic_delta",
    "basic_epsilon",
    "brute_force_error",
    "brute_force_scale",
    "capacity",
    "central_count_variance",
    "closed_form_epsilon",
    "closest_below",
    "closest_pair",
    "composed_epsilon",
    "concentrated_epsilon",
    "construction_error",
    "decomposed",
    "descent_excess",
    "elastic_join",
    "elastic_self_join",
    "excess_floor",
    "expected_analyst_rho",
    "expected_analyst_sum",
    "expected_data_rho",
    "expected_data_sum",
    "generalising_sample",
    "hardt_talwar",
    "hockey_stick",
    "improved_epsilon",
    "kl_bound",
    "kl_divergence",
    "l1_risk_rate",
    "laplace_workload_error",
    "local_count_variance",
    "loss_tail",
    "marginals_floor",
    "max_divergence",
    "multiplicity_cap",
    "mwem_bound",
    "net_error",
    "online_bound",
    "online_sketch",
    "online_updates",
    "pmw_error",
    "printed_kl_bound",
    "printed_share",
    "printed_slack",
    "privacy_losses",
    "risk_of_regret",
    "risk_rate",
    "sampled_data_rho",
    "sampled_data_sum",
    "sampled_mean_error",
    "sampling_failure",
    "share_of",
    "small_db_error",
    "small_db_records",
    "smooth_linear",
    "step_epsilon",
    "strongly_convex_rate",
    "subsample_rows",
    "total_variation",
    "vc_dimension",
    "vc_floor",
]

_NAMES = {
    "composition": (
        "advanced_epsilon",
        "basic_delta",
        "basic_epsilon",
        "capacity",
        "composed_epsilon",
        "concentrated_epsilon",
        "improved_epsilon",
        "printed_share",
        "share_of",
    ),
    "sampling": (
        "amplification_floor",
        "analytic_bound",
        "closed_form_epsilon",
        "sampled_mean_error",
    ),
    "divergences": (
        "Decomposition",
        "approximate_max_divergence",
        "closest_below",
        "closest_pair",
        "decomposed",
        "hockey_stick",
        "kl_bound",
        "kl_divergence",
        "loss_tail",
        "max_divergence",
        "printed_kl_bound",
        "privacy_losses",
        "total_variation",
    ),
    "analyst_games": (
        "expected_analyst_rho",
        "expected_analyst_sum",
        "expected_data_rho",
        "expected_data_sum",
        "sampled_data_rho",
        "sampled_data_sum",
    ),
    "boosting": (
        "brute_force_error",
        "brute_force_scale",
        "generalising_sample",
        "printed_slack",
        "subsample_rows",
    ),
    "halving": ("Halving",),
    "lower_bounds": (
        "central_count_variance",
        "hardt_talwar",
        "laplace_workload_error",
        "local_count_variance",
        "vc_dimension",
        "vc_floor",
    ),
    "elastic_sensitivity": ("elastic_join", "elastic_self_join", "smooth_linear"),
    "online_game": (
        "OnlineSketch",
        "online_sketch",
    ),
    "online_proved": (
        "online_bound",
        "online_updates",
    ),
    "optimisation": (
        "descent_excess",
        "excess_floor",
        "l1_risk_rate",
        "marginals_floor",
        "multiplicity_cap",
        "risk_of_regret",
        "risk_rate",
        "strongly_convex_rate",
    ),
    "query_release": (
        "construction_error",
        "mwem_bound",
        "net_error",
        "pmw_error",
        "sampling_failure",
        "small_db_error",
        "small_db_records",
        "step_epsilon",
    ),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
