"""Adaptive budgets: filters, odometers, hierarchies and allocations."""

from discreet.accounting.adaptive.account import Account, Budget
from discreet.accounting.adaptive.allocation import allocate
from discreet.accounting.adaptive.filter import (
    ApproxFilter,
    ApproxZCDPFilter,
    Filter,
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
    Child,
    Part,
    open_child,
    open_parts,
)
from discreet.accounting.adaptive.odometer import (
    ApproxOdometer,
    ConvertedOdometer,
    Odometer,
    PureOdometer,
    RenyiOdometer,
    ZCDPOdometer,
)

__all__ = [
    "Account",
    "AcrossParts",
    "ApproxFilter",
    "ApproxOdometer",
    "ApproxZCDPFilter",
    "Budget",
    "ByPerson",
    "ByRow",
    "Child",
    "ConvertedOdometer",
    "Filter",
    "Odometer",
    "Part",
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
