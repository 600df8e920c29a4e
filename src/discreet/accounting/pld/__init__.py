"""Privacy loss distributions: dominating pairs, certified grids, tilted Fourier composition.

For events fixed in advance; what is chosen adaptively is priced in ``accounting/adaptive``.
"""

from discreet.accounting.pld.accountant import Losses, PrivacyLossAccountant
from discreet.accounting.pld.mechanisms import PRIVACY_LOSS
from discreet.accounting.pld.pair import DominatingPair

__all__ = ["PRIVACY_LOSS", "DominatingPair", "Losses", "PrivacyLossAccountant"]
