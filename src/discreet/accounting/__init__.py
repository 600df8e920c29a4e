"""Prices of events. Importing this package registers every price with ``core.pricing``."""

from discreet.accounting import reports, tradeoff
from discreet.accounting.approx import APPROX, Sums
from discreet.accounting.calibrate import calibrate, calibrate_count
from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_multiplier
from discreet.accounting.gdp import GAUSSIAN
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.accounting.pure import PURE
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_delta, zcdp_epsilon, zcdp_rho
from discreet.core.pricing import Accountant, enlist

for _accountant in (PURE, APPROX, ZERO_CONCENTRATED, GAUSSIAN, PRIVACY_LOSS):
    enlist(_accountant)

__all__ = [
    "APPROX",
    "GAUSSIAN",
    "PRIVACY_LOSS",
    "PURE",
    "ZERO_CONCENTRATED",
    "Accountant",
    "Sums",
    "calibrate",
    "calibrate_count",
    "enlist",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_multiplier",
    "reports",
    "tradeoff",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
