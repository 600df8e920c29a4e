"""Prices of events. Importing this package registers every price with ``core.pricing``."""

from discreet.accounting import reports, tradeoff
from discreet.accounting.adaptive import (
    Account,
    AcrossParts,
    ApproxFilter,
    ApproxOdometer,
    Budget,
    ByPerson,
    ByRow,
    Child,
    ConvertedOdometer,
    Filter,
    Odometer,
    Part,
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
from discreet.accounting.approx import APPROX, Sums
from discreet.accounting.calibrate import calibrate, calibrate_count
from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_multiplier
from discreet.accounting.gdp import GAUSSIAN
from discreet.accounting.plan import Plan, Wanted, plan, plan_errors
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
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_delta, zcdp_epsilon, zcdp_rho
from discreet.core.pricing import Accountant, enlist

for _accountant in (PURE, APPROX, ZERO_CONCENTRATED, GAUSSIAN, RENYI, PRIVACY_LOSS):
    enlist(_accountant)

__all__ = [
    "APPROX",
    "GAUSSIAN",
    "PRIVACY_LOSS",
    "PURE",
    "RENYI",
    "ZERO_CONCENTRATED",
    "Account",
    "Accountant",
    "AcrossParts",
    "ApproxFilter",
    "ApproxOdometer",
    "Budget",
    "ByPerson",
    "ByRow",
    "Child",
    "ConvertedOdometer",
    "Filter",
    "Odometer",
    "Part",
    "Plan",
    "PureFilter",
    "PureOdometer",
    "RenyiCurve",
    "RenyiFilter",
    "RenyiOdometer",
    "SplitRenyiFilter",
    "Sums",
    "Wanted",
    "ZCDPFilter",
    "ZCDPOdometer",
    "allocate",
    "calibrate",
    "calibrate_count",
    "enlist",
    "filter_for",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_multiplier",
    "moments_epsilon",
    "open_child",
    "open_parts",
    "plan",
    "plan_errors",
    "rdp",
    "renyi_delta",
    "renyi_epsilon",
    "reports",
    "tradeoff",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
