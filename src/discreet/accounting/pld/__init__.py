"""Privacy loss distributions: dominating pairs, certified grids, tilted Fourier composition."""

from discreet.accounting.pld.accountant import Losses, PrivacyLossAccountant
from discreet.accounting.pld.laws import PRIVACY_LOSS
from discreet.accounting.pld.pair import Pair

__all__ = ["PRIVACY_LOSS", "Losses", "Pair", "PrivacyLossAccountant"]
