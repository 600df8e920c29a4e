"""Prices of events. Importing this package registers every price with ``core.pricing``."""

from discreet.accounting.approx import APPROX, Sums
from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_multiplier
from discreet.accounting.pure import PURE
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_delta, zcdp_epsilon, zcdp_rho
from discreet.core.pricing import Accountant, enlist

enlist(PURE)
enlist(APPROX)
enlist(ZERO_CONCENTRATED)

__all__ = [
    "APPROX",
    "PURE",
    "ZERO_CONCENTRATED",
    "Accountant",
    "Sums",
    "enlist",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_multiplier",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
