"""Prices of events: accountants, composition, calibration, and budgets that are spent adaptively.

Importing this package registers every price with ``core.pricing``. Nothing here draws noise or
reads data; a price knows an event and no mechanism.
"""

from discreet.accounting import key_selection, reports, shuffled_losses, tradeoff
from discreet.accounting.adaptive import (
    AcrossParts,
    ApproxFilter,
    ApproxOdometer,
    ApproxZCDPFilter,
    Budget,
    ByPerson,
    ByRow,
    ChildBudget,
    ConvertedOdometer,
    PartBudget,
    PrivacyAccount,
    PrivacyFilter,
    PrivacyOdometer,
    PureFilter,
    PureOdometer,
    RenyiFilter,
    RenyiOdometer,
    SplitRenyiFilter,
    ZCDPFilter,
    ZCDPOdometer,
    allocate,
    filter_for,
    open_child,
    open_parts,
)
from discreet.accounting.amplify import (
    amplified_delta,
    amplified_epsilon,
)
from discreet.accounting.approx import APPROX, ApproxPrice
from discreet.accounting.approx_zcdp import APPROXIMATELY_CONCENTRATED, ApproxZCDPPrice
from discreet.accounting.calibrate import calibrate, calibrate_count
from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_multiplier
from discreet.accounting.gdp import GAUSSIAN
from discreet.accounting.mixed import (
    Copies,
    mixed_delta,
    mixed_epsilon,
    mixed_epsilon_bounds,
)
from discreet.accounting.one_of import WORST_PART, LargestCurve
from discreet.accounting.optimal import (
    optimal_delta,
    optimal_epsilon,
)
from discreet.accounting.optimal_events import (
    OPTIMAL,
)
from discreet.accounting.plan import ErrorPlan, WantedError, plan, plan_errors
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.accounting.pure import PURE
from discreet.accounting.rdp import (
    RENYI,
    RenyiCurve,
    moments_epsilon,
    rdp,
    renyi_delta,
    renyi_epsilon,
)
from discreet.accounting.rdp.tuned import TunedCurve
from discreet.accounting.shuffle import (
    SHUFFLED,
    shuffled_delta,
    shuffled_epsilon,
)
from discreet.accounting.tuning import (
    best_run,
    expected_runs,
    generating_function,
    stopping_gamma,
    tuned_curve,
)
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_delta, zcdp_epsilon, zcdp_rho
from discreet.core.accountant import Accountant
from discreet.core.pricing import enlist

for _accountant in (
    PURE,
    APPROX,
    ZERO_CONCENTRATED,
    APPROXIMATELY_CONCENTRATED,
    GAUSSIAN,
    RENYI,
    OPTIMAL,
    SHUFFLED,
    PRIVACY_LOSS,
    WORST_PART,
):
    enlist(_accountant)

__all__ = [
    "APPROX",
    "APPROXIMATELY_CONCENTRATED",
    "GAUSSIAN",
    "OPTIMAL",
    "PRIVACY_LOSS",
    "PURE",
    "RENYI",
    "SHUFFLED",
    "WORST_PART",
    "ZERO_CONCENTRATED",
    "Accountant",
    "AcrossParts",
    "ApproxFilter",
    "ApproxOdometer",
    "ApproxPrice",
    "ApproxZCDPFilter",
    "ApproxZCDPPrice",
    "Budget",
    "ByPerson",
    "ByRow",
    "ChildBudget",
    "ConvertedOdometer",
    "Copies",
    "ErrorPlan",
    "LargestCurve",
    "PartBudget",
    "PrivacyAccount",
    "PrivacyFilter",
    "PrivacyOdometer",
    "PureFilter",
    "PureOdometer",
    "RenyiCurve",
    "RenyiFilter",
    "RenyiOdometer",
    "SplitRenyiFilter",
    "TunedCurve",
    "WantedError",
    "ZCDPFilter",
    "ZCDPOdometer",
    "allocate",
    "amplified_delta",
    "amplified_epsilon",
    "best_run",
    "calibrate",
    "calibrate_count",
    "enlist",
    "expected_runs",
    "filter_for",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_multiplier",
    "generating_function",
    "key_selection",
    "mixed_delta",
    "mixed_epsilon",
    "mixed_epsilon_bounds",
    "moments_epsilon",
    "open_child",
    "open_parts",
    "optimal_delta",
    "optimal_epsilon",
    "plan",
    "plan_errors",
    "rdp",
    "renyi_delta",
    "renyi_epsilon",
    "reports",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffled_losses",
    "stopping_gamma",
    "tradeoff",
    "tuned_curve",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
