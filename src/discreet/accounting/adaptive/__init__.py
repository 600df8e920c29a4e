"""Adaptive budgets: filters, odometers, hierarchies and allocations, in exact amounts.

For events that are chosen in view of earlier answers. They live in memory; what is durable is
:mod:`discreet.ledger`.
"""

from discreet.accounting.adaptive.account import Budget, PrivacyAccount
from discreet.accounting.adaptive.allocation import allocate
from discreet.accounting.adaptive.filter import (
    ApproxFilter,
    ApproxZCDPFilter,
    PrivacyFilter,
    PureFilter,
    RenyiFilter,
    SplitRenyiFilter,
    ZCDPFilter,
    filter_for,
)
from discreet.accounting.adaptive.hierarchy import (
    AcrossParts,
    ByPerson,
    ByRow,
    ChildBudget,
    PartBudget,
    open_child,
    open_parts,
)
from discreet.accounting.adaptive.odometer import (
    ApproxOdometer,
    ConvertedOdometer,
    PrivacyOdometer,
    PureOdometer,
    RenyiOdometer,
    ZCDPOdometer,
)

__all__ = [
    "AcrossParts",
    "ApproxFilter",
    "ApproxOdometer",
    "ApproxZCDPFilter",
    "Budget",
    "ByPerson",
    "ByRow",
    "ChildBudget",
    "ConvertedOdometer",
    "PartBudget",
    "PrivacyAccount",
    "PrivacyFilter",
    "PrivacyOdometer",
    "PureFilter",
    "PureOdometer",
    "RenyiFilter",
    "RenyiOdometer",
    "SplitRenyiFilter",
    "ZCDPFilter",
    "ZCDPOdometer",
    "allocate",
    "filter_for",
    "open_child",
    "open_parts",
]
