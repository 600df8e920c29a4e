"""Privacy loss distributions: dominating pairs, certified grids, tilted Fourier composition."""

from discreet.accounting.pld.accountant import Losses, PrivacyLossAccountant
from discreet.accounting.pld.mechanisms import PRIVACY_LOSS
from discreet.accounting.pld.pair import DominatingPair

__all__ = ["PRIVACY_LOSS", "DominatingPair", "Losses", "PrivacyLossAccountant"]
